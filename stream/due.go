package stream

import "time"

// due is when there is something to paint; the zero time when nothing waits. end is when the text ended, if it has.
func (p *painter) due(s *script, t *tools, end time.Time) time.Time {
	at := p.dueText(s, end)
	if st := p.dueStatus(t, !end.IsZero()); at.IsZero() || !st.IsZero() && st.Before(at) {
		at = st
	}
	if !at.IsZero() && at.Before(p.notBefore) {
		at = p.notBefore
	}
	if p.dead {
		return time.Time{}
	}
	return at
}

func (p *painter) dueText(s *script, end time.Time) time.Time {
	if len(s.blocks) == 0 {
		return time.Time{}
	}
	b, now, ended := s.blocks[0], time.Now(), !end.IsZero()
	drafts := p.drafts(b.sealed)
	switch {
	case drafts && (s.rev == p.seen || ended && p.drawn(b)):
		return p.fades(b)
	case drafts && ended:
		return end.Add(endGrace)
	case s.rev == p.seen:
		return p.dueStop(b, ended)
	}
	behind := len(s.blocks) > 1 && s.blocks[1].visible()
	shown := p.block == b && p.size > 0
	switch {
	case p.o.Mode == ModeBuffer && !b.sealed:
		return time.Time{}
	case ended, b.sealed && (behind || !shown || p.sketch.hash != ""):
		return now
	case !b.sealed && (p.quiet && p.block == b || !b.visible() && !shown):
		return time.Time{}
	case !shown, p.o.Unlimited && len(b.text())-p.size >= max(p.o.BufferThreshold, p.size):
		return now // an edit sends the whole text again: once it is long, the interval is soon enough
	case drafts:
		return p.last.Add(p.o.DraftInterval)
	}
	return p.last.Add(p.o.EditInterval)
}

// dueStop is when a text that does not grow any more gets its Stop button: a model that hangs is what one wants to stop.
func (p *painter) dueStop(b *block, ended bool) time.Time {
	shown := p.block == b && p.size > 0 && !b.sealed && !p.quiet
	if p.late || p.o.StopAfter <= 0 || p.o.StopButton == nil || ended || !shown || p.o.Mode == ModeBuffer || p.stop >= 0 {
		return time.Time{}
	}
	return later(p.first.Add(p.o.StopAfter), p.last.Add(p.o.EditInterval))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (p *painter) dueStatus(t *tools, ended bool) time.Time {
	switch {
	case p.noStatus || p.o.Tools.Off:
		return time.Time{}
	case p.status.Ref == "":
		if ended {
			return time.Time{}
		}
		return t.due()
	case ended && (!p.o.Tools.Keep || len(t.lines) == 0):
		return p.lastStatus
	case t.rev == p.statusRev:
		return time.Time{}
	}
	return p.lastStatus.Add(p.o.EditInterval)
}
