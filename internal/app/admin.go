package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/config"
	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

// Files of the data directory by which commands find a running server.
const (
	adminFile = "admin.json"
	tokenFile = "admin-token"
)

// adminListener serves the admin API on a listener of its own.
type adminListener struct {
	listener net.Listener
	web      *http.Server
	url      string
	path     string // of the file that says where it is
	served   chan error
	log      *slog.Logger
}

// openAdmin binds the admin API and tells commands where it is.
func (a *App) openAdmin(ctx context.Context) error {
	path := filepath.Join(a.cfg.Data, adminFile)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if a.cfg.AdminListen == config.NoAdmin {
		return nil
	}
	listener, err := listen(ctx, "--admin-listen", a.cfg.AdminListen)
	if err != nil {
		return err
	}
	l := &adminListener{listener: listener, path: path, served: make(chan error, 1), log: a.log}
	a.admin = l
	host := listener.Addr().(*net.TCPAddr)
	l.url = "http://" + host.String()
	if !host.IP.IsLoopback() {
		settings, err := loadTLS(a.cfg.TLSCert, a.cfg.TLSKey, false, a.log)
		if err != nil {
			return err
		}
		l.listener = tls.NewListener(listener, settings)
		l.url = "https://" + a.cfg.AdminListen
	}
	handler, err := admin.New(a.adminConfig(admin.Config{
		People: a.people, StartedAt: time.Now(), Cancel: a.cancelTask,
		Vault: &changing{a.vault, a.rereadKeys, a.secretsChanged}, Troubles: a.publisher.Troubles, Programs: a.publisher.answers.declared,
	}))
	if err != nil {
		return err
	}
	l.web = &http.Server{
		Handler:           strictTransport(handler),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      5 * time.Minute, // checks of remote agents take their time
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
	where, err := json.Marshal(map[string]string{"url": l.url})
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, where, 0o600); err != nil {
		return fmt.Errorf("tell commands where the admin API is: %w", err)
	}
	return nil
}

// Admin is where the admin API is reached, empty if there is none.
func (a *App) Admin() string {
	if a.admin == nil {
		return ""
	}
	return a.admin.url
}

// serve serves until stop.
func (l *adminListener) serve() {
	if l == nil {
		return
	}
	go func() { l.served <- l.web.Serve(l.listener) }()
}

// stop lets requests under way end within the time of ctx.
func (l *adminListener) stop(ctx context.Context) {
	if l == nil {
		return
	}
	if err := l.web.Shutdown(ctx); err != nil {
		l.web.Close()
	}
	if err := <-l.served; err != nil && !errors.Is(err, http.ErrServerClosed) {
		l.log.Error("the admin API ended", "error", err)
	}
	l.forget()
}

// close gives back what was bound and never served.
func (l *adminListener) close() {
	if l == nil {
		return
	}
	_ = l.listener.Close() // it may be closed already
	l.forget()
}

func (l *adminListener) forget() {
	if err := os.Remove(l.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		l.log.Warn("commands may look for the admin API where it is no more", "file", l.path, "error", err)
	}
}

// adminConfig adds what every use of the admin API has.
func (c *core) adminConfig(cfg admin.Config) admin.Config {
	cfg.Registry, cfg.Tasks, cfg.Audit = c.registry, c.store, c.store
	cfg.Unfit = c.unfit
	cfg.Agents, cfg.Clients = administered{c.remotes}, clientChecks{c}
	cfg.Version, cfg.Logger = version(), c.log
	return cfg
}

// version is that of the program.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// cancelTask cancels a task of whomever, and ends its run.
func (a *App) cancelTask(ctx context.Context, owner task.Owner, id a2a.TaskID, effects work.Effects) (task.Record, error) {
	return a.engine.Cancel(ctx, owner, id, effects.Audit...)
}

// secretsChanged makes new values of secrets take effect where they are not read
// at every use: the keys that sign cards, and tokens that were fetched.
func (a *App) secretsChanged() {
	a.publisher.publish(context.Background())
	a.remotes.Forget()
	a.followRemotes(context.Background())
}

// changing tells of changes of secrets, and takes new master keys into use.
type changing struct {
	*vault.Vault
	reread  func(context.Context) error
	changed func()
}

// Rotate brings everything to the primary of the master keys that there are by
// now.
func (c *changing) Rotate(ctx context.Context) (vault.Rotation, error) {
	if err := c.reread(ctx); err != nil {
		return vault.Rotation{}, err
	}
	return c.Vault.Rotate(ctx)
}

// Put stores a version of a secret.
func (c *changing) Put(ctx context.Context, name string, value vault.Value, author string, effects work.Effects) (vault.Metadata, error) {
	stored, err := c.Vault.Put(ctx, name, value, author, effects)
	if err == nil {
		c.changed()
	}
	return stored, err
}

// Delete removes versions of a secret.
func (c *changing) Delete(ctx context.Context, ref vault.Reference, effects work.Effects) error {
	err := c.Vault.Delete(ctx, ref, effects)
	if err == nil {
		c.changed()
	}
	return err
}
