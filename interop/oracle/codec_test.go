package oracle_test

import (
	"reflect"

	"github.com/legation/legation/a2a"
)

// codec is what is known of a generated message without its type.
type codec struct {
	typ reflect.Type
	// recode reads a message and writes what was read.
	recode func([]byte) ([]byte, a2a.Violations, error)
}

func codecOf[T any, P a2a.Wire[T]]() codec {
	return codec{
		typ: reflect.TypeFor[T](),
		recode: func(data []byte) ([]byte, a2a.Violations, error) {
			value, violations, err := a2a.Decode[T, P](data)
			if err != nil {
				return nil, nil, err
			}
			return P(&value).AppendJSON(nil), violations, nil
		},
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
