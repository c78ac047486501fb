package credential

import (
	"context"
	"crypto/tls"
	"net/http"
	"time"

	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/vault"
)

// Kind is a kind of credential, by its name in a document.
type Kind string

// The kinds.
const (
	None   Kind = "none"
	APIKey Kind = "apiKey"
	Bearer Kind = "bearer"
	OAuth2 Kind = "oauth2"
	MTLS   Kind = "mtls"
)

// kindOf is the kind of a credential, empty unless exactly one is set.
func kindOf(spec registry.Credential) Kind {
	var kind Kind
	given := 0
	for _, member := range []struct {
		kind Kind
		set  bool
	}{
		{None, spec.None}, {APIKey, spec.APIKey != nil}, {Bearer, spec.Bearer != nil}, {OAuth2, spec.OAuth2 != nil}, {MTLS, spec.MTLS != nil},
	} {
		if member.set {
			kind = member.kind
			given++
		}
	}
	if given != 1 {
		return ""
	}
	return kind
}

// Source is the credential of one party. It is safe for concurrent use.
type Source struct {
	keeper     *Keeper
	party      string
	host       string // of the party
	spec       registry.Credential
	kind       Kind
	exceptions []registry.Exception

	grant *grant // of OAuth2
	files *files // of MTLS without a secret
}

// Kind returns what kind of credential this is.
func (s *Source) Kind() Kind { return s.kind }

// Headers returns the headers that prove us in the next request, for whom it is
// made: a caller, a person, a part of ourselves. They are secret. Each call opens
// the secret anew and records that; an access token is used until it is about to
// end, and renewed a minute or a fifth of its life before. With renew set the
// agent has just refused the last one, and another is fetched unless that was done
// within the last second.
//
// There are no headers, and no error, where the credential is none or a client
// certificate. The error is an *[Error], or the context's.
func (s *Source) Headers(ctx context.Context, who string, renew bool) (http.Header, error) {
	switch s.kind {
	case APIKey:
		value, err := s.static(ctx, who, s.spec.APIKey.Secret, "apiKey.secret", checkKey)
		return one(headerOf(s.spec.APIKey), value, err)
	case Bearer:
		value, err := s.static(ctx, who, s.spec.Bearer.Secret, "bearer.secret", checkToken)
		return one(authorization, "Bearer "+value, err)
	case OAuth2:
		t, err := s.accessToken(ctx, who, renew)
		return one(authorization, "Bearer "+t.value, err)
	}
	return http.Header{}, nil
}

func one(name, value string, err error) (http.Header, error) {
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	header.Set(name, value)
	return header, nil
}

// Certificate returns what a TLS configuration asks for a client certificate,
// which happens when a connection is made and the server wants one. A secret is
// opened each time; files are read once a second at most. It is nil unless the
// credential is a client certificate.
func (s *Source) Certificate() func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	if s.kind != MTLS {
		return nil
	}
	return func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		// Several requests, of several callers, go over one connection.
		return s.certificate(info.Context(), "transport")
	}
}

// Version is another number whenever the files of a client certificate have had
// another one since. A connection goes on with what was shown when it was made.
// The files are looked at once a second at most.
func (s *Source) Version() int64 {
	if s.files == nil {
		return 0
	}
	return s.files.version()
}

// Check obtains the credential without sending it to the party, and returns when
// it ends; zero means that this is not known. A secret that is opened for it is
// recorded as used. The error is an *[Error], or the context's.
func (s *Source) Check(ctx context.Context, who string) (ends time.Time, err error) {
	switch s.kind {
	case MTLS:
		certificate, err := s.certificate(ctx, who)
		if err != nil {
			return time.Time{}, err
		}
		return certificate.Leaf.NotAfter, nil
	case OAuth2:
		t, err := s.accessToken(ctx, who, false)
		return t.expires, err
	}
	_, err = s.Headers(ctx, who, false)
	return time.Time{}, err
}

// static is a secret that is sent as it is.
func (s *Source) static(ctx context.Context, who string, name registry.SecretName, field string, check func([]byte) string) (string, error) {
	value, err := s.open(ctx, name, field, vault.Use{Who: who, Purpose: string(s.kind), Host: s.host})
	if err != nil {
		return "", err
	}
	defer value.Wipe()
	text := trimmed(value.Reveal())
	if why := check(text); why != "" {
		return "", s.fault(Unusable, "", secretWords(name, field)+" "+why)
	}
	return string(text), nil
}
