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
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/config"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

// Files of the data directory by which commands find a running server.
const (
	adminFile = "admin.json"
	tokenFile = "admin-token"
)

// adminListener serves the admin API on listeners of its own: one that commands
// on this machine find, and one for others if they are to reach it.
type adminListener struct {
	local  net.Listener
	remote net.Listener // nil: there is none
	web    *http.Server
	path   string // of the file that says where the local one is
	served chan error
	log    *slog.Logger
}

// everywhere are the listeners.
func (l *adminListener) everywhere() []net.Listener {
	all := []net.Listener{l.local}
	if l.remote != nil {
		all = append(all, l.remote)
	}
	return slices.DeleteFunc(all, func(one net.Listener) bool { return one == nil })
}

// url is where commands on this machine reach it.
func (l *adminListener) url() string { return "http://" + l.local.Addr().String() }

// listen binds the address that was asked for. If others reach it, it is served
// over TLS, and commands on this machine have an address of their own: the
// certificate need not be one that they trust, nor name this machine.
func (l *adminListener) listen(ctx context.Context, cfg config.Config) (err error) {
	if l.local, err = listen(ctx, "--admin-listen", cfg.AdminListen); err != nil {
		return err
	}
	if l.local.Addr().(*net.TCPAddr).IP.IsLoopback() {
		return nil
	}
	l.local, l.remote = nil, l.local
	settings, err := loadTLS(cfg.TLSCert, cfg.TLSKey, false, l.log)
	if err != nil {
		return err
	}
	l.remote = tls.NewListener(l.remote, settings)
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		if l.local, err = listen(ctx, "--admin-listen", address); err == nil {
			return nil
		}
	}
	return err
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
	l := &adminListener{path: path, served: make(chan error, 2), log: a.log}
	a.admin = l
	if err := l.listen(ctx, a.cfg); err != nil {
		return err
	}
	handler, err := admin.New(a.adminConfig(admin.Config{
		People: a.people, StartedAt: time.Now(), Cancel: a.cancelTask,
		Vault: &changing{a.vault, a.rereadKeys, a.secretsChanged}, Troubles: a.troubles, Programs: a.publisher.answers.declared,
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
	where, err := json.Marshal(map[string]string{"url": l.url()})
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, where, 0o600); err != nil {
		return fmt.Errorf("tell commands where the admin API is: %w", err)
	}
	return nil
}

// troubles are why a document has no effect beyond what it says itself: it names
// what is not there, or it is left out.
func (a *App) troubles(id registry.ID) []string {
	words := slices.Clone(a.registry.Faults(id))
	if len(words) == 0 {
		words = a.publisher.Troubles(id)
	}
	return append(words, a.callers.Troubles(id)...)
}

// Admin is where the admin API is reached on this machine, empty if there is
// none.
func (a *App) Admin() string {
	if a.admin == nil {
		return ""
	}
	return a.admin.url()
}

// AdminAddr is the address at which other machines may reach the admin API, empty
// if they may not.
func (a *App) AdminAddr() string {
	if a.admin == nil || a.admin.remote == nil {
		return ""
	}
	return a.admin.remote.Addr().String()
}

// serve serves until stop.
func (l *adminListener) serve() {
	if l == nil {
		return
	}
	for _, one := range l.everywhere() {
		go func() { l.served <- l.web.Serve(one) }()
	}
}

// stop lets requests under way end within the time of ctx.
func (l *adminListener) stop(ctx context.Context) {
	if l == nil {
		return
	}
	if err := l.web.Shutdown(ctx); err != nil {
		l.web.Close()
	}
	for range l.everywhere() {
		if err := <-l.served; err != nil && !errors.Is(err, http.ErrServerClosed) {
			l.log.Error("the admin API ended", "error", err)
		}
	}
	l.forget()
}

// close gives back what was bound and never served.
func (l *adminListener) close() {
	if l == nil {
		return
	}
	for _, one := range l.everywhere() {
		_ = one.Close() // it may be closed already
	}
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
	cfg.Version, cfg.Logger, cfg.Unavailable = version(), c.log, unavailable
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

// changeTimeout bounds a change of a secret that is on its way.
const changeTimeout = time.Minute

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
func (c *changing) Put(ctx context.Context, name string, value vault.Value, author string, effects work.Effects) (stored vault.Metadata, err error) {
	err = c.change(ctx, func(ctx context.Context) error {
		stored, err = c.Vault.Put(ctx, name, value, author, effects)
		return err
	})
	return stored, err
}

// Delete removes versions of a secret.
func (c *changing) Delete(ctx context.Context, ref vault.Reference, effects work.Effects) error {
	return c.change(ctx, func(ctx context.Context) error { return c.Vault.Delete(ctx, ref, effects) })
}

// change makes a change whatever becomes of whoever asked for it, and tells of it
// unless it was refused: after another error it may be stored all the same.
func (c *changing) change(ctx context.Context, do func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeTimeout)
	defer cancel()
	err := do(ctx)
	refused := func(refusal error) bool { return errors.Is(err, refusal) }
	if !slices.ContainsFunc([]error{vault.ErrInvalid, vault.ErrNotFound, vault.ErrFull, vault.ErrConflict}, refused) {
		c.changed()
	}
	return err
}
