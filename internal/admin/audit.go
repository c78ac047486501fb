package admin

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/internal/audit"
)

// listAudit tells what happened.
func (h *Handler) listAudit(c *call) (any, error) {
	query := audit.Query{
		Before: c.number("before"), Since: c.time("since"), Who: c.textOf("who"), Party: c.textOf("party"),
		Operation: c.textOf("operation"), Outcome: audit.Outcome(c.textOf("outcome")), TaskID: c.textOf("task"), Limit: c.limit(),
	}
	page, err := h.cfg.Audit.Audit(c.ctx, query)
	if err != nil {
		return nil, err
	}
	answer := Audit{Entries: []AuditEntry{}, Next: page.Next}
	for _, one := range page.Entries {
		answer.Entries = append(answer.Entries, entryForm(one))
	}
	return answer, nil
}

func entryForm(r audit.Recorded) AuditEntry {
	return AuditEntry{
		Number: r.Number, At: r.At, Who: r.Who, Party: r.Party, Agent: r.Agent, From: r.From, Operation: r.Operation, Outcome: string(r.Outcome), Reason: r.Reason, Count: r.Count,
		TaskID: r.TaskID, DelegationID: r.DelegationID, KeyID: r.KeyID, Hash: r.Hash,
	}
}

// maxEvidence is about how many bytes of evidence one answer has.
const maxEvidence = 4 << 20

var errPageFull = errors.New("the page is full")

// evidence writes seals with what they cover, and behind the last of them what
// none covers.
func (h *Handler) evidence(c *call) (any, error) {
	var page bytes.Buffer
	line := func(e Evidence) error {
		text, err := json.Marshal(e, json.Deterministic(true))
		page.Write(append(text, '\n'))
		return err
	}
	err := h.cfg.Audit.Evidence(c.ctx, c.number("after"), func(seal audit.Seal, entries [][]byte) error {
		if err := line(Evidence{Seal: sealForm(seal), Entries: orEmpty(entries)}); err != nil {
			return err
		}
		if page.Len() >= maxEvidence {
			return errPageFull
		}
		return c.ctx.Err()
	})
	if err != nil && !errors.Is(err, errPageFull) {
		return nil, err
	}
	if page.Len() == 0 {
		unsealed, err := h.cfg.Audit.Unsealed(c.ctx)
		if err != nil {
			return nil, err
		}
		if len(unsealed) > 0 {
			if err := line(Evidence{Unsealed: unsealed}); err != nil {
				return nil, err
			}
		}
	}
	return raw{media: TypeLines, text: page.Bytes()}, nil
}
