package registry

import "strings"

// faults are what is wrong with a set.
type faults struct {
	of  *Set
	all map[string][]string
}

// Faults returns what is wrong with a document together with the others that
// are registered: it names something that the command line has published and
// does not any more. As far as that goes it has no effect. A credential that two
// have is not among them: who lets in by it tells for whom it counts.
func (r *Registry) Faults(id ID) []string {
	set := r.set.Load()
	known := r.faults.Load()
	if known == nil || known.of != set {
		known = &faults{of: set, all: make(map[string][]string)}
		// Whether a program is declared is for Readiness to tell.
		for _, one := range resolve(set.Documents, set.Unreadable, nil, Host{AnyProgram: true}) {
			if strings.HasPrefix(one.Path, "spec.credentials.") {
				continue
			}
			document := one.Document
			one.Source, one.Document = Source{}, ""
			known.all[document] = append(known.all[document], strings.TrimSpace(one.Error()))
		}
		r.faults.Store(known)
	}
	return known.all[id.String()]
}
