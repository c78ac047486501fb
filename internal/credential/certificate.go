package credential

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/legation/legation/internal/vault"
)

// certificate is the client certificate to show now.
func (s *Source) certificate(ctx context.Context, who string) (*tls.Certificate, error) {
	found, name, err := s.pair(ctx, who)
	if err != nil {
		return nil, err
	}
	// A server that refuses it says less than we know.
	switch now := s.keeper.cfg.Now(); {
	case now.After(found.Leaf.NotAfter):
		return nil, s.fault(Unusable, "", "the client certificate in "+name+" has ended on "+found.Leaf.NotAfter.UTC().Format(time.DateTime)+" UTC")
	case now.Before(found.Leaf.NotBefore):
		return nil, s.fault(Unusable, "", "the client certificate in "+name+" begins only on "+found.Leaf.NotBefore.UTC().Format(time.DateTime)+" UTC")
	}
	return found, nil
}

// pair is the certificate with its key, and where it is.
func (s *Source) pair(ctx context.Context, who string) (*tls.Certificate, string, error) {
	if s.files != nil {
		name := "the file " + bounded(s.spec.MTLS.CertificateFile)
		found, err := s.files.current()
		if err != nil {
			e := s.fault(Closed, "", "spec.credential.mtls names files that are not a certificate and its key in PEM")
			e.Err = err
			return nil, "", e
		}
		return found, name, nil
	}
	const field = "mtls.secret"
	name := secretWords(s.spec.MTLS.Secret, field)
	value, err := s.open(ctx, s.spec.MTLS.Secret, field, vault.Use{Who: who, Purpose: string(s.kind), Host: s.host})
	if err != nil {
		return nil, "", err
	}
	defer value.Wipe()
	found, err := tls.X509KeyPair(value.Reveal(), value.Reveal())
	if err != nil {
		e := s.fault(Unusable, "", name+" is not a certificate and its key in PEM")
		e.Err = err
		return nil, "", e
	}
	return &found, name, nil
}
