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
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/access/issuer"
	"github.com/legation/legation/internal/config"
	"github.com/legation/legation/internal/registry"
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
	*core
	claimer   *work.Claimer
	engine    *task.Engine
	server    *server.Server
	listener  net.Listener
	admin     *adminListener // nil: there is no admin API
	directory *access.Directory
	callers   *callers
	issuers   *issuer.Set
	recorder  *recorder
	publisher *publisher
	turns     turns
	secure    *secureListener // nil: plain HTTP
	unwatch   func()
	public    string
	ready     atomic.Bool
}

// New opens the store, binds the addresses and builds everything on them. On
// error nothing stays open. [App.Run] or [App.Close] must follow.
func New(ctx context.Context, cfg config.Config, opts Options) (app *App, err error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	log := opts.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	declared, err := declare(cfg, log)
	if err != nil {
		return nil, err
	}
	a := &App{unwatch: func() {}}
	defer func() {
		if err != nil {
			a.Close()
		}
	}()
	if err := a.listen(ctx, cfg, opts, log); err != nil {
		return nil, err
	}
	sync := sqlite.Full
	if opts.Unsynced {
		sync = sqlite.Off
	}
	if a.core, err = openCore(ctx, cfg, declared.host(), sync, log); err != nil {
		return nil, err
	}
	if _, err := a.registry.Publish(ctx, declared.documents, declared.host()); err != nil {
		return nil, fmt.Errorf("--publish: %w", err)
	}
	a.tellFaults()
	if err := a.build(ctx, opts, declared); err != nil {
		return nil, err
	}
	if err := a.openAdmin(ctx); err != nil {
		return nil, err
	}
	a.unwatch = a.registry.Watch(a.follow)
	if err := a.publisher.refusal(); err != nil {
		return nil, fmt.Errorf("what is published cannot be served: %w", err)
	}
	return a, nil
}

// listen binds the address, with TLS where it is asked for.
func (a *App) listen(ctx context.Context, cfg config.Config, opts Options, log *slog.Logger) (err error) {
	settings := opts.TLS
	if settings == nil && cfg.TLSCert != "" {
		if settings, err = loadTLS(cfg.TLSCert, cfg.TLSKey, opts.LookAlways, log); err != nil {
			return err
		}
	}
	if a.listener, err = listen(ctx, "--listen", cfg.Listen); err != nil {
		return err
	}
	scheme := "http://"
	if settings != nil {
		a.secure = newSecureListener(settings)
		scheme, a.listener = "https://", a.secure.wrap(a.listener)
	}
	a.public = cfg.PublicURL
	if a.public == "" {
		a.public = scheme + a.listener.Addr().String()
	}
	return nil
}

// build makes the parts of the server role.
func (a *App) build(ctx context.Context, opts Options, declared *declared) (err error) {
	cfg := a.cfg
	a.recorder = newRecorder(a.store, a.log)
	a.issuers = issuer.New(a.askIssuer, issuer.Config{Logger: a.log})
	var proxies []access.Proxy
	for _, text := range cfg.ClientProxies {
		p, err := config.ParseClientProxy(text)
		if err != nil {
			return err
		}
		proxies = append(proxies, access.Proxy{Name: p.Name, Header: p.Header, Networks: p.Networks, SPKI: p.SPKI})
	}
	if a.directory, err = access.NewDirectory(access.Config{Tokens: a.issuers, Proxies: proxies}); err != nil {
		return err
	}
	a.publisher = &publisher{
		extra: opts.Extra, since: a.store.CardSince, name: cfg.Name, vault: a.vault, log: a.log, set: a.registry.Set, exposed: exposed(cfg),
		answers: &answers{cfg: cfg, programs: declared.programs, vault: a.vault, egress: a.egress, log: a.log},
	}
	a.claimer = work.NewClaimer(a.store, work.Config{Drain: drain(cfg.Drain), Logger: a.log})
	a.engine, err = task.NewEngine(ctx, a.store, &a.publisher.catalog, task.Config{
		Claimer: a.claimer, Workers: cfg.Workers, PerCaller: cfg.PerCaller, Queue: cfg.Queue, CallerLimits: a.turns.of,
		RunTimeout: cfg.RunTimeout, InputWait: cfg.InputWait, MaxBytes: cfg.MaxTask, Logger: a.log,
	})
	if err != nil {
		return err
	}
	a.callers = &callers{directory: a.directory, classes: a.publisher.catalog.class, exposed: exposed(cfg)}
	wait := cfg.WaitLimit
	if wait == 0 {
		wait = cfg.RunTimeout + time.Minute // its end is to be seen, and it may be queued
	}
	a.server, err = server.New(a.engine, nil, server.Config{
		PublicURL: a.public, MaxBody: cfg.MaxBody, WaitLimit: wait,
		Callers:     a.callers,
		Audit:       a.recorder.record,
		CardSince:   a.publisher.cardSince,
		Unavailable: unavailable,
		Logger:      a.log,
	})
	a.publisher.server = a.server
	return err
}

// follow makes what is registered take effect: first who may do less, then what
// there is to be done. It is called with every change, one at a time.
func (a *App) follow(set registry.Set) {
	all := a.admit(set)
	a.turns.set(set)
	if a.secure != nil {
		a.secure.askFor(certificates(all))
	}
	a.publisher.publish(context.Background())
	a.followRemotes(context.Background())
}

// admit lets in whom a set registers, and nobody else. What is left out of it is
// a trouble of its document; if nothing can be made of the set, nobody is let in.
func (a *App) admit(set registry.Set) []access.Client {
	done := false
	defer func() {
		if !done { // it panicked
			a.log.Error("remote clients could not be taken over, and nobody is let in")
			_, _ = a.directory.Set(nil)
			a.callers.open(false)
		}
	}()
	all := clients(set, a.cfg.MaxBody)
	affected, omitted := a.directory.Set(all)
	done = true
	for _, one := range omitted {
		a.log.Warn("a credential of a remote client, or the client, is left out and lets nobody in", "client", one.Client, "reason", one.Err)
	}
	a.callers.omit(omitted)
	a.callers.open(!registered(set))
	for _, name := range affected {
		a.log.Info("what a remote client held open has ended", "client", name)
	}
	return all
}

// registered reports whether there is a remote client, be it one that this
// version cannot read.
func registered(set registry.Set) bool {
	return slices.ContainsFunc(set.Documents, func(doc registry.Document) bool { return doc.Kind == registry.KindRemoteClient }) ||
		slices.ContainsFunc(set.Unreadable, func(doc registry.Unreadable) bool { return doc.ID.Kind == registry.KindRemoteClient })
}

// exposed reports whether others than this machine may reach the server.
func exposed(cfg config.Config) bool {
	return cfg.BehindProxy || !config.Loopback(cfg.Listen) || cfg.PublicURL != "" && !config.Loopback(cfg.PublicURL)
}

// askIssuer is the client with which an issuer of tokens is asked.
func (a *App) askIssuer(name string) (*http.Client, error) {
	return guarded(a.egress, issuerExceptions(a.registry.Set(), name))
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

func listen(ctx context.Context, flag, address string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; choose another address with %s, or port 0 for a free one", address, err, flag)
	}
	return l, nil
}

// URL is where the server is reached, as its cards say.
func (a *App) URL() string { return a.public }

// Addr is the address served.
func (a *App) Addr() string { return a.listener.Addr().String() }

// Agents are the published agents, without what the server adds to their cards.
func (a *App) Agents() []server.Agent { return a.publisher.Agents() }

// Registered returns how many agents are registered, whether they can be served
// or not.
func (a *App) Registered() int {
	set := a.registry.Set()
	n := 0
	for _, doc := range set.Documents {
		if doc.Kind == registry.KindAgent {
			n++
		}
	}
	for _, doc := range set.Unreadable {
		if doc.ID.Kind == registry.KindAgent {
			n++
		}
	}
	return n
}

// Open reports whether everybody on this machine is served, because no remote
// client is registered.
func (a *App) Open() bool { return a.callers.localOnly() != nil }

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
	a.unwatch()
	a.admin.close()
	if a.issuers != nil {
		a.issuers.Close()
	}
	if a.core != nil {
		errs = append(errs, a.core.close())
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
	beside, stopBeside := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBeside()
	var others sync.WaitGroup
	others.Go(func() { a.recorder.run(beside) })
	others.Go(func() { a.forget(beside) })
	others.Go(func() {
		if err := a.remotes.Run(beside); err != nil {
			a.log.Error("cards of remote agents are not read any more", "error", err)
		}
	})
	a.admin.serve()
	a.ready.Store(true)
	a.log.Info("serving", "address", a.Addr(), "url", a.public, "data", a.cfg.Data)
	if address := a.AdminAddr(); address != "" {
		a.log.Info("the admin API is served to other machines", "address", address)
	}

	var failure error
	select {
	case <-ctx.Done():
	case failure = <-served:
		served <- nil
	}
	a.log.Info("stopping", "drain", a.cfg.Drain)
	stopWork() // from here on it is not ready, and messages are refused
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
	a.admin.stop(closing)
	a.unwatch()
	stopBeside()
	others.Wait()
	a.issuers.Close()
	failure = errors.Join(failure, a.core.close())
	a.log.Info("stopped")
	return failure
}
