package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"reflect"
	"syscall"

	"bellhop/config"
	"bellhop/gateway/problem"
)

// hangups catches SIGHUP from now on: before the ready line, since the signal ends a process that does not.
func hangups() chan os.Signal {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	return hup
}

// reload reads the configuration again at each SIGHUP. A file that is not good changes nothing and becomes a problem. What
// can change while it runs is applied; the rest is named and takes effect at the next start.
func (a *app) reload(ctx context.Context, h *house, hup chan os.Signal, level *slog.LevelVar) error {
	defer signal.Stop(hup)
	have := h.cfg // others read the house's own at any time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-hup:
			have = a.reloadOnce(h, have, level)
		}
	}
}

const reloadProblem = "reload"

// reloadOnce returns the configuration in force afterwards.
func (a *app) reloadOnce(h *house, have config.Config, level *slog.LevelVar) config.Config {
	next, err := a.load()
	if err != nil {
		h.problems.Raise(problem.Problem{ID: reloadProblem, Text: "reload failed, the old configuration stays: " + err.Error(),
			Remedy: "bellhop config check names every fault; then send SIGHUP again"})
		return have
	}
	h.problems.Clear(reloadProblem)
	setLevel(level, next.Log.Level)
	h.access.Reload(accessConfig(next))
	for _, section := range restartSections(have, next) {
		h.log.Warn("the section " + section + " has changed and takes effect at the next start")
	}
	next.Access.Rate = have.Access.Rate // takes effect at the next start
	have.Access, have.Log = next.Access, next.Log
	h.log.Info("configuration reloaded")
	return have
}

// restartSections names the sections that differ and cannot change while the gateway runs.
func restartSections(old, next config.Config) []string {
	live := map[string]bool{"log": true, "access": true}
	var out []string
	a, b := reflect.ValueOf(old), reflect.ValueOf(next)
	for i := range a.NumField() {
		name := a.Type().Field(i).Tag.Get("yaml")
		if name != "-" && !live[name] && !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			out = append(out, name)
		}
	}
	if old.Access.Rate != next.Access.Rate {
		out = append(out, "access.rate")
	}
	return out
}
