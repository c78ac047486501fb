// Package child is what the servers of the benchmark have in common: they are
// child processes of the driver, say where they listen, and end with it.
//
// Invariant: a server ends when its standard input does, so none outlives the
// driver however that ends.
//
// Start reading at [Serve].
package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// Announcement begins the line on standard output that says where a server
// listens, and how it is asked.
const Announcement = "listening "

// Announce tells the driver where to connect to, and the value of the header
// field Authorization that lets it in; empty for none.
func Announce(address, authorization string) {
	fmt.Println(strings.TrimRight(Announcement+address+" "+authorization, " "))
}

// Context ends when standard input does.
func Context() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, os.Stdin) // its end is all that matters
	}()
	return ctx
}

// Serve serves handler on a free port of the loopback until standard input
// ends.
func Serve(handler http.Handler) error {
	ctx := Context()
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	web := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { web.Close() })()
	Announce(listener.Addr().String(), "")
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Exit ends the process as err says.
func Exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
