package access

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/legation/legation/internal/quota"
)

// snapshot is all clients at one time, in the form that requests are compared
// with. It does not change.
type snapshot struct {
	members map[string]*member
	issuers map[string]bool

	keys    map[string]*grant   // by id
	parties map[party][]*grant  // of tokens
	pins    map[[32]byte]*grant // of certificates, by SPKI
	names   map[string][]*grant // of certificates, by SAN
	grants  map[identity]*grant // all of them
}

// member is a client and what is counted of it.
type member struct {
	Client
	limits   quota.Limits // with defaults
	requests *bucket
}

// grant is one credential of a client.
type grant struct {
	member      *member
	credential  Credential
	key         APIKey
	token       OIDC
	certificate MTLS

	revoked context.Context
	revoke  context.CancelFunc
}

// identity tells a credential from all others; what is compared in it is what
// makes it another credential when it changes.
type identity struct {
	client     string
	credential Credential
	hash       [32]byte
	token      string
	name       string
}

// party is whom an issuer has given a token to: by azp, or else by sub.
type party struct{ issuer, authorized, subject string }

func newSnapshot() *snapshot {
	return &snapshot{
		members: map[string]*member{}, issuers: map[string]bool{},
		keys: map[string]*grant{}, parties: map[party][]*grant{},
		pins: map[[32]byte]*grant{}, names: map[string][]*grant{}, grants: map[identity]*grant{},
	}
}

// build makes a snapshot. What goes on from the one before, counts and grants,
// is taken over; nothing in the one before changes. What is not as it should be
// is left out.
func build(clients []Client, before *snapshot) (*snapshot, []Omission) {
	s := newSnapshot()
	var omitted []Omission
	for _, client := range clients {
		for _, err := range s.add(client, before) {
			omitted = append(omitted, Omission{Client: client.Name, Err: err})
		}
	}
	for id, g := range s.grants {
		if was, ok := before.grants[id]; ok && g.goesOn(was) {
			g.revoked, g.revoke = was.revoked, was.revoke
		}
	}
	return s, omitted
}

// replace ends the grants of the snapshot before that do not go on, and returns
// the names of the clients that had them.
func (s *snapshot) replace(before *snapshot, now time.Time) []string {
	var affected []string
	for id, was := range before.grants {
		if g, ok := s.grants[id]; ok && g.revoked == was.revoked {
			continue
		}
		was.revoke()
		if was.usable() {
			affected = append(affected, was.member.Name)
		}
	}
	for _, m := range s.members {
		m.requests.set(m.limits.Requests, now)
	}
	slices.Sort(affected)
	return slices.Compact(affected)
}

func (g *grant) usable() bool { return g.member.Enabled && !g.key.Revoked }

// goesOn reports whether what was opened under a grant may stay open under this
// one.
func (g *grant) goesOn(was *grant) bool {
	shorter := !g.key.NotAfter.IsZero() && (was.key.NotAfter.IsZero() || g.key.NotAfter.Before(was.key.NotAfter))
	return g.usable() && !shorter && sameRoots(g.certificate.Roots, was.certificate.Roots) &&
		g.member.Rights.allow(was.member.Rights) && g.member.limits.Allows(was.member.limits)
}

func sameRoots(a, b *x509.CertPool) bool { return a == b || a != nil && b != nil && a.Equal(b) }

// add takes a client in, and returns why it, or a credential of it, is left out.
func (s *snapshot) add(client Client, before *snapshot) (why []error) {
	if client.Name == "" {
		return []error{errors.New("it has no name")}
	}
	if _, twice := s.members[client.Name]; twice {
		return []error{errors.New("there are two clients of this name")}
	}
	m := &member{Client: client, limits: client.Limits.OrDefault()}
	if was, ok := before.members[client.Name]; ok {
		m.requests = was.requests
	} else {
		m.requests = newBucket(m.limits.Requests)
	}
	s.members[client.Name] = m
	for _, key := range client.Keys {
		why = append(why, s.addKey(m, key))
	}
	for _, token := range client.Tokens {
		why = append(why, s.addToken(m, token))
	}
	for _, certificate := range client.Certificates {
		why = append(why, s.addCertificate(m, certificate))
	}
	return slices.DeleteFunc(why, func(err error) bool { return err == nil })
}

func (s *snapshot) grant(id identity, g *grant) {
	id.client = g.member.Name
	g.revoked, g.revoke = context.WithCancel(context.Background())
	s.grants[id] = g
}

func (s *snapshot) addKey(m *member, key APIKey) error {
	if err := key.check(); err != nil {
		return err
	}
	if other, taken := s.keys[key.ID]; taken {
		return fmt.Errorf("client %q has a key of the same id %q", other.member.Name, key.ID)
	}
	g := &grant{member: m, credential: Credential{KindKey, key.ID}, key: key}
	s.keys[key.ID] = g
	s.grant(identity{credential: g.credential, hash: key.SHA256}, g)
	return nil
}

func (s *snapshot) addToken(m *member, token OIDC) error {
	if err := token.check(); err != nil {
		return fmt.Errorf("tokens of issuer %q: %w", token.Issuer, err)
	}
	token = token.withDefaults()
	by := party{issuer: token.Issuer, authorized: token.AuthorizedParty}
	if token.AuthorizedParty == "" {
		by.subject = token.Subject
	}
	for _, other := range s.parties[by] {
		if other.token.Audience == token.Audience && other.token.Subject == token.Subject {
			return fmt.Errorf("client %q has the same tokens of issuer %q", other.member.Name, token.Issuer)
		}
	}
	g := &grant{member: m, credential: Credential{KindToken, token.Issuer}, token: token}
	s.parties[by] = append(s.parties[by], g)
	s.issuers[token.Issuer] = true
	words := append([]string{token.Audience, token.AuthorizedParty, token.Subject, token.Skew.String()}, token.Algorithms...)
	s.grant(identity{credential: g.credential, token: strings.Join(words, "\x00")}, g)
	return nil
}

func (s *snapshot) addCertificate(m *member, certificate MTLS) error {
	if err := certificate.check(); err != nil {
		return err
	}
	certificate.SAN = canonicalName(certificate.SAN)
	g := &grant{member: m, certificate: certificate}
	if certificate.SAN == "" {
		if other, taken := s.pins[certificate.SPKI]; taken {
			return fmt.Errorf("client %q has the same certificate key", other.member.Name)
		}
		s.pins[certificate.SPKI] = g
	} else {
		for _, other := range s.names[certificate.SAN] {
			switch {
			case other.member == m:
				return fmt.Errorf("the certificate name %q is there twice; put all its roots in one", certificate.SAN)
			case sameRoots(other.certificate.Roots, certificate.Roots):
				return fmt.Errorf("client %q has the same certificate name %q", other.member.Name, certificate.SAN)
			}
		}
		s.names[certificate.SAN] = append(s.names[certificate.SAN], g)
	}
	s.grant(identity{credential: Credential{Kind: KindCertificate}, hash: certificate.SPKI, name: certificate.SAN}, g)
	return nil
}
