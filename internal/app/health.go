package app

import (
	"fmt"
	"net/http"
)

// handler is everything the address serves: the agents, and what a supervisor
// asks. Health says that the process answers; readiness, that it takes work.
// Paths are compared as they are: nothing is cleaned or redirected.
func (a *App) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz":
			say(w, r, http.StatusOK, "ok")
		case "/readyz":
			a.sayReady(w, r)
		default:
			a.server.ServeHTTP(w, r)
		}
	})
}

func (a *App) sayReady(w http.ResponseWriter, r *http.Request) {
	if !a.ready.Load() || a.claimer.Stopping() {
		say(w, r, http.StatusServiceUnavailable, "stopping")
		return
	}
	if err := a.store.Writable(r.Context()); err != nil {
		a.log.Warn("not ready", "error", err)
		say(w, r, http.StatusServiceUnavailable, "the store takes nothing at the moment; the log says why")
		return
	}
	say(w, r, http.StatusOK, "ready")
}

func say(w http.ResponseWriter, r *http.Request, status int, text string) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		status, text = http.StatusMethodNotAllowed, "only GET and HEAD are answered here"
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintln(w, text)
}
