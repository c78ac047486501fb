package a2a

import "strings"

const (
	// ProtocolVersion is the version this package speaks, as requests and
	// cards carry it (specification 1.0.1, section 3.6).
	ProtocolVersion = "1.0"

	// HeaderVersion is the HTTP header that carries the protocol version.
	HeaderVersion = "A2A-Version"

	// HeaderExtensions is the HTTP header that lists extension URIs.
	HeaderExtensions = "A2A-Extensions"

	// BindingJSONRPC is AgentInterface.ProtocolBinding of the JSON-RPC binding.
	BindingJSONRPC = "JSONRPC"

	// WellKnownCardPath is where a host serves its agent card.
	WellKnownCardPath = "/.well-known/agent-card.json"
)

// VersionMatches reports whether a version names the protocol of this package:
// 1.0 itself, or 1.0.x, whose patch number plays no part in negotiation.
func VersionMatches(version string) bool {
	patch, ok := strings.CutPrefix(version, ProtocolVersion)
	if !ok || patch == "" {
		return ok
	}
	return len(patch) > 1 && patch[0] == '.' && strings.Trim(patch[1:], "0123456789") == ""
}
