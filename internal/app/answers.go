package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/legation/legation/agent"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/config"
	"github.com/legation/legation/internal/provider/command"
	"github.com/legation/legation/internal/provider/echo"
	"github.com/legation/legation/internal/provider/openai"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/vault"
)

// answers makes what answers for configurations.
type answers struct {
	cfg      config.Config
	programs map[registry.Name][]string
	offline  bool // programs are declared elsewhere, and nothing is run here
	vault    *vault.Vault
	egress   *url.URL
	log      *slog.Logger
}

// declared reports whether a program may be named by providers.
func (a *answers) declared(name registry.Name) bool { return a.programs[name] != nil }

// of returns what answers for a configuration, or why nothing does.
func (a *answers) of(set registry.Set, name registry.Name) (answering, error) {
	doc, ok := set.Document(registry.ID{Kind: registry.KindConfiguration, Name: name})
	if !ok {
		return answering{}, fmt.Errorf("there is no configuration %q", name)
	}
	conf := registry.Effective(doc.Spec.(*registry.Configuration))
	if err := runnable(conf); err != nil {
		return answering{}, fmt.Errorf("configuration %q: %w", name, err)
	}
	source, ok := set.Document(registry.ID{Kind: registry.KindProvider, Name: conf.Provider})
	if !ok {
		return answering{}, fmt.Errorf("there is no provider %q", conf.Provider)
	}
	answer, err := a.from(conf, source)
	if err != nil {
		return answering{}, fmt.Errorf("provider %q: %w", conf.Provider, err)
	}
	return answering{Agent: answer, class: classOf(conf)}, nil
}

// classOf is the data class of what a configuration may tell: that of its system
// prompt. Without one, all that it tells comes from the caller.
func classOf(conf *registry.Configuration) registry.DataClass {
	if conf.SystemPrompt == "" {
		return registry.Public
	}
	return conf.DataClass
}

// answering is what answers for a skill, and the class of what it may tell.
type answering struct {
	agent.Agent
	class registry.DataClass
}

// runnable refuses what asks for more than one answer of its provider.
func runnable(conf *registry.Configuration) error {
	switch {
	case len(conf.Tools.RemoteAgents) > 0:
		return errors.New("it has tools, which are not run yet; leave tools out")
	case conf.Fallback != "":
		return errors.New("it has a fallback, which is not run yet; leave fallback out")
	case conf.Approval != registry.ApproveNever:
		return errors.New("it asks for approvals, which are not given yet; leave approval out")
	}
	return nil
}

// from makes what answers with a provider.
func (a *answers) from(conf *registry.Configuration, source registry.Document) (agent.Agent, error) {
	provider := registry.Effective(source.Spec.(*registry.Provider))
	if !provider.Zone.Allows(conf.DataClass) && conf.SystemPrompt != "" {
		return nil, fmt.Errorf("its zone %s may not receive the system prompt, which is %s", provider.Zone, conf.DataClass)
	}
	limit := min(time.Duration(conf.Limits.WorkingTime), a.cfg.RunTimeout)
	switch provider.Type {
	case registry.ProviderEcho:
		return echo.New(), nil
	case registry.ProviderCommand:
		if a.offline {
			return echo.New(), nil
		}
		program, ok := a.programs[provider.Program]
		if !ok {
			return nil, fmt.Errorf("the program %q is not declared here; start the server with --program %s='…'", provider.Program, provider.Program)
		}
		return command.New(command.Config{
			Program: program, Env: programEnv(a.cfg.PassEnv), Timeout: limit,
			MaxOutput: int64(a.cfg.MaxTask), Logger: a.log.With("program", provider.Program),
		})
	case registry.ProviderOpenAI:
		return a.model(conf, source.Name, source.Published, provider, limit)
	}
	return nil, fmt.Errorf("its type %q is not known here", provider.Type)
}

// model reaches an OpenAI-compatible endpoint through the guard.
func (a *answers) model(conf *registry.Configuration, name registry.Name, published bool, provider *registry.Provider, limit time.Duration) (agent.Agent, error) {
	policy := exceptions(provider.Exceptions)
	policy.Proxy = a.egress
	out, err := guard.New(policy)
	if err != nil {
		return nil, err
	}
	web, key := out.HTTP(), ""
	switch {
	case provider.Secret != "":
		web.Transport = &keyed{next: web.Transport, vault: a.vault, secret: string(provider.Secret), provider: string(name)}
	case published:
		key = a.cfg.OpenAI.Key
	}
	settings := openai.Config{
		BaseURL: string(provider.BaseURL), Key: key, Model: conf.Model, System: conf.SystemPrompt,
		Temperature: narrow(conf.Parameters.Temperature), TopP: narrow(conf.Parameters.TopP),
		MaxTokens:  int(min(conf.Parameters.MaxOutputTokens, conf.Limits.Tokens)),
		Prices:     openai.Prices{Input: int64(conf.Prices.Input), Output: int64(conf.Prices.Output)},
		HTTPClient: web, Logger: a.log.With("provider", name),
	}
	if conf.Parameters.Seed != nil || len(conf.Parameters.Stop) > 0 {
		return nil, errors.New("parameters.seed and parameters.stop are not sent yet; leave them out")
	}
	answer, err := openai.New(settings)
	if err != nil {
		return nil, err
	}
	bounded := &bounded{Agent: answer, time: limit, tokens: conf.Limits.Tokens}
	if conf.Prices != (registry.Prices{}) {
		bounded.cost = int64(conf.Limits.Cost)
	}
	return bounded, nil
}

func narrow(f *float64) *float32 {
	if f == nil {
		return nil
	}
	return new(float32(*f))
}

// bounded is a model within the limits of its configuration.
type bounded struct {
	*openai.Agent
	time   time.Duration
	tokens int64
	cost   int64 // zero: it costs nothing
}

// Reserve implements agent.Reserving: what a turn may use, as far as is known
// before.
func (b *bounded) Reserve(budget int64) (tokens, cost int64) {
	if budget > 0 && budget < b.tokens {
		return budget, b.cost
	}
	return b.tokens, b.cost
}

// Run is the agent's, within the time.
func (b *bounded) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	limited, cancel := context.WithTimeout(ctx, b.time)
	defer cancel()
	outcome, err := b.Agent.Run(limited, turn, out)
	if limited.Err() != nil && ctx.Err() == nil {
		late := agent.Failed(fmt.Sprintf("The run took longer than %v and was ended.", b.time))
		late.Tokens, late.Cost = outcome.Tokens, outcome.Cost
		return late, nil
	}
	return outcome, err
}

// exceptions is the guard's policy for a party with these exceptions. They were
// checked when they were registered; one that cannot be read allows nothing.
func exceptions(all []registry.Exception) (policy guard.Policy) {
	for _, one := range all {
		if prefix, err := netip.ParsePrefix(string(one)); err == nil {
			policy.AllowCIDRs = append(policy.AllowCIDRs, prefix)
		} else {
			policy.AllowHosts = append(policy.AllowHosts, string(one))
		}
	}
	return policy
}

// keyed puts the key of a provider on its requests, read from the vault at that
// moment.
type keyed struct {
	next     http.RoundTripper
	vault    *vault.Vault
	secret   string
	provider string
}

// RoundTrip sends a request with the key.
func (k *keyed) RoundTrip(req *http.Request) (*http.Response, error) {
	value, err := k.vault.Open(req.Context(), vault.Reference{Name: k.secret}, vault.Use{
		Who: "legation", Purpose: "model call", Party: k.provider, Host: req.URL.Host,
	})
	if err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, fmt.Errorf("the key of provider %q cannot be had: %w", k.provider, err)
	}
	defer value.Wipe()
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(value.Reveal())))
	return k.next.RoundTrip(req)
}

// programEnv is the environment that a published program starts with.
func programEnv(pass []string) []string {
	var env []string
	for _, name := range append([]string{"PATH", "HOME", "LANG", "TMPDIR"}, pass...) {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// guarded is a client that reaches one party with its exceptions.
func guarded(egress *url.URL, allowed []registry.Exception) (*http.Client, error) {
	policy := exceptions(allowed)
	policy.Proxy = egress
	out, err := guard.New(policy)
	if err != nil {
		return nil, err
	}
	return out.HTTP(), nil
}
