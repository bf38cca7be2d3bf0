package stream

import (
	"context"
	"errors"
	"time"

	"bellhop/core"
)

// tools paints the status message.
func (p *painter) tools(ctx context.Context, sc scene) error {
	if sc.ended {
		if p.o.Tools.Keep && sc.status != "" {
			return nil
		}
		return p.clearStatus(ctx)
	}
	if sc.status == "" {
		return p.dropStatus(ctx, sc.tools)
	}
	if p.noStatus || p.o.Tools.Off || p.status.Ref != "" && p.statusRev == sc.tools {
		return nil
	}
	v := View{Text: sc.status}
	if b := p.o.StopButton; b != nil {
		v.Buttons = []core.Button{*b}
	}
	if p.status.Ref != "" {
		if time.Since(p.lastStatus) < p.o.EditInterval {
			return nil
		}
		p.statusRev, p.lastStatus = sc.tools, time.Now()
		err := p.s.Edit(ctx, p.status.Ref, v)
		if errors.Is(err, ErrGone) {
			p.status, p.noStatus = core.Part{}, true
			p.report()
			return nil
		}
		return err
	}
	ref, err := p.s.Post(ctx, v)
	if err != nil {
		p.noStatus = !waits(err)
		return err
	}
	p.status = core.Part{Ref: ref, Hash: StatusHash, Sent: 1}
	p.sketch.hash = ""
	p.statusRev, p.lastStatus = sc.tools, time.Now()
	p.report()
	return nil
}

// dropStatus takes the status message away while there is nothing to tell; it may come again.
func (p *painter) dropStatus(ctx context.Context, rev int) error {
	if p.status.Ref == "" || p.noStatus || p.statusRev == rev {
		return nil
	}
	err := p.s.Delete(ctx, p.status.Ref)
	if err != nil && !errors.Is(err, ErrGone) {
		if p.lastStatus = time.Now(); !waits(err) {
			p.statusRev = rev // Finish tries once more
		}
		return err
	}
	p.status, p.statusRev = core.Part{}, rev
	p.report()
	return nil
}

// clearStatus takes the status message away.
func (p *painter) clearStatus(ctx context.Context) error {
	if p.status.Ref == "" {
		return nil
	}
	if err := p.s.Delete(ctx, p.status.Ref); err != nil && !errors.Is(err, ErrGone) {
		p.noStatus = true // Finish tries once more
		return err
	}
	p.status, p.noStatus = core.Part{}, true
	p.report()
	return nil
}
