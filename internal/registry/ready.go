package registry

import (
	"maps"
	"slices"
	"time"
)

// State says whether a document has an effect.
type State string

// The states.
const (
	Ready    State = "ready"
	Inert    State = "inert"
	Disabled State = "disabled"
)

// Refs is what readiness depends on besides the document.
type Refs struct {
	// HasValue reports whether the vault holds a value of a secret. Nil means
	// that it holds all.
	HasValue func(SecretName) bool

	// HasProgram reports whether the server's own configuration declares a
	// program. Nil means that it declares all.
	HasProgram func(Name) bool

	// Now is the time by which credentials have ended or not.
	Now time.Time
}

// Readiness returns the state of a document that has no problems. The reasons
// say what is missing, each with what to do; they are for disabled documents
// too, so that all can be mended at once. Whether a remote party answers is
// another question.
func Readiness(doc Document, refs Refs) (State, []string) {
	var reasons []string
	missing := func(when bool, words string) {
		if when {
			reasons = append(reasons, words)
		}
	}
	enabled := true
	switch spec := doc.Spec.(type) {
	case *Provider:
		missing(spec.Program != "" && refs.HasProgram != nil && !refs.HasProgram(spec.Program),
			"the server's configuration declares no program "+quoted(string(spec.Program))+": declare it with legation serve --program "+string(spec.Program)+"='…'")
	case *RemoteClient:
		enabled = spec.Enabled
		missing(!spec.Credentials.usable(refs.Now), spec.Credentials.why())
		missing(len(spec.Skills) == 0, "no skill is allowed: name some in spec.skills")
	case *RemoteAgent:
		enabled = spec.Enabled
		missing(spec.Send == "", "nothing may be sent: set spec.send to the highest data class that the agent may receive")
		missing(spec.Returns == "", "what comes back is not classified: set spec.returns to its data class")
		missing(spec.Credential == Credential{}, "there is no credential: set spec.credential, to none: true if the agent asks for none")
		missing(len(spec.Pin.Keys) > 0 && !spec.Pin.usable(), "every pinned key is revoked: add a key of the agent that is not to spec.pin.keys")
		missing(!spec.Pin.AllowUnsigned && len(spec.Pin.Keys) == 0, "no key is pinned: add the agent's public key to spec.pin.keys, or set spec.pin.allowUnsigned if it does not sign its card")
	}
	if refs.HasValue != nil {
		named := secrets(doc.Spec)
		for _, path := range slices.Sorted(maps.Keys(named)) {
			missing(!refs.HasValue(named[path]), "secret "+string(named[path])+" has no value, which spec."+path+" needs: set it")
		}
	}
	switch {
	case !enabled:
		return Disabled, append([]string{"it is not enabled: set spec.enabled to true"}, reasons...)
	case len(reasons) > 0:
		return Inert, reasons
	}
	return Ready, nil
}

// usable reports whether any credential is still good.
func (c Credentials) usable(now time.Time) bool {
	return len(c.OIDC)+len(c.MTLS) > 0 || slices.ContainsFunc(c.APIKeys, func(k APIKey) bool { return k.Usable(now) })
}

func (c Credentials) why() string {
	if len(c.APIKeys) > 0 {
		return "every API key has ended or is revoked: issue one, or set spec.credentials"
	}
	return "there is no credential: issue an API key, or set spec.credentials"
}

// Usable reports whether a key is neither revoked nor ended.
func (k APIKey) Usable(now time.Time) bool {
	return !k.Revoked && (k.NotAfter.IsZero() || !now.After(k.NotAfter))
}

func (p Pin) usable() bool {
	return slices.ContainsFunc(p.Keys, func(k JWK) bool { return !slices.Contains(p.Revoked, k.Kid) })
}
