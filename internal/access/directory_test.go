package access_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/quota"
)

var (
	noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	home = netip.MustParseAddr("192.0.2.7")
)

// desk is a directory and what tests need around it.
type desk struct {
	*testing.T
	*access.Directory
	now time.Time
}

func open(t *testing.T, cfg access.Config, clients ...access.Client) *desk {
	t.Helper()
	d := &desk{T: t, now: noon}
	cfg.Now = func() time.Time { return d.now }
	directory, err := access.NewDirectory(cfg)
	if err != nil {
		t.Fatalf("NewDirectory() error = %v", err)
	}
	d.Directory = directory
	d.set(clients...)
	return d
}

func (d *desk) set(clients ...access.Client) []string {
	d.Helper()
	affected, omitted := d.Set(clients)
	if len(omitted) > 0 {
		d.Fatalf("Set() leaves out %v", omitted)
	}
	return affected
}

// in lets a request in.
func (d *desk) in(attempt access.Attempt) access.Caller {
	d.Helper()
	caller, err := d.Authenticate(d.Context(), attempt)
	if err != nil {
		d.Fatalf("Authenticate() error = %v", err)
	}
	return caller
}

// out makes sure that a request is refused.
func (d *desk) out(attempt access.Attempt, status int, reason access.Reason) *access.Refusal {
	d.Helper()
	caller, err := d.Authenticate(d.Context(), attempt)
	refusal, ok := errors.AsType[*access.Refusal](err)
	if !ok {
		d.Fatalf("Authenticate() = %q, error %v, want a refusal", caller.Name, err)
	}
	if refusal.Status != status || refusal.Fact.Reason != reason {
		d.Errorf("refused with %d for %s, want %d for %s", refusal.Status, refusal.Fact.Reason, status, reason)
	}
	// REQ-SEC-08: a 401 says which scheme is expected.
	if challenged := strings.HasPrefix(refusal.Challenge, "Bearer realm="); challenged != (refusal.Status == 401) {
		d.Errorf("a %d has the challenge %q", refusal.Status, refusal.Challenge)
	}
	if refusal.Words == "" || strings.ContainsAny(refusal.Words, "\"\\\r\n") {
		d.Errorf("words %q do not go into a header", refusal.Words)
	}
	if want := attempt.Address.Unmap(); refusal.Fact.Address != want || !refusal.Fact.At.Equal(d.now) {
		d.Errorf("fact of %v at %v, want %v at %v", refusal.Fact.Address, refusal.Fact.At, want, d.now)
	}
	said := fmt.Sprintf("%v %+v", refusal, *refusal)
	for _, values := range attempt.Header {
		for _, value := range values {
			noTrace(d.T, said, secretOf(value))
		}
	}
	return refusal
}

// secretOf is a credential without the id of a key, which is no secret.
func secretOf(value string) string {
	if _, key, ok := strings.Cut(value, "lgn_"); ok && len(key) > 12 {
		return key[12:]
	}
	return value
}

func bearer(text string) access.Attempt {
	return access.Attempt{Address: home, Header: map[string][]string{"Authorization": {"Bearer " + text}}}
}

func withHeader(pairs ...string) access.Attempt {
	header := map[string][]string{}
	for i := 0; i < len(pairs); i += 2 {
		header[pairs[i]] = append(header[pairs[i]], pairs[i+1])
	}
	return access.Attempt{Address: home, Header: header}
}

// partner is an enabled client with these keys.
func partner(name string, keys ...access.APIKey) access.Client {
	return access.Client{Name: name, Enabled: true, Keys: keys, Rights: access.Rights{
		Skills: []access.Skill{{Agent: "desk", ID: "talk"}}, Operations: []string{access.Every}, Zone: "internal",
	}}
}

// REQ-SEC-07: who has no good key is not let in.
func TestKeys(t *testing.T) {
	good, key := access.Issue()
	next, rotated := access.Issue()
	old, expired := access.Issue()
	expired.NotAfter = noon
	ending, brief := access.Issue()
	brief.NotAfter = noon.Add(time.Second)
	gone, revoked := access.Issue()
	revoked.Revoked = true
	foreign, _ := access.Issue()
	theirs, other := access.Issue()
	off, disabled := access.Issue()

	asleep := partner("asleep", disabled)
	asleep.Enabled = false
	d := open(t, access.Config{Failures: 1000}, partner("alice", key, rotated, expired, brief, revoked), partner("bob", other), asleep)

	for _, tt := range []struct {
		name    string
		attempt access.Attempt
		caller  string
		until   time.Time
	}{
		{"bearer", bearer(good), "alice", time.Time{}},
		{"scheme in other letters", withHeader("Authorization", "bEARER  "+good+" "), "alice", time.Time{}},
		{"header of its own", withHeader(access.HeaderKey, good), "alice", time.Time{}},
		{"rotated", bearer(next), "alice", time.Time{}},
		{"about to expire", bearer(ending), "alice", brief.NotAfter},
		{"of another client", bearer(theirs), "bob", time.Time{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &desk{T: t, Directory: d.Directory, now: noon}
			caller := d.in(tt.attempt)
			if caller.Name != tt.caller || !caller.Until.Equal(tt.until) || caller.Credential.Kind != access.KindKey {
				t.Errorf("let in %q with %v until %v, want %q until %v", caller.Name, caller.Credential, caller.Until, tt.caller, tt.until)
			}
		})
	}
	for _, tt := range []struct {
		name    string
		attempt access.Attempt
		status  int
		reason  access.Reason
		client  string
	}{
		{"none", access.Attempt{Address: home}, 401, access.ReasonMissing, ""},
		{"unknown", bearer(foreign), 401, access.ReasonUnknown, ""},
		{"right id, wrong secret", bearer(forged(key.ID, foreign)), 401, access.ReasonMalformed, ""},
		{"expired", bearer(old), 401, access.ReasonExpired, "alice"},
		{"revoked", bearer(gone), 401, access.ReasonRevoked, "alice"},
		{"disabled", bearer(off), 403, access.ReasonDisabled, "asleep"},
		{"cut off", bearer(good[:30]), 401, access.ReasonMalformed, ""},
		{"another scheme", withHeader("Authorization", "Basic "+good), 401, access.ReasonMalformed, ""},
		{"no scheme", withHeader("Authorization", good), 401, access.ReasonMalformed, ""},
		{"empty", withHeader("Authorization", "Bearer "), 401, access.ReasonMalformed, ""},
		{"two words", withHeader("Authorization", "Bearer "+good+" x"), 401, access.ReasonMalformed, ""},
		{"not a key", withHeader(access.HeaderKey, "hunter2hunter2"), 401, access.ReasonMalformed, ""},
		{"two fields", withHeader("Authorization", "Bearer "+good, access.HeaderKey, good), 401, access.ReasonSeveral, ""},
		{"one field twice", withHeader("Authorization", "Bearer "+good, "Authorization", "Bearer "+good), 401, access.ReasonSeveral, ""},
		{"a token, but no issuer", bearer("a.b.c"), 401, access.ReasonIssuer, ""},
		{"too long", bearer(strings.Repeat("a", 17<<10)), 401, access.ReasonMalformed, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &desk{T: t, Directory: d.Directory, now: noon}
			refusal := d.out(tt.attempt, tt.status, tt.reason)
			if refusal.Fact.Client != tt.client {
				t.Errorf("client %q, want %q", refusal.Fact.Client, tt.client)
			}
		})
	}
}

// forged is another key's secret behind an id.
func forged(id, text string) string { return "lgn_" + id + text[16:] }

func TestAKeyIsForgottenWithItsHash(t *testing.T) {
	text, key := access.Issue()
	_, other := access.Issue()
	other.ID = key.ID // the same id with another secret
	d := open(t, access.Config{}, partner("alice", other))
	d.out(bearer(text), 401, access.ReasonUnknown)
	d.set(partner("alice", key))
	d.in(bearer(text))
}

func TestRights(t *testing.T) {
	text, key := access.Issue()
	client := partner("alice", key)
	client.Rights.Operations = []string{"GetTask", "SendMessage"}
	client.Rights.Skills = append(client.Rights.Skills, access.Skill{Agent: "desk", ID: "write"}, access.Skill{Agent: "other", ID: "sum"})
	d := open(t, access.Config{}, client)
	caller := d.in(bearer(text))
	if r := caller.MayCall("GetTask"); r != nil {
		t.Errorf("MayCall(GetTask) = %v", r)
	}
	if r := caller.MayUse("desk", "talk"); r != nil {
		t.Errorf("MayUse(desk, talk) = %v", r)
	}
	if diff := cmp.Diff([]string{"talk", "write"}, caller.Rights.SkillsOf("desk")); diff != "" {
		t.Errorf("SkillsOf (-want +got):\n%s", diff)
	}
	// REQ-SEC-09: authenticated, and not permitted.
	for reason, r := range map[access.Reason]*access.Refusal{
		access.ReasonOperation: caller.MayCall("CancelTask"),
		access.ReasonSkill:     caller.MayUse("other", "talk"),
	} {
		want := access.Fact{At: noon, Client: "alice", Credential: access.Credential{Kind: access.KindKey, ID: key.ID}, Address: home, Reason: reason}
		if r == nil || r.Status != 403 || r.Fact != want {
			t.Errorf("refusal = %+v, want 403 with %+v", r, want)
		}
	}
	if (access.Rights{}).Operation("GetTask") || (access.Rights{}).Skill("desk", "talk") {
		t.Error("no rights allow something")
	}
	if !(access.Rights{Operations: []string{access.Every}}).Operation("GetTask") {
		t.Error("every operation does not include GetTask")
	}
}

// What is taken away is gone at once, and what is not
// affected goes on.
func TestRevocation(t *testing.T) {
	text, key := access.Issue()
	_, second := access.Issue()
	tests := []struct {
		name   string
		change func(*access.Client)
		ends   bool
		in     bool
	}{
		{"nothing", func(*access.Client) {}, false, true},
		{"another key is added", func(c *access.Client) { c.Keys = append(c.Keys, second) }, false, true},
		{"more rights", func(c *access.Client) {
			c.Rights.Skills = append(c.Rights.Skills, access.Skill{Agent: "desk", ID: "more"})
		}, false, true},
		{"wider limits", func(c *access.Client) { c.Limits.Day.Tokens = quota.None }, false, true},
		{"a later end", func(c *access.Client) { c.Keys[0].NotAfter = noon.Add(48 * time.Hour) }, false, true},
		{"an earlier end", func(c *access.Client) { c.Keys[0].NotAfter = noon.Add(time.Hour) }, true, true},
		{"no end", func(c *access.Client) { c.Keys[0].NotAfter = time.Time{} }, false, true},
		{"fewer skills", func(c *access.Client) { c.Rights.Skills = nil }, true, true},
		{"fewer operations", func(c *access.Client) { c.Rights.Operations = []string{"GetTask"} }, true, true},
		{"another zone", func(c *access.Client) { c.Rights.Zone = "public" }, true, true},
		{"tighter limits", func(c *access.Client) { c.Limits.Concurrent = 1 }, true, true},
		{"the key is revoked", func(c *access.Client) { c.Keys[0].Revoked = true }, true, false},
		{"the key is replaced", func(c *access.Client) { c.Keys = []access.APIKey{second} }, true, false},
		{"the secret is replaced", func(c *access.Client) { c.Keys[0].SHA256 = second.SHA256 }, true, false},
		{"the client is disabled", func(c *access.Client) { c.Enabled = false }, true, false},
		{"the client is renamed", func(c *access.Client) { c.Name = "mallory" }, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			first := key
			first.NotAfter = noon.Add(24 * time.Hour)
			bobText, bobKey := access.Issue()
			d := open(t, access.Config{}, partner("alice", first), partner("bob", bobKey))
			caller, bob := d.in(bearer(text)), d.in(bearer(bobText))
			if ended(caller.Revoked) {
				t.Fatal("revoked from the start")
			}
			changed := partner("alice", first)
			tt.change(&changed)
			affected := d.set(changed, partner("bob", bobKey))
			if ended(caller.Revoked) != tt.ends {
				t.Errorf("revoked: %v, want %v", !tt.ends, tt.ends)
			}
			var want []string
			if tt.ends {
				want = []string{"alice"}
			}
			if diff := cmp.Diff(want, affected); diff != "" {
				t.Errorf("affected (-want +got):\n%s", diff)
			}
			if ended(bob.Revoked) {
				t.Error("another client's work ended")
			}
			_, err := d.Authenticate(t.Context(), bearer(text))
			if (err == nil) != tt.in {
				t.Errorf("let in: %v, want %v (%v)", err == nil, tt.in, err)
			}
			// What ended has ended, and what did not still can.
			d.set()
			if !ended(caller.Revoked) || !ended(bob.Revoked) {
				t.Error("work of a client that is gone goes on")
			}
		})
	}
}

func TestRevocationReachesWhatWasOpenedAfterTheLastChange(t *testing.T) {
	text, key := access.Issue()
	client := partner("alice", key)
	d := open(t, access.Config{}, client)
	first := d.in(bearer(text))
	narrow := client
	narrow.Rights.Skills = nil
	d.set(narrow)
	second := d.in(bearer(text))
	if !ended(first.Revoked) || ended(second.Revoked) {
		t.Fatal("the narrowed rights do not hold for what comes after them")
	}
	d.set(client) // wider again
	if ended(second.Revoked) {
		t.Error("wider rights ended what was open")
	}
	d.set()
	if !ended(second.Revoked) {
		t.Error("work of a client that is gone goes on")
	}
}

func ended(ctx context.Context) bool { return ctx.Err() != nil }

// What is wrong lets nobody in, and keeps nobody else out.
func TestWhatIsWrongIsLeftOut(t *testing.T) {
	text, key := access.Issue()
	other, theirs := access.Issue()
	_, shared := access.Issue()
	issuer := access.OIDC{Issuer: "https://id.example.com", Audience: "us", Subject: "them"}
	with := func(change func(*access.OIDC)) access.Client {
		token := issuer
		change(&token)
		return access.Client{Name: "bob", Tokens: []access.OIDC{token}}
	}
	ca := newAuthority(t, "ca")
	named := access.MTLS{SAN: "dns:bob.example.com", Roots: ca.pool()}
	certified := func(certificates ...access.MTLS) access.Client {
		return access.Client{Name: "bob", Certificates: certificates}
	}
	for name, bad := range map[string][]access.Client{
		"no name":                 {{}},
		"two of a name":           {partner("alice"), partner("alice")},
		"a key of two clients":    {partner("alice", shared), partner("bob", shared)},
		"a key twice":             {partner("alice", shared, shared)},
		"a key without hash":      {partner("alice", access.APIKey{ID: "x"})},
		"a key without id":        {partner("alice", access.APIKey{SHA256: shared.SHA256})},
		"no issuer":               {with(func(o *access.OIDC) { o.Issuer = "" })},
		"issuer with a query":     {with(func(o *access.OIDC) { o.Issuer += "?x" })},
		"issuer with a user":      {with(func(o *access.OIDC) { o.Issuer = "https://a@b" })},
		"issuer that is a file":   {with(func(o *access.OIDC) { o.Issuer = "file:///etc" })},
		"no audience":             {with(func(o *access.OIDC) { o.Audience = "" })},
		"no party":                {with(func(o *access.OIDC) { o.Subject = "" })},
		"negative skew":           {with(func(o *access.OIDC) { o.Skew = -1 })},
		"much skew":               {with(func(o *access.OIDC) { o.Skew = 6 * time.Minute })},
		"no algorithms":           {with(func(o *access.OIDC) { o.Algorithms = []string{} })},
		"none":                    {with(func(o *access.OIDC) { o.Algorithms = []string{"none"} })},
		"a shared secret":         {with(func(o *access.OIDC) { o.Algorithms = []string{"RS256", "HS256"} })},
		"tokens of two clients":   {with(func(*access.OIDC) {}), {Name: "eve", Tokens: []access.OIDC{issuer}}},
		"certificate of nobody":   {certified(access.MTLS{})},
		"name and pin":            {certified(access.MTLS{SAN: "dns:x", Roots: ca.pool(), SPKI: [32]byte{1}})},
		"name without roots":      {certified(access.MTLS{SAN: "dns:x"})},
		"name with empty roots":   {certified(access.MTLS{SAN: "dns:x", Roots: x509.NewCertPool()})},
		"name without kind":       {certified(access.MTLS{SAN: "x.example.com", Roots: ca.pool()})},
		"empty name":              {certified(access.MTLS{SAN: "dns:", Roots: ca.pool()})},
		"pattern":                 {certified(access.MTLS{SAN: "dns:*.example.com", Roots: ca.pool()})},
		"odd address":             {certified(access.MTLS{SAN: "ip:::0001", Roots: ca.pool()})},
		"a pin twice":             {certified(access.MTLS{SPKI: [32]byte{1}}), {Name: "eve", Certificates: []access.MTLS{{SPKI: [32]byte{1}}}}},
		"a name twice":            {certified(named, access.MTLS{SAN: named.SAN, Roots: newAuthority(t, "x").pool()})},
		"a name twice by case":    {certified(named, access.MTLS{SAN: "dns:Bob.EXAMPLE.com", Roots: newAuthority(t, "x").pool()})},
		"a name of two clients":   {certified(named), {Name: "eve", Certificates: []access.MTLS{{SAN: named.SAN, Roots: ca.pool()}}}},
		"the last one of several": {partner("carol"), {}},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, access.Config{}, partner("zoe", key))
			caller := d.in(bearer(text))
			affected, omitted := d.Set(append(bad, partner("zoe", key, theirs)))
			if len(affected) != 0 || ended(caller.Revoked) {
				t.Errorf("Set() affected %v", affected)
			}
			last := bad[len(bad)-1]
			if len(omitted) != 1 || omitted[0].Client != last.Name || omitted[0].Err == nil {
				t.Errorf("Set() leaves out %v, want one of %q", omitted, last.Name)
			}
			d.in(bearer(text))
			d.in(bearer(other))
		})
	}
}

func TestWhatIsLeftOutLetsNobodyIn(t *testing.T) {
	mine, key := access.Issue()
	theirs, other := access.Issue()
	stolen := other
	stolen.ID = key.ID
	good, spare := access.Issue()
	d := open(t, access.Config{}, partner("alice", key), partner("bob", spare, other))
	caller, gone := d.in(bearer(mine)), d.in(bearer(theirs))
	affected, omitted := d.Set([]access.Client{partner("alice", key), partner("bob", stolen, spare), partner("bob", other)})
	if diff := cmp.Diff([]string{"bob"}, affected); diff != "" {
		t.Errorf("affected (-want +got):\n%s", diff)
	}
	if len(omitted) != 2 || omitted[0].Client != "bob" || omitted[1].Client != "bob" {
		t.Errorf("Set() leaves out %v", omitted)
	}
	if ended(caller.Revoked) || !ended(gone.Revoked) {
		t.Error("the wrong one has ended")
	}
	d.in(bearer(mine))
	d.in(bearer(good)) // by the credential that is as it should be
	d.out(bearer(theirs), 401, access.ReasonUnknown)
}

func TestProxiesThatAnybodyCouldBeAreRefused(t *testing.T) {
	networks := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for name, bad := range map[string]access.Proxy{
		"no name":      {Header: "Client-Cert", Networks: networks},
		"no header":    {Name: "edge", Networks: networks},
		"taken header": {Name: "edge", Header: "authorization", Networks: networks},
		"anywhere":     {Name: "edge", Header: "Client-Cert"},
		"no network":   {Name: "edge", Header: "Client-Cert", Networks: []netip.Prefix{{}}},
	} {
		if _, err := access.NewDirectory(access.Config{Proxies: []access.Proxy{bad}}); err == nil {
			t.Errorf("%s: NewDirectory() succeeded", name)
		}
	}
	if _, err := access.NewDirectory(access.Config{Failures: -1}); err == nil {
		t.Error("negative failures: NewDirectory() succeeded")
	}
}

func TestDirectoryIsRead(t *testing.T) {
	_, key := access.Issue()
	client := partner("alice", key)
	client.Tokens = []access.OIDC{{Issuer: "https://id.example.com", Audience: "us", Subject: "them"}}
	d := open(t, access.Config{}, client)
	got, ok := d.Client("alice")
	if diff := cmp.Diff(client, got); !ok || diff != "" {
		t.Errorf("Client() = %v (-want +got):\n%s", ok, diff)
	}
	if _, ok := d.Client("bob"); ok {
		t.Error("Client() finds a client that is not there")
	}
	if d.Len() != 1 || !d.Issuer("https://id.example.com") || d.Issuer("https://id.example.com/") {
		t.Error("Len() or Issuer() is wrong")
	}
}

func TestRequestsAreLimitedPerClient(t *testing.T) {
	text, key := access.Issue()
	_, more := access.Issue()
	theirs, other := access.Issue()
	alice := partner("alice", key)
	alice.Limits.Requests = 6
	d := open(t, access.Config{}, alice, partner("bob", other))
	for range 6 {
		d.in(bearer(text))
	}
	// REQ-GEN-10, REQ-ERR-15.
	refusal := d.out(bearer(text), 429, access.ReasonRate)
	if refusal.RetryAfter != 10*time.Second || refusal.Fact.Client != "alice" {
		t.Errorf("retry of %q after %v, want alice after 10s", refusal.Fact.Client, refusal.RetryAfter)
	}
	d.in(bearer(theirs))
	d.now = d.now.Add(10 * time.Second)
	d.in(bearer(text))
	d.out(bearer(text), 429, access.ReasonRate)

	// A change of something else gives nothing back.
	alice.Keys = append(alice.Keys, more)
	d.set(alice, partner("bob", other))
	d.out(bearer(text), 429, access.ReasonRate)
	alice.Limits.Requests = quota.None
	d.set(alice)
	for range 100 {
		d.in(bearer(text))
	}
}

func TestFailuresAreLimitedPerAddress(t *testing.T) {
	good, key := access.Issue()
	bad, _ := access.Issue()
	d := open(t, access.Config{Failures: 3}, partner("alice", key))
	from := func(address, text string) access.Attempt {
		attempt := bearer(text)
		attempt.Address = netip.MustParseAddr(address)
		return attempt
	}
	for range 3 {
		d.out(from("192.0.2.1", bad), 401, access.ReasonUnknown)
	}
	// Guessing slows down.
	refusal := d.out(from("::ffff:192.0.2.1", bad), 429, access.ReasonFailures)
	if refusal.RetryAfter != 20*time.Second {
		t.Errorf("retry after %v, want 20s", refusal.RetryAfter)
	}
	// Who has a good credential does not suffer from a neighbour.
	d.in(from("192.0.2.1", good))
	d.out(from("192.0.2.2", bad), 401, access.ReasonUnknown)
	d.now = d.now.Add(20 * time.Second)
	d.out(from("192.0.2.1", bad), 401, access.ReasonUnknown)
	d.out(from("192.0.2.1", bad), 429, access.ReasonFailures)

	// Whoever has a network of IPv6 has all its addresses.
	for i := range 3 {
		d.out(from(fmt.Sprintf("2001:db8::%x", i+1), bad), 401, access.ReasonUnknown)
	}
	d.out(from("2001:db8::ffff", bad), 429, access.ReasonFailures)
	d.out(from("2001:db8:0:1::1", bad), 401, access.ReasonUnknown)
}

func TestADirectoryIsReadWhileItChanges(t *testing.T) {
	text, key := access.Issue()
	d := open(t, access.Config{}, partner("alice", key))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			caller, err := d.Authenticate(ctx, bearer(text))
			if err != nil || caller.Name != "alice" || caller.Revoked == nil {
				t.Errorf("Authenticate() = %q, %v", caller.Name, err)
				return
			}
		}
	}()
	for range 200 {
		client := partner("alice", key)
		client.Limits.Requests = quota.None
		d.set(client)
	}
	stop()
	<-done
}

func FuzzAuthenticate(f *testing.F) {
	text, key := access.Issue()
	f.Add("Bearer "+text, "", "")
	f.Add("", text, "")
	f.Add("Bearer a.b.c", "", ":AAAA:")
	f.Add("Basic x", "", "%2D%2D%2D%2D%2DBEGIN")
	directory, err := access.NewDirectory(access.Config{
		Failures: 1 << 30,
		Tokens:   claimsOf{},
		Proxies:  []access.Proxy{{Name: "edge", Header: "Client-Cert", Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}},
	})
	if err != nil {
		f.Fatal(err)
	}
	client := partner("alice", key)
	client.Limits.Requests = quota.None
	if _, omitted := directory.Set([]access.Client{client}); len(omitted) > 0 {
		f.Fatal(omitted)
	}
	f.Fuzz(func(t *testing.T, authorization, header, forwarded string) {
		attempt := access.Attempt{Address: home, Header: map[string][]string{}}
		for name, value := range map[string]string{"Authorization": authorization, access.HeaderKey: header, "Client-Cert": forwarded} {
			if value != "" {
				attempt.Header[name] = []string{value}
			}
		}
		caller, err := directory.Authenticate(t.Context(), attempt)
		if err == nil {
			if caller.Name != "alice" || !strings.Contains(authorization+header, text) {
				t.Errorf("let in %q without the key", caller.Name)
			}
			return
		}
		said := fmt.Sprintf("%v %+v", err, err)
		for _, secret := range []string{authorization, header, forwarded} {
			if secret = secretOf(secret); len(secret) > 80 { // what is shorter may be words of ours
				noTrace(t, said, secret[40:])
			}
		}
	})
}
