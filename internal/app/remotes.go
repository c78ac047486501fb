package app

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"

	"github.com/legation/legation/card"
	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/extension"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/remotes"
	"github.com/legation/legation/internal/trust"
)

// openRemotes makes the parts of the client role.
func (c *core) openRemotes(ctx context.Context) (err error) {
	c.remotes, err = remotes.New(ctx, c.store, c.vault, remotes.Config{
		Understood:  extension.Understood(),
		HasValue:    c.hasValue,
		EgressProxy: c.egress,
		Marker:      filepath.Join(c.cfg.Data, "remote-trust-settled"),
		Logger:      c.log,
	})
	return err
}

// followRemotes makes the remote agents that are registered, and what the vault
// holds for them, take effect: as they are now, however many changes are told of
// at once. It waits for nobody.
func (c *core) followRemotes(ctx context.Context) {
	c.following.Lock()
	defer c.following.Unlock()
	c.listSecrets(ctx)
	if err := c.remotes.Set(ctx, c.registry.Set()); err != nil {
		c.log.Error("what is believed of remote agents could not be written down; it is tried again", "error", err)
	}
}

// administered is remote agents as the admin API tells of them.
type administered struct{ remotes *remotes.Remotes }

// Agents returns all of them, by name.
func (a administered) Agents(context.Context) ([]admin.Agent, error) {
	all := []admin.Agent{}
	for _, known := range a.remotes.Book().All() {
		all = append(all, agentForm(known))
	}
	return all, nil
}

// Agent returns one of them.
func (a administered) Agent(_ context.Context, name string) (admin.Agent, error) {
	known, ok := a.remotes.Book().Known(registry.Name(name))
	if !ok {
		return admin.Agent{}, notRegistered(name)
	}
	return agentForm(known), nil
}

// Check looks at everything that can be in the way of a call.
func (a administered) Check(ctx context.Context, name, who string) (admin.Report, error) {
	found, err := a.remotes.Check(ctx, registry.Name(name), who)
	if err != nil {
		return admin.Report{}, agentError(name, err)
	}
	report := admin.Report{Name: name, OK: found.OK, First: found.First}
	for _, finding := range found.Findings {
		report.Findings = append(report.Findings, admin.Finding{
			Step: string(finding.Step), Outcome: outcomes[finding.Outcome], Words: finding.Words, Next: finding.Next,
		})
	}
	return report, nil
}

// Accept takes the card of a digest.
func (a administered) Accept(ctx context.Context, name, digest, author string) (admin.Agent, error) {
	if err := a.remotes.Book().Accept(ctx, registry.Name(name), digest, author); err != nil {
		return admin.Agent{}, agentError(name, err)
	}
	return a.Agent(ctx, name)
}

var outcomes = map[remotes.Outcome]admin.Outcome{
	remotes.Fine: admin.OutcomeOK, remotes.Warning: admin.OutcomeWarning,
	remotes.Failed: admin.OutcomeProblem, remotes.Skipped: admin.OutcomeSkipped,
}

func notRegistered(name string) error {
	return &admin.Failure{
		Status: http.StatusNotFound, Code: admin.CodeNotFound,
		Message: "there is no remote agent " + name, Next: "register it with: legation apply",
	}
}

func agentError(name string, err error) error {
	switch {
	case errors.Is(err, trust.ErrUnknown):
		return notRegistered(name)
	case errors.Is(err, trust.ErrNothingToAccept), errors.Is(err, trust.ErrOtherCard):
		return &admin.Failure{
			Status: http.StatusConflict, Code: admin.CodeConflict,
			Message: err.Error(), Next: "look at it again with: legation agent show " + name,
		}
	}
	return err
}

func agentForm(known trust.Knowledge) admin.Agent {
	form := admin.Agent{
		Name: string(known.Name), State: string(known.State), Reasons: []string{},
		CardURL: known.URL, KeyID: known.KeyID, Algorithm: known.Algorithm, Digest: known.Digest,
		FetchedAt: known.FetchedAt, VerifiedAt: known.VerifiedAt, ExpiresAt: known.Until,
	}
	for _, reason := range known.Reasons {
		form.Reasons = append(form.Reasons, reason.String())
	}
	if known.Card != nil {
		form.Version = known.Card.Version
	}
	if !known.Drift.Empty() {
		form.Drift = &admin.Drift{Digest: known.Digest, Structure: words(known.Drift.Structure), Wording: words(known.Drift.Wording)}
	}
	if known.Failure != nil {
		form.LastError = known.Failure.Words
	}
	return form
}

func words(changes []card.Change) []string {
	all := []string{}
	for _, change := range changes {
		all = append(all, change.String())
	}
	return all
}
