package rpc

import (
	"context"

	"bellhop/core"
)

type approvalParams struct {
	RequestID core.QuestionID `json:"request_id"`
	Session   string          `json:"session_id"` // where to look when there is no request id
	Choice    string          `json:"choice" need:"yes"`
	All       bool            `json:"resolve_all"`
}

type answered struct {
	Status   string            `json:"status"` // resolved
	Resolved int               `json:"resolved"`
	IDs      []core.QuestionID `json:"request_ids"`
}

var choices = map[string]core.Choice{"once": core.ChoiceOnce, "approve": core.ChoiceOnce, "session": core.ChoiceSession,
	"always": core.ChoiceAlways, "deny": core.ChoiceDeny}

// approvalRespond answers one approval: the named one, or the oldest that waits. With resolve_all it answers all that wait
// in the session, or in the sessions that the client follows.
func approvalRespond(ctx context.Context, e *Env, p approvalParams) (answered, error) {
	choice, ok := choices[p.Choice]
	if !ok {
		return answered{}, fault(BadParams, "choice must be once, session, always or deny")
	}
	ids, err := e.approvals(ctx, p)
	if err != nil {
		return answered{}, err
	}
	return e.answerAll(ctx, core.Approval, ids, string(choice))
}

func (e *Env) approvals(ctx context.Context, p approvalParams) ([]core.QuestionID, error) {
	if p.RequestID != "" && !p.All {
		return []core.QuestionID{p.RequestID}, nil
	}
	where := e.c.following()
	if p.Session != "" {
		conv, err := e.conversation(ctx, p.Session, core.CanApprove)
		if err != nil {
			return nil, err
		}
		where = []core.ConversationID{conv.ID}
	}
	var ids []core.QuestionID
	if p.RequestID != "" {
		ids = append(ids, p.RequestID)
	}
	for _, c := range where {
		open, err := e.s.cfg.Ask.Open(ctx, c)
		if err != nil {
			return nil, err
		}
		for _, q := range open {
			if q.Ask.Kind == core.Approval && q.ID != p.RequestID {
				ids = append(ids, q.ID)
			}
		}
	}
	if !p.All && len(ids) > 1 {
		ids = ids[:1]
	}
	return ids, nil
}

// answerAll gives one answer to questions of a kind. Whoever comes second, or late, is told that nothing waits; when
// several were meant, those that still waited count.
func (e *Env) answerAll(ctx context.Context, kind core.QuestionKind, ids []core.QuestionID, answer string) (answered, error) {
	out := answered{Status: "resolved", IDs: []core.QuestionID{}}
	last := nonePending(kind)
	for _, id := range ids {
		if err := e.answer(ctx, kind, id, answer); err != nil {
			last = err
			continue
		}
		out.IDs = append(out.IDs, id)
	}
	if out.Resolved = len(out.IDs); out.Resolved == 0 {
		return answered{}, last
	}
	return out, nil
}

func (e *Env) answer(ctx context.Context, kind core.QuestionKind, id core.QuestionID, answer string) error {
	q, err := e.s.cfg.Store.Question(ctx, id)
	if core.Is(err, core.NotFound) {
		return nonePending(kind)
	}
	if err != nil {
		return err
	}
	need := core.CanRespond
	if kind == core.Approval {
		need = core.CanApprove
	}
	if _, err := e.conversation(ctx, string(q.Conversation), need); err != nil {
		return nonePending(kind) // whose question it is, is not told
	}
	if q.Ask.Kind != kind || q.State != core.QuestionOpen {
		return nonePending(kind)
	}
	_, err = e.s.cfg.Ask.Answer(ctx, e.By, id, answer)
	if core.Is(err, core.Conflict) || core.Is(err, core.NotFound) {
		return nonePending(kind)
	}
	return err
}

func nonePending(kind core.QuestionKind) error {
	return fault(SessionNow, "no pending "+string(kind)+" request")
}

type clarifyParams struct {
	RequestID core.QuestionID `json:"request_id" need:"yes"`
	Answer    *string         `json:"answer" need:"yes"`
}

func clarifyRespond(ctx context.Context, e *Env, p clarifyParams) (answered, error) {
	return e.answerAll(ctx, core.Clarify, []core.QuestionID{p.RequestID}, *p.Answer)
}

type sudoParams struct {
	RequestID core.QuestionID `json:"request_id" need:"yes"`
	Password  *string         `json:"password" need:"yes"`
}

func sudoRespond(ctx context.Context, e *Env, p sudoParams) (answered, error) {
	return e.answerAll(ctx, core.Sudo, []core.QuestionID{p.RequestID}, *p.Password)
}

type secretParams struct {
	RequestID core.QuestionID `json:"request_id" need:"yes"`
	Value     *string         `json:"value" need:"yes"`
}

func secretRespond(ctx context.Context, e *Env, p secretParams) (answered, error) {
	return e.answerAll(ctx, core.Secret, []core.QuestionID{p.RequestID}, *p.Value)
}
