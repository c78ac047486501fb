package access

import (
	"crypto/x509"
	"net/netip"
)

// Attempt is what a request has to show for itself.
type Attempt struct {
	// Header is the header fields of the request under their canonical names,
	// as net/http has them. It is not changed.
	Header map[string][]string

	// Certificates are those that the peer presented in the handshake of TLS,
	// its own first, in whatever way the listener has or has not verified
	// them.
	Certificates []*x509.Certificate

	// Address is that of the peer.
	Address netip.Addr
}

// HeaderKey is where a client puts an API key, if not behind the word Bearer in
// Authorization.
const HeaderKey = "X-Api-Key"
