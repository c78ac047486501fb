package remotes

import "github.com/legation/legation/internal/registry"

// ErrMoved is errMoved.
var ErrMoved = errMoved

// Way returns the URL that an agent is reached at under a generation of its
// registration.
func (r *Remotes) Way(name registry.Name, generation int64, spec *registry.RemoteAgent) (string, error) {
	l, err := r.leg(name, generation, spec)
	if err != nil {
		return "", err
	}
	return string(l.spec.URL), nil
}
