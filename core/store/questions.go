package store

import (
	"context"
	"strings"
	"time"

	"bellhop/core"
)

const questionColumns = `id, conversation, admission, turn, ask, state, answer, by_id, by_name, for_id, deadline, created, answered`

const selectQuestions = `SELECT ` + questionColumns + ` FROM questions`

func scanQuestion(r scanner) (q core.Question, err error) {
	var ask string
	var deadline, created, answered int64
	err = r.Scan(&q.ID, &q.Conversation, &q.Admission, &q.Turn, &ask, &q.State, &q.Answer, &q.By, &q.ByName, &q.For,
		&deadline, &created, &answered)
	if err != nil {
		return q, err
	}
	q.Deadline, q.Created, q.Answered = at(deadline), at(created), at(answered)
	return q, structure(ask, &q.Ask)
}

func question(c querier, op string, id core.QuestionID) (core.Question, error) {
	q, found, err := one(c, scanQuestion, selectQuestions+` WHERE id = ?`, id)
	if err == nil && !found {
		err = core.Errorf(op, core.NotFound, "no question %s", id)
	}
	return q, err
}

// Put implements core.Questions. A continued turn that asks about its call again gets the question of the turn before,
// with what is left of its time, or with its answer.
func (s *Store) Put(ctx context.Context, q core.Question) (out core.Question, err error) {
	const op = "ask"
	if q.ID == "" {
		q.ID = core.QuestionID(newID())
	}
	if q.State == "" {
		q.State = core.QuestionOpen
	}
	if q.Created.IsZero() {
		q.Created = s.now()
	}
	q.Created, q.Deadline, q.Answered = at(ms(q.Created)), at(ms(q.Deadline)), at(ms(q.Answered))
	ask, err := text(q.Ask)
	if err != nil {
		return core.Question{}, err
	}
	err = s.write(ctx, op, unsynced, func(t *tx) error {
		out = q
		if same, found, err := t.asked(q, ask); found || err != nil {
			out = same
			return err
		}
		_, err := t.exec(`INSERT INTO questions (`+questionColumns+`, call) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			q.ID, q.Conversation, q.Admission, q.Turn, ask, q.State, q.Answer, q.By, q.ByName, q.For,
			ms(q.Deadline), ms(q.Created), ms(q.Answered), q.Ask.Call)
		return err
	})
	if err != nil {
		return core.Question{}, err
	}
	return out, nil
}

// asked finds the question that q repeats and makes it this turn's: the open one about the same call, or, when an earlier
// turn asked the same about it, one that has ended.
func (t *tx) asked(q core.Question, ask string) (core.Question, bool, error) {
	if q.Ask.Call == "" {
		return q, false, nil
	}
	same, found, err := one(t, scanQuestion, selectQuestions+` WHERE conversation = ? AND call = ? AND admission = ? AND (state = 'open'
		OR state IN ('answered', 'expired') AND turn <> ? AND ask = ?) ORDER BY n DESC LIMIT 1`,
		q.Conversation, q.Ask.Call, q.Admission, q.Turn, ask)
	lost := same.State != core.QuestionOpen && (same.Ask.Kind == core.Sudo || same.Ask.Kind == core.Secret)
	if err != nil || !found || lost {
		return q, false, err
	}
	same.Turn = q.Turn
	_, err = t.exec(`UPDATE questions SET turn = ? WHERE id = ?`, same.Turn, same.ID)
	return same, true, err
}

// close ends one open question.
func (t *tx) close(q *core.Question, state core.QuestionState, now time.Time) error {
	q.State, q.Answered = state, at(ms(now))
	_, err := t.exec(`UPDATE questions SET state = ?, answer = ?, by_id = ?, by_name = ?, answered = ? WHERE id = ? AND state = 'open'`,
		q.State, q.Answer, q.By, q.ByName, ms(now), q.ID)
	return err
}

// Answer implements core.Questions. An answer that comes after the deadline is too late, even before Expire has seen it.
func (s *Store) Answer(ctx context.Context, id core.QuestionID, answer string, by core.Principal) (q core.Question, err error) {
	const op = "answer"
	err = s.write(ctx, op, synced, func(t *tx) error {
		if q, err = question(t, op, id); err != nil {
			return err
		}
		now := t.now
		if q.State != core.QuestionOpen {
			return core.Errorf(op, core.Conflict, "question %s is %s", id, q.State)
		}
		if !q.Deadline.IsZero() && !q.Deadline.After(now) {
			return core.Errorf(op, core.Conflict, "the time of question %s is over", id)
		}
		q.Answer, q.By, q.ByName = answer, by.ID, by.Name
		return t.close(&q, core.QuestionAnswered, now)
	})
	return q, err
}

// Expire implements core.Questions. It takes the write lock only when there is something to do.
func (s *Store) Expire(ctx context.Context, now time.Time) ([]core.Question, error) {
	const late = selectQuestions + ` WHERE state = 'open' AND deadline > 0 AND deadline <= ? ORDER BY n`
	if due, err := all(s.read(ctx, "expire questions"), scanQuestion, late, ms(now)); err != nil || len(due) == 0 {
		return nil, err
	}
	return s.closeAll(ctx, "expire questions", core.QuestionExpired, now, late, ms(now))
}

// Drop implements core.Questions.
func (s *Store) Drop(ctx context.Context, id core.AdmissionID) ([]core.Question, error) {
	const open = selectQuestions + ` WHERE state = 'open' AND admission = ? ORDER BY n`
	if asked, err := all(s.read(ctx, "drop questions"), scanQuestion, open, id); err != nil || len(asked) == 0 {
		return nil, err
	}
	return s.closeAll(ctx, "drop questions", core.QuestionDropped, s.now(), open, id)
}

func (s *Store) closeAll(ctx context.Context, op string, state core.QuestionState, now time.Time, q string, args ...any) (out []core.Question, err error) {
	err = s.write(ctx, op, unsynced, func(t *tx) error {
		if out, err = all(t, scanQuestion, q, args...); err != nil {
			return err
		}
		for i := range out {
			if err := t.close(&out[i], state, now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Question implements core.Questions.
func (s *Store) Question(ctx context.Context, id core.QuestionID) (core.Question, error) {
	const op = "find question"
	return question(s.read(ctx, op), op, id)
}

// Asking implements core.Questions.
func (s *Store) Asking(ctx context.Context, c core.ConversationID) ([]core.Question, error) {
	r := s.read(ctx, "list questions")
	if c == "" {
		return all(r, scanQuestion, selectQuestions+` WHERE state = 'open' ORDER BY n`)
	}
	return all(r, scanQuestion, selectQuestions+` WHERE conversation = ? AND state = 'open' ORDER BY n`, c)
}

// Asked implements core.Questions.
func (s *Store) Asked(ctx context.Context, c core.ConversationID, of []core.AdmissionID) ([]core.Question, error) {
	if len(of) == 0 {
		return nil, nil
	}
	args := []any{c}
	for _, id := range of {
		args = append(args, id)
	}
	return all(s.read(ctx, "list questions"), scanQuestion, selectQuestions+` WHERE conversation = ? AND admission IN (?`+
		strings.Repeat(", ?", len(of)-1)+`) ORDER BY n`, args...)
}

// Ended implements core.Questions.
func (s *Store) Ended(ctx context.Context, since time.Time) ([]core.Question, error) {
	return all(s.read(ctx, "list ended questions"), scanQuestion, selectQuestions+` WHERE state <> 'open' AND answered >= ? ORDER BY n`, ms(since))
}
