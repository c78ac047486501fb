package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/people"
)

// ownToken is the token that the data directory has for commands on this
// machine, or nothing.
func (in *installation) ownToken() (path, token string) {
	if in.data == "" {
		return "", ""
	}
	path = filepath.Join(in.data, tokenFile)
	text, err := readFile(path, maxAdminFile)
	if err != nil {
		return "", "" // whoever needs it has been told
	}
	return path, strings.TrimSpace(string(text))
}

// stale adds to a refusal that it is the file of the data directory that is not
// good any more. Nobody typed what is in it.
func (in *installation) stale(err error) error {
	said, ok := errors.AsType[*adminError](err)
	path, token := in.ownToken()
	if !ok || said.status != http.StatusUnauthorized || token == "" || token != in.token {
		return err
	}
	return &advisedError{
		err: fmt.Errorf("the token in %s belongs to nobody any more", path),
		advice: fmt.Sprintf("give yours with --token-file FILE or in %s; for a new one in the file stop the server, and: %s --data %s > %s",
			tokenVariable, firstAgain, shellWord(in.data), shellWord(path)),
	}
}

// firstAgain brings the first admin back, or gives a new token.
const firstAgain = "legation person add " + people.FirstAdmin + " --role admin --replace"

// holds reports whether the file of the data directory has the token of a person
// who is about to lose it, and where it is.
func (in *installation) holds(ctx context.Context, name string) (path string, yes bool) {
	path, token := in.ownToken()
	parsed, err := people.ParseToken(token)
	if err != nil {
		return "", false
	}
	all, _, err := fetch[admin.People](ctx, in, get("people"))
	if err != nil {
		return "", false // then nobody is removed either
	}
	i := slices.IndexFunc(all.People, func(p admin.Person) bool { return p.Name == name })
	return path, i >= 0 && all.People[i].TokenID == parsed.ID
}

// void tells that the file is good for nothing from now on.
func void(io streams, path string) {
	fmt.Fprintf(io.err, "The token in %s belongs to nobody any more. Commands on this machine need another while a server runs: %s > %s\n",
		line(path, maxName), firstAgain, shellWord(path))
}
