package rpctest

import (
	"context"
	"slices"
	"time"

	"bellhop/core"
)

func (s *Store) Put(_ context.Context, q core.Question) (core.Question, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.questions = append(s.questions, &q)
	return q, nil
}

func (s *Store) question(id core.QuestionID) *core.Question {
	for _, q := range s.questions {
		if q.ID == id {
			return q
		}
	}
	return nil
}

func (s *Store) Answer(_ context.Context, id core.QuestionID, answer string, by core.Principal) (core.Question, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.question(id)
	if q == nil {
		return core.Question{}, none("question")
	}
	if q.State != core.QuestionOpen {
		return *q, core.Errorf("answer", core.Conflict, "not open")
	}
	q.State, q.Answer, q.By, q.ByName, q.Answered = core.QuestionAnswered, answer, by.ID, by.Name, time.Now()
	return *q, nil
}

func (s *Store) end(state core.QuestionState, which func(*core.Question) bool) []core.Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []core.Question
	for _, q := range s.questions {
		if q.State == core.QuestionOpen && which(q) {
			q.State, q.Answered = state, time.Now()
			out = append(out, *q)
		}
	}
	return out
}

func (s *Store) Expire(_ context.Context, now time.Time) ([]core.Question, error) {
	return s.end(core.QuestionExpired, func(q *core.Question) bool { return !q.Deadline.After(now) }), nil
}

func (s *Store) Drop(_ context.Context, id core.AdmissionID) ([]core.Question, error) {
	return s.end(core.QuestionDropped, func(q *core.Question) bool { return q.Admission == id }), nil
}

func (s *Store) Question(_ context.Context, id core.QuestionID) (core.Question, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.question(id); q != nil {
		return *q, nil
	}
	return core.Question{}, none("question")
}

func (s *Store) Asking(_ context.Context, c core.ConversationID) ([]core.Question, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []core.Question
	for _, q := range s.questions {
		if q.State == core.QuestionOpen && (c == "" || q.Conversation == c) {
			out = append(out, *q)
		}
	}
	return out, nil
}

func (s *Store) Asked(_ context.Context, c core.ConversationID, of []core.AdmissionID) ([]core.Question, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []core.Question
	for _, q := range s.questions {
		if q.Conversation == c && slices.Contains(of, q.Admission) {
			out = append(out, *q)
		}
	}
	return out, nil
}

func (s *Store) Ended(_ context.Context, since time.Time) ([]core.Question, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []core.Question
	for _, q := range s.questions {
		if q.State != core.QuestionOpen && !q.Answered.Before(since) {
			out = append(out, *q)
		}
	}
	return out, nil
}
