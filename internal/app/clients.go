package app

import (
	"crypto/x509"
	"encoding/hex"
	"sync/atomic"
	"time"

	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/quota"
	"github.com/legation/legation/internal/registry"
)

// clients are the remote clients that a set registers. Those that do not say how
// large their requests may be have the smaller one of the default and what
// everybody may send.
func clients(set registry.Set, maxBody int64) []access.Client {
	var all []access.Client
	for _, doc := range set.Documents {
		if spec, ok := doc.Spec.(*registry.RemoteClient); ok {
			client := clientOf(string(doc.Name), registry.Effective(spec))
			if spec.Limits.Body == 0 {
				client.Limits.Bytes = min(client.Limits.Bytes, maxBody)
			}
			all = append(all, client)
		}
	}
	return all
}

func clientOf(name string, spec *registry.RemoteClient) access.Client {
	client := access.Client{
		Name: name, Enabled: spec.Enabled,
		Rights: access.Rights{Zone: string(spec.Zone)},
		Limits: limitsOf(spec.Limits),
	}
	for _, ref := range spec.Skills {
		agent, skill := ref.Split()
		client.Rights.Skills = append(client.Rights.Skills, access.Skill{Agent: string(agent), ID: string(skill)})
	}
	for _, operation := range spec.Operations {
		client.Rights.Operations = append(client.Rights.Operations, string(operation))
	}
	if len(spec.Operations) == 0 {
		client.Rights.Operations = []string{access.Every}
	}
	for _, key := range spec.Credentials.APIKeys {
		client.Keys = append(client.Keys, access.APIKey{ID: string(key.ID), SHA256: digest(key.SHA256), NotAfter: key.NotAfter, Revoked: key.Revoked})
	}
	for _, identity := range spec.Credentials.OIDC {
		var algorithms []string
		for _, algorithm := range identity.Algorithms {
			algorithms = append(algorithms, string(algorithm))
		}
		client.Tokens = append(client.Tokens, access.OIDC{
			Issuer: string(identity.Issuer), Audience: identity.Audience,
			AuthorizedParty: identity.AuthorizedParty, Subject: identity.Subject,
			Algorithms: algorithms, Skew: time.Duration(identity.Skew),
		})
	}
	for _, identity := range spec.Credentials.MTLS {
		certificate := access.MTLS{SAN: string(identity.SAN), SPKI: digest(identity.SPKI)}
		if identity.SAN != "" {
			certificate.Roots = x509.NewCertPool()
			certificate.Roots.AppendCertsFromPEM([]byte(identity.Roots))
		}
		client.Certificates = append(client.Certificates, certificate)
	}
	return client
}

// digest is zero, which the directory takes for none, if the text is none.
func digest(text registry.SHA256) (sum [32]byte) {
	raw, err := hex.DecodeString(string(text))
	if err == nil && len(raw) == len(sum) {
		copy(sum[:], raw)
	}
	return sum
}

func limitsOf(l registry.ClientLimits) quota.Limits {
	return quota.Limits{
		Requests:   l.RequestsPerMinute,
		Concurrent: l.ConcurrentTasks + l.QueuedTasks,
		Day:        quota.Amount{Tasks: l.TasksPerDay, Tokens: l.TokensPerDay, Cost: int64(l.CostPerDay)},
		Bytes:      int64(l.Body),
		Parts:      l.Parts,
	}
}

// turns is how many tasks of each remote client may run and wait at once.
type turns struct {
	current atomic.Pointer[map[string][2]int]
}

func (t *turns) set(set registry.Set) {
	next := map[string][2]int{}
	for _, doc := range set.Documents {
		if spec, ok := doc.Spec.(*registry.RemoteClient); ok {
			limits := registry.Effective(spec).Limits
			next[string(doc.Name)] = [2]int{int(limits.ConcurrentTasks), int(limits.QueuedTasks)}
		}
	}
	t.current.Store(&next)
}

// of is the limits of a caller; zero stands for those of everybody.
func (t *turns) of(caller string) (runs, queued int) {
	all := t.current.Load()
	if all == nil {
		return 0, 0
	}
	limits := (*all)[caller]
	return limits[0], limits[1]
}

// issuerExceptions are what every registered identity of an issuer allows it.
func issuerExceptions(set registry.Set, issuer string) []registry.Exception {
	var all []registry.Exception
	for _, doc := range set.Documents {
		spec, ok := doc.Spec.(*registry.RemoteClient)
		if !ok {
			continue
		}
		for _, identity := range spec.Credentials.OIDC {
			if string(identity.Issuer) == issuer {
				all = append(all, identity.Exceptions...)
			}
		}
	}
	return all
}
