// Command floor is what net/http costs by itself: it reads a request's body and
// writes an answer that it was given before. No server on net/http that reads
// JSON, looks something up and writes JSON can do less.
package main

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/legation/legation/bench/child"
)

const mostBytes = 8 << 20

func main() {
	var answer, event atomic.Pointer[[]byte]
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /", keep(&answer))
	mux.HandleFunc("PUT /stream", keep(&event))
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		body := answer.Load()
		if body == nil || !drained(w, r) {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(*body)
	})
	mux.HandleFunc("POST /stream/{count}", func(w http.ResponseWriter, r *http.Request) {
		one := event.Load()
		count, err := strconv.Atoi(r.PathValue("count"))
		if one == nil || err != nil || !drained(w, r) {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		control := http.NewResponseController(w)
		for range min(count, 100_000) {
			if _, err := fmt.Fprintf(w, "data: %s\n\n", *one); err != nil {
				return
			}
			if control.Flush() != nil {
				return
			}
		}
	})
	child.Exit(child.Serve(mux))
}

// keep takes what is to be answered from now on.
func keep(at *atomic.Pointer[[]byte]) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBytes))
		if err != nil {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		at.Store(&body)
	}
}

func drained(w http.ResponseWriter, r *http.Request) bool {
	_, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBytes))
	return err == nil
}
