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
	found, err := h.cfg.Audit.Audit(c.ctx, query)
	if err != nil {
		return nil, err
	}
	answer := Audit{Entries: []AuditEntry{}}
	for _, one := range found {
		answer.Entries = append(answer.Entries, entryForm(one))
	}
	if len(found) == query.Limit {
		answer.Next = found[len(found)-1].Number
		return answer, nil
	}
	answer.Next, err = h.unseen(c, query)
	return answer, err
}

// unseen is what to ask for to go on behind the entries that one read looks at,
// or zero if it has looked at all. Entries are numbered without gaps.
func (h *Handler) unseen(c *call, query audit.Query) (int64, error) {
	newest := query.Before - 1
	if query.Before == 0 {
		last, err := h.cfg.Audit.Audit(c.ctx, audit.Query{Limit: 1})
		if err != nil || len(last) == 0 {
			return 0, err
		}
		newest = last[0].Number
	}
	next := newest - audit.MaxScan + 1
	if next <= 1 {
		return 0, nil
	}
	if !query.Since.IsZero() { // or has come to what is older
		older, err := h.cfg.Audit.Audit(c.ctx, audit.Query{Before: next, Since: query.Since, Limit: 1})
		if err != nil || len(older) == 0 {
			return 0, err
		}
	}
	return next, nil
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

// evidence writes seals with what they cover.
func (h *Handler) evidence(c *call) (any, error) {
	var page bytes.Buffer
	err := h.cfg.Audit.Evidence(c.ctx, c.number("after"), func(seal audit.Seal, entries [][]byte) error {
		line, err := json.Marshal(Evidence{Seal: sealForm(seal), Entries: orEmpty(entries)}, json.Deterministic(true))
		if err != nil {
			return err
		}
		page.Write(append(line, '\n'))
		if page.Len() >= maxEvidence {
			return errPageFull
		}
		return c.ctx.Err()
	})
	if err != nil && !errors.Is(err, errPageFull) {
		return nil, err
	}
	return raw{media: TypeLines, text: page.Bytes()}, nil
}
