package registry

import (
	"fmt"
	"slices"
	"strings"
)

// Host is what the server's own configuration declares and documents may name.
type Host struct {
	// Programs are the names of programs that providers may run.
	Programs []Name

	// AnyProgram takes every program as declared, where the declarations are
	// not known: the server that has them will tell what is missing.
	AnyProgram bool
}

// Resolve reports what is wrong with documents together, and with each by
// itself: names that lead nowhere, fallbacks that go in circles, two remote
// clients with the same credential. The documents must be all there will be.
// The error is [Problems]. Whether a party can be reached plays no part.
func Resolve(docs []Document, host Host) error { return resolve(docs, nil, nil, host).err() }

// resolve returns all there is to tell. What cannot be read may be named, and
// nothing else is known of it. What is gone was there until now.
func resolve(docs []Document, unreadable []Unreadable, gone map[ID]bool, host Host) Problems {
	docs = sorted(docs)
	s := &future{
		host: host, gone: gone, names: make(map[Kind][]Name), specs: make(map[ID]Spec),
		tokens: make(map[URL][]tokenOf), taken: make(map[identity]Document),
	}
	var problems Problems
	for _, doc := range docs {
		wrong := doc.check()
		if _, found := s.specs[doc.ID()]; found {
			wrong = append(wrong, Problem{Source: doc.Source, Document: doc.ID().String(), Words: "was given twice", Next: "keep one of them"})
		}
		problems = append(problems, wrong...)
		if doc.Spec != nil {
			s.names[doc.Kind] = append(s.names[doc.Kind], doc.Name)
			s.specs[doc.ID()] = doc.Spec
		}
	}
	if len(problems) > 0 {
		return problems
	}
	for _, u := range unreadable {
		s.names[u.ID.Kind] = append(s.names[u.ID.Kind], u.ID.Name)
	}
	var root Document
	for _, doc := range docs {
		r := &reporter{doc: doc}
		for path, name := range secrets(doc.Spec) {
			s.secret(r, path, Name(name))
		}
		switch spec := doc.Spec.(type) {
		case *Provider:
			if spec.Program != "" && !host.AnyProgram {
				declared(r, spec.Program, host.Programs)
			}
		case *Configuration:
			s.configuration(r, spec)
		case *Agent:
			for i, skill := range spec.Skills {
				s.known(r, index("skills", i)+".configuration", ID{KindConfiguration, skill.Configuration}, "there is no configuration")
			}
			if spec.Root && root.Name != "" {
				r.report("root", "agent "+string(root.Name)+" is at the root already", "take root from one of them")
			} else if spec.Root {
				root = doc
			}
		case *RemoteClient:
			s.client(r, spec)
		}
		problems = append(problems, r.problems...)
	}
	return problems
}

// declared reports a program that the server was not told of.
func declared(r *reporter, name Name, programs []Name) {
	if slices.Contains(programs, name) {
		return
	}
	next := "declare it: legation serve --program " + string(name) + "='…'"
	if near := nearest(string(name), texts(programs)); near != "" {
		next = "did you mean " + near + "?"
	}
	r.report("program", "the server's configuration declares no program "+quoted(string(name)), next)
}

// future is all documents there will be.
type future struct {
	host  Host
	gone  map[ID]bool
	names map[Kind][]Name
	specs map[ID]Spec

	tokens map[URL][]tokenOf
	taken  map[identity]Document
}

// known reports a document that is named and will not be there.
func (s *future) known(r *reporter, path string, id ID, none string) {
	if s.gone[id] {
		r.report(path, "needs "+id.String()+", which would be gone", "change that first, then delete it")
		return
	}
	known(r, path, id.Name, s.names[id.Kind], none)
}

// secret checks the name of a secret, and does not repeat it if it was not one.
func (s *future) secret(r *reporter, path string, name Name) {
	id := ID{KindSecret, name}
	if s.gone[id] {
		s.known(r, path, id, "")
		return
	}
	if slices.Contains(s.names[KindSecret], name) {
		return
	}
	next := "register it first, as a document of the kind Secret"
	if near := nearest(string(name), texts(s.names[KindSecret])); near != "" {
		next = "did you mean " + near + "?"
	}
	r.report(path, "there is no secret of this name", next)
}

func (s *future) configuration(r *reporter, c *Configuration) {
	s.known(r, "provider", ID{KindProvider, c.Provider}, "there is no provider")
	provider, _ := s.specs[ID{KindProvider, c.Provider}].(*Provider)
	if provider != nil {
		openAI := provider.Type == ProviderOpenAI
		r.only(openAI, c.Model != "", "model", "providers of type openai")
		r.needs(!openAI || c.Model != "", "model", "name one of the models of provider "+string(c.Provider))
		class, zone := Effective(c).DataClass, Effective(provider).Zone
		if !zone.Allows(class) {
			r.report("dataClass", fmt.Sprintf("the prompt is %s, and provider %s may receive up to %s", class, c.Provider, zone),
				"raise the provider's zone, or lower the class if the prompt allows it")
		}
	}
	for i, ref := range c.Tools.RemoteAgents {
		agent, _ := ref.Split()
		s.known(r, index("tools.remoteAgents", i), ID{KindRemoteAgent, agent}, "there is no remote agent")
	}
	if c.Fallback != "" {
		s.known(r, "fallback", ID{KindConfiguration, c.Fallback}, "there is no configuration")
		s.circle(r, c)
	}
}

// circle reports a chain of fallbacks that comes back to where it began.
func (s *future) circle(r *reporter, c *Configuration) {
	chain := []Name{r.doc.Name}
	for next := c.Fallback; next != ""; {
		if slices.Contains(chain, next) {
			if next == r.doc.Name { // each circle is told by those who are in it
				r.report("fallback", "goes in a circle: "+circleWords(append(chain, next)), "let one of them have no fallback")
			}
			return
		}
		chain = append(chain, next)
		following, _ := s.specs[ID{KindConfiguration, next}].(*Configuration)
		if following == nil {
			return
		}
		next = following.Fallback
	}
}

func circleWords(chain []Name) string {
	const most = 8
	words := texts(chain)
	if len(words) > most {
		words = append(slices.Clone(words[:most-1]), "…", words[len(words)-1])
	}
	return strings.Join(words, " → ")
}

// client checks whom a remote client names, and that nobody else proves itself
// with the same.
func (s *future) client(r *reporter, c *RemoteClient) {
	for i, ref := range c.Skills {
		name, skill := ref.Split()
		agent, found := s.specs[ID{KindAgent, name}].(*Agent)
		if !found {
			s.known(r, index("skills", i), ID{KindAgent, name}, "there is no agent")
			continue
		}
		ids := make([]SkillID, len(agent.Skills))
		for j, one := range agent.Skills {
			ids[j] = one.ID
		}
		known(r, index("skills", i), skill, ids, "agent "+string(name)+" has no skill")
	}
	for i, o := range c.Credentials.OIDC {
		for _, other := range s.tokens[o.Issuer] {
			if other.client != r.doc.Name && other.meets(o) {
				r.report(index("credentials.oidc", i), "remote client "+string(other.client)+" may be meant by the same token", eachItsOwn)
				break
			}
		}
		s.tokens[o.Issuer] = append(s.tokens[o.Issuer], tokenOf{o, r.doc.Name})
	}
	for _, held := range c.Credentials.held() {
		other, found := s.taken[held.identity]
		if found && other.Name != r.doc.Name {
			r.report(held.path, "remote client "+string(other.Name)+" has the same "+held.kind, eachItsOwn)
		}
		s.taken[held.identity] = r.doc
	}
}

const eachItsOwn = "a credential says who calls, so give each client its own"

// tokenOf is a sort of token that stands for a remote client.
type tokenOf struct {
	OIDC
	client Name
}

// meets reports whether one token may stand for both, whatever its audiences:
// what both ask for is the same. Two that ask for different things may still
// meet in one token, which only the token can tell.
func (t tokenOf) meets(o OIDC) bool {
	party, subject := t.AuthorizedParty != "" && o.AuthorizedParty != "", t.Subject != "" && o.Subject != ""
	return (party || subject) && (!party || t.AuthorizedParty == o.AuthorizedParty) && (!subject || t.Subject == o.Subject)
}

// identity is whom a credential proves.
type identity struct{ kind, value string }

// held is a credential of a remote client, as others may not have it.
type held struct {
	identity
	path string
}

func (c Credentials) held() []held {
	var all []held
	for i, k := range c.APIKeys {
		at := index("credentials.apiKeys", i)
		all = append(all, held{identity{"API key id", string(k.ID)}, at + ".id"}, held{identity{"API key", string(k.SHA256)}, at + ".sha256"})
	}
	for i, m := range c.MTLS {
		name := strings.ToLower(string(m.SAN) + string(m.SPKI))
		all = append(all, held{identity{"certificate", name}, index("credentials.mtls", i)})
	}
	return all
}
