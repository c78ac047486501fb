package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/server"
)

const (
	askTimeout  = time.Minute // for a command that asks one thing
	workTimeout = time.Hour   // for a command that waits for work

	// cardTimeout bounds the reading of a card, other places that are looked at
	// for it included.
	cardTimeout = 15 * time.Second

	maxCAFile = 1 << 20
)

// remote is how a command reaches the agent at the URL a person typed.
type remote struct {
	url     string
	headers []string
	ca      string
	timeout time.Duration

	given http.Header  // headers, once they were understood
	known *client.Card // once it was read
}

func (r *remote) flags(cmd *cobra.Command, timeout time.Duration) {
	cmd.Flags().StringArrayVar(&r.headers, "header", nil, "header to send with every request, as 'Name: value', or 'Name: @FILE' for what a file holds; repeatable, and never shown")
	cmd.Flags().StringVar(&r.ca, "ca", "", "file of PEM certificates to trust besides the system's")
	text := "give up after this"
	if timeout == workTimeout {
		text = "give up waiting after this; the task goes on at the agent"
	}
	cmd.Flags().DurationVar(&r.timeout, "timeout", timeout, text)
}

// limit bounds all a command does.
func (r *remote) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, r.timeout)
}

// config lets the typed host be reached wherever it is, and no other.
func (r *remote) config() (client.Config, error) {
	if r.timeout <= 0 {
		return client.Config{}, usageError{errors.New("--timeout must be above zero; nothing is unlimited")}
	}
	host, err := typedHost(r.url)
	if err != nil {
		return client.Config{}, usageError{err}
	}
	headers, err := parseHeaders(r.headers)
	if err != nil {
		return client.Config{}, usageError{err}
	}
	policy := guard.Policy{AllowHosts: []string{host}}
	if r.ca != "" {
		roots, err := readRoots(r.ca)
		if err != nil {
			return client.Config{}, usageError{err}
		}
		policy.TLSConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	if err := guard.CheckURL(r.url, policy); err != nil {
		return client.Config{}, usageError{err}
	}
	transport, err := guard.New(policy)
	if err != nil {
		return client.Config{}, usageError{err}
	}
	r.given = headers
	return client.Config{
		Guard: transport, Headers: headers,
		Timeout: min(r.timeout, askTimeout), CardTimeout: min(r.timeout, cardTimeout),
	}, nil
}

// card reads the card of the agent.
func (r *remote) card(ctx context.Context) (*client.Card, client.Config, error) {
	cfg, err := r.config()
	if err != nil {
		return nil, cfg, err
	}
	looking, cancel := context.WithTimeout(ctx, cfg.CardTimeout)
	defer cancel()
	card, err := client.ReadCard(ctx, r.url, cfg)
	if failed, ok := errors.AsType[*client.CardError](err); ok && failed.Missing() {
		err = r.lookForOlder(looking, cfg, failed)
	}
	if err != nil {
		return nil, cfg, r.wrap(err)
	}
	r.known = card
	return card, cfg, nil
}

// connect reads the card and returns a client that speaks to the agent, with a
// configuration the listeners have put themselves into.
func (r *remote) connect(ctx context.Context, listeners ...func(*client.Config)) (*client.Client, client.Config, error) {
	card, cfg, err := r.card(ctx)
	if err != nil {
		return nil, cfg, err
	}
	if announces(card, server.SkillExtension) {
		cfg.Extensions = []string{server.SkillExtension}
	}
	for _, listen := range listeners {
		listen(&cfg)
	}
	c, err := client.New(card, cfg)
	return c, cfg, r.wrap(err)
}

// lookForOlder looks where versions before 1.0 kept the card, to be able to say
// so: below the URL itself, and, where its host shows nothing else, at the root.
func (r *remote) lookForOlder(ctx context.Context, cfg client.Config, failed *client.CardError) error {
	u, err := url.Parse(r.url)
	if err != nil {
		return failed
	}
	there := func(base *url.URL, cfg client.Config) string {
		older := base.JoinPath(".well-known", "agent.json").String()
		if _, err := client.ReadCard(ctx, older, cfg); err != nil {
			return ""
		}
		return older
	}
	if !strings.HasSuffix(strings.ToLower(u.Path), ".json") {
		base := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
		if found := there(base, cfg); found != "" {
			return &olderPathError{found: found, err: failed}
		}
	}
	if strings.Trim(u.Path, "/") != "" && failed.Root == nil {
		cfg.Headers = nil // they are meant for the agent alone
		if found := there(&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}, cfg); found != "" {
			return &olderPathError{found: found, elsewhere: true, err: failed}
		}
	}
	return failed
}

// root is the URL of the root of the typed host.
func (r *remote) root() string {
	u, err := url.Parse(r.url)
	if err != nil {
		return r.url
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}).String()
}

// wrap adds what a hint needs to know.
func (r *remote) wrap(err error) error {
	if err == nil {
		return nil
	}
	return &agentError{remote: r, err: err}
}

// withhold hides in what an agent says the credentials it was given.
func (r *remote) withhold(text string) string { return client.Withhold(text, r.given) }

// command is a command line to the same agent, ready to be pasted. The values
// of headers are left out: they may be secrets. Arguments, which an agent may
// have chosen, are never taken for flags.
func (r *remote) command(verb string, flags []string, args ...string) string {
	parts := []string{"legation", verb, shellWord(r.url)}
	if r.ca != "" {
		parts = append(parts, "--ca", shellWord(r.ca))
	}
	for _, header := range r.headers {
		name, _, _ := strings.Cut(header, ":")
		parts = append(parts, "--header", shellWord(strings.TrimSpace(name)+": …"))
	}
	words := slices.Clone(flags)
	if slices.ContainsFunc(args, func(arg string) bool { return len(arg) > 1 && arg[0] == '-' }) {
		words = append(words, "--")
	}
	for _, word := range append(words, args...) {
		parts = append(parts, shellWord(word))
	}
	return strings.Join(parts, " ")
}

// typedHost is the host:port a URL leads to.
func typedHost(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		example := "https://agent.example"
		if _, port, bad := net.SplitHostPort(raw); bad == nil && strings.Trim(port, "0123456789") == "" {
			example = "http://" + raw
		}
		return "", fmt.Errorf("%q is not the URL of an agent; write it like %s", cut(withoutUser(raw), 200), shellWord(example))
	}
	if u.User != nil {
		return "", errors.New("the URL carries a user name or password; give credentials with --header 'Authorization: …'")
	}
	if (u.RawQuery != "" || u.ForceQuery) && !strings.HasSuffix(strings.ToLower(u.Path), ".json") {
		return "", errors.New("the URL of an agent has no query, the part from '?' on; only the URL of a card may, whose path ends in .json")
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("the port in %q is not a number from 1 to 65535", cut(withoutUser(raw), 200))
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// withoutUser leaves out what may be a password.
func withoutUser(raw string) string {
	if at := strings.LastIndexByte(raw, '@'); at >= 0 {
		return "…" + raw[at:]
	}
	return raw
}

func parseHeaders(lines []string) (http.Header, error) {
	headers := http.Header{}
	for i, text := range lines {
		name, value, ok := strings.Cut(text, ":")
		name = strings.TrimSpace(name)
		if !ok || name == "" {
			return nil, fmt.Errorf("--header number %d is not 'Name: value'", i+1)
		}
		value = strings.TrimSpace(value)
		if scheme, path, ok := cutFile(value); ok {
			content, err := readFile(path, maxHeaderFile)
			if err != nil {
				return nil, fmt.Errorf("--header %s: %w", name, err)
			}
			if value = strings.TrimSpace(scheme + strings.TrimSpace(string(content))); strings.ContainsAny(value, "\r\n") {
				return nil, fmt.Errorf("--header %s: the file has more than one line", name)
			}
		}
		headers.Add(name, value)
	}
	return headers, nil
}

// maxHeaderFile is the largest value of a header that is read from a file.
const maxHeaderFile = 32 << 10

// cutFile takes "@FILE", or "Bearer @FILE", apart: what stands before it, and
// the name.
func cutFile(value string) (before, path string, ok bool) {
	if path, ok = strings.CutPrefix(value, "@"); ok {
		return "", path, path != ""
	}
	if at := strings.Index(value, " @"); at > 0 && !strings.Contains(value[:at], " ") {
		return value[:at+1], value[at+2:], value[at+2:] != ""
	}
	return "", "", false
}

// readRoots adds the certificates of a file to the system's.
func readRoots(path string) (*x509.CertPool, error) {
	pem, err := readFile(path, maxCAFile)
	if err != nil {
		return nil, fmt.Errorf("--ca: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("--ca: %s holds no PEM certificate (-----BEGIN CERTIFICATE-----)", path)
	}
	return roots, nil
}

// readFile reads a file of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := readAll(file, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return content, nil
}

func readAll(r io.Reader, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("more than %s", size(limit))
	}
	return content, err
}

// size writes a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.4g KiB", float64(n)/(1<<10))
	case n == 1:
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// announces reports whether a card names an extension.
func announces(card *client.Card, uri string) bool {
	for _, extension := range card.AgentCard.Capabilities.Extensions {
		if extension.URI == uri {
			return true
		}
	}
	return false
}

// stateWord is a task state as people read and type it: input-required.
func stateWord(state a2a.TaskState) string {
	if state == a2a.TaskStateUnspecified {
		return "unknown"
	}
	word := strings.TrimPrefix(state.String(), "TASK_STATE_")
	return line(strings.ReplaceAll(strings.ToLower(word), "_", "-"), 60)
}
