package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/server"
)

// agentError is a failure of something an agent was asked. It says nothing by
// itself and lets a hint name the agent.
type agentError struct {
	remote *remote
	err    error
}

// Error leaves out the name of the operation: a person typed a command.
func (e *agentError) Error() string {
	text := e.err.Error()
	for _, method := range a2a.Methods() {
		if rest, ok := strings.CutPrefix(text, method+": "); ok {
			return rest
		}
	}
	return text
}
func (e *agentError) Unwrap() error { return e.err }

// advisedError comes with a hint of its own.
type advisedError struct {
	err    error
	advice string
}

func (e *advisedError) Error() string { return e.err.Error() }
func (e *advisedError) Unwrap() error { return e.err }

// olderPathError says that the only card is where versions before 1.0 had it.
type olderPathError struct {
	found     string
	elsewhere bool // at the root of the host, where another agent may be
	err       error
}

func (e *olderPathError) Error() string {
	if e.elsewhere {
		return fmt.Sprintf("%v; the host's root has one at %s, the path of versions before %s", e.err, e.found, a2a.ProtocolVersion)
	}
	return fmt.Sprintf("%v; there is one at %s, the path of versions before %s", e.err, e.found, a2a.ProtocolVersion)
}
func (e *olderPathError) Unwrap() error { return e.err }

// hintFor says what to do about an error, where that is known.
func hintFor(err error) string {
	if advised, ok := errors.AsType[*advisedError](err); ok {
		return advised.advice
	}
	reached := &remote{url: "URL"}
	if at, ok := errors.AsType[*agentError](err); ok {
		reached = at.remote
	}
	for _, hint := range []func(error, *remote) string{
		cardHint, guardHint, dialHint, answerHint, peerHint, timeHint,
	} {
		if text := hint(err, reached); text != "" {
			return text
		}
	}
	return ""
}

// cardHint is about a card that was not found or can not be used.
func cardHint(err error, at *remote) string {
	if older, ok := errors.AsType[*olderPathError](err); ok {
		other := *at
		other.url = older.found
		if older.elsewhere {
			return "check the path of the URL; what is at the root: " + other.command("card show")
		}
		return "the agent probably speaks an older version only; see its card with: " + other.command("card show")
	}
	failed, ok := errors.AsType[*client.CardError](err)
	switch {
	case ok && failed.Root != nil:
		other := *at
		other.url = at.root()
		return "check the path of the URL; if the agent at the root is the one that is meant, give its URL: " + other.command("card show")
	case ok && failed.Missing():
		return "give the base URL of the agent, for an agent below a path with that path, or the URL of its card if that ends in .json"
	}
	if broken, ok := errors.AsType[*client.InvalidResponseError](err); ok && broken.Method == "agent card" {
		return "what is at that URL is no agent card, or a damaged one; check the URL, or ask the agent's operator to correct it"
	}
	if unusable, ok := errors.AsType[*client.InterfaceError](err); ok {
		switch {
		case unusable.Older:
			return "legation speaks version " + a2a.ProtocolVersion + "; ask the agent's operator for an interface of that version"
		case len(unusable.Rejected) == 0:
			return "the card does not say how the agent is called; its operator has to add an interface (supportedInterfaces), unless this is the URL of something else"
		}
		return "a card can not lead to another host than the one typed; if an interface named above is the right one, give its URL instead. All of them: " + at.command("card show")
	}
	if _, ok := errors.AsType[*client.ExtensionError](err); ok {
		return "the agent only serves clients that know these extensions; ask its operator for one that does not require them"
	}
	return ""
}

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

// answerHint is about who answers there, an agent or something before it.
func answerHint(err error, at *remote) string {
	answer, ok := errors.AsType[*client.HTTPError](err)
	if !ok {
		return ""
	}
	if hint := statusHint(answer.Status, answer.Said, at); hint != "" {
		return hint
	}
	switch {
	case answer.IsHTML:
		return "this is a page for people, not an agent: check the URL, and whether a proxy, a VPN or a login page is in between"
	case answer.Status == http.StatusBadRequest && strings.HasPrefix(at.url, "http://"):
		return "this port may speak TLS; try https:// instead of http://"
	case answer.Status/100 == 2:
		return "something else than an agent answers here; check the URL"
	}
	return ""
}

// statusHint is about what HTTP itself says. Whoever forbids something and says
// why needs no guess of ours.
func statusHint(status int, said string, at *remote) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		if status == http.StatusForbidden && said != "" {
			return ""
		}
		if len(at.headers) == 0 {
			return "the agent wants credentials; give them with --header 'Authorization: Bearer …'"
		}
		return "the agent does not accept the credentials given with --header; check that they are whole, current and meant for it"
	case http.StatusRequestEntityTooLarge:
		return "the agent does not take that much in one message; send less, or place files where the agent can fetch them"
	case http.StatusUnsupportedMediaType:
		return "the agent does not take this kind of request; what it takes is on its card: " + at.command("card show")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return "the agent is busy or about to restart; try again later"
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return "a proxy answered in place of the agent; is the agent behind it running?"
	}
	return ""
}

// peerHint is about what an agent said.
func peerHint(err error, at *remote) string {
	peer, ok := errors.AsType[*client.PeerError](err)
	if !ok {
		return ""
	}
	if hint := statusHint(peer.Status, peer.Err.Message, at); hint != "" {
		return hint
	}
	switch peer.Err.Kind() {
	case a2a.CodeMethodNotFound:
		return "its operator has to correct the card or the agent; what the card offers: " + at.command("card show")
	case a2a.CodeVersionNotSupported:
		return "legation speaks version " + a2a.ProtocolVersion + "; what the agent offers is on its card: " + at.command("card show")
	case a2a.CodeContentTypeNotSupported:
		return "the agent does not take or give this kind of content; the media types of its skills are on its card: " + at.command("card show")
	case a2a.CodeTaskNotFound:
		return "the tasks this agent shows you: " + at.command("task list")
	case a2a.CodeExtensionSupportRequired:
		return "the agent only serves clients that know these extensions"
	case a2a.CodeInvalidParams:
		return skillHint(peer.Err, at.known)
	}
	return ""
}

// skillHint is about a message that names no skill, or none there is.
func skillHint(said *a2a.Error, card *client.Card) string {
	about := slices.ContainsFunc(said.Violations, func(v a2a.FieldViolation) bool {
		return strings.Contains(v.Field, "metadata") && strings.Contains(v.Description, server.SkillExtension)
	})
	if !about || card == nil || len(card.AgentCard.Skills) == 0 {
		return ""
	}
	const listed = 20
	var ids []string
	for _, skill := range card.AgentCard.Skills[:min(len(card.AgentCard.Skills), listed)] {
		ids = append(ids, shellWord(line(skill.ID, 100)))
	}
	if len(ids) == 1 {
		return "the agent has one skill, " + ids[0] + "; leave --skill out"
	}
	text := "choose one with --skill: " + strings.Join(ids, ", ")
	if more := len(card.AgentCard.Skills) - listed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// guardHint is about what the guard does not let through.
func guardHint(err error, at *remote) string {
	if _, ok := errors.AsType[*guard.RedirectError](err); ok {
		return "if the other place is the agent's, give its URL instead; headers are never carried over to another host"
	}
	if _, ok := errors.AsType[*guard.AddressError](err); ok {
		return "only the host that is typed may be on this machine or network; type the URL of that address itself if it is meant"
	}
	if _, ok := errors.AsType[*guard.TooLargeError](err); ok {
		return "the answer is cut off there to protect this machine; ask for less, for example a shorter --history"
	}
	if lost, ok := errors.AsType[*client.LostTaskError](err); ok {
		return fmt.Sprintf("the agent may have restarted without its store, or removed task %s; the tasks it shows you: %s", line(string(lost.TaskID), 80), at.command("task list"))
	}
	return ""
}

func timeHint(err error, _ *remote) string {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, client.ErrStillRunning) {
		return "to wait longer, give a longer --timeout"
	}
	return ""
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
