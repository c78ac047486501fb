package app

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/registry"
)

// clientChecks looks at what is in the way of remote clients.
type clientChecks struct{ core *core }

// checkLimit bounds one check, the asking of issuers included.
const checkLimit = 30 * time.Second

// CheckClient looks at everything that can keep a remote client from calling:
// its document, its credentials, the skills it may use, and its issuers.
func (c clientChecks) CheckClient(ctx context.Context, name string) (admin.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	set := c.core.registry.Set()
	doc, ok := set.Document(registry.ID{Kind: registry.KindRemoteClient, Name: registry.Name(name)})
	if !ok {
		return admin.Report{}, &admin.Failure{
			Status: http.StatusNotFound, Code: admin.CodeNotFound,
			Message: "there is no remote client " + name, Next: "register it with: legation apply",
		}
	}
	r := &clientReport{Report: admin.Report{Name: name, OK: true}, name: name}
	spec := registry.Effective(doc.Spec.(*registry.RemoteClient))
	r.registration(doc, spec)
	r.keys(spec.Credentials.APIKeys, time.Now())
	r.issuers(ctx, c.core, set, spec.Credentials.OIDC)
	r.certificates(spec.Credentials.MTLS, c.core)
	r.omissions(set)
	r.credentials(spec.Credentials)
	r.skills(set, spec)
	r.rights(spec)
	return r.Report, nil
}

// clientReport gathers findings.
type clientReport struct {
	admin.Report
	name   string
	usable int // credentials
}

func (r *clientReport) add(step string, outcome admin.Outcome, next, format string, args ...any) {
	finding := admin.Finding{Step: step, Outcome: outcome, Words: fmt.Sprintf(format, args...), Next: next}
	r.Findings = append(r.Findings, finding)
	if outcome != admin.OutcomeProblem {
		return
	}
	r.OK = false
	if r.First == "" {
		r.First = finding.Words
		if next != "" {
			r.First += ": " + next
		}
	}
}

func (r *clientReport) registration(doc registry.Document, spec *registry.RemoteClient) {
	if !spec.Enabled {
		r.add("registration", admin.OutcomeProblem, "set spec.enabled: true and apply it", "the client is disabled")
		return
	}
	r.add("registration", admin.OutcomeOK, "", "registered and enabled, generation %d", doc.Generation)
}

// keys looks at API keys.
func (r *clientReport) keys(keys []registry.APIKey, now time.Time) {
	for _, key := range keys {
		switch {
		case key.Revoked:
			r.add("api key", admin.OutcomeWarning, "", "key %s is revoked", key.ID)
		case !key.Usable(now):
			r.add("api key", admin.OutcomeWarning, "issue another with: legation client key issue "+r.name, "key %s ended at %s", key.ID, key.NotAfter.Format(time.RFC3339))
		default:
			r.usable++
			ends := "does not end"
			if !key.NotAfter.IsZero() {
				ends = "ends at " + key.NotAfter.Format(time.RFC3339)
			}
			r.add("api key", admin.OutcomeOK, "", "key %s is good and %s", key.ID, ends)
		}
	}
}

// issuers asks whether each issuer of tokens can be reached, as it will have to
// be when a token comes.
func (r *clientReport) issuers(ctx context.Context, c *core, set registry.Set, all []registry.OIDC) {
	for _, identity := range all {
		where := strings.TrimSuffix(string(identity.Issuer), "/") + "/.well-known/openid-configuration"
		if why := reach(ctx, c, issuerExceptions(set, string(identity.Issuer)), where); why != "" {
			r.add("issuer", admin.OutcomeProblem, "check the issuer's URL, and its exceptions if it is not public",
				"tokens cannot be verified: %s", why)
			continue
		}
		r.usable++
		r.add("issuer", admin.OutcomeOK, "", "the issuer answers; tokens need the audience %q", identity.Audience)
	}
}

// reach reads one address and says why that failed, in words without the URL.
func reach(ctx context.Context, c *core, allowed []registry.Exception, where string) string {
	policy := exceptions(allowed)
	policy.Proxy, policy.MaxAnswerBytes = c.egress, 1<<20
	out, err := guard.New(policy)
	if err != nil {
		return err.Error()
	}
	defer out.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return "its URL cannot be used"
	}
	resp, err := out.Do(req)
	if err != nil {
		return err.Error()
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Sprintf("its configuration is answered with HTTP %d", resp.StatusCode)
	}
	return ""
}

func (r *clientReport) certificates(all []registry.MTLS, c *core) {
	for _, identity := range all {
		if c.cfg.TLSCert == "" && len(c.cfg.ClientProxies) == 0 {
			r.add("certificate", admin.OutcomeProblem, "start the server with --tls-cert and --tls-key, or name the proxy with --client-proxy",
				"certificates are not seen: this server serves no TLS, and no proxy may pass them on")
			continue
		}
		r.usable++
		what := "a key by its SPKI"
		if identity.SAN != "" {
			what = string(identity.SAN)
		}
		r.add("certificate", admin.OutcomeOK, "", "certificates with %s are accepted", what)
	}
}

func (r *clientReport) credentials(all registry.Credentials) {
	if r.usable <= 0 {
		r.add("credentials", admin.OutcomeProblem, "issue a key with: legation client key issue "+r.name,
			"none of its %d credentials can be used now", len(all.APIKeys)+len(all.OIDC)+len(all.MTLS))
	}
}

// skills looks whether what the client may use is served.
func (r *clientReport) skills(set registry.Set, spec *registry.RemoteClient) {
	if len(spec.Skills) == 0 {
		r.add("skills", admin.OutcomeProblem, "name them in spec.skills, as agent/skill", "it may use no skill")
		return
	}
	for _, ref := range spec.Skills {
		agent, skill := ref.Split()
		doc, ok := set.Document(registry.ID{Kind: registry.KindAgent, Name: agent})
		if !ok {
			r.add("skills", admin.OutcomeProblem, "register the agent, or take the skill away", "%s: there is no such agent", ref)
			continue
		}
		skills := doc.Spec.(*registry.Agent).Skills
		i := slices.IndexFunc(skills, func(one registry.Skill) bool { return one.ID == skill })
		if i < 0 {
			r.add("skills", admin.OutcomeProblem, "add the skill to the agent, or take it away here", "%s: the agent has no such skill", ref)
			continue
		}
		if class := promptOf(set, skills[i]); !spec.Zone.Allows(class) {
			r.add("skills", admin.OutcomeProblem, "raise spec.zone, or lower the dataClass of the configuration if the prompt allows it",
				"%s: its configuration has a system prompt that is %s, and the client may receive up to %s", ref, class, spec.Zone)
			continue
		}
		r.add("skills", admin.OutcomeOK, "", "may use %s", ref)
	}
}

// promptOf is the data class of what a skill may tell.
func promptOf(set registry.Set, skill registry.Skill) registry.DataClass {
	doc, ok := set.Document(registry.ID{Kind: registry.KindConfiguration, Name: skill.Configuration})
	if !ok {
		return registry.Public
	}
	return classOf(registry.Effective(doc.Spec.(*registry.Configuration)))
}

// omissions looks what of its credentials lets nobody in, because another client
// has it, or because it is not as it should be.
func (r *clientReport) omissions(set registry.Set) {
	directory, err := access.NewDirectory(access.Config{})
	if err != nil {
		r.add("credentials", admin.OutcomeProblem, "", "%v", err)
		return
	}
	_, omitted := directory.Set(clients(set, 0))
	for _, one := range omitted {
		if one.Client == r.name {
			r.usable--
			r.add("credentials", admin.OutcomeProblem, "give the client a credential of its own", "one of them lets nobody in: %v", one.Err)
		}
	}
}

func (r *clientReport) rights(spec *registry.RemoteClient) {
	operations := "every operation"
	if len(spec.Operations) > 0 {
		var names []string
		for _, one := range spec.Operations {
			names = append(names, string(one))
		}
		operations = strings.Join(names, ", ")
	}
	l := spec.Limits
	r.add("rights", admin.OutcomeOK, "", "%s; zone %s; a day: %d tasks, %d tokens, %s in cost; %d requests a minute",
		operations, spec.Zone, l.TasksPerDay, l.TokensPerDay, l.CostPerDay, l.RequestsPerMinute)
}
