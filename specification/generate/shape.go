package main

const (
	typeStruct    = "google.protobuf.Struct"
	typeValue     = "google.protobuf.Value"
	typeTimestamp = "google.protobuf.Timestamp"
)

// idTypes gives the fields that hold an identifier the type of that
// identifier, by field name or, where the name alone does not tell, by message
// and field name.
var idTypes = map[string]string{
	"task_id":                   "TaskID",
	"context_id":                "ContextID",
	"message_id":                "MessageID",
	"artifact_id":               "ArtifactID",
	"reference_task_ids":        "TaskID",
	"Task.id":                   "TaskID",
	"GetTaskRequest.id":         "TaskID",
	"CancelTaskRequest.id":      "TaskID",
	"SubscribeToTaskRequest.id": "TaskID",
}

// oneofTypes names the interfaces of oneofs whose message and field name
// joined would read badly.
var oneofTypes = map[string]string{
	"SecurityScheme.scheme": "SecuritySchemeVariant",
	"OAuthFlows.flow":       "OAuthFlow",
}

// mayBeEmpty lists the REQUIRED strings and lists that are valid when present
// and empty. Required maps always are.
var mayBeEmpty = map[string]bool{
	"ListTasksResponse.tasks":           true,
	"ListTasksResponse.next_page_token": true,
	"AgentCard.skills":                  true,
	"AgentCard.default_input_modes":     true,
	"AgentCard.default_output_modes":    true,
	"AgentSkill.tags":                   true,
}

// misnamed lists members that an older or mistaken peer writes in place of a
// field whose silent absence would be dangerous.
var misnamed = map[string]struct{ member, field string }{
	"AgentCard":  {"security", "security_requirements"},
	"AgentSkill": {"security", "security_requirements"},
}

// wholeMap lists messages that must not decode to nothing from an object that
// said something: their one map field is then mis-shaped.
var wholeMap = map[string]string{
	"SecurityRequirement": "schemes",
}

// stringType is the Go type of a string field: a plain string or an id.
func stringType(m message, f field) string {
	if t, ok := idTypes[m.Name+"."+f.Name]; ok {
		return t
	}
	if t, ok := idTypes[f.Name]; ok {
		return t
	}
	return "string"
}

// elementType is the Go type of one value of a field, without pointer, list or
// map around it.
func elementType(m message, f field) string {
	name := f.Type
	if f.Type == "map" {
		name = f.MapValue
	}
	switch name {
	case "string":
		return stringType(m, f)
	case "bytes":
		return "[]byte"
	case typeStruct:
		return "Struct"
	case typeValue:
		return "Value"
	case typeTimestamp:
		return "time.Time"
	}
	return name
}

// fieldType is the Go type of a field outside of oneofs.
func (t *table) fieldType(m message, f field) string {
	element := elementType(m, f)
	switch f.Presence {
	case "list":
		return "[]" + element
	case "map":
		return "map[string]" + element
	case "optional":
		return "*" + element
	case "message":
		if t.isMessage(f.Type) && !f.Required {
			return "*" + element
		}
	}
	return element
}

// oneofType names the interface of a message's oneof.
func oneofType(m message, oneof string) string {
	if t, ok := oneofTypes[m.Name+"."+oneof]; ok {
		return t
	}
	return m.Name + goName(oneof)
}

// memberType names the Go type of one alternative of a oneof: a pointer to the
// message, or a type of its own for a scalar.
func (t *table) memberType(m message, f field) string {
	if t.isMessage(f.Type) {
		return "*" + f.Type
	}
	return m.Name + goName(f.Name)
}

// fieldPresence says in words when a field is there, for its comment.
func fieldPresence(f field) string {
	switch {
	case f.Required:
		return "required"
	case f.Presence == "optional":
		return "optional, nil when absent"
	case f.Presence == "message" && f.Type == typeTimestamp:
		return "zero when absent"
	case f.Presence == "message":
		return "nil when absent"
	case f.Presence == "list", f.Presence == "map":
		return "empty when absent"
	case f.Type == "bool":
		return "false when absent"
	case f.Type == "int32":
		return "zero when absent"
	}
	return "empty when absent"
}
