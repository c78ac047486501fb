package server

import (
	"github.com/legation/legation/a2a"
)

// getExtendedAgentCard answers GetExtendedAgentCard: the card with the private
// skills that the caller may use (section 3.1.11).
func getExtendedAgentCard(c *call) error {
	req, faults, err := decode[a2a.GetExtendedAgentCardRequest](c)
	if err != nil {
		return err
	}
	if err := c.checkParams(req.Tenant, faults); err != nil {
		return err
	}
	e := c.endpoint
	switch {
	case !e.extended:
		return errNoExtendedCard
	case len(e.private) == 0:
		return errNotSetUp
	}
	// A caller that may use nothing here may prove itself in a way that the card
	// of this agent does not declare (section 13.3).
	if usable, refusal := c.usable(); len(usable) == 0 {
		return c.forbidden(refusal)
	}
	form := e.full
	form.Skills = e.shown(func(skill string) bool { return c.mayUse(skill) == nil })
	body, err := signed(form.AppendJSON(nil), e.signers)
	if err != nil {
		return err
	}
	c.w.Header().Set("Cache-Control", "no-store") // it is for this caller alone
	return c.answer(func(b []byte) []byte { return append(b, body...) })
}

var (
	errNoExtendedCard error = a2a.Errorf(a2a.CodeUnsupportedOperation,
		"this agent has no extended card; its card at %s says everything", a2a.WellKnownCardPath)

	errNotSetUp error = a2a.Errorf(a2a.CodeExtendedAgentCardNotConfigured,
		"the extended card of this agent is not set up; its card at %s says everything", a2a.WellKnownCardPath)
)
