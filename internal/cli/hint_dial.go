package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/legation/legation/guard"
)

// dialHint is about a connection that did not come about.
func dialHint(err error, at *remote) string {
	dial, ok := errors.AsType[*guard.DialError](err)
	if !ok {
		return ""
	}
	if hint := certificateHint(err); hint != "" {
		return hint
	}
	switch dial.Phase {
	case guard.PhaseResolve:
		return "check the spelling of the host, and that this machine can resolve it"
	case guard.PhaseTLS:
		if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
			return "this port does not speak TLS; try http:// instead of https://, or another port"
		}
		return "check that the port is a port for https"
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		where := "that port"
		if op, ok := errors.AsType[*net.OpError](err); ok && op.Addr != nil {
			where = op.Addr.String()
		}
		return "nothing listens on " + where + "; is the agent running, and is this its port? One of your own starts with: legation serve --publish 'wordcount=wc -w'"
	}
	if errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
		return "there was no answer at all; check the port, and whether a firewall is in between"
	}
	return ""
}

// certificateHint tells which check of a certificate failed.
func certificateHint(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "the certificate is from an authority this machine does not know; if it is yours, name its certificate with --ca FILE"
	}
	if wrong, ok := errors.AsType[x509.HostnameError](err); ok {
		names := wrong.Certificate.DNSNames
		for _, ip := range wrong.Certificate.IPAddresses {
			names = append(names, ip.String())
		}
		if len(names) == 0 {
			return "the certificate is for no host at all; its operator has to replace it"
		}
		return "the certificate is for another host; it would be right for: " + line(strings.Join(names, ", "), 200)
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		now := time.Now()
		if invalid.Cert != nil && now.Before(invalid.Cert.NotBefore) {
			return "the certificate is not valid yet, before " + invalid.Cert.NotBefore.UTC().Format(time.RFC3339) + "; check this machine's clock"
		}
		return "the certificate has expired; its operator has to renew it, unless this machine's clock is wrong"
	}
	return ""
}

func isDial(err error) bool {
	_, ok := errors.AsType[*guard.DialError](err)
	return ok
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
