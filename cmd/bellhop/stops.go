package main

import (
	"context"
	"time"

	"bellhop/core"
	"bellhop/gateway/command"
	"bellhop/gateway/session"
)

// timedStops measures how long a stop takes, once the guards have let it pass, until its turn is told and what waits is known.
type timedStops struct {
	*command.Table
	metrics *metrics
}

func (s timedStops) Run(ctx context.Context, c command.Call) (command.Answer, error) {
	start := time.Now()
	answer, err := s.Table.Run(ctx, c)
	if answer.Stopped {
		s.metrics.stopped(start)
	}
	return answer, err
}

func (s timedStops) Press(ctx context.Context, c command.Call, data string) (string, error) {
	start := time.Now()
	toast, err := s.Table.Press(ctx, c, data)
	if toast == command.PressStopped {
		s.metrics.stopped(start)
	}
	return toast, err
}

// timedInterrupts measures the same of clients that stop a turn without a command.
type timedInterrupts struct {
	*session.Reach
	metrics *metrics
}

func (s timedInterrupts) Interrupt(c core.ConversationID, why core.Interrupt) (core.AdmissionID, bool) {
	start := time.Now()
	id, ok := s.Reach.Interrupt(c, why)
	if ok {
		s.metrics.stopped(start)
	}
	return id, ok
}

func (s timedInterrupts) InterruptTurn(c core.ConversationID, id core.AdmissionID, why core.Interrupt) bool {
	start := time.Now()
	ok := s.Reach.InterruptTurn(c, id, why)
	if ok {
		s.metrics.stopped(start)
	}
	return ok
}
