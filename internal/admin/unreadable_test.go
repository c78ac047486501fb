package admin_test

import (
	"context"
	"strings"
	"testing"

	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/registry"
)

// shelf is a registry that has what no other has: a document that cannot be
// read, and documents that are more than an answer has room for.
type shelf struct {
	admin.Registry
	set registry.Set
}

func (s shelf) Set() registry.Set { return s.set }

func (s shelf) Plan(_ context.Context, _ []registry.Document, opts registry.Options) (registry.Plan, error) {
	return registry.Plan{Base: 1, Revision: 2, Changes: []registry.Change{{ID: opts.Delete[0], Action: registry.Delete}}}, nil
}

func TestDocumentsThatCannotBeRead(t *testing.T) {
	broken := registry.Stored{ID: registry.ID{Kind: registry.KindAgent, Name: "newer"}, Generation: 7, Text: []byte(secretMarker)}
	o := newOffice(t, func(cfg *admin.Config) {
		cfg.Registry = shelf{set: registry.Set{Revision: 7, Unreadable: []registry.Unreadable{{Stored: broken}}}}
	})
	if got := get[admin.Status](o, "/admin/status"); len(got.Unreadable) != 1 || got.Unreadable[0] != "Agent/newer" {
		t.Errorf("status = %+v", got)
	}
	one := get[admin.Resource](o, "/admin/resources/Agent/newer")
	if one.State != "unreadable" || one.Generation != 7 || len(one.Reasons) != 1 || one.Document != nil {
		t.Errorf("resource = %+v", one)
	}
	for path, want := range map[string]int{"/admin/resources": 1, "/admin/resources?kind=Agent": 1, "/admin/resources?kind=Secret": 0} {
		if got := get[admin.Resources](o, path); len(got.Resources) != want {
			t.Errorf("%s has %d resources, want %d", path, len(got.Resources), want)
		}
	}
	var planned admin.Applied
	o.do("DELETE", "/admin/resources/Agent/newer?dryRun=true", "", &planned, ask{})
	if len(planned.Changes) != 1 || planned.Changes[0].Name != "newer" {
		t.Errorf("planned = %+v", planned)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	big := registry.Set{Revision: 1}
	prompt := strings.Repeat("p", 1<<20)
	for range 40 {
		big.Documents = append(big.Documents, registry.Document{
			Kind: registry.KindConfiguration, Name: "big", Spec: &registry.Configuration{Provider: "local", SystemPrompt: prompt},
		})
	}
	o := newOffice(t, func(cfg *admin.Config) { cfg.Registry = shelf{set: big} })
	for _, path := range []string{"/admin/export", "/admin/resources?documents=true"} {
		o.refuses("GET", path, "", ask{}, 413, admin.CodeTooLarge)
	}
	if got := get[admin.Resources](o, "/admin/resources"); len(got.Resources) != 40 {
		t.Errorf("%d resources without their documents, want 40", len(got.Resources))
	}
}
