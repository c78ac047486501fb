package cli

import (
	"errors"
	"strings"

	"github.com/legation/legation/client"
)

// credentialsHint is about an agent that is not called without credentials.
func credentialsHint(err error, at *remote) string {
	missing, ok := errors.AsType[*client.NoCredentialsError](err)
	switch {
	case !ok:
		return ""
	case !missing.Usable():
		return "if you know a header that the agent takes for its credentials, give it with --header 'Name: value'; else ask its operator. What it says: " + at.command("card show", nil)
	}
	if flags := headerFlags(missing.Alternatives); flags != "" {
		return "give them with " + flags
	}
	return "the agent wants a client certificate, which this command can not present; if something on the way does, say so with any --header 'Name: value'"
}

// headerFlags are the flags for what an agent asks for, by the first of the
// alternatives that is headers alone.
func headerFlags(alternatives []client.Alternative) string {
	for _, together := range alternatives {
		var flags []string
		for _, scheme := range together {
			if header := scheme.Header(); header != "" && len(header) <= maxName {
				flags = append(flags, "--header "+shellWord(header))
			}
		}
		if len(flags) > 0 && len(flags) == len(together) {
			return strings.Join(flags, " ")
		}
	}
	return ""
}

// headerFlags are the flags for what the agent asks for, as far as its card
// tells.
func (r *remote) headerFlags() string {
	if r.known != nil {
		if flags := headerFlags(r.known.Security()); flags != "" {
			return flags
		}
	}
	return "--header 'Authorization: Bearer …'"
}
