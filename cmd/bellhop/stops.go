package main

import (
	"context"
	"time"

	"bellhop/core"
	"bellhop/gateway/command"
	"bellhop/gateway/session"
)

// timedStops measures how long a stop takes from its receipt to its turn being told.
type timedStops struct {
	*command.Table
	metrics *metrics
}

func (s timedStops) Run(ctx context.Context, c command.Call) (command.Answer, error) {
	if c.Name == "stop" {
		defer s.metrics.stopped(time.Now())
	}
	return s.Table.Run(ctx, c)
}

func (s timedStops) Press(ctx context.Context, c command.Call, data string) (string, error) {
	if command.Halts(data) {
		defer s.metrics.stopped(time.Now())
	}
	return s.Table.Press(ctx, c, data)
}

// timedInterrupts measures the same of clients that stop a turn without a command.
type timedInterrupts struct {
	*session.Registry
	metrics *metrics
}

func (s timedInterrupts) Interrupt(c core.ConversationID, why core.Interrupt) (core.AdmissionID, bool) {
	start := time.Now()
	id, ok := s.Registry.Interrupt(c, why)
	if ok {
		s.metrics.stopped(start)
	}
	return id, ok
}

func (s timedInterrupts) InterruptTurn(c core.ConversationID, id core.AdmissionID, why core.Interrupt) bool {
	start := time.Now()
	ok := s.Registry.InterruptTurn(c, id, why)
	if ok {
		s.metrics.stopped(start)
	}
	return ok
}
