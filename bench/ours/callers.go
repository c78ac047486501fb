package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/internal/app"
	"github.com/legation/legation/internal/config"
)

// object is a JSON object.
type object = map[string]any

// What the driver is to the server.
const (
	client   = "driver"
	audience = "bench"
)

// register makes the driver a remote client of the store, and returns what it
// has to show for itself.
func register(ctx context.Context, cfg config.Config, callers string) (authorization string, err error) {
	credentials := object{}
	switch callers {
	case "open":
		return "", nil
	case "key":
	case "jwt":
		i, err := newIssuer(ctx)
		if err != nil {
			return "", err
		}
		credentials["oidc"] = []any{object{"issuer": i.url, "audience": audience, "authorizedParty": client, "exceptions": []string{i.host}}}
		token, err := i.token()
		if err != nil {
			return "", err
		}
		authorization = "Bearer " + token
	default:
		return "", fmt.Errorf("--callers %q is not open, key or jwt", callers)
	}
	// The documents of what is published have to be there before a client may
	// be allowed to use it.
	published, err := app.New(ctx, cfg, app.Options{})
	if err != nil {
		return "", err
	}
	if err := published.Close(); err != nil {
		return "", err
	}
	admin, end, err := app.OpenOffline(ctx, cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, end()) }()
	document := object{"kind": "RemoteClient", "name": client, "spec": object{
		"enabled": true, "skills": []string{app.DefaultAgent + "/script"}, "credentials": credentials, "limits": highest(),
	}}
	if err := ask(ctx, admin, "/admin/apply", document, nil); err != nil || authorization != "" {
		return authorization, err
	}
	var issued struct {
		Key string `json:"key"`
	}
	err = ask(ctx, admin, "/admin/clients/"+client+"/keys", object{}, &issued)
	return "Bearer " + issued.Key, err
}

// highest are limits that count and never refuse.
func highest() object {
	return object{
		"requestsPerMinute": 1_000_000, "concurrentTasks": 10_000, "queuedTasks": 100_000,
		"tasksPerDay": 1_000_000_000, "tokensPerDay": 1_000_000_000_000, "costPerDay": 1_000_000,
	}
}

// ask makes a request of the admin API.
func ask(ctx context.Context, admin http.Handler, path string, body, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, bytes.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	admin.ServeHTTP(w, r)
	if w.Code != http.StatusOK && w.Code != http.StatusCreated {
		return fmt.Errorf("%s: %d: %s", path, w.Code, w.Body)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(w.Body.Bytes(), answer)
}
