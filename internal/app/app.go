// Package app builds a whole server from a configuration and runs it.
//
// It decides nothing by itself: packages further in do the work, and this one
// says which of them are put together and in which order they start and stop.
//
// Start reading at [New].
package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/legation/legation/internal/config"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/server"
	"github.com/legation/legation/store/sqlite"
	"github.com/legation/legation/task"
)

// Options are what the parts are built with besides the configuration. The zero
// value is ready to use.
type Options struct {
	// Extra are agents written in Go, published beside the configured ones.
	Extra []Published

	// Unsynced gives up durability against a crash of the machine: for
	// throw-away stores.
	Unsynced bool

	// TLS serves HTTPS, with the certificate it holds, whatever the
	// configuration names. Nil leaves it to the configuration.
	TLS *tls.Config

	// LookAlways looks at the files of a certificate at every connection, and
	// not once a second.
	LookAlways bool

	// Logger receives diagnostics. Nil discards them.
	Logger *slog.Logger
}

// App is one server, built and not yet running.
type App struct {
	cfg      config.Config
	log      *slog.Logger
	store    *sqlite.Store
	claimer  *work.Claimer
	server   *server.Server
	listener net.Listener
	agents   []server.Agent
	public   string
	ready    atomic.Bool
}

// New opens the store, binds the address and builds everything on them. On
// error nothing stays open. [App.Run] or [App.Close] must follow.
func New(ctx context.Context, cfg config.Config, opts Options) (app *App, err error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	a := &App{cfg: cfg, log: opts.Logger}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	defer func() {
		if err != nil {
			a.Close()
		}
	}()
	published, err := publish(cfg, opts.Extra, a.log)
	if err != nil {
		return nil, err
	}
	secure := opts.TLS
	if secure == nil && cfg.TLSCert != "" {
		if secure, err = loadTLS(cfg.TLSCert, cfg.TLSKey, opts.LookAlways, a.log); err != nil {
			return nil, err
		}
	}
	if a.listener, err = listen(ctx, cfg.Listen); err != nil {
		return nil, err
	}
	sync := sqlite.Full
	if opts.Unsynced {
		sync = sqlite.Off
	}
	if a.store, err = sqlite.Open(ctx, cfg.Data, sqlite.Config{Sync: sync, Logger: a.log}); err != nil {
		return nil, err
	}
	scheme := "http://"
	if secure != nil {
		scheme, a.listener = "https://", tls.NewListener(a.listener, secure)
	}
	a.public = cfg.PublicURL
	if a.public == "" {
		a.public = scheme + a.listener.Addr().String()
	}
	a.claimer = work.NewClaimer(a.store, work.Config{Drain: drain(cfg.Drain), Logger: a.log})
	engine, err := task.NewEngine(ctx, a.store, published, task.Config{
		Claimer: a.claimer, Workers: cfg.Workers, PerCaller: cfg.PerCaller, Queue: cfg.Queue,
		RunTimeout: cfg.RunTimeout, InputWait: cfg.InputWait, MaxBytes: cfg.MaxTask, Logger: a.log,
	})
	if err != nil {
		return nil, err
	}
	if a.agents, err = published.cards(cfg); err != nil {
		return nil, err
	}
	wait := cfg.WaitLimit
	if wait == 0 {
		wait = cfg.RunTimeout + time.Minute // its end is to be seen, and it may be queued
	}
	a.server, err = server.New(engine, a.agents, server.Config{
		PublicURL: a.public, MaxBody: cfg.MaxBody, WaitLimit: wait,
		CardSince:   a.store.CardSince,
		Unavailable: unavailable,
		Logger:      a.log,
	})
	return a, err
}

// unavailable tells what the store gets over from what it does not.
func unavailable(err error) bool {
	return errors.Is(err, sqlite.ErrDiskFull) || errors.Is(err, sqlite.ErrDisk) || errors.Is(err, sqlite.ErrClosed)
}

// drain is the claimer's way to say how long runs may go on at the stop.
func drain(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; choose another address with --listen, or port 0 for a free one", address, err)
	}
	return l, nil
}

// URL is where the server is reached, as its cards say.
func (a *App) URL() string { return a.public }

// Addr is the address served.
func (a *App) Addr() string { return a.listener.Addr().String() }

// Agents are the published agents, without what the server adds to their cards.
func (a *App) Agents() []server.Agent { return a.agents }

// Hurry ends the time that runs have to finish when the app stops. It may be
// called at any time, and again.
func (a *App) Hurry() { a.claimer.Hurry() }

// Busy returns how many runs are executing.
func (a *App) Busy() int { return a.claimer.Busy() }

// Close gives everything back that New opened. It need not be called after Run.
func (a *App) Close() error {
	var errs []error
	if a.listener != nil {
		if err := a.listener.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	if a.store != nil {
		errs = append(errs, a.store.Close())
	}
	return errors.Join(errs...)
}

// Run serves until ctx ends, then stops in order: no new messages are taken;
// runs under way may finish within the drain time and are left resumable after
// it; streams and waits end; the store is closed. Everything that Run began has
// ended when it returns.
func (a *App) Run(ctx context.Context) error {
	web := &http.Server{
		Handler:           strictTransport(a.handler()),
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      30 * time.Second, // renewed by whoever answers for longer
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(a.listener) }()
	worked := make(chan error, 1)
	workCtx, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	go func() { worked <- a.claimer.Run(workCtx) }()
	a.ready.Store(true)
	a.log.Info("serving", "address", a.Addr(), "url", a.public, "data", a.cfg.Data)

	var failure error
	select {
	case <-ctx.Done():
	case failure = <-served:
		served <- nil
	}
	a.ready.Store(false)
	a.log.Info("stopping", "drain", a.cfg.Drain)
	stopWork()
	failure = errors.Join(failure, <-worked)

	a.server.Stop()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := web.Shutdown(closing); err != nil {
		web.Close()
	}
	if err := <-served; err != nil && !errors.Is(err, http.ErrServerClosed) {
		failure = errors.Join(failure, err)
	}
	failure = errors.Join(failure, a.store.Close())
	a.log.Info("stopped")
	return failure
}
