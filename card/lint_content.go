package card

import (
	"fmt"
	"mime"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/legation/legation/a2a"
)

// content finds what a value says that it should not, type and presence aside.
func (l *linter) content() {
	c := l.card
	l.interfaces()
	if c.Provider != nil {
		l.link("provider.url", c.Provider.URL)
	}
	l.link("documentationUrl", deref(c.DocumentationURL))
	l.link("iconUrl", deref(c.IconURL))
	if _, ok := parseSemantic(c.Version); !ok && c.Version != "" {
		l.warn("version", "%q is not a semantic version (1.2.3), so nobody can ask for a minimum", bounded(c.Version))
	}
	l.modes("defaultInputModes", c.DefaultInputModes)
	l.modes("defaultOutputModes", c.DefaultOutputModes)
	l.extensions(c.Capabilities.Extensions)
	l.schemes()
	l.requirements("securityRequirements", c.SecurityRequirements)
	l.skills()
}

var majorMinor = regexp.MustCompile(`^[0-9]+\.[0-9]+$`)

func (l *linter) interfaces() {
	seen := map[a2a.AgentInterface]bool{}
	callable := false
	for i, one := range l.card.SupportedInterfaces {
		path := fmt.Sprintf("supportedInterfaces[%d]", i)
		if seen[one] {
			l.warn(path, "says the same as an earlier one")
		}
		seen[one] = true
		l.address(path+".url", one.URL, one.ProtocolBinding)
		if one.ProtocolVersion != "" && !majorMinor.MatchString(one.ProtocolVersion) {
			l.warn(path+".protocolVersion", "%q should be of the form Major.Minor", bounded(one.ProtocolVersion))
		}
		switch binding := one.ProtocolBinding; {
		case binding == a2a.BindingJSONRPC:
			callable = callable || a2a.VersionMatches(one.ProtocolVersion)
		case binding == "", binding == "GRPC", binding == "HTTP+JSON", isAbsolute(binding):
		default:
			l.warn(path+".protocolBinding", "%q is not JSONRPC, GRPC or HTTP+JSON, nor the URI of another binding", bounded(binding))
		}
	}
	if !callable && len(l.card.SupportedInterfaces) > 0 {
		l.warn("supportedInterfaces", "none is %s of version %s, so clients of that binding can not call the agent", a2a.BindingJSONRPC, a2a.ProtocolVersion)
	}
}

// address holds the URL of an interface to what clients accept
// (a2a.proto AgentInterface.url). That of gRPC may be a bare authority.
func (l *linter) address(path, raw, binding string) {
	u, err := url.Parse(raw)
	switch {
	case raw == "", binding == "GRPC":
	case err != nil || u.Host == "":
		l.error(path, "is not an absolute URL")
	case u.User != nil:
		l.error(path, "carries a user name or password, and everybody can read the card")
	case u.Scheme == "http" && isLoopback(u.Hostname()):
		l.warn(path, "is an http URL of this machine, which serves for development only")
	case u.Scheme != "https":
		l.error(path, "must be an https URL")
	}
}

// link is a URL that people or programs follow from a card.
func (l *linter) link(path, raw string) {
	if raw == "" {
		return
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "":
		l.warn(path, "is not an absolute URL")
	case u.User != nil:
		l.error(path, "carries a user name or password, and everybody can read the card")
	case u.Scheme != "https":
		l.warn(path, "should be an https URL")
	}
}

func (l *linter) modes(path string, modes []string) {
	for i, mode := range modes {
		kind, _, err := mime.ParseMediaType(mode)
		if main, sub, ok := strings.Cut(kind, "/"); err != nil || !ok || main == "" || sub == "" {
			l.warn(fmt.Sprintf("%s[%d]", path, i), "%q is not a media type such as text/plain", bounded(mode))
		}
	}
}

var versioned = regexp.MustCompile(`(?i)(^|[/:_.#=-])v?[0-9]+([/:_.-]|$)`)

func (l *linter) extensions(list []a2a.AgentExtension) {
	seen := map[string]bool{}
	for i, one := range list {
		path := fmt.Sprintf("capabilities.extensions[%d]", i)
		switch {
		case one.URI == "":
			l.error(path+".uri", "is missing, and without it the extension is of no use")
		case !isAbsolute(one.URI):
			l.error(path+".uri", "%q is not a URI", bounded(one.URI))
		case seen[one.URI]:
			l.error(path+".uri", "%q is declared twice", bounded(one.URI))
		case !versioned.MatchString(one.URI):
			l.warn(path+".uri", "has no version, so a breaking change can not be told from this one")
		}
		seen[one.URI] = true
		if one.Required {
			l.warn(path+".required", "locks out every client that does not know the extension; one that only adds data should not be required")
		}
	}
}

func (l *linter) skills() {
	if len(l.card.Skills) == 0 {
		l.warn("skills", "there are none, so nobody learns what the agent can do")
	}
	seen := map[string]bool{}
	for i, skill := range l.card.Skills {
		path := fmt.Sprintf("skills[%d]", i)
		if skill.ID != "" && seen[skill.ID] {
			l.error(path+".id", "%q is the id of an earlier skill too", bounded(skill.ID))
		}
		seen[skill.ID] = true
		l.modes(path+".inputModes", skill.InputModes)
		l.modes(path+".outputModes", skill.OutputModes)
		l.requirements(path+".securityRequirements", skill.SecurityRequirements)
	}
}

// isAbsolute reports whether a text is a URI with a scheme.
func isAbsolute(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.IsAbs() && (u.Host != "" || u.Opaque != "")
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
