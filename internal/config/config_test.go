package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/config"
)

func TestParsePublication(t *testing.T) {
	for _, test := range []struct {
		text string
		want config.Publication
		err  string // part of it
	}{
		{text: "wordcount=wc -w", want: config.Publication{Skill: "wordcount", Command: "wc -w"}},
		{text: "a=b=c", want: config.Publication{Skill: "a", Command: "b=c"}},
		{text: "tools/up=tr a-z A-Z", want: config.Publication{Agent: "tools", Skill: "up", Command: "tr a-z A-Z"}},
		{text: "e=echo:", want: config.Publication{Skill: "e", Echo: true}},
		{text: "e=echo: x", want: config.Publication{Skill: "e", Command: "echo: x"}},
		{text: "chat=openai:org/model:free", want: config.Publication{Skill: "chat", Model: "org/model:free"}},
		{text: "wc -w", err: "'wordcount=wc -w'"},
		{text: "=wc", err: "name of a skill"},
		{text: "a b=wc", err: "letters, digits"},
		{text: "/x=wc", err: "name of an agent"},
		{text: "a/b/c=wc", err: "name of a skill"},
		{text: "x=", err: "does not say what answers"},
		{text: "x=  ", err: "does not say what answers"},
		{text: "x=openai:", err: "names no model"},
		{text: strings.Repeat("x", 64) + "=wc", err: "at most 63"},
	} {
		got, err := config.ParsePublication(test.text)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("ParsePublication(%q) = %v, want an error with %q", test.text, err, test.err)
			}
			continue
		}
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("ParsePublication(%q): %v (-want +got):\n%s", test.text, err, diff)
		}
	}
}

func TestParseDefaultSkill(t *testing.T) {
	for text, want := range map[string][2]string{
		"s": {"", "s"}, "a/s": {"a", "s"},
	} {
		agent, skill, err := config.ParseDefaultSkill(text)
		if err != nil || agent != want[0] || skill != want[1] {
			t.Errorf("ParseDefaultSkill(%q) = %q, %q, %v", text, agent, skill, err)
		}
	}
	for _, text := range []string{"", "/s", "a/", "a b", "a/b/c"} {
		if _, _, err := config.ParseDefaultSkill(text); err == nil {
			t.Errorf("ParseDefaultSkill(%q) succeeded", text)
		}
	}
}

func TestTheEnvironmentChangesDefaults(t *testing.T) {
	t.Setenv("LEGATION_LISTEN", "127.0.0.1:1")
	t.Setenv("LEGATION_PUBLISH", "a=wc -w\nb=echo:")
	t.Setenv("LEGATION_RUN_TIMEOUT", "5m")
	t.Setenv("LEGATION_LOG_LEVEL", "debug")
	t.Setenv("LEGATION_LOG_FORMAT", "json")
	t.Setenv("OPENAI_API_KEY", "for everybody")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:2/v1")
	t.Setenv("LEGATION_OPENAI_API_KEY", "for this program")
	got, err := config.Load()
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.Listen, want.Publish, want.RunTimeout = "127.0.0.1:1", []string{"a=wc -w", "b=echo:"}, 5*time.Minute
	want.LogLevel, want.LogFormat = "debug", "json"
	want.OpenAI = config.OpenAI{BaseURL: "http://127.0.0.1:2/v1", Key: "for this program"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Load() (-want +got):\n%s", diff)
	}
	if err := got.Check(); err != nil {
		t.Errorf("Check() = %v", err)
	}
	t.Setenv("LEGATION_WORKERS", "many")
	if _, err := config.Load(); err == nil || !strings.Contains(err.Error(), `LEGATION_WORKERS: "many"`) {
		t.Errorf("Load() = %v, want an error that names the variable and its value", err)
	}
}

// TestCheck changes one setting at a time and looks for the flag in the error.
func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*config.Config)
		want   string // part of the error; empty: none
	}{
		{"defaults", func(*config.Config) {}, ""},
		{"IPv6 loopback", func(c *config.Config) { c.Listen = "[::1]:0" }, ""},
		{"another loopback address", func(c *config.Config) { c.Listen = "127.8.9.10:1" }, ""},
		{"localhost", func(c *config.Config) { c.Listen = "localhost:8700" }, ""},
		{"every address", func(c *config.Config) { c.Listen = ":8700" }, "--listen"},
		{"0.0.0.0 behind a proxy", func(c *config.Config) { c.Listen, c.BehindProxy = "0.0.0.0:8700", true }, "--public-url"},
		{"admin outside", func(c *config.Config) { c.AdminListen = "0.0.0.0:8701" }, "tokens would be readable"},
		{"egress", func(c *config.Config) { c.EgressProxy = "proxy:3128" }, "--egress-proxy"},
		{"client proxy", func(c *config.Config) { c.ClientProxies = []string{"edge"} }, "from= or spki="},
		{"0.0.0.0", func(c *config.Config) { c.Listen = "0.0.0.0:8700" }, "readable on the way"},
		{"a private address", func(c *config.Config) { c.Listen = "192.168.1.5:8700" }, "--listen"},
		{"a name", func(c *config.Config) { c.Listen = "agents.example.com:443" }, "--listen"},
		{"no port", func(c *config.Config) { c.Listen = "127.0.0.1" }, "HOST:PORT"},
		{"no data", func(c *config.Config) { c.Data = "" }, "--data"},
		{"a certificate without its key", func(c *config.Config) { c.TLSCert = "cert.pem" }, "set --tls-key too"},
		{"a key without its certificate", func(c *config.Config) { c.TLSKey = "key.pem" }, "--tls-cert"},
		{"a certificate and its key", func(c *config.Config) { c.TLSCert, c.TLSKey = "cert.pem", "key.pem" }, ""},
		{"public URL", func(c *config.Config) { c.PublicURL = "https://agents.example.com/a2a" }, ""},
		{"relative public URL", func(c *config.Config) { c.PublicURL = "agents.example.com" }, "--public-url"},
		{"public URL with a query", func(c *config.Config) { c.PublicURL = "https://x.example/?a=b" }, "--public-url"},
		{"public URL with a user", func(c *config.Config) { c.PublicURL = "https://u:p@x.example/" }, "--public-url"},
		{"plain http to somebody else", func(c *config.Config) { c.PublicURL = "http://agents.example.com/" }, "plain http is for this machine only; use https"},
		{"plain http to a private address", func(c *config.Config) { c.PublicURL = "http://192.168.1.2:8700/" }, "use https"},
		{"plain http to this machine", func(c *config.Config) { c.PublicURL = "http://LocalHost:8700/" }, ""},
		{"plain http to its address", func(c *config.Config) { c.PublicURL = "http://127.0.0.1:8700" }, ""},
		{"plain http to its other address", func(c *config.Config) { c.PublicURL = "http://[::1]:8700" }, ""},
		{"a name that begins like this machine's", func(c *config.Config) { c.PublicURL = "http://localhost.example.com/" }, "use https"},
		{"ftp", func(c *config.Config) { c.PublicURL = "ftp://x.example/" }, "--public-url"},
		{"no workers", func(c *config.Config) { c.Workers = 0 }, "--workers"},
		{"unlimited", func(c *config.Config) { c.MaxBody = -1 }, "nothing is unlimited"},
		{"two at once", func(c *config.Config) { c.Queue, c.MaxTask = 0, 0 }, "--max-task"},
		{"a publication without a name", func(c *config.Config) { c.Publish = []string{"a=echo:", "wc -w"} }, "--publish"},
		{"a default skill that is no name", func(c *config.Config) { c.DefaultSkills = []string{"a b"} }, "--default-skill"},
		{"negative wait", func(c *config.Config) { c.WaitLimit = -1 }, "--wait-limit"},
	} {
		cfg := config.Default()
		test.change(&cfg)
		err := cfg.Check()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: Check() = %v, want %q", test.name, err, test.want)
		}
	}
}
