package admin

// listAgents tells what is believed of all remote agents.
func (h *Handler) listAgents(c *call) (any, error) {
	all, err := h.cfg.Agents.Agents(c.ctx)
	if err != nil {
		return nil, err
	}
	answer := Agents{Agents: []Agent{}}
	for _, one := range all {
		answer.Agents = append(answer.Agents, one.whole())
	}
	return answer, nil
}

// getAgent tells what is believed of one.
func (h *Handler) getAgent(c *call) (any, error) {
	return agentForm(h.cfg.Agents.Agent(c.ctx, c.name("name")))
}

// checkAgent looks at what is in the way of calls.
func (h *Handler) checkAgent(c *call) (any, error) {
	return reportForm(h.cfg.Agents.Check(c.ctx, c.name("name"), c.who))
}

// acceptCard accepts a card that has changed.
func (h *Handler) acceptCard(c *call) (any, error) {
	var asked AcceptCard
	if err := c.into(&asked); err != nil {
		return nil, err
	}
	if asked.Digest == "" {
		return nil, invalid("the digest of the card that is accepted is missing", "take it from the drift of the remote agent")
	}
	return agentForm(h.cfg.Agents.Accept(c.ctx, c.name("name"), asked.Digest, c.who))
}

func agentForm(agent Agent, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return agent.whole(), nil
}

// whole is the form with every list that it must have.
func (a Agent) whole() Agent {
	a.Reasons = orEmpty(a.Reasons)
	if a.Drift != nil {
		drift := *a.Drift
		drift.Structure, drift.Wording = orEmpty(drift.Structure), orEmpty(drift.Wording)
		a.Drift = &drift
	}
	return a
}
