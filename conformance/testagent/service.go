package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/legation/legation/server"
	"github.com/legation/legation/store/sqlite"
	"github.com/legation/legation/task"
)

// service is the agent with everything it runs on.
type service struct {
	http.Handler
	store   *sqlite.Store
	engine  *task.Engine
	servers []*server.Server
}

// Everybody on this machine is one caller, and none is held back before the
// machine is.
const (
	workers = 1024
	queue   = 1 << 16
)

// newService opens the store in a directory and builds the agent on it. Tasks
// run while the engine does. On error nothing stays open.
func newService(ctx context.Context, dir string, sync sqlite.Sync, public string, on bool, log *slog.Logger) (s *service, err error) {
	s = &service{}
	if s.store, err = sqlite.Open(ctx, dir, sqlite.Config{Sync: sync, Logger: log}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.store.Close()
		}
	}()
	s.engine, err = task.NewEngine(ctx, s.store, scripted{}, task.Config{
		Workers: workers, PerCaller: workers, Queue: queue,
		Drain: -1, Repeats: true, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	cfg := server.Config{
		PublicURL: public, MaxBody: maxBody, ReadTimeout: readTimeout,
		CardSince: s.store.CardSince, RetryWindow: -1, Unavailable: unavailable, Logger: log,
	}
	strict, err := server.New(s.engine, []server.Agent{{Card: card(on, true)}}, cfg)
	if err != nil {
		return nil, err
	}
	s.Handler, s.servers = strict, []*server.Server{strict}
	if !on {
		return s, nil
	}
	cfg.CardSince = nil // of the card that is shown
	lenient, err := server.New(s.engine, []server.Agent{{Card: card(on, false)}}, cfg)
	if err != nil {
		return nil, err
	}
	s.Handler, s.servers = handler{strict: strict, lenient: lenient}, append(s.servers, lenient)
	return s, nil
}

// stop ends streams and waits. The engine must have stopped taking messages.
func (s *service) stop() {
	for _, one := range s.servers {
		one.Stop()
	}
}

// unavailable tells what the store gets over from what it does not.
func unavailable(err error) bool {
	return errors.Is(err, sqlite.ErrDiskFull) || errors.Is(err, sqlite.ErrDisk) || errors.Is(err, sqlite.ErrClosed)
}
