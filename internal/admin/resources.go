package admin

import (
	"net/http"
	"slices"
	"strings"

	"github.com/legation/legation/internal/registry"
)

// maxListed is how many bytes of documents an answer has at most.
const maxListed = 32 << 20

const unreadable = "unreadable"

// listResources tells of everything that is registered, or of one kind.
func (h *Handler) listResources(c *call) (any, error) {
	refs, err := h.refs(c)
	if err != nil {
		return nil, err
	}
	set := h.cfg.Registry.Set()
	answer := Resources{Revision: set.Revision, Resources: []Resource{}}
	size := 0
	for _, doc := range set.Documents {
		if kind := c.textOf("kind"); kind != "" && kind != string(doc.Kind) {
			continue
		}
		one := h.resource(doc, refs, c.flag("documents"))
		if size += len(one.Document); size > maxListed {
			return nil, tooMuch()
		}
		answer.Resources = append(answer.Resources, one)
	}
	for _, doc := range set.Unreadable {
		if kind := c.textOf("kind"); kind == "" || kind == string(doc.ID.Kind) {
			answer.Resources = append(answer.Resources, unread(doc))
		}
	}
	slices.SortStableFunc(answer.Resources, func(a, b Resource) int { return a.id().Compare(b.id()) })
	return answer, nil
}

// getResource tells of one document.
func (h *Handler) getResource(c *call) (any, error) {
	id, set := c.id(), h.cfg.Registry.Set()
	if doc, found := set.Document(id); found {
		refs, err := h.refs(c)
		if err != nil {
			return nil, err
		}
		return h.resource(doc, refs, true), nil
	}
	for _, doc := range set.Unreadable {
		if doc.ID == id {
			return unread(doc), nil
		}
	}
	return nil, unregistered(id)
}

// export writes documents as they can be applied again.
func (h *Handler) export(c *call) (any, error) {
	kind, name := c.textOf("kind"), c.textOf("name")
	if name != "" && kind == "" {
		return nil, invalid("a name is only told apart within a kind", "give the parameter kind too")
	}
	size := 0
	var docs []registry.Document
	for _, doc := range h.cfg.Registry.Set().Documents {
		if kind != "" && kind != string(doc.Kind) || name != "" && name != string(doc.Name) || doc.Published && name == "" {
			continue
		}
		if size += len(registry.EncodeJSON(doc)); size > maxListed {
			return nil, tooMuch()
		}
		docs = append(docs, doc)
	}
	if name != "" && len(docs) == 0 {
		return nil, unregistered(registry.ID{Kind: registry.Kind(kind), Name: registry.Name(name)})
	}
	return raw{media: TypeYAML, text: registry.EncodeYAML(docs...)}, nil
}

// schema is the schema of a kind.
func (h *Handler) schema(c *call) (any, error) {
	text := registry.Schema(registry.Kind(c.name("kind")))
	if text == nil {
		return nil, notFound("there is no such kind", "the kinds are "+strings.Join(kinds(), ", "))
	}
	return raw{media: TypeSchema, text: text}, nil
}

// refs is what the state of documents depends on, now.
func (h *Handler) refs(c *call) (registry.Refs, error) {
	refs := registry.Refs{Now: h.now(), HasProgram: h.cfg.Programs}
	if h.cfg.Vault == nil {
		return refs, nil
	}
	all, err := h.cfg.Vault.List(c.ctx)
	if err != nil {
		return refs, err
	}
	held := make(map[registry.SecretName]bool, len(all))
	for _, one := range all {
		held[registry.SecretName(one.Name)] = true
	}
	refs.HasValue = func(name registry.SecretName) bool { return held[name] }
	return refs, nil
}

func (h *Handler) resource(doc registry.Document, refs registry.Refs, whole bool) Resource {
	state, reasons := registry.Readiness(doc, refs)
	if state == registry.Ready {
		if reasons = h.behind(doc, refs); len(reasons) > 0 {
			state = registry.Inert
		}
	}
	if h.cfg.Troubles != nil && state == registry.Ready {
		if reasons = h.cfg.Troubles(doc.ID()); len(reasons) > 0 {
			state = registry.Inert
		}
	}
	one := Resource{
		Kind: string(doc.Kind), Name: string(doc.Name), Generation: doc.Generation,
		State: string(state), Reasons: orEmpty(reasons), Published: doc.Published,
	}
	if whole {
		one.Document = JSON(registry.EncodeJSON(doc))
	}
	return one
}

// behind says what a configuration lacks because its provider does.
func (h *Handler) behind(doc registry.Document, refs registry.Refs) []string {
	spec, ok := doc.Spec.(*registry.Configuration)
	if !ok {
		return nil
	}
	id := registry.ID{Kind: registry.KindProvider, Name: spec.Provider}
	provider, found := h.cfg.Registry.Set().Document(id)
	if !found {
		return nil
	}
	if state, _ := registry.Readiness(provider, refs); state != registry.Ready {
		return []string{"its provider is " + string(state) + ": see " + id.String()}
	}
	return nil
}

func unread(doc registry.Unreadable) Resource {
	return Resource{
		Kind: string(doc.ID.Kind), Name: string(doc.ID.Name), Generation: doc.Generation, State: unreadable, Published: doc.Published,
		Reasons: []string{"this version of legation cannot read it: apply the whole document again, or delete it"},
	}
}

func (r Resource) id() registry.ID {
	return registry.ID{Kind: registry.Kind(r.Kind), Name: registry.Name(r.Name)}
}

// id is the document that the path names.
func (c *call) id() registry.ID {
	return registry.ID{Kind: registry.Kind(c.name("kind")), Name: registry.Name(c.name("name"))}
}

func unregistered(id registry.ID) *Failure {
	if !slices.Contains(registry.Kinds(), id.Kind) {
		return notFound("there is no such kind", "the kinds are "+strings.Join(kinds(), ", "))
	}
	return notFound("no "+string(id.Kind)+" of this name is registered", "see which there are with /admin/resources?kind="+string(id.Kind))
}

func tooMuch() *Failure {
	return &Failure{
		Status: http.StatusRequestEntityTooLarge, Code: CodeTooLarge, Message: "these documents are more than one answer has room for",
		Next: "ask for one kind, or one document",
	}
}

// orEmpty is a list that is written as one, though there be nothing in it.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
