package card

// presence says when a member is part of the canonical form
// (specification 1.0.1, section 8.4.1).
type presence uint8

const (
	unlessDefault presence = iota // dropped where it has the default of its type
	ifPresent                     // kept whatever its value is
	always                        // REQUIRED: kept, and put back where it is absent
)

// kind is the type of a member as far as its default goes.
type kind uint8

const (
	text    kind = iota // ""
	boolean             // false
	object              // a message; it has no default
	list                // []
	dict                // {}, from strings to anything
	opaque              // google.protobuf.Struct, left as it is
)

// field is one member of a message.
type field struct {
	name     string // on the wire; the snake_case name follows from it
	presence presence
	kind     kind
	message  string // of the value, or of the elements; empty for scalars
}

// messages are the messages that a card is made of, by their names in
// a2a.proto. What is not listed here is unknown to the specification.
var messages = map[string][]field{
	"AgentCard": {
		{"name", always, text, ""},
		{"description", always, text, ""},
		{"supportedInterfaces", always, list, "AgentInterface"},
		{"provider", ifPresent, object, "AgentProvider"},
		{"version", always, text, ""},
		{"documentationUrl", ifPresent, text, ""},
		{"capabilities", always, object, "AgentCapabilities"},
		{"securitySchemes", unlessDefault, dict, "SecurityScheme"},
		{"securityRequirements", unlessDefault, list, "SecurityRequirement"},
		{"defaultInputModes", always, list, ""},
		{"defaultOutputModes", always, list, ""},
		{"skills", always, list, "AgentSkill"},
		{"signatures", unlessDefault, list, "AgentCardSignature"},
		{"iconUrl", ifPresent, text, ""},
	},
	"AgentInterface": {
		{"url", always, text, ""},
		{"protocolBinding", always, text, ""},
		{"tenant", unlessDefault, text, ""},
		{"protocolVersion", always, text, ""},
	},
	"AgentProvider": {
		{"url", always, text, ""},
		{"organization", always, text, ""},
	},
	"AgentCapabilities": {
		{"streaming", ifPresent, boolean, ""},
		{"pushNotifications", ifPresent, boolean, ""},
		{"extensions", unlessDefault, list, "AgentExtension"},
		{"extendedAgentCard", ifPresent, boolean, ""},
	},
	"AgentExtension": {
		{"uri", unlessDefault, text, ""},
		{"description", unlessDefault, text, ""},
		{"required", unlessDefault, boolean, ""},
		{"params", ifPresent, opaque, ""},
	},
	"AgentSkill": {
		{"id", always, text, ""},
		{"name", always, text, ""},
		{"description", always, text, ""},
		{"tags", always, list, ""},
		{"examples", unlessDefault, list, ""},
		{"inputModes", unlessDefault, list, ""},
		{"outputModes", unlessDefault, list, ""},
		{"securityRequirements", unlessDefault, list, "SecurityRequirement"},
	},
	"AgentCardSignature": {
		{"protected", always, text, ""},
		{"signature", always, text, ""},
		{"header", ifPresent, opaque, ""},
	},
	"SecurityRequirement": {
		{"schemes", unlessDefault, dict, "StringList"},
	},
	"StringList": {
		{"list", unlessDefault, list, ""},
	},
	"SecurityScheme": {
		{"apiKeySecurityScheme", ifPresent, object, "APIKeySecurityScheme"},
		{"httpAuthSecurityScheme", ifPresent, object, "HTTPAuthSecurityScheme"},
		{"oauth2SecurityScheme", ifPresent, object, "OAuth2SecurityScheme"},
		{"openIdConnectSecurityScheme", ifPresent, object, "OpenIdConnectSecurityScheme"},
		{"mtlsSecurityScheme", ifPresent, object, "MutualTlsSecurityScheme"},
	},
	"APIKeySecurityScheme": {
		{"description", unlessDefault, text, ""},
		{"location", always, text, ""},
		{"name", always, text, ""},
	},
	"HTTPAuthSecurityScheme": {
		{"description", unlessDefault, text, ""},
		{"scheme", always, text, ""},
		{"bearerFormat", unlessDefault, text, ""},
	},
	"OAuth2SecurityScheme": {
		{"description", unlessDefault, text, ""},
		{"flows", always, object, "OAuthFlows"},
		{"oauth2MetadataUrl", unlessDefault, text, ""},
	},
	"OpenIdConnectSecurityScheme": {
		{"description", unlessDefault, text, ""},
		{"openIdConnectUrl", always, text, ""},
	},
	"MutualTlsSecurityScheme": {
		{"description", unlessDefault, text, ""},
	},
	"OAuthFlows": {
		{"authorizationCode", ifPresent, object, "AuthorizationCodeOAuthFlow"},
		{"clientCredentials", ifPresent, object, "ClientCredentialsOAuthFlow"},
		{"implicit", ifPresent, object, "ImplicitOAuthFlow"},
		{"password", ifPresent, object, "PasswordOAuthFlow"},
		{"deviceCode", ifPresent, object, "DeviceCodeOAuthFlow"},
	},
	"AuthorizationCodeOAuthFlow": {
		{"authorizationUrl", always, text, ""},
		{"tokenUrl", always, text, ""},
		{"refreshUrl", unlessDefault, text, ""},
		{"scopes", always, dict, ""},
		{"pkceRequired", unlessDefault, boolean, ""},
	},
	"ClientCredentialsOAuthFlow": {
		{"tokenUrl", always, text, ""},
		{"refreshUrl", unlessDefault, text, ""},
		{"scopes", always, dict, ""},
	},
	"ImplicitOAuthFlow": {
		{"authorizationUrl", unlessDefault, text, ""},
		{"refreshUrl", unlessDefault, text, ""},
		{"scopes", unlessDefault, dict, ""},
	},
	"PasswordOAuthFlow": {
		{"tokenUrl", unlessDefault, text, ""},
		{"refreshUrl", unlessDefault, text, ""},
		{"scopes", unlessDefault, dict, ""},
	},
	"DeviceCodeOAuthFlow": {
		{"deviceAuthorizationUrl", always, text, ""},
		{"tokenUrl", always, text, ""},
		{"refreshUrl", unlessDefault, text, ""},
		{"scopes", always, dict, ""},
	},
}

// lookup finds a member by either of its spellings, -1 if there is none.
func lookup(fields []field, name string) int {
	for i, f := range fields {
		if f.name == name || isSnake(name, f.name) {
			return i
		}
	}
	return -1
}

// isSnake reports whether name is the snake_case spelling of a wire name.
func isSnake(name, camel string) bool {
	i := 0
	for j := range len(camel) {
		c := camel[j]
		if 'A' <= c && c <= 'Z' {
			if i == len(name) || name[i] != '_' {
				return false
			}
			i++
			c += 'a' - 'A'
		}
		if i == len(name) || name[i] != c {
			return false
		}
		i++
	}
	return i == len(name)
}

// defaults are what a REQUIRED member is put back with, and what another one
// is dropped for.
var defaults = [...]string{text: `""`, boolean: "false", object: "{}", list: "[]", dict: "{}", opaque: ""}
