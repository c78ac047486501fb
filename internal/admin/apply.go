package admin

import (
	"errors"

	"github.com/legation/legation/internal/registry"
)

// Bounds of files that are applied at once: how many, and bytes of a name, which
// each problem repeats.
const (
	maxFiles    = 1000
	maxFileName = 1024
)

// apply registers what is sent.
func (h *Handler) apply(c *call) (any, error) {
	docs, err := c.documents()
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		// With prune it would delete everything, which nobody means by it.
		return nil, invalid("there are no documents in what was sent", "send some; delete is a request of its own")
	}
	return h.change(c, docs, registry.Options{Prune: c.flag("prune")})
}

// deleteResource deletes one document.
func (h *Handler) deleteResource(c *call) (any, error) {
	id, set := c.id(), h.cfg.Registry.Set()
	_, found := set.Document(id)
	for _, doc := range set.Unreadable {
		found = found || doc.ID == id
	}
	if !found {
		return nil, unregistered(id)
	}
	return h.change(c, nil, registry.Options{Delete: []registry.ID{id}})
}

// change changes what is registered, or tells what would be changed.
func (h *Handler) change(c *call, docs []registry.Document, opts registry.Options) (any, error) {
	var plan registry.Plan
	var err error
	if c.flag("dryRun") {
		plan, err = h.cfg.Registry.Plan(c.ctx, docs, opts)
	} else {
		plan, err = h.cfg.Registry.Apply(c.ctx, c.who, docs, opts)
	}
	if err != nil {
		return nil, err
	}
	sent := make(map[registry.ID]bool, len(docs))
	for _, doc := range docs {
		sent[doc.ID()] = true
	}
	answer := Applied{DryRun: c.flag("dryRun"), Base: plan.Base, Revision: plan.Revision, Changed: plan.Changed(), Changes: []Change{}}
	for _, one := range plan.Changes {
		if one.Action == registry.Unchanged && !sent[one.ID] {
			continue
		}
		change := Change{Kind: string(one.ID.Kind), Name: string(one.ID.Name), Action: string(one.Action), Fields: []FieldChange{}}
		for _, f := range one.Fields {
			change.Fields = append(change.Fields, FieldChange{Path: f.Path, Old: f.Old, New: f.New})
		}
		answer.Changes = append(answer.Changes, change)
	}
	return answer, nil
}

// documents reads the documents of the body.
func (c *call) documents() ([]registry.Document, error) {
	if c.media != TypeFiles {
		return decode(File{Name: c.r.Header.Get(HeaderFile), Text: string(c.text)})
	}
	var files Files
	if err := c.into(&files); err != nil {
		return nil, err
	}
	if len(files.Files) > maxFiles {
		return nil, invalid("there are too many files", "put some together")
	}
	var docs []registry.Document
	var wrong registry.Problems
	for _, file := range files.Files {
		some, err := decode(file)
		if problems, ok := errors.AsType[registry.Problems](err); ok {
			wrong = append(wrong, problems...)
		} else if err != nil {
			return nil, err
		}
		docs = append(docs, some...)
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return docs, nil
}

func decode(file File) ([]registry.Document, error) {
	if len(file.Name) > maxFileName {
		return nil, invalid("the name of a file is too long", "")
	}
	return registry.Decode(file.Name, []byte(file.Text))
}
