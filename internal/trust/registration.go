package trust

import (
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/card"
	"github.com/legation/legation/internal/registry"
)

// Registration is the document of a remote agent, ready for use.
type Registration struct {
	Name registry.Name

	// Generation is that of the document.
	Generation int64

	// Spec is what the document says, with the defaults. It is not changed.
	Spec *registry.RemoteAgent

	pin card.Pin
}

// NewRegistration prepares the document of a remote agent. It reports false if
// the document is of another kind.
func NewRegistration(doc registry.Document) (Registration, bool) {
	given, ok := doc.Spec.(*registry.RemoteAgent)
	if !ok {
		return Registration{}, false
	}
	spec := registry.Effective(given)
	return Registration{Name: doc.Name, Generation: doc.Generation, Spec: spec, pin: pinOf(spec)}, true
}

// Location is where the registration says that the card is: the URL of the card,
// or of the agent.
func (r Registration) Location() string {
	if r.Spec.CardURL != "" {
		return string(r.Spec.CardURL)
	}
	return string(r.Spec.URL)
}

// pinOf leaves out keys that cannot be used: with none left nothing verifies.
func pinOf(spec *registry.RemoteAgent) card.Pin {
	pin := card.Pin{
		Revoked: spec.Pin.Revoked, Name: spec.Pin.Name, Organization: spec.Pin.Organization, MinVersion: spec.MinVersion,
	}
	for _, key := range spec.Pin.Keys {
		text, err := json.Marshal(key)
		if err != nil {
			continue
		}
		if keys, err := card.ParseJWKS(text); err == nil {
			pin.Keys = append(pin.Keys, keys...)
		}
	}
	return pin
}

// thumbprint is that of a pinned key: another key may go by the same id.
func (r Registration) thumbprint(id string) string {
	for _, key := range r.pin.Keys {
		if key.ID() == id {
			return key.Thumbprint()
		}
	}
	return ""
}

// verify reads a card by the pin.
func (r Registration) verify(raw []byte) (card.Trusted, error) {
	if r.Spec.Pin.AllowUnsigned {
		return card.Identify(raw, r.pin)
	}
	return card.Verify(raw, r.pin)
}

// offered are the extensions that we can use with the agent.
func (r Registration) offered(understood []string) []string {
	all := slices.Clone(understood)
	for _, list := range [][]registry.URI{r.Spec.Extensions.Required, r.Spec.Extensions.Offered} {
		for _, uri := range list {
			if !slices.Contains(all, string(uri)) {
				all = append(all, string(uri))
			}
		}
	}
	return all
}
