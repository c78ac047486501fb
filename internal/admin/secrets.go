package admin

import (
	"strings"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/vault"
)

// listSecrets tells of every secret.
func (h *Handler) listSecrets(c *call) (any, error) {
	all, err := h.cfg.Vault.List(c.ctx)
	if err != nil {
		return nil, err
	}
	return secretForms(all), nil
}

// secretVersions tells of the versions of one.
func (h *Handler) secretVersions(c *call) (any, error) {
	all, err := h.cfg.Vault.Versions(c.ctx, c.name("name"))
	if err != nil {
		return nil, err
	}
	return secretForms(all), nil
}

// putSecret stores the body as a new version. A value that would take off the
// air what uses the secret has to be forced.
func (h *Handler) putSecret(c *call) (any, error) {
	value := vault.NewValue(c.text)
	defer value.Wipe()
	name := c.name("name")
	if h.cfg.Unfit != nil && !c.flag("force") {
		if err := h.cfg.Unfit(name, c.text); err != nil {
			return nil, conflict(err.Error(), "nothing was stored; give the right value, or force this one")
		}
	}
	stored, err := h.cfg.Vault.Put(c.ctx, name, value, c.who, c.effects(secretParty(name)))
	if err != nil {
		return nil, err
	}
	return secretForm(stored), nil
}

// deleteSecret deletes a secret or a version.
func (h *Handler) deleteSecret(c *call) (any, error) {
	ref := vault.Reference{Name: c.name("name"), Version: c.number("version")}
	if c.values.Has("version") && ref.Version == 0 {
		return nil, invalid("versions count from 1", "leave version out to delete all")
	}
	return nil, h.cfg.Vault.Delete(c.ctx, ref, c.effects(secretParty(ref.String())))
}

// secretUses tells what a secret was opened for.
func (h *Handler) secretUses(c *call) (any, error) {
	most := c.limit()
	records, err := h.cfg.Vault.Uses(c.ctx, c.name("name"), c.number("before"), most)
	if err != nil {
		return nil, err
	}
	answer := SecretUses{Uses: []SecretUse{}}
	for _, r := range records {
		answer.Uses = append(answer.Uses, SecretUse{
			Number: r.Number, Version: r.Version, At: r.At, Who: r.Who, Purpose: r.Purpose, Party: r.Party, Host: r.Host,
		})
	}
	if len(records) == most {
		answer.Next = records[most-1].Number
	}
	return answer, nil
}

// rotate brings everything to the primary master key. Values that cannot be
// brought there are told of, and do not make it fail.
func (h *Handler) rotate(c *call) (any, error) {
	done, err := h.cfg.Vault.Rotate(c.ctx)
	if err != nil && done.Failed == 0 {
		return nil, err
	}
	entry := c.entry("")
	if err != nil {
		h.log.Error("sealed values could not be brought to the primary master key", "values", done.Failed, "error", err)
		entry.Outcome, entry.Reason = audit.Failed, "values_left"
	}
	entry.KeyID = done.Primary.String()
	h.record(c.ctx, entry)
	answer := Rotation{Primary: done.Primary.String(), Rewrapped: done.Rewrapped, Failed: done.Failed, Left: []string{}}
	for _, key := range done.Left {
		answer.Left = append(answer.Left, key.String())
	}
	return answer, nil
}

func secretForms(all []vault.Metadata) Secrets {
	answer := Secrets{Secrets: []Secret{}}
	for _, one := range all {
		answer.Secrets = append(answer.Secrets, secretForm(one))
	}
	return answer
}

func secretForm(m vault.Metadata) Secret {
	return Secret{Name: m.Name, Version: m.Version, Author: m.Author, CreatedAt: m.CreatedAt, UsedAt: m.UsedAt, MasterKey: m.Key.String()}
}

// secretParty names a secret in the audit. A name that no secret has is refused
// before it gets there.
func secretParty(name string) string { return "Secret/" + strings.ToValidUTF8(name, "") }
