package admin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/internal/registry"
)

// How many requests are served at once, and how many of those that take long.
const (
	maxAtOnce = 64
	maxChecks = 4

	usualTimeout = 30 * time.Second
)

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the description of the interface (OpenAPI 3.1), which is
// served without authentication as /openapi.json.
func OpenAPI() []byte { return slices.Clone(openAPI) }

// Handler is the admin API. It is safe for concurrent use.
type Handler struct {
	cfg      Config
	log      *slog.Logger
	now      func() time.Time
	mux      *http.ServeMux
	parts    map[part]bool
	refusals *refusals

	all, checks chan struct{} // a token for each request that is served
}

// New returns a handler of what a Config names. Either People or Author must be
// there.
func New(cfg Config) (*Handler, error) {
	if cfg.People == nil && cfg.Author == nil {
		return nil, errors.New("the admin API needs people to let in")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Handler{
		cfg: cfg, log: cfg.Logger, now: cfg.Now, mux: http.NewServeMux(), refusals: newRefusals(),
		all: make(chan struct{}, maxAtOnce), checks: make(chan struct{}, maxChecks),
		parts: map[part]bool{
			noPart: true, resources: cfg.Registry != nil, secrets: cfg.Vault != nil, persons: cfg.People != nil,
			tasks: cfg.Tasks != nil, canceling: cfg.Tasks != nil && cfg.Cancel != nil, evidence: cfg.Audit != nil,
			agents: cfg.Agents != nil, clients: cfg.Clients != nil,
		},
	}
	byPath := map[string][]route{}
	for _, r := range routes() {
		byPath[r.path] = append(byPath[r.path], r)
	}
	for at, methods := range byPath {
		h.mux.HandleFunc(at, func(w http.ResponseWriter, r *http.Request) { h.dispatch(w, r, methods) })
	}
	h.mux.HandleFunc("/openapi.json", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			h.refuse(w, methodNotAllowed(w, "GET"))
			return
		}
		h.write(w, raw{media: TypeJSON, text: openAPI})
	})
	h.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { h.refuse(w, noSuchPath()) })
	return h, nil
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	header.Set("Referrer-Policy", "no-referrer")
	switch {
	case !h.hostAllowed(r):
		if h.refusals.count(r.RemoteAddr, h.now()) == 0 {
			h.log.Warn("a request to the admin API was refused for its Host header", "address", r.RemoteAddr)
		}
		h.refuse(w, &Failure{
			Status: http.StatusForbidden, Code: CodeHost, Message: "the Host header of this request names another host than localhost, 127.0.0.1 or [::1]",
			Next: "ask for it by one of these names",
		})
	case !strings.HasPrefix(r.URL.Path, "/") || path.Clean(r.URL.Path) != r.URL.Path: // what the mux would redirect
		h.refuse(w, noSuchPath())
	default:
		h.mux.ServeHTTP(w, r)
	}
}

// hostAllowed reports whether a request that came over the loopback was meant
// for it: a web page whose name was made to resolve to it names another host.
func (h *Handler) hostAllowed(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return true // not from a listener
	}
	at, err := netip.ParseAddrPort(local.String())
	if err == nil && !at.Addr().Unmap().IsLoopback() {
		return true
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else {
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	if strings.EqualFold(host, "localhost") || slices.ContainsFunc(h.cfg.Hosts, func(name string) bool { return strings.EqualFold(name, host) }) {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Zone() == "" && address.IsLoopback()
}

// dispatch serves a request for a path by its method.
func (h *Handler) dispatch(w http.ResponseWriter, r *http.Request, methods []route) {
	i := slices.IndexFunc(methods, func(one route) bool { return one.method == r.Method })
	if i < 0 {
		var allowed []string
		for _, one := range methods {
			allowed = append(allowed, one.method)
		}
		h.refuse(w, methodNotAllowed(w, allowed...))
		return
	}
	c := &call{route: methods[i], w: w, r: r, started: h.now()}
	answer, err := h.serve(c)
	if err != nil {
		h.refuse(w, h.failure(c, err))
		return
	}
	if c.method != http.MethodGet {
		h.log.Info("administration", append([]any{"operation", c.operation, "who", c.who}, c.about(answer)...)...)
	}
	h.write(w, answer)
}

// about are the names of what a request was about, for the log.
func (c *call) about(answer any) []any {
	const most = 20
	if applied, ok := answer.(Applied); ok {
		var names []string
		for _, change := range applied.Changes {
			if change.Action != string(registry.Unchanged) {
				names = append(names, change.Action+" "+change.Kind+"/"+change.Name)
			}
		}
		if more := len(names) - most; more > 0 {
			names = append(names[:most], fmt.Sprintf("and %d more", more))
		}
		return []any{"dryRun", applied.DryRun, "revision", applied.Revision, "changes", strings.Join(names, ", ")}
	}
	var about []any
	for _, part := range []string{"kind", "name", "id"} {
		if text := c.r.PathValue(part); text != "" {
			about = append(about, part, strings.ToValidUTF8(text[:min(len(text), 100)], ""))
		}
	}
	return about
}

// serve judges a request and does what it asks for. No panic leaves it.
func (h *Handler) serve(c *call) (answer any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			h.log.Error("panic in the admin API", "operation", c.operation, "stack", string(debug.Stack()))
			answer, err = nil, fmt.Errorf("panic in %s", c.operation)
		}
	}()
	if err := h.admit(c); err != nil {
		return nil, err
	}
	if !h.parts[c.part] {
		return nil, &Failure{
			Status: http.StatusNotFound, Code: CodeUnavailable,
			Message: "not available: this installation, as it runs, has nothing to do with " + string(c.part),
			Next:    "ask a running server that is configured for it",
		}
	}
	slots, timeout := h.all, usualTimeout
	if c.timeout > 0 {
		slots, timeout = h.checks, c.timeout
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	default:
		return nil, &Failure{Status: http.StatusServiceUnavailable, Code: CodeBusy, Message: "too many requests are being served", Next: "try again in a moment"}
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), timeout)
	defer cancel()
	c.ctx = ctx
	if err := c.read(); err != nil {
		return nil, err
	}
	return c.serve(h, c)
}

// write writes an answer.
func (h *Handler) write(w http.ResponseWriter, answer any) {
	switch answer := answer.(type) {
	case nil:
		w.WriteHeader(http.StatusNoContent)
	case raw:
		w.Header().Set("Content-Type", answer.media)
		_, _ = w.Write(answer.text) // whoever asked is gone
	default:
		text, err := json.Marshal(answer, json.Deterministic(true))
		if err != nil {
			h.log.Error("answer of the admin API cannot be written", "error", err)
			h.refuse(w, &Failure{Status: http.StatusInternalServerError, Code: CodeInternal, Message: "the answer could not be written"})
			return
		}
		w.Header().Set("Content-Type", TypeJSON)
		_, _ = w.Write(append(text, '\n'))
	}
}

// refuse writes a refusal.
func (h *Handler) refuse(w http.ResponseWriter, failure *Failure) {
	text, err := json.Marshal(Refusal{Error: *failure})
	if err != nil {
		text = []byte(`{"error":{"code":"internal","message":"the answer could not be written"}}`)
	}
	w.Header().Set("Content-Type", TypeJSON)
	if failure.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(failure.Status)
	_, _ = w.Write(append(text, '\n'))
}
