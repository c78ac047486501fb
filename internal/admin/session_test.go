package admin_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

const documents = `kind: Secret
name: partner-key
---
kind: Provider
name: local
spec:
  type: echo
---
kind: Configuration
name: say
spec:
  provider: local
---
kind: Agent
name: support
spec:
  card: {description: Helps.}
  skills:
    - {id: say, configuration: say, description: Says it.}
---
kind: RemoteClient
name: billing
spec:
  enabled: true
  skills: [support/say]
---
kind: RemoteAgent
name: partner
spec:
  enabled: true
  url: https://partner.example/
  pin: {allowUnsigned: true}
  credential: {apiKey: {header: X-Key, secret: partner-key}}
  send: internal
  returns: internal
`

// yaml sends documents as the admin does.
var yaml = ask{media: admin.TypeYAML}

// A whole administration session, in which every answer is what the description
// says.
func TestSession(t *testing.T) {
	o := newOffice(t, nil)
	o.look()
	o.register()
	o.keepSecrets()
	o.issueKeys()
	o.lookAfterAgents()
	o.lookAfterTasks()
	o.employ()
	o.prove()
	o.tidy()
}

func (o *office) look() {
	want := admin.Status{Version: "1.2.3", StartedAt: o.clock.now(), Unreadable: []string{}, Who: "admin", Role: "admin"}
	if diff := cmp.Diff(want, get[admin.Status](o, "/admin/status")); diff != "" {
		o.Errorf("status (-want +got):\n%s", diff)
	}
	if got := o.send("GET", "/admin/schemas/Provider", "", ask{}); !bytes.Equal(got.body, registry.Schema(registry.KindProvider)) {
		o.Errorf("schema = %d %s", got.status, got.body)
	}
	o.refuses("GET", "/admin/schemas/Nothing", "", ask{}, 404, admin.CodeNotFound)
	if got := o.send("GET", "/openapi.json", "", ask{who: "nobody"}); !bytes.Equal(got.body, admin.OpenAPI()) {
		o.Errorf("openapi.json = %d, %d bytes", got.status, len(got.body))
	}
}

func (o *office) register() {
	var planned, done, again admin.Applied
	o.do("POST", "/admin/apply?dryRun=true", documents, &planned, yaml)
	if !planned.DryRun || !planned.Changed || planned.Base != 0 || planned.Revision != 1 || len(planned.Changes) != 6 {
		o.Errorf("dry run = %+v", planned)
	}
	if all := get[admin.Resources](o, "/admin/resources"); all.Revision != 0 || len(all.Resources) != 0 {
		o.Errorf("a dry run has registered %+v", all)
	}
	o.do("POST", "/admin/apply", documents, &done, yaml)
	planned.DryRun = false
	if diff := cmp.Diff(planned, done); diff != "" {
		o.Errorf("applied (-planned +done):\n%s", diff)
	}
	exported := o.do("GET", "/admin/export", "", nil, ask{})
	o.do("POST", "/admin/apply?prune=true", string(exported.body), &again, yaml)
	if again.Changed || again.Base != 1 || again.Revision != 1 || len(again.Changes) != 6 || again.Changes[0].Action != "unchanged" {
		o.Errorf("what was exported is applied as %+v", again)
	}

	var changed admin.Applied
	o.do("POST", "/admin/apply", `{"kind":"Provider","name":"local","spec":{"type":"echo","zone":"confidential"}}`, &changed, ask{})
	want := []admin.Change{{Kind: "Provider", Name: "local", Action: "update", Fields: []admin.FieldChange{{Path: "spec.zone", New: `"confidential"`}}}}
	if diff := cmp.Diff(want, changed.Changes); diff != "" {
		o.Errorf("changes (-want +got):\n%s", diff)
	}
	one := get[admin.Resource](o, "/admin/resources/Provider/local")
	if one.Generation != 2 || one.State != "ready" || string(one.Document) != `{"kind":"Provider","name":"local","spec":{"type":"echo","zone":"confidential"}}` {
		o.Errorf("resource = %+v with %s", one, one.Document)
	}
	some := get[admin.Resources](o, "/admin/resources?kind=Provider&documents=true")
	if diff := cmp.Diff(admin.Resources{Revision: 2, Resources: []admin.Resource{one}}, some); diff != "" {
		o.Errorf("resources (-want +got):\n%s", diff)
	}
	if all := get[admin.Resources](o, "/admin/resources"); len(all.Resources) != 6 || all.Resources[0].Document != nil {
		o.Errorf("resources = %+v", all)
	}
	if got := o.do("GET", "/admin/export?kind=Provider&name=local", "", nil, ask{}); !strings.Contains(string(got.body), "zone: confidential") {
		o.Errorf("export = %s", got.body)
	}
	o.refuses("GET", "/admin/export?name=local", "", ask{}, 400, admin.CodeInvalid)
	o.refuses("GET", "/admin/export?kind=Agent&name=local", "", ask{}, 404, admin.CodeNotFound)
}

func (o *office) keepSecrets() {
	before := get[admin.Resource](o, "/admin/resources/RemoteAgent/partner")
	if before.State != "inert" || len(before.Reasons) != 1 || !strings.Contains(before.Reasons[0], "partner-key") {
		o.Errorf("without its secret the remote agent is %+v", before)
	}
	value := ask{media: admin.TypeBytes}
	var first, second admin.Secret
	o.do("PUT", "/admin/secrets/partner-key", secretMarker, &first, value)
	o.clock.advance(time.Second)
	o.do("PUT", "/admin/secrets/partner-key", secretMarker+"!", &second, value)
	if first.Version != 1 || second.Version != 2 || second.Author != "admin" || !second.CreatedAt.Equal(o.clock.now()) || second.MasterKey == "" {
		o.Errorf("stored %+v, then %+v", first, second)
	}
	for range 3 {
		opened, err := o.vault.Open(o.Context(), vault.Reference{Name: "partner-key"}, vault.Use{Who: "support", Purpose: "send", Party: "partner", Host: "partner.example"})
		if err != nil || string(opened.Reveal()) != secretMarker+"!" {
			o.Fatalf("what was put is not what is opened: %v", err)
		}
	}
	all, versions := get[admin.Secrets](o, "/admin/secrets"), get[admin.Secrets](o, "/admin/secrets/partner-key/versions")
	if len(all.Secrets) != 1 || len(versions.Secrets) != 2 || versions.Secrets[1] != first || all.Secrets[0] != versions.Secrets[0] || all.Secrets[0].UsedAt.IsZero() {
		o.Errorf("secrets = %+v, versions = %+v", all, versions)
	}
	uses := get[admin.SecretUses](o, "/admin/secrets/partner-key/uses?limit=2")
	rest := get[admin.SecretUses](o, "/admin/secrets/partner-key/uses?limit=2&before="+number(uses.Next))
	if len(uses.Uses) != 2 || len(rest.Uses) != 1 || rest.Next != 0 || rest.Uses[0].Who != "support" || rest.Uses[0].Host != "partner.example" {
		o.Errorf("uses = %+v, then %+v", uses, rest)
	}
	if got := get[admin.Resource](o, "/admin/resources/RemoteAgent/partner"); got.State != "ready" || len(got.Reasons) != 0 {
		o.Errorf("with its secret the remote agent is %+v", got)
	}
	var rotated admin.Rotation
	o.do("POST", "/admin/secrets/rotate", "", &rotated, ask{})
	if rotated.Primary != second.MasterKey || rotated.Rewrapped != 0 || rotated.Failed != 0 || len(rotated.Left) != 0 {
		o.Errorf("rotation = %+v", rotated)
	}
	o.do("DELETE", "/admin/secrets/partner-key?version=1", "", nil, ask{})
	o.refuses("DELETE", "/admin/secrets/partner-key?version=1", "", ask{}, 404, admin.CodeNotFound)
	o.refuses("DELETE", "/admin/secrets/partner-key?version=0", "", ask{}, 400, admin.CodeInvalid)
	o.refuses("GET", "/admin/secrets/none/versions", "", ask{}, 404, admin.CodeNotFound)
	o.refuses("PUT", "/admin/secrets/-", secretMarker, value, 400, admin.CodeInvalid)
	o.refuses("PUT", "/admin/secrets/empty", "", value, 400, admin.CodeInvalid)
}

func (o *office) issueKeys() {
	if keys := get[admin.ClientKeys](o, "/admin/clients/billing/keys"); len(keys.Keys) != 0 {
		o.Errorf("keys = %+v", keys)
	}
	var first, second admin.IssuedKey
	o.do("POST", "/admin/clients/billing/keys", "", &first, ask{})
	end := o.clock.now().Add(time.Hour)
	o.do("POST", "/admin/clients/billing/keys", `{"notAfter":"`+end.Format(time.RFC3339)+`"}`, &second, ask{})
	if !first.NotAfter.IsZero() || !second.NotAfter.Equal(end) || first.ID == second.ID {
		o.Errorf("issued %+v and %+v", first, second)
	}
	doc, _ := o.registry.Set().Document(registry.ID{Kind: registry.KindRemoteClient, Name: "billing"})
	kept := doc.Spec.(*registry.RemoteClient).Credentials.APIKeys
	for i, issued := range []admin.IssuedKey{first, second} {
		key, err := access.ParseKey(issued.Key)
		sum := sha256.Sum256([]byte(issued.Key))
		if err != nil || key.ID != issued.ID || string(kept[i].SHA256) != hex.EncodeToString(sum[:]) {
			o.Errorf("key %d is kept as %+v, error %v", i, kept[i], err)
		}
	}
	var revoked admin.ClientKey
	o.do("DELETE", "/admin/clients/billing/keys/"+first.ID, "", &revoked, ask{})
	if !revoked.Revoked || revoked.Usable {
		o.Errorf("revoked = %+v", revoked)
	}
	o.do("DELETE", "/admin/clients/billing/keys/"+first.ID, "", &revoked, ask{})
	o.clock.advance(time.Hour + time.Second)
	want := admin.ClientKeys{Keys: []admin.ClientKey{{ID: first.ID, Revoked: true}, {ID: second.ID, NotAfter: end}}}
	if diff := cmp.Diff(want, get[admin.ClientKeys](o, "/admin/clients/billing/keys")); diff != "" {
		o.Errorf("keys (-want +got):\n%s", diff)
	}
	o.refuses("POST", "/admin/clients/billing/keys", `{"notAfter":"`+end.Format(time.RFC3339)+`"}`, ask{}, 400, admin.CodeInvalid)
	o.refuses("POST", "/admin/clients/nobody/keys", "", ask{}, 404, admin.CodeNotFound)
	o.refuses("GET", "/admin/clients/nobody/keys", "", ask{}, 404, admin.CodeNotFound)
	o.refuses("DELETE", "/admin/clients/billing/keys/none", "", ask{}, 404, admin.CodeNotFound)

	// The document is applied again, without the keys, which stay.
	o.do("POST", "/admin/apply", documents, nil, yaml)
	// What cannot be used gives way to a seventeenth key, and nothing else does.
	for range 16 {
		o.do("POST", "/admin/clients/billing/keys", "", nil, ask{})
	}
	if keys := get[admin.ClientKeys](o, "/admin/clients/billing/keys"); len(keys.Keys) != 16 {
		o.Errorf("%d keys, want 16", len(keys.Keys))
	}
	o.refuses("POST", "/admin/clients/billing/keys", "", ask{}, 409, admin.CodeConflict)
	var report admin.Report
	o.do("POST", "/admin/clients/billing/check", "", &report, ask{})
	if !report.OK || report.Findings == nil {
		o.Errorf("report = %+v", report)
	}
}

func (o *office) lookAfterAgents() {
	all := get[admin.Agents](o, "/admin/agents")
	if len(all.Agents) != 2 || all.Agents[1].Reasons == nil {
		o.Errorf("agents = %+v", all)
	}
	one := get[admin.Agent](o, "/admin/agents/partner")
	var report admin.Report
	o.do("POST", "/admin/agents/partner/check", "", &report, ask{who: "operator"})
	if report.OK || report.Findings[0].Step != "asked by operator" || report.First != "no" {
		o.Errorf("report = %+v", report)
	}
	o.refuses("POST", "/admin/agents/partner/accept", `{"digest":"cc"}`, ask{}, 409, admin.CodeConflict)
	o.refuses("POST", "/admin/agents/partner/accept", `{}`, ask{}, 400, admin.CodeInvalid)
	o.refuses("POST", "/admin/agents/partner/accept", "", ask{}, 400, admin.CodeInvalid)
	o.do("POST", "/admin/agents/partner/accept", `{"digest":"`+one.Drift.Digest+`"}`, nil, ask{})
	if diff := cmp.Diff([]string{"admin bb"}, o.agents.accepted); diff != "" {
		o.Errorf("accepted (-want +got):\n%s", diff)
	}
	for _, path := range []string{"/check", "/accept"} {
		body := ""
		if path == "/accept" {
			body = `{"digest":"aa"}`
		}
		o.refuses("POST", "/admin/agents/nobody"+path, body, ask{}, 404, admin.CodeNotFound)
	}
	o.refuses("GET", "/admin/agents/nobody", "", ask{}, 404, admin.CodeNotFound)
}

var generous = task.Admission{Claim: true, Lease: time.Minute, PerCaller: 100, Queue: 100}

// begin stores a task.
func (o *office) begin(owner task.Owner, id a2a.TaskID) {
	o.Helper()
	message := a2a.NewMessage(a2a.RoleUser, a2a.TextPart(contentMarker))
	record, event := task.NewRecord(task.Record{Owner: owner, ID: id, ContextID: "c-" + a2a.ContextID(id), Skill: "say"}, message, o.clock.now())
	created := task.NewTask{Record: record, Event: event, Admission: generous, Message: task.MessageKey{Owner: owner, ID: message.MessageID}}
	if _, err := o.store.Create(o.Context(), created, work.Effects{}); err != nil {
		o.Fatal(err)
	}
}

func (o *office) lookAfterTasks() {
	billing, local := task.Owner{Agent: "support", Caller: "billing"}, task.Owner{Agent: "support", Caller: "local"}
	o.begin(local, "same")
	if _, err := o.store.Cancel(o.Context(), local, "same", o.clock.now(), work.Effects{}); err != nil {
		o.Fatal(err)
	}
	o.begin(billing, "same")
	o.begin(local, "mine")
	all := get[admin.Tasks](o, "/admin/tasks")
	var ids []string
	for _, one := range all.Tasks {
		ids = append(ids, one.ID+" of "+one.Caller)
	}
	if diff := cmp.Diff([]string{"mine of local", "same of billing", "same of local"}, ids); diff != "" || all.Next != 0 {
		o.Errorf("tasks, next %d (-want +got):\n%s", all.Next, diff)
	}
	for query, want := range map[string]int{
		"caller=local": 2, "agent=support": 3, "agent=none": 0, "state=TASK_STATE_COMPLETED": 0, "state=TASK_STATE_SUBMITTED&caller=billing": 1,
		"limit=1": 1, "limit=2&before=" + number(all.Tasks[1].Number): 1,
	} {
		if got := get[admin.Tasks](o, "/admin/tasks?"+query); len(got.Tasks) != want {
			o.Errorf("%s: %d tasks, want %d", query, len(got.Tasks), want)
		}
	}
	if got := get[admin.Task](o, "/admin/tasks/mine"); !cmp.Equal(got, all.Tasks[0]) || got.Events != 1 || got.Turns != 1 || got.Skill != "say" {
		o.Errorf("task = %+v", got)
	}
	refusal := o.refuses("GET", "/admin/tasks/same", "", ask{}, 409, admin.CodeConflict)
	if !strings.Contains(refusal.Message, "agent support and caller billing") {
		o.Errorf("which owners have it is not told: %s", refusal.Message)
	}
	o.refuses("GET", "/admin/tasks/same?caller=nobody", "", ask{}, 404, admin.CodeNotFound)

	var whole admin.Task
	o.do("GET", "/admin/tasks/same?caller=billing&content=true", "", &whole, ask{shows: contentMarker})
	var content a2a.Task
	if err := json.Unmarshal(whole.Content, &content); err != nil || content.ID != "same" || !bytes.Contains(whole.Content, []byte(contentMarker)) {
		o.Errorf("content = %s, error %v", whole.Content, err)
	}
	var canceled admin.Task
	o.do("POST", "/admin/tasks/same/cancel?caller=billing", "", &canceled, ask{who: "operator"})
	if canceled.State != string(a2a.TaskStateCanceled) || canceled.Caller != "billing" {
		o.Errorf("canceled = %+v", canceled)
	}
	o.refuses("POST", "/admin/tasks/same/cancel?caller=billing", "", ask{}, 409, admin.CodeConflict)
	o.refuses("POST", "/admin/tasks/none/cancel", "", ask{}, 404, admin.CodeNotFound)
}

func (o *office) employ() {
	var issued admin.IssuedToken
	end := o.clock.now().Add(time.Hour)
	o.do("PUT", "/admin/people/ann", `{"role":"admin","notAfter":"`+end.Format(time.RFC3339)+`"}`, &issued, ask{})
	o.tokens["ann"] = issued.Token
	if issued.Person.Name != "ann" || issued.Person.Author != "admin" || !issued.Person.NotAfter.Equal(end) {
		o.Errorf("issued for %+v", issued.Person)
	}
	o.do("DELETE", "/admin/people/admin", "", nil, ask{who: "ann"})
	o.refuses("GET", "/admin/status", "", ask{who: "admin"}, 401, admin.CodeUnauthenticated)
	o.refuses("DELETE", "/admin/people/ann", "", ask{who: "ann"}, 409, admin.CodeConflict)
	o.refuses("PUT", "/admin/people/ann", `{"role":"viewer"}`, ask{who: "ann"}, 409, admin.CodeConflict)
	o.refuses("PUT", "/admin/people/bob", `{"role":"root"}`, ask{who: "ann"}, 400, admin.CodeInvalid)
	o.refuses("PUT", "/admin/people/local", `{"role":"viewer"}`, ask{who: "ann"}, 400, admin.CodeInvalid)
	o.refuses("DELETE", "/admin/people/bob", "", ask{who: "ann"}, 404, admin.CodeNotFound)
	o.do("PUT", "/admin/people/admin", `{"role":"admin"}`, &issued, ask{who: "ann"})
	o.tokens["admin"] = issued.Token
	o.clock.advance(time.Hour + time.Second)
	o.refuses("GET", "/admin/status", "", ask{who: "ann"}, 401, admin.CodeUnauthenticated)
	list := get[admin.People](o, "/admin/people")
	var names []string
	for _, p := range list.People {
		names = append(names, p.Name+" "+p.Role)
		if p.Expired != (p.Name == "ann") {
			o.Errorf("%s has expired: %v", p.Name, p.Expired)
		}
	}
	if diff := cmp.Diff([]string{"admin admin", "ann admin", "approver approver", "operator operator", "viewer viewer"}, names); diff != "" {
		o.Errorf("people (-want +got):\n%s", diff)
	}
}

// prove looks at what of all this is in the audit, and verifies it.
func (o *office) prove() {
	count := func(query string) int { return len(get[admin.Audit](o, "/admin/audit?limit=1000&"+query).Entries) }
	for query, want := range map[string]int{
		"operation=secret+put":                      2,
		"operation=secret+delete":                   1,
		"operation=secret+rotate":                   1,
		"operation=key+issue":                       18,
		"operation=key+revoke":                      1,
		"operation=task+cancel&task=same":           1,
		"operation=task+cancel&who=operator":        1,
		"operation=person+put&party=Person%2Fadmin": 2,
		"operation=person+remove&who=ann":           1,
		"outcome=refused":                           2,
		"party=RemoteClient%2Fbilling&limit=1":      -1,
		"operation=card+refresh":                    0,
	} {
		if want < 0 {
			o.refuses("GET", "/admin/audit?limit=1000&"+query, "", ask{}, 400, admin.CodeInvalid)
		} else if got := count(query); got != want {
			o.Errorf("%d entries of %s, want %d", got, query, want)
		}
	}
	if got := count("since=" + o.clock.now().Add(time.Second).Format(time.RFC3339)); got != 0 {
		o.Errorf("%d entries of the future", got)
	}
	newest := get[admin.Audit](o, "/admin/audit?limit=1")
	if next := get[admin.Audit](o, "/admin/audit?limit=1&before="+number(newest.Next)); next.Entries[0].Number != newest.Entries[0].Number-1 {
		o.Errorf("entry %d is followed by %d", newest.Entries[0].Number, next.Entries[0].Number)
	}

	chain, after := new(audit.Chain), int64(0)
	for {
		page := o.do("GET", "/admin/audit/evidence?after="+number(after), "", nil, ask{})
		if len(page.body) == 0 {
			break
		}
		for line := range bytes.Lines(page.body) {
			var one admin.Evidence
			if err := json.Unmarshal(line, &one, json.RejectUnknownMembers(true)); err != nil {
				o.Fatal(err)
			}
			o.validate("Evidence", line)
			seal, err := one.Seal.Audit()
			if err != nil {
				o.Fatal(err)
			}
			if err := chain.Verify(seal, one.Entries); err != nil {
				o.Fatal(err)
			}
			for _, entry := range one.Entries {
				if bytes.Contains(entry, []byte(secretMarker)) || bytes.Contains(entry, []byte(contentMarker)) {
					o.Errorf("the audit has what must not be seen: %s", entry)
				}
			}
			after = seal.Number
		}
	}
	if chain.Sealed != newest.Entries[0].Number {
		o.Errorf("%d entries are sealed, of %d", chain.Sealed, newest.Entries[0].Number)
	}
}

func (o *office) tidy() {
	var done admin.Applied
	problems := o.refuses("DELETE", "/admin/resources/Provider/local", "", ask{}, 422, admin.CodeProblems).Problems
	if len(problems) != 1 || problems[0].Document != "Configuration/say" || problems[0].Path != "spec.provider" {
		o.Errorf("problems = %+v", problems)
	}
	o.do("DELETE", "/admin/resources/RemoteAgent/partner?dryRun=true", "", &done, ask{})
	o.do("DELETE", "/admin/resources/RemoteAgent/partner", "", &done, ask{})
	if len(done.Changes) != 1 || done.Changes[0].Action != "delete" {
		o.Errorf("deleted %+v", done)
	}
	o.refuses("DELETE", "/admin/resources/RemoteAgent/partner", "", ask{}, 404, admin.CodeNotFound)
	o.refuses("DELETE", "/admin/resources/Nothing/partner", "", ask{}, 404, admin.CodeNotFound)
	o.refuses("GET", "/admin/resources/RemoteAgent/partner", "", ask{}, 404, admin.CodeNotFound)
	o.do("DELETE", "/admin/secrets/partner-key", "", nil, ask{})
	if got := get[admin.Status](o, "/admin/status"); got.Resources != 5 {
		o.Errorf("%d resources are left, want 5", got.Resources)
	}
}
