package app

import (
	"crypto/tls"
	"net"
	"sync/atomic"

	"github.com/legation/legation/internal/access"
)

// secureListener serves TLS, and asks for certificates while clients are
// registered that have some: whoever has none is let in by other credentials.
type secureListener struct {
	asks   atomic.Bool
	config *tls.Config
}

func newSecureListener(settings *tls.Config) *secureListener {
	plain := settings.Clone()
	asking := settings.Clone()
	// Who a certificate stands for is decided by who is registered, and not
	// by one list of authorities for all.
	asking.ClientAuth = tls.RequestClientCert
	s := &secureListener{config: settings.Clone()}
	s.config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		if s.asks.Load() {
			return asking, nil
		}
		return plain, nil
	}
	return s
}

func (s *secureListener) wrap(l net.Listener) net.Listener { return tls.NewListener(l, s.config) }

// askFor says whether certificates are asked for from the next connection on.
func (s *secureListener) askFor(certificates bool) { s.asks.Store(certificates) }

// certificates reports whether any client has certificates.
func certificates(all []access.Client) bool {
	for _, client := range all {
		if len(client.Certificates) > 0 {
			return true
		}
	}
	return false
}
