package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"bellhop/adapters"
	"bellhop/config"
	"bellhop/core"
	"bellhop/core/store"
)

// finding is one checked thing.
type finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"` // what was found, or the cause
	Remedy string `json:"remedy,omitempty"`
	fix    func() error
}

func (a *app) doctorCommand() *cobra.Command {
	var asJSON, fix bool
	c := &cobra.Command{Use: "doctor", Short: "try everything live: store, listener, tokens, models", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), asJSON, fix) }}
	c.Flags().BoolVar(&asJSON, "json", false, "print findings as JSON")
	c.Flags().BoolVar(&fix, "fix", false, "mend what can be mended safely")
	return c
}

func (a *app) doctor(ctx context.Context, asJSON, fix bool) error {
	found := a.examine(ctx)
	if fix {
		for i := range found {
			if f := &found[i]; !f.OK && f.fix != nil {
				if err := f.fix(); err == nil {
					f.OK, f.Detail, f.Remedy = true, "mended: "+f.Detail, ""
				}
			}
		}
	}
	bad := 0
	for _, f := range found {
		if !f.OK {
			bad++
		}
	}
	if asJSON {
		e := json.NewEncoder(a.out)
		e.SetIndent("", "  ")
		if err := e.Encode(found); err != nil {
			return err
		}
	} else {
		a.printFindings(found, bad)
	}
	if bad > 0 {
		return errSaid
	}
	return nil
}

func (a *app) printFindings(found []finding, bad int) {
	for _, f := range found {
		mark := "ok     "
		if !f.OK {
			mark = "PROBLEM"
		}
		fmt.Fprintf(a.out, "%s  %-10s %s\n", mark, f.Check, f.Detail)
		if f.Remedy != "" {
			fmt.Fprintf(a.out, "         %10s %s\n", "->", f.Remedy)
		}
	}
	if bad == 0 {
		fmt.Fprintln(a.out, "healthy")
		return
	}
	fmt.Fprintf(a.out, "%d problems\n", bad)
}

// examine runs every check; one that cannot run because an earlier one failed is left out.
func (a *app) examine(ctx context.Context) []finding {
	c, err := a.load()
	if err != nil {
		return []finding{{Check: "config", Detail: err.Error(), Remedy: "mend the file; bellhop config check names every fault"}}
	}
	found := []finding{{Check: "config", OK: true, Detail: cmpOr(c.File, "defaults and environment")}}
	found = append(found, examineModes(c)...)
	found = append(found, examineFolder(c))
	running, f := examineListener(ctx, c)
	found = append(found, f, a.examineStore(ctx, c))
	found = append(found, examineModels(ctx, c)...)
	return append(found, examinePlatforms(ctx, c, running)...)
}

func cmpOr(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// examineModes names what others may read of the gateway's secrets.
func examineModes(c config.Config) []finding {
	var found []finding
	for _, e := range exposed(c) {
		found = append(found, finding{Check: "private", Detail: e.String(), Remedy: e.remedy(), fix: e.mend})
	}
	return found
}

func examineFolder(c config.Config) finding {
	f := finding{Check: "data", Detail: c.Data}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		f.Detail, f.Remedy = err.Error(), "choose another folder with data: or BELLHOP_DATA"
		return f
	}
	probe, err := os.CreateTemp(c.Data, ".probe")
	if err != nil {
		f.Detail, f.Remedy = err.Error(), "make the folder writable for this user"
		return f
	}
	err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	f.OK = true
	return f
}

// examineListener tells whether the address is free, or a bellhop of ours answers there.
func examineListener(ctx context.Context, c config.Config) (running bool, f finding) {
	f = finding{Check: "listener", Detail: c.Listen, OK: true}
	l, err := net.Listen("tcp", c.Listen)
	if err == nil {
		if err := l.Close(); err != nil {
			f.OK, f.Detail = false, err.Error()
		}
		return false, f
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.Listen+"/readyz", nil)
	if err == nil {
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			defer resp.Body.Close()
			if resp.Header.Get("Server") == serverName {
				f.Detail += " (a bellhop runs here)"
				f.OK = resp.StatusCode == http.StatusOK
				if !f.OK {
					f.Remedy = "it is not ready: look at its log"
				}
				return true, f
			}
		}
	}
	f.OK, f.Detail, f.Remedy = false, c.Listen+" is in use by another program", "set listen or BELLHOP_LISTEN to another port"
	return false, f
}

func (a *app) examineStore(ctx context.Context, c config.Config) finding {
	f := finding{Check: "store", Detail: databaseName(c)}
	if _, err := os.Stat(databasePath(c)); !nodes(c) && errors.Is(err, os.ErrNotExist) {
		f.OK, f.Detail = true, databaseName(c)+" (made at the first start)"
		return f
	}
	s, err := openStore(ctx, c, "")
	if err == nil {
		err = errors.Join(probeStore(ctx, s, &f), s.Close())
	}
	switch {
	case err == nil:
		f.OK = true
	case core.Is(err, core.NoSpace):
		f.Detail, f.Remedy = "the disk is full", "free some space where "+databaseName(c)+" is"
	case core.Is(err, core.Corrupt):
		f.Detail, f.Remedy = err.Error(), "stop bellhop, copy the data folder, then restore a backup or run sqlite3 .recover on the copy"
	default:
		f.Detail = err.Error()
		if nodes(c) {
			f.Remedy = "see that the database of store.dsn (BELLHOP_STORE_DSN) runs and lets this user in; nothing is lost meanwhile"
		}
	}
	return f
}

func probeStore(ctx context.Context, s *store.Store, f *finding) error {
	if err := s.Check(ctx); err != nil {
		return err
	}
	c, err := s.Census(ctx)
	if err != nil {
		return err
	}
	f.Detail += fmt.Sprintf(" (%d accepted, %d waiting, %d unknown)", c.Accepted, c.Queued, c.Unknown)
	if !c.Balanced() {
		return core.Errorf("verify", core.Internal, "accepted inputs are unaccounted for; run bellhop verify")
	}
	return nil
}

func examineModels(ctx context.Context, c config.Config) []finding {
	var found []finding
	for _, m := range modelChain(c) {
		f := finding{Check: "model", Detail: m.Provider + "/" + m.Name}
		p, err := newProvider(m.Provider, c.Providers[m.Provider])
		if err == nil {
			try, cancel := context.WithTimeout(ctx, 15*time.Second)
			err = p.Probe(try, m.Name)
			cancel()
		}
		if f.OK = err == nil; err != nil {
			f.Detail += ": " + err.Error()
			f.Remedy = "check base_url, api_key and name of this provider"
		}
		found = append(found, f)
	}
	return found
}

func examinePlatforms(ctx context.Context, c config.Config, running bool) []finding {
	doors, err := newAdapters(c)
	if err != nil {
		return []finding{{Check: "platform", Detail: err.Error()}}
	}
	var found []finding
	for _, d := range doors {
		f := finding{Check: d.Name(), OK: true}
		prober := adapters.CapsOf(d.Adapter).Prober
		if prober == nil {
			continue
		}
		try, cancel := context.WithTimeout(ctx, 15*time.Second)
		who, err := prober.Probe(try)
		cancel()
		f.Detail = "the token belongs to " + who
		if running {
			f.Detail += "; the running gateway receives"
		}
		if err != nil {
			f.OK, f.Detail, f.Remedy = false, err.Error(), remedyFor(adapters.KindOf(err))
		}
		found = append(found, f)
	}
	return found
}

func remedyFor(k adapters.ErrorKind) string {
	if k == adapters.Auth {
		return "the token was refused: ask the platform for a new one and put it into the configuration"
	}
	return "the platform cannot be reached: check the network, api_url and proxy"
}
