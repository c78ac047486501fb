package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/config"
	"github.com/legation/legation/store/sqlite"
)

const (
	adminVariable = config.Prefix + "ADMIN"
	tokenVariable = config.Prefix + "ADMIN_TOKEN"

	adminFile = "admin.json"  // where a running server is reached
	tokenFile = "admin-token" // of the first administrator

	// lookTimeout is how long a data directory may be in other hands before a
	// command gives up: another command takes a moment, a server has an address.
	lookTimeout = 3 * time.Second

	maxAdminFile = 64 << 10
)

// connection says which installation a command administers, and how it gets
// there: over HTTP where a server runs, else through the same handler in this
// process, on the data directory.
type connection struct {
	data, admin, tokenFile, ca string
	timeout                    time.Duration

	// makes says that the command may make an installation in a data directory
	// that is missing or empty, and trial that it leaves everything as it is:
	// instead of such a directory it has another, for as long as it runs.
	makes, trial bool

	// keyless says that the command needs no master key.
	keyless bool

	// quiet keeps warnings back, for a command that tells all it finds.
	quiet bool
}

const connectionText = `The installation is the one whose data directory --data or LEGATION_DATA names. If a
server runs on it, that server is asked, with the token of LEGATION_ADMIN_TOKEN,
--token-file, or the data directory itself. If none does, the directory is
opened here. --admin or LEGATION_ADMIN asks a server elsewhere.`

func (c *connection) flags(cmd *cobra.Command) {
	if c.timeout == 0 {
		c.timeout = askTimeout
	}
	c.where(cmd)
	cmd.Flags().StringVar(&c.ca, "ca", "", "file of PEM certificates to trust besides the system's")
	cmd.Flags().DurationVar(&c.timeout, "timeout", c.timeout, "give up after this")
}

// where are the flags that name the installation.
func (c *connection) where(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.data, "data", "", "data directory of the installation (default the one of 'legation serve')")
	f.StringVar(&c.admin, "admin", "", "URL of the admin API of a server elsewhere")
	f.StringVar(&c.tokenFile, "token-file", "", "file that holds your token for the admin API")
}

// administer runs what a command does with the installation.
func (c *connection) administer(ctx context.Context, io streams, do func(context.Context, *installation) error) (err error) {
	if c.timeout <= 0 {
		return usageError{errors.New("--timeout must be above zero; nothing is unlimited")}
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	in, err := c.open(ctx, io)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	return do(ctx, in)
}

// open finds the installation.
func (c *connection) open(ctx context.Context, io streams) (*installation, error) {
	if c.admin != "" && c.data != "" {
		return nil, usageError{errors.New("--admin and --data name two installations; give one of them")}
	}
	where := c.admin
	if where == "" && c.data == "" {
		where = os.Getenv(adminVariable)
	}
	if where != "" {
		token, err := c.token("")
		if err != nil {
			return nil, err
		}
		return c.dial(where, token)
	}
	cfg, err := c.settings(io)
	if err != nil {
		return nil, err
	}
	if there, err := sqlite.Present(cfg.Data); c.trial && err == nil && !there {
		return c.openEmpty(ctx, cfg)
	}
	if c.quiet {
		return c.openData(ctx, cfg, slog.New(slog.DiscardHandler))
	}
	return c.openData(ctx, cfg, warnings(io))
}

// settings are those of the data directory that is meant.
func (c *connection) settings(io streams) (config.Config, error) {
	cfg, err := io.settings()
	if err != nil {
		return cfg, usageError{err}
	}
	if c.data != "" {
		cfg.Data = c.data
	}
	return cfg, c.installed(cfg.Data)
}

// warnings is a log of what a person at a command has to know.
func warnings(io streams) *slog.Logger {
	return slog.New(slog.NewTextHandler(io.err, &slog.HandlerOptions{
		Level: slog.LevelWarn,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// openData opens a data directory, or finds the server that holds it.
func (c *connection) openData(ctx context.Context, cfg config.Config, log *slog.Logger) (*installation, error) {
	looking, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	open := openOffline
	if c.keyless {
		open = openKeyless
	}
	for {
		handler, closeStore, err := open(ctx, cfg, log)
		held, locked := errors.AsType[*sqlite.LockedError](err)
		switch {
		case err == nil:
			in := inProcess(handler, closeStore)
			in.data = cfg.Data
			return in, nil
		case !locked:
			return nil, err
		}
		in, err := c.running(looking, cfg.Data, held)
		if err == nil {
			return in, nil
		}
		select {
		case <-again.C:
		case <-looking.Done():
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, err
		}
	}
}

// openEmpty opens a data directory that is gone afterwards.
func (c *connection) openEmpty(ctx context.Context, cfg config.Config) (*installation, error) {
	dir, err := os.MkdirTemp("", "legation-")
	if err != nil {
		return nil, err
	}
	cfg.Data = dir
	handler, closeStore, err := openOffline(ctx, cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return inProcess(handler, func() error { return errors.Join(closeStore(), os.RemoveAll(dir)) }), nil
}

// running is the server that holds a data directory.
func (c *connection) running(ctx context.Context, dir string, held *sqlite.LockedError) (*installation, error) {
	holder := "another legation process"
	if held.PID > 0 {
		holder = fmt.Sprintf("another legation process (pid %d)", held.PID)
	}
	path := filepath.Join(dir, adminFile)
	text, err := readFile(path, maxAdminFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &advisedError{
			err:    fmt.Errorf("%s uses %s, and %s does not say where it is administered", holder, dir, path),
			advice: "if it is a server, its admin API is off: name another address with --admin, or stop the server and try again; if it is another command, wait for its end",
		}
	}
	var said struct {
		URL string `json:"url"`
	}
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err != nil {
		return nil, fmt.Errorf("%s uses %s, and where it is administered can not be read: %w", holder, dir, err)
	}
	token, err := c.token(filepath.Join(dir, tokenFile))
	if err != nil {
		return nil, err
	}
	in, err := c.dial(said.URL, token)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	in.data = dir
	if err := in.reach(ctx); err != nil {
		return nil, errors.Join(&advisedError{
			err:    fmt.Errorf("%s uses %s, and at %s, which %s names, nobody answers: %w", holder, dir, said.URL, path, err),
			advice: "the file may be left over from an earlier start; if a server is about to start or stop, try again in a moment",
		}, in.close())
	}
	return in, nil
}

// token is what proves who asks. The last resort is a file that need not be
// there.
func (c *connection) token(last string) (string, error) {
	text := os.Getenv(tokenVariable)
	from := tokenVariable
	if c.tokenFile != "" || text == "" && last != "" {
		from = last
		if c.tokenFile != "" {
			from = c.tokenFile
		}
		content, err := readFile(from, maxAdminFile)
		if err != nil && (c.tokenFile != "" || !errors.Is(err, fs.ErrNotExist)) {
			return "", usageError{fmt.Errorf("the token for the admin API: %w", err)}
		}
		text = string(content)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "", &advisedError{
			err:    usageError{errors.New("there is no token for the admin API")},
			advice: "give yours with --token-file FILE or in " + tokenVariable + "; an administrator makes one with: legation person add NAME --role ROLE",
		}
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", usageError{fmt.Errorf("%s holds no token: one is a single word", from)}
	}
	return text, nil
}

// dial prepares to ask a server. Only the host that was named is reached, and
// without TLS only on this machine, since the token goes along.
func (c *connection) dial(raw, token string) (*installation, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usageError{fmt.Errorf("%q is not the URL of an admin API; write it like http://127.0.0.1:8701", cut(withoutUser(raw), 200))}
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, usageError{errors.New("the URL of an admin API has no user, query or fragment")}
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, usageError{fmt.Errorf("http://%s: the token would cross the network in the clear; use https", u.Host)}
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	policy := guard.Policy{AllowHosts: []string{host}, MaxAnswerBytes: maxAdminAnswer}
	if c.ca != "" {
		roots, err := readRoots(c.ca)
		if err != nil {
			return nil, usageError{err}
		}
		policy.TLSConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	if err := guard.CheckURL(raw, policy); err != nil {
		return nil, usageError{err}
	}
	transport, err := guard.New(policy)
	if err != nil {
		return nil, usageError{err}
	}
	return &installation{
		transport: transport, base: u, token: token,
		close: func() error { transport.Close(); return nil },
	}, nil
}

// loopback reports whether a host, without its port, is this machine.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}
