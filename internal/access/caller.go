package access

import (
	"context"
	"time"

	"github.com/legation/legation/internal/quota"
)

// Caller is the client behind one request, as it was when it was let in. What it
// refers to is shared and must not be changed.
type Caller struct {
	Name       string
	Credential Credential
	Rights     Rights
	Limits     quota.Limits

	// Until is when the credential ends, and with it what was opened on its
	// strength. Zero means never.
	Until time.Time

	// Revoked ends when the credential was taken away, or the rights or limits
	// of the client were tightened: what was opened on their strength ends.
	Revoked context.Context

	fact Fact // what every refusal of the caller has in common
}

// MayCall returns nil or why an operation may not be called.
func (c Caller) MayCall(operation string) *Refusal {
	if c.Rights.Operation(operation) {
		return nil
	}
	return c.forbidden(ReasonOperation, "this client may not call "+operation)
}

// MayUse returns nil or why messages may not be sent to a skill.
func (c Caller) MayUse(agent, skill string) *Refusal {
	if c.Rights.Skill(agent, skill) {
		return nil
	}
	return c.forbidden(ReasonSkill, "this client may not use this skill")
}

func (c Caller) forbidden(reason Reason, words string) *Refusal {
	fact := c.fact
	fact.Reason = reason
	return &Refusal{Status: 403, Words: words, Fact: fact}
}
