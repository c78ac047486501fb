package remotes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/legation/legation/card"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/credential"
	"github.com/legation/legation/internal/trust"
)

// errCardPath refuses a URL that would be taken for an agent's.
var errCardPath = errors.New("the path of spec.cardURL does not end in .json")

// The codes of readings that fail, beside [trust.CodeUnreachable].
const (
	codeAddress     trust.Code = "address"     // the guard refuses it
	codeResolve     trust.Code = "resolve"     // the name
	codeConnect     trust.Code = "connect"     // nobody listens, or nobody answers
	codeTLS         trust.Code = "tls"         // the handshake
	codeCertificate trust.Code = "certificate" // whose it is, or when it was valid
	codeProxy       trust.Code = "proxy"       // the egress proxy
	codeTimeout     trust.Code = "timeout"     // somebody listens and does not answer
	codeRedirect    trust.Code = "redirect"
	codeMissing     trust.Code = "missing" // 404 and 410
	codeRefused     trust.Code = "refused" // 401 and 403
	codeStatus      trust.Code = "status"  // any other
	codeCredential  trust.Code = "credential"
	codeMalformed              = trust.Code(card.ReasonMalformed)
)

// failure is an error of a leg in words.
type failure struct {
	code        trust.Code
	words, next string
	answered    bool // somebody answered over HTTP
}

// explain says what an error means and what to do about it.
func explain(err error) failure {
	for _, try := range []func(error) (failure, bool){proved, guarded, dialled, answered, late} {
		if f, ok := try(err); ok {
			return f
		}
	}
	return failure{trust.CodeUnreachable, oneLine(err.Error()), "try again later; if it stays, ask the agent's operator", false}
}

func guarded(err error) (failure, bool) {
	if errors.Is(err, errCardPath) {
		return failure{codeAddress, "spec.cardURL leads to no card: its path does not end in .json", "write the URL of the card itself, or leave it out if the card is at the well-known path below spec.url", false}, true
	}
	if address, ok := errors.AsType[*guard.AddressError](err); ok {
		return failure{codeAddress, "host " + quote(address.Host) + " leads to " + address.Addr.Unmap().String() + ", " + address.Why + ", which is refused",
			"if it is meant, name the host or the range in spec.exceptions", false}, true
	}
	if written, ok := errors.AsType[*guard.URLError](err); ok {
		return failure{codeAddress, "the URL is refused: " + oneLine(written.Why), "correct it, or name the host in spec.exceptions if it is meant", false}, true
	}
	if away, ok := errors.AsType[*guard.RedirectError](err); ok {
		to := "another place"
		if away.Host != "" {
			to = "host " + quote(away.Host)
		}
		return failure{codeRedirect, fmt.Sprintf("it answered with status %d, a redirect to %s, which is not followed", away.Status, to),
			"if the other place is the agent's, register its URL instead", true}, true
	}
	if large, ok := errors.AsType[*guard.TooLargeError](err); ok {
		return failure{codeMalformed, fmt.Sprintf("the answer is longer than %d bytes", large.Limit),
			"raise spec.caps if that much is meant; else ask the agent's operator for less", true}, true
	}
	return failure{}, false
}

// dialled is about a connection that did not come about.
func dialled(err error) (failure, bool) {
	dial, ok := errors.AsType[*guard.DialError](err)
	if !ok {
		return failure{}, false
	}
	host := "host " + quote(dial.Host)
	if why, next := certificate(err); why != "" {
		return failure{codeCertificate, host + " shows a certificate that " + why, next, false}, true
	}
	switch dial.Phase {
	case guard.PhaseResolve:
		return failure{codeResolve, host + " cannot be resolved", "check its spelling in spec.url, and that this machine can resolve it", false}, true
	case guard.PhaseProxy:
		return failure{codeProxy, oneLine(dial.Error()), "check the egress proxy in the configuration of this server, and what it lets through", false}, true
	case guard.PhaseTLS:
		words, next := host+" did not complete the TLS handshake: "+oneLine(dial.Err.Error()), "check that the port is one for https; if the agent wants a client certificate, set spec.credential.mtls"
		if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
			words, next = host+" does not speak TLS on this port", "check the port in spec.url; or it speaks plain http here: try http in spec.url, which needs the host in spec.exceptions"
		}
		return failure{codeTLS, words, next, false}, true
	}
	words, next := host+" cannot be reached: "+oneLine(dial.Err.Error()), "check the port in spec.url, and whether a firewall is in between"
	if errors.Is(err, syscall.ECONNREFUSED) {
		words, next = host+" refuses connections: nothing listens there", "ask the agent's operator whether it is running, and check the port in spec.url"
	}
	return failure{codeConnect, words, next, false}, true
}

// certificate says which check of a certificate failed, or nothing.
func certificate(err error) (why, next string) {
	const operator = "ask the agent's operator to replace it"
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "is from an authority this server does not know", "if that authority is to vouch for this agent, put its certificate into spec.roots, in PEM (for a token endpoint into spec.credential.oauth2.roots)"
	}
	if wrong, ok := errors.AsType[x509.HostnameError](err); ok {
		names := wrong.Certificate.DNSNames
		for _, ip := range wrong.Certificate.IPAddresses {
			names = append(names, ip.String())
		}
		if len(names) == 0 {
			return "is for no host at all", operator
		}
		return "is for another host: " + quote(strings.Join(names, ", ")), "check the host in spec.url, or " + operator
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if invalid.Reason == x509.Expired {
			return "is not valid at this time", operator + ", unless this machine's clock is wrong"
		}
		return "cannot be used: " + oneLine(invalid.Error()), operator
	}
	return "", ""
}

// answered is about what came back.
func answered(err error) (failure, bool) {
	if peer, ok := errors.AsType[*client.PeerError](err); ok {
		f := failure{codeStatus, fmt.Sprintf("the agent said: error %d, %s", peer.Err.Code, quote(oneLine(peer.Err.Message))), "ask the agent's operator what it means", true}
		if peer.Status == http.StatusUnauthorized || peer.Status == http.StatusForbidden {
			f.code, f.next = codeRefused, "check that the secret of spec.credential is whole, current and meant for this agent"
		}
		if peer.Status == http.StatusForbidden {
			f.next = "this is not allowed to whom we prove to be: ask the agent's operator, or check that the secret of spec.credential is meant for this agent"
			if strings.Contains(peer.Err.Message, "may use no skill") {
				f.next = "ask the agent's operator to allow this client a skill"
			}
		}
		return f, true
	}
	if answer, ok := errors.AsType[*client.HTTPError](err); ok {
		return status(answer), true
	}
	if broken, ok := errors.AsType[*client.InvalidResponseError](err); ok {
		return failure{codeMalformed, "what it answered breaks the protocol: " + oneLine(broken.Why), "check the URL, or ask the agent's operator to correct it", true}, true
	}
	return failure{}, false
}

func status(answer *client.HTTPError) failure {
	f := failure{code: codeStatus, answered: true, words: fmt.Sprintf("it answered with HTTP %d %s", answer.Status, http.StatusText(answer.Status))}
	if answer.Said != "" {
		f.words += ", saying " + quote(answer.Said)
	}
	switch {
	case answer.Status == http.StatusNotFound || answer.Status == http.StatusGone:
		f.code, f.next = codeMissing, "check the path in spec.url, or write where the card is into spec.cardURL"
	case answer.Status == http.StatusUnauthorized || answer.Status == http.StatusForbidden:
		f.code, f.next = codeRefused, "check that the secret of spec.credential is whole, current and meant for this agent; the agent, or something before it, does not let us in"
		if answer.Challenge != "" {
			f.words += ", and asks for " + quote(answer.Challenge)
		}
	case answer.Status == http.StatusBadRequest && (answer.Said == "" || strings.Contains(strings.ToUpper(answer.Said), "HTTPS")):
		f.next = "if that is http, it may speak TLS here: try https in spec.url; else check the URL, or ask the agent's operator"
	case answer.Status == http.StatusTooManyRequests || answer.Status == http.StatusServiceUnavailable:
		f.next = "the agent is busy or about to restart: try again later"
	case answer.Status == http.StatusBadGateway || answer.Status == http.StatusGatewayTimeout:
		f.next = "a proxy answered in place of the agent: ask its operator whether the agent behind it is running"
	case answer.IsHTML:
		f.words += ", a page for people"
		f.next = "check the URL, and whether a login page is in between"
	default:
		f.next = "check the URL, or ask the agent's operator"
	}
	return f
}

// proved is about our credential.
func proved(err error) (failure, bool) {
	if missing, ok := errors.AsType[*credential.Error](err); ok {
		next := "try again later"
		if missing.Lasting() {
			next = "mend spec.credential, or the secret it names"
		}
		if missing.Host != "" {
			return tokenless(missing), true
		}
		return failure{codeCredential, "there is no credential: " + oneLine(missing.Error()), next, false}, true
	}
	if none, ok := errors.AsType[*client.NoCredentialsError](err); ok {
		return failure{codeCredential, oneLine(none.Error()), "set spec.credential to what the card asks for", false}, true
	}
	return failure{}, false
}

// tokenless is about the token endpoint, or the issuer that names it: not about the
// agent.
func tokenless(missing *credential.Error) failure {
	next := "see spec.credential.oauth2, and ask the operator of the token endpoint"
	switch missing.Reason {
	case credential.Unavailable:
		next = "try again later; if it stays, " + next
	case credential.Refused:
		next = "mend spec.credential.oauth2, or the secret it names"
	}
	words := missing.Error()
	if missing.Err != nil {
		if f, ok := reached(missing.Err); ok {
			words = f.words
			next = "see spec.credential.oauth2"
			switch f.code {
			case codeAddress:
				next += "; if it is meant, name the host in spec.exceptions"
			case codeCertificate:
				next += "; if its authority is to vouch for it, put its certificate into spec.credential.oauth2.roots"
			}
		}
	}
	return failure{codeCredential, "there is no credential: the token endpoint: " + oneLine(words), next, false}
}

// reached is about whether somebody was reached.
func reached(err error) (failure, bool) {
	if f, ok := guarded(err); ok {
		return f, true
	}
	return dialled(err)
}

func late(err error) (failure, bool) {
	timeout, ok := errors.AsType[net.Error](err)
	if !errors.Is(err, context.DeadlineExceeded) && !(ok && timeout.Timeout()) {
		return failure{}, false
	}
	if guard.NothingSent(err) {
		return failure{codeConnect, "it does not answer at all: no connection came about in time", "check the host and the port in spec.url, and whether a firewall is in between", false}, true
	}
	return failure{codeTimeout, "somebody listens there and did not answer in time", "try again later; if it stays, ask the agent's operator", false}, true
}

// readError is an error of reading a card in the book's terms. A whole answer
// that is no card is one; a page for people, or nothing, is not.
func readError(err error) *trust.ReadError {
	f := explain(err)
	return &trust.ReadError{
		Code: f.code, Words: "its card could not be read: " + f.words, Err: err,
		NoCard: f.code == codeMalformed, RetryAfter: min(client.RetryAfter(err), time.Hour),
	}
}
