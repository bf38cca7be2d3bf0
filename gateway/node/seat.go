package node

import (
	"context"
	"errors"
	"time"

	"bellhop/core"
)

// mostLook is the longest between two looks at a seat that another node has.
const mostLook = time.Second

// errLost is the cause with which what runs under a seat ends.
var errLost = errors.New("another node may take the connection over")

// Keep runs run whenever this node has the seat, until ctx ends or run returns by itself; what it returns then is returned.
func (n *Node) Keep(ctx context.Context, name string, run func(ctx context.Context) error) error {
	for waiting := false; ; waiting = true {
		seat, err := n.sit(ctx, name, waiting)
		if err != nil {
			return nil // only ctx ends the wait
		}
		began := time.Now()
		err = n.under(ctx, seat, began, run)
		if !errors.Is(err, errLost) {
			return err
		}
		n.cfg.Log.Warn("the connection was given up: this node cannot be sure to have it any more", "platform", name)
	}
}

// sit waits for the seat.
func (n *Node) sit(ctx context.Context, name string, waiting bool) (core.Seat, error) {
	for told := waiting; ; told = true {
		seat, err := n.take(ctx, name)
		if err == nil {
			if told {
				n.cfg.Log.Info("this node has the connection now", "platform", name)
			}
			return seat, nil
		}
		var held *core.Held
		switch {
		case ctx.Err() != nil:
			return seat, ctx.Err()
		case errors.As(err, &held) && !told:
			n.cfg.Log.Info("another node has the connection; this one takes it when that one is gone", "platform", name)
		case held == nil:
			n.cfg.Log.Warn("the seat of a connection could not be taken; trying again", "platform", name, "err", err)
		}
		select {
		case <-ctx.Done():
			return seat, ctx.Err()
		case <-time.After(min(mostLook, n.cfg.TTL/4)):
		}
	}
}

func (n *Node) take(ctx context.Context, name string) (core.Seat, error) {
	ctx, cancel := context.WithTimeout(ctx, min(storeTime, n.cfg.TTL/3))
	defer cancel()
	return n.cfg.Store.Sit(ctx, name, n.cfg.Self, n.cfg.TTL, n.Alive)
}

// under runs run while the seat is ours. errLost: it is not any more, or may not be soon.
func (n *Node) under(ctx context.Context, seat core.Seat, began time.Time, run func(ctx context.Context) error) error {
	n.mu.Lock()
	n.seats[seat.Name] = seat
	n.mu.Unlock()
	runs, end := context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() { ended <- run(runs) }()
	lost := n.renew(runs, seat, began, ended)
	var err error
	if lost != nil {
		end(lost)
		err = <-ended
	} else {
		err = <-ended
		end(nil)
	}
	n.mu.Lock()
	delete(n.seats, seat.Name)
	n.mu.Unlock()
	n.rise(ctx, seat)
	if lost != nil && ctx.Err() == nil {
		return errLost
	}
	return err
}

// renew keeps the seat until run has ended, which it puts back for its caller, or ctx ends, or the seat is lost.
func (n *Node) renew(ctx context.Context, seat core.Seat, renewed time.Time, ended chan error) (lost error) {
	tick := time.NewTicker(n.cfg.TTL / 3)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			ended <- err
			return nil
		case <-tick.C:
		}
		began := time.Now()
		again, err := n.take(ctx, seat.Name)
		switch {
		case err == nil && again.Token == seat.Token:
			renewed = began
		case err == nil, core.Is(err, core.Busy), time.Since(renewed) >= n.cfg.TTL*2/3:
			return errLost
		}
	}
}

func (n *Node) rise(ctx context.Context, seat core.Seat) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	if err := n.cfg.Store.Rise(ctx, seat); err != nil {
		n.cfg.Log.Warn("the seat of a connection could not be left; it runs out", "platform", seat.Name, "err", err)
	}
}
