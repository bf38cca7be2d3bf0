package adaptertest

import (
	"context"
	"testing/synctest"
	"time"

	"bellhop/adapters"
)

// connection: a broken one is reported, comes back by itself, and loses nothing.
func connection(r *rig) {
	stop := r.start()
	r.healthy()
	r.Cut()
	r.say(r.DM(), "into the gap")
	if in := r.got(1)[0]; in.Text != "into the gap" {
		r.t.Errorf("received %q", in.Text)
	}
	r.healthy()
	failed := false
	for _, err := range r.in.Healths() {
		failed = failed || err != nil
		r.clean(err)
	}
	if !failed {
		r.t.Error("a broken connection was not reported")
	}
	if err := stop(); err != nil {
		r.t.Errorf("Run ended with %v, want nil", err)
	}
}

func (r *rig) healthy() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.ctx(), long)
	defer cancel()
	if r.in.Until(ctx, func(err error) bool { return err == nil }) != nil {
		r.t.Fatalf("never healthy: %v", r.in.Healths())
	}
}

// revoked: credentials that are no good end the run, and say so.
func revoked(r *rig) {
	r.Revoke()
	ctx, cancel := context.WithTimeout(r.ctx(), long)
	defer cancel()
	err := r.a.Run(ctx, r.in)
	r.kind(err, adapters.Auth)
	r.clean(err)
	_, err = r.a.Send(ctx, r.DM(), adapters.Outgoing{Text: "x"})
	r.kind(err, adapters.Auth)
	r.clean(err)
}

// lifetime: runs end when they are told, at any moment; the bubble sees whether anything stays behind.
func lifetime(r *rig) {
	for i := range 10 {
		ctx, cancel := context.WithTimeout(r.ctx(), time.Duration(i)*time.Millisecond)
		if err := r.a.Run(ctx, r.in); err != nil {
			r.t.Errorf("Run ended with %v, want nil", err)
		}
		cancel()
		synctest.Wait()
	}
	r.say(r.DM(), "still there")
	r.start()
	r.got(1)
}
