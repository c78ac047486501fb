package client

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/legation/legation/a2a"
)

// InterfaceError says that an agent can not be called, and why each of the
// interfaces on its card is no use.
type InterfaceError struct {
	// Route is the origin that was asked for.
	Route string
	// Rejected are the interfaces of the card, in their order.
	Rejected []Rejected
	// Older tells that the agent offers versions before 1.0 and not 1.0.
	Older bool
}

// Rejected is an interface and why it is not used.
type Rejected struct {
	Interface a2a.AgentInterface
	Why       string
}

func (e *InterfaceError) Error() string {
	var b strings.Builder
	switch {
	case e.Older:
		b.WriteString("the agent speaks only versions before " + a2a.ProtocolVersion + " of the protocol")
	case len(e.Rejected) == 0:
		b.WriteString("the agent's card names no interface")
	default:
		b.WriteString("none of the agent's interfaces can be used")
	}
	const listed = 8
	for i, r := range e.Rejected[:min(len(e.Rejected), listed)] {
		b.WriteString([]string{": ", "; "}[min(i, 1)])
		b.WriteString(quote(shown(r.Interface.URL)) + " " + r.Why)
	}
	if more := len(e.Rejected) - listed; more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	return b.String()
}

// ChooseInterface returns the first interface of a card that speaks JSON-RPC
// and version 1.0, and lies at the origin of the route, which is the URL the
// agent is known under: a card can not lead us to another host. Its URL is
// used as it is, except that the names of this machine, localhost, 127.0.0.1
// and [::1], count as one and the route's is dialled. A nil route allows every
// origin. The error is an *[InterfaceError].
func ChooseInterface(card a2a.AgentCard, route *url.URL) (a2a.AgentInterface, error) {
	refused := &InterfaceError{}
	if route != nil {
		refused.Route = origin(route)
	}
	olders, speakers := 0, 0
	for _, iface := range card.SupportedInterfaces {
		target, why := judge(iface, route)
		if why == "" {
			iface.URL = target
			return iface, nil
		}
		refused.Rejected = append(refused.Rejected, Rejected{Interface: iface, Why: why})
		if iface.ProtocolBinding == a2a.BindingJSONRPC {
			speakers++
			if strings.HasPrefix(iface.ProtocolVersion, "0.") {
				olders++
			}
		}
	}
	refused.Older = speakers > 0 && olders == speakers
	return a2a.AgentInterface{}, refused
}

// judge returns the URL to call, or why an interface is not used.
func judge(iface a2a.AgentInterface, route *url.URL) (target, why string) {
	if iface.ProtocolBinding != a2a.BindingJSONRPC {
		return "", "speaks " + quote(iface.ProtocolBinding) + " and not " + a2a.BindingJSONRPC
	}
	if !a2a.VersionMatches(iface.ProtocolVersion) {
		return "", "speaks version " + quote(iface.ProtocolVersion) + " and not " + a2a.ProtocolVersion
	}
	u, err := url.Parse(iface.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return "", "is not an absolute http or https URL"
	case u.User != nil:
		return "", "carries a user name or password"
	case route == nil || origin(u) == origin(route):
		return iface.URL, ""
	case u.Scheme == route.Scheme && port(u) == port(route) && thisMachine(u) && thisMachine(route):
		u.Host = route.Host
		return u.String(), ""
	}
	return "", "is at another origin than " + origin(route)
}

// origin is scheme, host and port in the form they are compared in.
func origin(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if addr, err := netip.ParseAddr(host); err == nil {
		host = addr.String()
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return strings.ToLower(u.Scheme) + "://" + host + ":" + port(u)
}

func port(u *url.URL) string {
	standard := map[string]string{"http": "80", "https": "443"}
	return cmp.Or(u.Port(), standard[strings.ToLower(u.Scheme)])
}

func thisMachine(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || addr == netip.IPv6Loopback())
}

// older recognises the card of a version before 1.0, which has its URL and its
// version at the top.
func older(raw []byte) bool {
	var card struct {
		URL       jsontext.Value `json:"url"`
		Version   jsontext.Value `json:"protocolVersion"`
		Transport jsontext.Value `json:"preferredTransport"`
	}
	if err := json.Unmarshal(raw, &card); err != nil {
		return false
	}
	return card.URL != nil || card.Version != nil || card.Transport != nil
}
