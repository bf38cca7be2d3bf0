# bellhop: `make run` starts it, `make test` proves it. `make help` lists the rest.
SHELL   := /bin/bash
GO      ?= go
TAGS    := sqlite_omit_load_extension
LDFLAGS := -s -w -X main.version=$(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
PKGS    := ./...
export CGO_ENABLED := 1

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

bellhop: FORCE ## build the binary
	$(GO) build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS)' -o bellhop ./cmd/bellhop

run: bellhop ## start the gateway and print its address
	./bellhop serve

demo: bellhop ## play with it without any account: a simulated Telegram and model beside the gateway
	$(GO) build -trimpath -o simulator ./cmd/simulator
	deploy/demo

deps: ## what the tests need beside Go, gcc and git; installed when root, named otherwise
	@deploy/deps

test: deps check unit crash ## everything: checks, unit tests and suites under the race detector, crash tests, browser, scripts

check: ## formatting, vet, staticcheck
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'run gofmt'; exit 1; }
	$(GO) vet -tags $(TAGS) $(PKGS)
	$(GO) vet -tags $(TAGS),crashtest $(PKGS)
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 -tags $(TAGS),crashtest $(PKGS)

unit: ## unit tests, suites, scripts and the browser test
	$(GO) test -tags $(TAGS) -race -shuffle=on -timeout 20m $(PKGS)

race: unit ## the same as unit

crash: ## SIGKILL at every persisted boundary, and random kills under load
	$(GO) test -tags $(TAGS),crashtest -count=1 -timeout 30m -run 'Crash|Kill|Soak|Chaos' ./cmd/bellhop/

fuzz: ## every fuzz target for FUZZTIME (20s)
	@deploy/fuzz $(or $(FUZZTIME),20s)

bench: ## Go benchmarks
	$(GO) test -tags $(TAGS) -run '^$$' -bench . -benchmem $(PKGS)

soak: ## random kills under load for SOAK (1h)
	SOAK=$(or $(SOAK),1h) $(GO) test -tags $(TAGS),crashtest -count=1 -timeout 3h -v -run 'Soak' ./cmd/bellhop/

chaos: ## three nodes on one PostgreSQL, all of which fail, for SOAK (1h)
	SOAK=$(or $(SOAK),1h) $(GO) test -tags $(TAGS),crashtest -count=1 -timeout 3h -v -run 'Chaos' ./cmd/bellhop/

FORCE:
.PHONY: help run demo deps test check unit race crash fuzz bench soak chaos FORCE
