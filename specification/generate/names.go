package main

import "strings"

// initialisms are the words Go spells in capitals.
var initialisms = map[string]string{
	"id": "ID", "ids": "IDs", "url": "URL", "uri": "URI", "json": "JSON",
	"oauth2": "OAuth2", "pkce": "PKCE", "mtls": "MTLS", "api": "API", "http": "HTTP",
}

// goName turns a snake case name into an exported Go name.
func goName(snake string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(snake, "_") {
		if special, ok := initialisms[word]; ok {
			b.WriteString(special)
		} else {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// enumConst names the constant of an enum value: TASK_STATE_WORKING becomes
// TaskStateWorking.
func enumConst(value string) string {
	return goName(strings.ToLower(value))
}
