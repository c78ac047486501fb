package cli

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/legation/legation/internal/app"
	"github.com/legation/legation/internal/config"
	"github.com/legation/legation/server"
)

func newServe(io streams) *cobra.Command {
	cfg, envErr := io.settings()
	cmd := &cobra.Command{
		Use:   "serve --publish NAME=WHAT [flags]",
		Short: "Publish programs and language models as skills of A2A agents",
		Long: `Serve publishes skills and keeps their tasks in an embedded store.

  --publish 'NAME=PROGRAM ARG …'  runs a program, without a shell: the text of
                                  the message on its standard input, the result
                                  from its standard output
  --publish NAME=openai:MODEL     asks an OpenAI-compatible endpoint, found by
                                  OPENAI_BASE_URL and OPENAI_API_KEY
  --publish NAME=echo:            returns what it is sent

NAME is a skill of the default agent, at the root of the server. AGENT/SKILL
makes an agent of its own, under /agents/AGENT/. With more than one skill, a
message names the one it wants, unless --default-skill does.

Only this machine is served as long as no remote client is registered.
Every flag can be set by an environment variable: --public-url is
LEGATION_PUBLIC_URL; LEGATION_PUBLISH takes one publication a line.

A program sees PATH, HOME, LANG and TMPDIR of the server's environment, and
what --pass-env names; it starts in the server's directory.

A first Ctrl-C stops in order: runs under way may finish within --drain. A
second one tells them to stop. What is left is taken up at the next start if it
can be repeated; a program can not, and its task fails with a reason.`,
		Example: `  legation serve --publish 'wordcount=wc -w'
  OPENAI_API_KEY=… legation serve --publish chat=openai:gpt-4o-mini
  legation serve --listen 127.0.0.1:0 --data /var/lib/legation --publish tools/upper='tr a-z A-Z'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if envErr != nil {
				return usageError{envErr}
			}
			log, err := newLogger(io, cfg.LogLevel, cfg.LogFormat)
			if err != nil {
				return usageError{err}
			}
			if err := cfg.Check(); err != nil {
				return usageError{err}
			}
			a, err := app.New(cmd.Context(), cfg, app.Options{Logger: log})
			if err != nil {
				return err
			}
			defer watchStop(io, a, cfg.Drain)()
			announce(io, a)
			return a.Run(cmd.Context())
		},
	}
	serveFlags(cmd.Flags(), &cfg)
	oneOf(cmd, "log-level", "debug", "info", "warn", "error")
	oneOf(cmd, "log-format", "text", "json")
	return cmd
}

func serveFlags(flags *pflag.FlagSet, cfg *config.Config) {
	flags.StringVar(&cfg.Listen, "listen", cfg.Listen, "address to serve; port 0 takes a free one")
	flags.StringVar(&cfg.TLSCert, "tls-cert", cfg.TLSCert, "serve HTTPS with the certificate and chain in this PEM file, read again when it changes")
	flags.StringVar(&cfg.TLSKey, "tls-key", cfg.TLSKey, "PEM file with the key of the certificate")
	flags.BoolVar(&cfg.BehindProxy, "behind-proxy", cfg.BehindProxy, "serve plain HTTP to other machines, since a proxy in front ends TLS")
	flags.StringArrayVar(&cfg.ClientProxies, "client-proxy", cfg.ClientProxies, "proxy that may pass on clients' certificates, as NAME,header=Client-Cert,from=CIDR; repeatable")
	flags.StringVar(&cfg.AdminListen, "admin-listen", cfg.AdminListen, "address of the admin API, which commands find by the data directory; none for none")
	flags.StringVar(&cfg.MasterKey, "master-key-file", cfg.MasterKey, "file with the keys that secrets are encrypted with (default master.key in the data directory)")
	flags.StringArrayVar(&cfg.Programs, "program", cfg.Programs, "program that providers may name, as NAME='PROGRAM ARG …'; repeatable")
	flags.StringVar(&cfg.EgressProxy, "egress-proxy", cfg.EgressProxy, "URL of a proxy that everything sent to others goes through")
	flags.DurationVar(&cfg.AuditRetention, "audit-retention", cfg.AuditRetention, "keep evidence for this long")
	flags.StringVar(&cfg.Data, "data", cfg.Data, "directory of the store, created when missing")
	flags.StringVar(&cfg.PublicURL, "public-url", cfg.PublicURL, "where others reach this server, for its cards (default http:// or https:// and the address served)")
	flags.StringVar(&cfg.Name, "name", cfg.Name, "name on the default agent's card")
	flags.StringArrayVar(&cfg.Publish, "publish", cfg.Publish, "a skill to publish; repeatable")
	flags.StringSliceVar(&cfg.DefaultSkills, "default-skill", cfg.DefaultSkills, "the skill, or AGENT/SKILL, for messages that name none; repeatable")
	flags.StringSliceVar(&cfg.PassEnv, "pass-env", cfg.PassEnv, "variable of the server's environment that programs see; repeatable")
	flags.DurationVar(&cfg.RunTimeout, "run-timeout", cfg.RunTimeout, "end a turn that works longer than this")
	flags.DurationVar(&cfg.InputWait, "input-wait", cfg.InputWait, "end a task that waits longer than this for its caller's answer")
	flags.DurationVar(&cfg.WaitLimit, "wait-limit", cfg.WaitLimit, "answer a blocking SendMessage with the task as it stands after this (default a minute more than the run timeout)")
	flags.DurationVar(&cfg.Drain, "drain", cfg.Drain, "let runs go on for this long when the server stops")
	flags.IntVar(&cfg.Workers, "workers", cfg.Workers, "runs at once")
	flags.IntVar(&cfg.PerCaller, "runs-per-caller", cfg.PerCaller, "runs at once of one caller")
	flags.IntVar(&cfg.Queue, "queue-per-caller", cfg.Queue, "runs of one caller that may wait")
	flags.Int64Var(&cfg.MaxBody, "max-body", cfg.MaxBody, "largest request, in bytes; a remote client may be given another limit")
	flags.IntVar(&cfg.MaxTask, "max-task", cfg.MaxTask, "largest stored task, in bytes")
	flags.StringVar(&cfg.LogLevel, "log-level", cfg.LogLevel, "least important messages to log: debug, info, warn or error")
	flags.StringVar(&cfg.LogFormat, "log-format", cfg.LogFormat, "form of the log on standard error: text or json")
}

func newLogger(io streams, level, format string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level: %q is not debug, info, warn or error", level)
	}
	options := &slog.HandlerOptions{Level: l}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(io.err, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(io.err, options)), nil
	}
	return nil, fmt.Errorf("--log-format: %q is not text or json", format)
}

// announce says where what is published can be found, and how to try it.
func announce(io streams, a *app.App) {
	agents := a.Agents()
	if len(agents) == 0 && a.Registered() > 0 {
		fmt.Fprintf(io.out, "Serving %s, with nothing published: of what is registered nothing can be served. See why with: legation get\n", a.URL())
		return
	}
	if len(agents) == 0 {
		fmt.Fprintf(io.out, "Serving %s, with nothing published. Publish a skill with --publish 'wordcount=wc -w'.\n", a.URL())
		return
	}
	for _, agent := range agents {
		url := agentURL(a.URL(), agent)
		var skills []string
		for _, skill := range agent.Card.Skills {
			skills = append(skills, skill.ID)
		}
		fmt.Fprintf(io.out, "Serving %s at %s\n  skills: %s\n  try:    legation send %s%s 'hello'\n",
			agent.Card.Name, url, strings.Join(skills, ", "), skillFlag(agent), url)
	}
}

// skillFlag is what a command needs to name a skill where one must be named.
func skillFlag(agent server.Agent) string {
	if len(agent.Card.Skills) > 1 && agent.DefaultSkill == "" {
		return "--skill " + agent.Card.Skills[0].ID + " "
	}
	return ""
}

func agentURL(base string, agent server.Agent) string {
	base = strings.TrimRight(base, "/")
	if agent.Name == "" || agent.Root {
		return base + "/"
	}
	return base + "/agents/" + agent.Name + "/"
}
