package app

import (
	"fmt"
	"net/http"
)

// handler is everything the address serves: the agents, and what a supervisor
// asks. Health says that the process answers; readiness, that it takes work.
func (a *App) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !a.ready.Load() {
			say(w, http.StatusServiceUnavailable, "stopping")
			return
		}
		say(w, http.StatusOK, "ready")
	})
	mux.Handle("/", a.server)
	return mux
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintln(w, text)
}
