package task

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/quota"
	"github.com/legation/legation/internal/work"
)

// Request is a caller's message. It was validated against the wire's rules.
type Request struct {
	// Message is what the caller says. Its TaskID continues a task, its
	// ContextID begins one in a conversation; with neither, both are new.
	Message *a2a.Message

	// Skill is who shall answer. A continued task keeps the skill it has.
	Skill string

	Metadata            a2a.Struct
	AcceptedOutputModes []string

	// Hold is what to set aside of the caller's quota for the turn; its ID is
	// filled in. The turn's end settles it. Nil sets nothing aside. A message
	// that joins its task holds nothing more.
	Hold *quota.Hold

	// Audit is the evidence of the message, stored with it. The id of the task
	// and the hash of the message are filled in. A message that joins leaves
	// none.
	Audit []audit.Entry
}

// effects are what is stored with a message for a task.
func (r *Request) effects(id a2a.TaskID, hash [32]byte) (effects work.Effects) {
	if r.Hold != nil {
		hold := *r.Hold
		hold.ID = string(id)
		effects.Hold = &hold
	}
	for _, entry := range r.Audit {
		entry.TaskID, entry.Hash = string(id), hex.EncodeToString(hash[:])
		effects.Audit = append(effects.Audit, entry)
	}
	return effects
}

// Reply is the answer to a message: exactly one of its members is set.
type Reply struct {
	Message *a2a.Message
	Task    *Record
}

// storeTimeout bounds the wait for the store to take a message.
const storeTimeout = time.Minute

// Send gives a message to an agent. The task that took it is durable when Send
// returns, and its turn goes on whatever becomes of ctx. The same message again
// joins the task it went to.
//
// The errors are [ErrNotFound], [ErrContextMismatch], [ErrEnded], [ErrWorking],
// [ErrMessageChanged], [ErrTooLarge], [ErrBusy], [ErrNoSkill], [ErrStopping],
// a [quota.ExceededError] if Request.Hold does not fit, and whatever *a2a.Error an [agent.Responder] answers with.
func (e *Engine) Send(ctx context.Context, owner Owner, req Request) (Reply, error) {
	if e.claimer.Stopping() {
		return Reply{}, ErrStopping
	}
	key, err := e.messageKey(owner, req)
	if err != nil {
		return Reply{}, err
	}
	// Once the message is on its way to the store, its sender's patience does
	// not matter: a task that was stored must be started too.
	stored, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	e.reserve(owner, &req)
	if req.Message.TaskID != "" {
		effects := req.effects(req.Message.TaskID, key.Hash)
		return e.accept(stored, owner, req.Message, func(adm Admission) (Accepted, error) {
			return e.store.Continue(stored, e.continuation(key, req, adm), effects)
		})
	}

	answers, ok := e.agents.Agent(owner.Agent, req.Skill)
	if !ok {
		return Reply{}, ErrNoSkill
	}
	contextID := req.Message.ContextID
	newContext := contextID == ""
	if newContext {
		contextID = a2a.ContextID(a2a.NewID())
	}
	if responder, ok := answers.(agent.Responder); ok {
		reply, err := e.respond(ctx, responder, key, contextID, req)
		if err != nil || reply.Message != nil || reply.Task != nil {
			return reply, err
		}
	}
	rec, first := NewRecord(Record{
		Owner: owner, ID: a2a.TaskID(a2a.NewID()), ContextID: contextID, Skill: req.Skill,
		Turn: Turn{Metadata: req.Metadata, AcceptedOutputModes: req.AcceptedOutputModes},
	}, req.Message, e.cfg.Now())
	if rec.Size() > e.limit {
		return Reply{}, ErrTooLarge
	}
	effects := req.effects(rec.ID, key.Hash)
	return e.accept(stored, owner, req.Message, func(adm Admission) (Accepted, error) {
		return e.store.Create(stored, NewTask{Record: rec, Event: first, Message: key, Admission: adm, NewContext: newContext}, effects)
	})
}

// reserve adds to what is held for a turn what its agent says that it may use.
func (e *Engine) reserve(owner Owner, req *Request) {
	if req.Hold == nil {
		return
	}
	answers, _ := e.agents.Agent(owner.Agent, req.Skill)
	r, ok := answers.(agent.Reserving)
	if !ok {
		return
	}
	hold := *req.Hold
	tokens, cost := r.Reserve(maxTokens(req.Message))
	hold.Amount.Tokens, hold.Amount.Cost = max(hold.Amount.Tokens, tokens), max(hold.Amount.Cost, cost)
	req.Hold = &hold
}

func (e *Engine) continuation(key MessageKey, req Request, adm Admission) Continuation {
	return Continuation{
		Message: key,
		TaskID:  req.Message.TaskID,
		Input: Input{
			Message:   req.Message,
			Turn:      Turn{Metadata: req.Metadata, AcceptedOutputModes: req.AcceptedOutputModes},
			ContextID: req.Message.ContextID,
			At:        e.cfg.Now(),
			MaxBytes:  e.limit,
		},
		Admission: adm,
	}
}

// respond asks an agent for an answer without a task, unless the message
// already went to one.
func (e *Engine) respond(ctx context.Context, responder agent.Responder, key MessageKey, contextID a2a.ContextID, req Request) (Reply, error) {
	if key.ID != "" {
		rec, found, err := e.store.Joined(ctx, key)
		if err != nil {
			return Reply{}, err
		}
		if found {
			return Reply{Task: &rec}, nil
		}
	}
	turn := agent.Turn{
		ContextID: contextID, Skill: req.Skill, Number: 1, Attempt: 1,
		Message: req.Message, Metadata: req.Metadata, AcceptedOutputModes: req.AcceptedOutputModes,
		MaxTokens: maxTokens(req.Message),
		Memory:    &memory{engine: e, owner: key.Owner, contextID: contextID, message: req.Message},
	}
	message, err := e.ask(ctx, responder, turn)
	if err != nil || message == nil {
		return Reply{}, err
	}
	if err := e.account(ctx, req, key.Hash); err != nil {
		return Reply{}, err
	}
	answer := *message
	answer.Role, answer.TaskID, answer.ContextID = a2a.RoleAgent, "", contextID
	if answer.MessageID == "" {
		answer.MessageID = a2a.MessageID(a2a.NewID())
	}
	return Reply{Message: &answer}, nil
}

// account counts an answer without a task, and writes down that it was given,
// before it is.
func (e *Engine) account(ctx context.Context, req Request, hash [32]byte) error {
	if req.Hold == nil && len(req.Audit) == 0 {
		return nil
	}
	id := a2a.TaskID(a2a.NewID()) // of no task: only for the hold to be settled by
	effects := req.effects(id, hash)
	for i := range effects.Audit {
		effects.Audit[i].TaskID = ""
	}
	if effects.Hold != nil {
		if err := e.store.Account(ctx, work.Effects{Hold: effects.Hold}); err != nil {
			return err
		}
		effects.Hold, effects.Settle = nil, []quota.Use{{ID: string(id), AsHeld: true}}
	}
	return e.store.Account(context.WithoutCancel(ctx), effects)
}

// ask enters a responder, like a run in number and in safety.
func (e *Engine) ask(ctx context.Context, responder agent.Responder, turn agent.Turn) (message *a2a.Message, err error) {
	select {
	case e.asking <- struct{}{}:
		defer func() { <-e.asking }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() {
		if p := recover(); p != nil {
			e.cfg.Logger.Error("an agent panicked", "skill", turn.Skill, "stack", string(debug.Stack()))
			err = errors.New("the agent panicked")
		}
	}()
	if message, err = responder.Respond(ctx, turn); err != nil {
		return nil, err
	}
	return message, checkMessage(message)
}

// messageKey identifies a message by its sender, its id and a hash of its
// canonical content (RFC 8785), so that a retry is told from a mistake.
func (e *Engine) messageKey(owner Owner, req Request) (MessageKey, error) {
	if e.cfg.Repeats {
		return MessageKey{Owner: owner}, nil
	}
	content := a2a.SendMessageRequest{Message: *req.Message, Metadata: req.Metadata}
	canonical := jsontext.Value(content.AppendJSON(nil))
	if err := canonical.Canonicalize(); err != nil {
		return MessageKey{}, fmt.Errorf("canonical form of a message: %w", err)
	}
	return MessageKey{Owner: owner, ID: req.Message.MessageID, Hash: sha256.Sum256(canonical)}, nil
}
