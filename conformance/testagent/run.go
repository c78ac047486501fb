package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/legation/legation/store/sqlite"
)

// run serves until ctx ends, then stops: runs under way are left to the next
// start on the same data. Everything it began has ended when it returns.
func run(ctx context.Context, set settings, stdout, stderr io.Writer) (err error) {
	dir, sync := set.data, sqlite.Full
	if dir == "" {
		sync = sqlite.Off
		if dir, err = os.MkdirTemp("", "testagent-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", set.listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	public := "http://" + listener.Addr().String()
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := newService(ctx, dir, sync, public, set.on, log)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "Serving %s/ (set %s). Ctrl-C stops it.\n", public, map[bool]string{true: "on", false: "off"}[set.on])
	err = s.serve(ctx, listener, log)
	return errors.Join(err, s.store.Close())
}

// serve answers requests and runs tasks until ctx ends.
func (s *service) serve(ctx context.Context, listener net.Listener, log *slog.Logger) error {
	web := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      30 * time.Second, // renewed by whoever answers for longer
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served, worked := make(chan error, 1), make(chan error, 1)
	go func() {
		defer cancel()
		served <- web.Serve(listener)
	}()
	go func() {
		defer cancel()
		worked <- s.engine.Run(ctx)
	}()
	<-ctx.Done()
	failure := <-worked
	s.stop()
	closing, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	if err := web.Shutdown(closing); err != nil {
		web.Close()
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		failure = errors.Join(failure, err)
	}
	return failure
}
