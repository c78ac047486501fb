package admin

// status says what this installation is.
func (h *Handler) status(c *call) (any, error) {
	answer := Status{
		Version: h.cfg.Version, Offline: h.cfg.Offline, StartedAt: h.cfg.StartedAt, Unreadable: []string{},
		Who: c.who, Role: string(c.role),
	}
	if h.cfg.Registry != nil {
		set := h.cfg.Registry.Set()
		answer.Revision, answer.Resources = set.Revision, len(set.Documents)
		for _, doc := range set.Unreadable {
			answer.Unreadable = append(answer.Unreadable, doc.ID.String())
		}
	}
	return answer, nil
}
