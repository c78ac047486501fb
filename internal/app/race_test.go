package app_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/admin"
)

// TestSecretsAndDocumentsChangeTogether changes both at once, many times: what is
// known of remote agents in the end is what is registered in the end.
func TestSecretsAndDocumentsChangeTogether(t *testing.T) {
	h := build(t, "{kind: Secret, name: key0}")
	agents := func(round int) string {
		var all []string
		for i := range 4 {
			all = append(all, fmt.Sprintf(`{kind: RemoteAgent, name: agent%d, spec: {enabled: %v, url: "https://agents.example/%d", credential: {bearer: {secret: key0}}}}`, i, (round+i)%2 == 0, round))
		}
		return strings.Join(all, "\n---\n")
	}
	for round := range 30 {
		var all sync.WaitGroup
		all.Go(func() {
			if code, body := h.manage("POST", "/admin/apply", admin.TypeYAML, agents(round)); code != 200 {
				t.Errorf("%d %s", code, body)
			}
		})
		for i := range 4 {
			all.Go(func() {
				if code, body := h.manage("PUT", fmt.Sprint("/admin/secrets/key", i), "application/octet-stream", fmt.Sprint("value ", round)); code >= 300 {
					t.Errorf("%d %s", code, body)
				}
			})
		}
		all.Wait()
		want, got := map[string]string{}, map[string]string{}
		for i := range 4 {
			name := fmt.Sprint("agent", i)
			want[name] = "inert"
			if (round+i)%2 != 0 {
				want[name] = "disabled"
			}
		}
		for _, one := range managed[admin.Agents](h, "GET", "/admin/agents", "", "").Agents {
			got[one.Name] = one.State
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d (-want +got):\n%s", round, diff)
		}
	}
}
