package admin

import (
	"encoding/hex"
	"slices"

	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/registry"
)

// maxKeys is how many API keys a remote client has at most.
const maxKeys = 16

// listKeys tells of the keys of a remote client.
func (h *Handler) listKeys(c *call) (any, error) {
	doc, found := h.cfg.Registry.Set().Document(c.client())
	spec, ok := doc.Spec.(*registry.RemoteClient)
	if !found || !ok {
		return nil, unregistered(c.client())
	}
	answer := ClientKeys{Keys: []ClientKey{}}
	for _, key := range spec.Credentials.APIKeys {
		answer.Keys = append(answer.Keys, h.keyForm(key))
	}
	return answer, nil
}

// issueKey issues a key. If there is no room for one, a key that cannot be used
// any more gives way.
func (h *Handler) issueKey(c *call) (any, error) {
	var asked IssueKey
	if err := c.into(&asked); err != nil {
		return nil, err
	}
	if !asked.NotAfter.IsZero() && !asked.NotAfter.After(h.now()) {
		return nil, invalid("the key would have ended already: notAfter is in the past", "")
	}
	text, issued := access.Issue()
	key := registry.APIKey{
		ID: registry.KeyID(issued.ID), SHA256: registry.SHA256(hex.EncodeToString(issued.SHA256[:])), NotAfter: asked.NotAfter.UTC(),
	}
	err := h.editKeys(c, key.ID, func(keys []registry.APIKey) ([]registry.APIKey, error) {
		if len(keys) >= maxKeys {
			i := slices.IndexFunc(keys, func(k registry.APIKey) bool { return !k.Usable(h.now()) })
			if i < 0 {
				return nil, conflict("the remote client has 16 keys, which is the most", "revoke one first")
			}
			keys = slices.Delete(keys, i, i+1)
		}
		return append(keys, key), nil
	})
	if err != nil {
		return nil, err
	}
	return IssuedKey{ID: issued.ID, Key: text, NotAfter: key.NotAfter}, nil
}

// revokeKey withdraws a key. Doing it again changes nothing.
func (h *Handler) revokeKey(c *call) (any, error) {
	id := registry.KeyID(c.name("id"))
	var revoked registry.APIKey
	err := h.editKeys(c, id, func(keys []registry.APIKey) ([]registry.APIKey, error) {
		i := slices.IndexFunc(keys, func(k registry.APIKey) bool { return k.ID == id })
		if i < 0 {
			return nil, notFound("the remote client has no such key", "see which it has")
		}
		keys[i].Revoked = true
		revoked = keys[i]
		return keys, nil
	})
	if err != nil {
		return nil, err
	}
	return h.keyForm(revoked), nil
}

// editKeys changes the keys of the remote client that the path names. Which key
// it was is written down with the change.
func (h *Handler) editKeys(c *call, key registry.KeyID, change func([]registry.APIKey) ([]registry.APIKey, error)) error {
	id := c.client()
	if _, found := h.cfg.Registry.Set().Document(id); !found {
		return unregistered(id)
	}
	told := c.entry(id.String())
	told.KeyID = string(key)
	_, err := h.cfg.Registry.Edit(c.ctx, c.who, id, func(doc registry.Document) (registry.Document, error) {
		spec, ok := doc.Spec.(*registry.RemoteClient)
		if !ok {
			return doc, unregistered(id)
		}
		next := *spec
		keys, err := change(slices.Clone(spec.Credentials.APIKeys))
		if err != nil {
			return doc, err
		}
		next.Credentials.APIKeys = keys
		doc.Spec = &next
		return doc, nil
	}, told)
	return err
}

// checkClient says what is in the way of a remote client.
func (h *Handler) checkClient(c *call) (any, error) {
	return reportForm(h.cfg.Clients.CheckClient(c.ctx, c.name("name")))
}

func reportForm(report Report, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	report.Findings = orEmpty(report.Findings)
	return report, nil
}

// client is the remote client that the path names.
func (c *call) client() registry.ID {
	return registry.ID{Kind: registry.KindRemoteClient, Name: registry.Name(c.name("name"))}
}

func (h *Handler) keyForm(key registry.APIKey) ClientKey {
	return ClientKey{ID: string(key.ID), NotAfter: key.NotAfter, Revoked: key.Revoked, Usable: key.Usable(h.now())}
}
