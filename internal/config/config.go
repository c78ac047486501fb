// Package config is what an operator can set: one struct, filled from
// defaults, then the environment, then flags.
//
// It checks what can be checked without touching anything, and says what is
// wrong in words that name the flag and the variable.
//
// Start reading at [Config].
package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// Config is the settings of one server. [Default] fills in the defaults.
type Config struct {
	// Listen is the address to serve, loopback only as long as no remote
	// client is registered. Port 0 takes a free one.
	Listen string `env:"LISTEN"`

	// TLSCert and TLSKey are PEM files with which the address is served over
	// TLS: the certificate with its chain, and its key. They are read again when
	// they change. Without them plain HTTP is served.
	TLSCert string `env:"TLS_CERT"`
	TLSKey  string `env:"TLS_KEY"`

	// BehindProxy lets the address be one that other machines reach without
	// TLS: a proxy in front of it ends TLS. It needs PublicURL.
	BehindProxy bool `env:"BEHIND_PROXY"`

	// ClientProxies are proxies that may pass on the certificates of clients:
	// see [ParseClientProxy].
	ClientProxies []string `env:"CLIENT_PROXY" envSeparator:"\n"`

	// AdminListen is the address of the admin API, "none" for none. Port 0
	// takes a free one, which commands on this machine find by Data. An address
	// that other machines reach is served with TLSCert only, and beside it one
	// of this machine for its commands.
	AdminListen string `env:"ADMIN_LISTEN"`

	// MasterKey is the file with the keys that secrets are encrypted with. Empty
	// means master.key in Data, which is created for a new store.
	// MasterKeys are the keys themselves, for where there is no file.
	MasterKey  string `env:"MASTER_KEY_FILE"`
	MasterKeys string `env:"MASTER_KEY,unset"`

	// Programs are programs that documents may name as providers:
	// "NAME=PROGRAM ARG …".
	Programs []string `env:"PROGRAM" envSeparator:"\n"`

	// EgressProxy is the URL of a proxy that everything sent to other parties
	// goes through. Empty means that parties are reached directly. The
	// environment's own variables for proxies are ignored.
	EgressProxy string `env:"EGRESS_PROXY"`

	// AuditRetention is how long evidence is kept.
	AuditRetention time.Duration `env:"AUDIT_RETENTION"`

	// Data is the directory of the embedded store. It is created when missing.
	Data string `env:"DATA"`

	// PublicURL is where others reach this server; the only source of the
	// addresses in its cards. Empty means http:// or https:// and the address served. Plain
	// http is for this machine only.
	PublicURL string `env:"PUBLIC_URL"`

	// Name is the name on the default agent's card.
	Name string `env:"NAME"`

	// Publish are programs and models published as skills: see
	// [ParsePublication].
	Publish []string `env:"PUBLISH" envSeparator:"\n"`

	// DefaultSkills name the skill that answers when a message names none:
	// "SKILL" for the default agent, "AGENT/SKILL" for another.
	DefaultSkills []string `env:"DEFAULT_SKILL" envSeparator:","`

	// PassEnv names variables of the server's environment that published
	// programs see, besides PATH, HOME, LANG and TMPDIR.
	PassEnv []string `env:"PASS_ENV" envSeparator:","`

	// RunTimeout ends a turn that is still working.
	RunTimeout time.Duration `env:"RUN_TIMEOUT"`

	// InputWait ends a task that has waited this long for its caller's answer.
	InputWait time.Duration `env:"INPUT_WAIT"`

	// WaitLimit bounds how long a blocking SendMessage waits before it returns
	// the task as it stands. Zero means a minute more than a
	// run may take.
	WaitLimit time.Duration `env:"WAIT_LIMIT"`

	// Drain is how long runs may go on when the server stops.
	Drain time.Duration `env:"DRAIN"`

	// Workers, PerCaller and Queue bound runs: at once on this node, at once
	// for one caller, and waiting for one caller.
	Workers   int `env:"WORKERS"`
	PerCaller int `env:"RUNS_PER_CALLER"`
	Queue     int `env:"QUEUE_PER_CALLER"`

	// MaxBody and MaxTask bound a request's body and a stored task, in bytes.
	MaxBody int64 `env:"MAX_BODY"`
	MaxTask int   `env:"MAX_TASK"`

	// LogLevel is the least important message to log: debug, info, warn or
	// error. LogFormat is text or json.
	LogLevel  string `env:"LOG_LEVEL"`
	LogFormat string `env:"LOG_FORMAT"`

	OpenAI OpenAI
}

// OpenAI says how to reach the endpoint of skills published as openai:MODEL.
// The variables are the ones that its users have set already; with [Prefix] in
// front they are for this program alone, and win.
type OpenAI struct {
	BaseURL string `env:"OPENAI_BASE_URL"`
	Key     string `env:"OPENAI_API_KEY"`
}

// Prefix begins the names of the environment variables of [Config].
const Prefix = "LEGATION_"

// Default returns the settings of a server that nobody has set anything for.
func Default() Config {
	return Config{
		Listen:         "127.0.0.1:8700",
		AdminListen:    "127.0.0.1:0",
		AuditRetention: 400 * 24 * time.Hour,
		Data:           defaultData(),
		Name:           "Legation",
		RunTimeout:     time.Hour,
		InputWait:      24 * time.Hour,
		Drain:          30 * time.Second,
		Workers:        32,
		PerCaller:      8,
		Queue:          64,
		MaxBody:        4 << 20,
		MaxTask:        8 << 20,
		LogLevel:       "info",
		LogFormat:      "text",
	}
}

// Load returns the defaults with what the environment changes.
func Load() (Config, error) {
	cfg := Default()
	err := env.Parse(&cfg.OpenAI)
	if err == nil {
		err = env.ParseWithOptions(&cfg, env.Options{Prefix: Prefix})
	}
	return cfg, inWords(err)
}

// inWords names the variables that could not be read, and not the fields.
func inWords(err error) error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return err
	}
	var problems []error
	for _, one := range all.Errors {
		var parse env.ParseError
		if !errors.As(one, &parse) {
			problems = append(problems, one)
			continue
		}
		variable := parse.Name
		if field, ok := reflect.TypeFor[Config]().FieldByName(parse.Name); ok {
			variable = Prefix + field.Tag.Get("env")
		}
		problems = append(problems, fmt.Errorf("%s: %q is not a valid %s", variable, os.Getenv(variable), parse.Type))
	}
	return errors.Join(problems...)
}

func defaultData() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "legation")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "share", "legation")
	}
	return "legation-data"
}

// Check reports everything that is wrong with the settings.
func (c *Config) Check() error {
	var problems []error
	add := func(flag, format string, args ...any) {
		problems = append(problems, fmt.Errorf("--%s: %s", flag, fmt.Sprintf(format, args...)))
	}
	if err := checkListen(c.Listen, c.TLSCert != "", c.BehindProxy, c.PublicURL); err != nil {
		add("listen", "%v", err)
	}
	if c.AdminListen != NoAdmin {
		if err := checkAdminListen(c.AdminListen, c.TLSCert != ""); err != nil {
			add("admin-listen", "%v", err)
		}
	}
	if c.EgressProxy != "" {
		if u, err := url.Parse(c.EgressProxy); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			add("egress-proxy", "it is not the URL of a proxy, like http://proxy.example:3128")
		}
	}
	for _, text := range c.ClientProxies {
		if _, err := ParseClientProxy(text); err != nil {
			add("client-proxy", "%v", err)
		}
	}
	if c.Data == "" {
		add("data", "name a directory for the store")
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		add("tls-cert", "a certificate needs its key, and a key its certificate; set --tls-key too, or neither")
	}
	if c.PublicURL != "" {
		if err := checkPublicURL(c.PublicURL); err != nil {
			add("public-url", "%v", err)
		}
	}
	for _, text := range c.Publish {
		if _, err := ParsePublication(text); err != nil {
			add("publish", "%v", err)
		}
	}
	for _, text := range c.DefaultSkills {
		if _, _, err := ParseDefaultSkill(text); err != nil {
			add("default-skill", "%v", err)
		}
	}
	for _, limit := range []struct {
		flag  string
		value int64
	}{
		{"workers", int64(c.Workers)}, {"runs-per-caller", int64(c.PerCaller)}, {"queue-per-caller", int64(c.Queue)},
		{"audit-retention", int64(c.AuditRetention)},
		{"max-body", c.MaxBody}, {"max-task", int64(c.MaxTask)}, {"run-timeout", int64(c.RunTimeout)}, {"input-wait", int64(c.InputWait)},
	} {
		if limit.value <= 0 {
			add(limit.flag, "must be above zero; nothing is unlimited")
		}
	}
	if c.WaitLimit < 0 || c.Drain < 0 {
		add("wait-limit, --drain", "must not be below zero")
	}
	return errors.Join(problems...)
}

// NoAdmin is what Config.AdminListen says for no admin API.
const NoAdmin = "none"

// checkListen holds the rule that nothing is served to other machines in the
// clear, unless a proxy is said to be in front of it. Who is served there is
// another question: without registered remote clients this machine alone.
func checkListen(address string, secure, proxied bool, public string) error {
	host, _, err := net.SplitHostPort(address)
	switch {
	case err != nil:
		return fmt.Errorf("%q is not HOST:PORT, for example 127.0.0.1:8700", address)
	case loopback(host), secure:
		return nil
	case !proxied:
		return fmt.Errorf("%q is reachable from outside, and what is sent there would be readable on the way; give --tls-cert and --tls-key, or say --behind-proxy if a proxy in front of it ends TLS, or listen on 127.0.0.1 or [::1]", address)
	case public == "":
		return errors.New("behind a proxy the addresses in cards are the proxy's; give --public-url https://…")
	}
	return nil
}

func checkAdminListen(address string, secure bool) error {
	host, _, err := net.SplitHostPort(address)
	switch {
	case err != nil:
		return fmt.Errorf("%q is not HOST:PORT, for example 127.0.0.1:8701, nor none", address)
	case !loopback(host) && !secure:
		return fmt.Errorf("%q is reachable from outside, and tokens would be readable on the way; give --tls-cert and --tls-key, or listen on 127.0.0.1 or [::1]", address)
	}
	return nil
}

func checkPublicURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return fmt.Errorf("%q is not an absolute http or https URL", raw)
	case u.RawQuery != "", u.Fragment != "", u.User != nil:
		return fmt.Errorf("%q must have no user, query or fragment", raw)
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return fmt.Errorf("%q: plain http is for this machine only; use https", raw)
	}
	return nil
}

// Loopback reports whether an address or URL is this machine's alone.
func Loopback(address string) bool {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return loopback(u.Hostname())
	}
	host, _, err := net.SplitHostPort(address)
	return err == nil && loopback(host)
}

// loopback reports whether a host, without its port, is this machine.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}
