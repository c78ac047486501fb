package cli

import (
	"fmt"
	"strings"

	"github.com/legation/legation/internal/registry"
)

// parseKind reads a kind as people type it: RemoteClient, remoteclients,
// remote-client.
func parseKind(text string) (registry.Kind, error) {
	typed := foldKind(text)
	var near, all []string
	for _, kind := range registry.Kinds() {
		known := foldKind(string(kind))
		if typed == known || typed == known+"s" {
			return kind, nil
		}
		if typos(typed, known) <= maxTypos {
			near = append(near, string(kind))
		}
		all = append(all, string(kind))
	}
	if near != nil {
		return "", usageError{fmt.Errorf("%q is not a kind%s", cut(text, 60), didYouMean(near))}
	}
	return "", usageError{fmt.Errorf("%q is not a kind; there are %s", cut(text, 60), strings.Join(all, ", "))}
}

func foldKind(text string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(text))
}

// parseID reads KIND NAME or KIND/NAME.
func parseID(args []string) (registry.ID, error) {
	kind, name := args[0], ""
	if len(args) > 1 {
		name = args[1]
	} else if before, after, ok := strings.Cut(args[0], "/"); ok {
		kind, name = before, after
	}
	known, err := parseKind(kind)
	return registry.ID{Kind: known, Name: registry.Name(name)}, err
}
