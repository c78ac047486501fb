package a2a_test

import (
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/legation/legation/a2a"
)

// codec lets tests treat all messages alike.
type codec struct {
	// decode returns the value, as a pointer, with its violations.
	decode func(data []byte) (appender, a2a.Violations, error)
	zero   func() appender
}

type appender interface{ AppendJSON([]byte) []byte }

func codecOf[T any, P interface {
	a2a.Wire[T]
	json.Marshaler
	json.Unmarshaler
}]() codec {
	return codec{
		decode: func(data []byte) (appender, a2a.Violations, error) {
			value, violations, err := a2a.Decode[T, P](data)
			return P(&value), violations, err
		},
		zero: func() appender { return P(new(T)) },
	}
}

// codecs holds every message of the protocol by name.
var codecs = map[string]codec{
	"APIKeySecurityScheme":                    codecOf[a2a.APIKeySecurityScheme](),
	"AgentCapabilities":                       codecOf[a2a.AgentCapabilities](),
	"AgentCard":                               codecOf[a2a.AgentCard](),
	"AgentCardSignature":                      codecOf[a2a.AgentCardSignature](),
	"AgentExtension":                          codecOf[a2a.AgentExtension](),
	"AgentInterface":                          codecOf[a2a.AgentInterface](),
	"AgentProvider":                           codecOf[a2a.AgentProvider](),
	"AgentSkill":                              codecOf[a2a.AgentSkill](),
	"Artifact":                                codecOf[a2a.Artifact](),
	"AuthenticationInfo":                      codecOf[a2a.AuthenticationInfo](),
	"AuthorizationCodeOAuthFlow":              codecOf[a2a.AuthorizationCodeOAuthFlow](),
	"CancelTaskRequest":                       codecOf[a2a.CancelTaskRequest](),
	"ClientCredentialsOAuthFlow":              codecOf[a2a.ClientCredentialsOAuthFlow](),
	"DeleteTaskPushNotificationConfigRequest": codecOf[a2a.DeleteTaskPushNotificationConfigRequest](),
	"DeviceCodeOAuthFlow":                     codecOf[a2a.DeviceCodeOAuthFlow](),
	"GetExtendedAgentCardRequest":             codecOf[a2a.GetExtendedAgentCardRequest](),
	"GetTaskPushNotificationConfigRequest":    codecOf[a2a.GetTaskPushNotificationConfigRequest](),
	"GetTaskRequest":                          codecOf[a2a.GetTaskRequest](),
	"HTTPAuthSecurityScheme":                  codecOf[a2a.HTTPAuthSecurityScheme](),
	"ImplicitOAuthFlow":                       codecOf[a2a.ImplicitOAuthFlow](),
	"ListTaskPushNotificationConfigsRequest":  codecOf[a2a.ListTaskPushNotificationConfigsRequest](),
	"ListTaskPushNotificationConfigsResponse": codecOf[a2a.ListTaskPushNotificationConfigsResponse](),
	"ListTasksRequest":                        codecOf[a2a.ListTasksRequest](),
	"ListTasksResponse":                       codecOf[a2a.ListTasksResponse](),
	"Message":                                 codecOf[a2a.Message](),
	"MutualTlsSecurityScheme":                 codecOf[a2a.MutualTlsSecurityScheme](),
	"OAuth2SecurityScheme":                    codecOf[a2a.OAuth2SecurityScheme](),
	"OAuthFlows":                              codecOf[a2a.OAuthFlows](),
	"OpenIdConnectSecurityScheme":             codecOf[a2a.OpenIdConnectSecurityScheme](),
	"Part":                                    codecOf[a2a.Part](),
	"PasswordOAuthFlow":                       codecOf[a2a.PasswordOAuthFlow](),
	"SecurityRequirement":                     codecOf[a2a.SecurityRequirement](),
	"SecurityScheme":                          codecOf[a2a.SecurityScheme](),
	"SendMessageConfiguration":                codecOf[a2a.SendMessageConfiguration](),
	"SendMessageRequest":                      codecOf[a2a.SendMessageRequest](),
	"SendMessageResponse":                     codecOf[a2a.SendMessageResponse](),
	"StreamResponse":                          codecOf[a2a.StreamResponse](),
	"StringList":                              codecOf[a2a.StringList](),
	"SubscribeToTaskRequest":                  codecOf[a2a.SubscribeToTaskRequest](),
	"Task":                                    codecOf[a2a.Task](),
	"TaskArtifactUpdateEvent":                 codecOf[a2a.TaskArtifactUpdateEvent](),
	"TaskPushNotificationConfig":              codecOf[a2a.TaskPushNotificationConfig](),
	"TaskStatus":                              codecOf[a2a.TaskStatus](),
	"TaskStatusUpdateEvent":                   codecOf[a2a.TaskStatusUpdateEvent](),
}

// checkRoundTrip decodes data as the named message and holds the invariant of
// the package: what is written is valid JSON on one line without duplicate
// names, and reads back equal. It returns false when data is no message.
func checkRoundTrip(t *testing.T, name string, data []byte) bool {
	t.Helper()
	first, violations, err := codecs[name].decode(data)
	if err != nil {
		return false
	}
	if len(violations) > 32 {
		t.Errorf("%d violations, want at most 32", len(violations))
	}
	text := first.AppendJSON(nil)
	if !jsontext.Value(text).IsValid() {
		t.Fatalf("%s is written as invalid JSON: %q", name, text)
	}
	for _, c := range text {
		if c < 0x20 {
			t.Fatalf("%s is not written on one line: %q", name, text)
		}
	}
	if _, more := violations.Find(a2a.TooMany); more {
		return true // what was left out depends on how much was wrong
	}
	second, again, err := codecs[name].decode(text)
	if err != nil {
		t.Fatalf("%s does not read what it wrote: %v\n%s", name, err, text)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("%s reads back different (-first +second):\n%s\ninput %q\nwritten %q", name, diff, data, text)
	}
	if len(violations) == 0 && len(again) > 0 {
		t.Errorf("%s was read without violations and written with: %v", name, again)
	}
	return true
}
