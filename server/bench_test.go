package server_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/legation/legation/server"
	"github.com/legation/legation/task"
)

// discard is a response writer that costs nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

func BenchmarkGetTask(b *testing.B) {
	w, stop := startWorld(b, options{config: silent})
	defer stop()
	made := taskOf(b, w.post("/", rpc("SendMessage", say("m-1", strings.Repeat("x", 4000)))).Body.Bytes())
	body := rpc("GetTask", `{"id":"`+string(made.ID)+`"}`)
	b.ReportAllocs()
	for b.Loop() {
		w.ServeHTTP(&discard{header: http.Header{}}, request("POST", "/", body))
	}
}

func BenchmarkSendMessage(b *testing.B) {
	w, stop := startWorld(b, options{config: silent, engine: task.Config{PerCaller: 32, Queue: 1000}})
	defer stop()
	b.ReportAllocs()
	b.SetParallelism(8)
	var sent atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			id := "m-" + strconv.FormatInt(sent.Add(1), 10)
			w.ServeHTTP(&discard{header: http.Header{}}, request("POST", "/", rpc("SendMessage", say(id, "hello"))))
		}
	})
}

// silent leaves the log out.
func silent(cfg *server.Config) { cfg.Logger = nil }
