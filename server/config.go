package server

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/card"
	"github.com/legation/legation/internal/audit"
)

// Agent is one agent to serve.
type Agent struct {
	// Name is the agent's name in tasks and, unless it is empty, in its
	// address, /agents/NAME: letters, digits, dots, hyphens and underscores,
	// at most 64. The agent without a name is the default one, at the root.
	Name string

	// Root puts an agent with a name at the root all the same.
	Root bool

	// Card is what the agent says of itself. The server completes it: the
	// interfaces come from Config.PublicURL, the extensions of [Extensions]
	// are added, and capabilities it does not have are taken out.
	Card a2a.AgentCard

	// DefaultSkill answers messages that do not name a skill. It may be empty
	// where the card has one skill only.
	DefaultSkill string

	// Private are ids of skills of the card that are left out of the public
	// card. The extended card, which every agent with such skills has, shows a
	// caller those that it may use (GetExtendedAgentCard).
	Private []string

	// Signers sign both cards: none, one, or several while keys are rotated.
	Signers []card.Signer

	// Tenant is announced in the card's interface and expected in every
	// request (a2a.proto, AgentInterface.tenant). Empty means none.
	Tenant string

	// TokenBudget says that every skill of the agent keeps to the token budget
	// of a message ([TokenBudgetExtension]), and puts that on the card. A card
	// that has the extension already, perhaps as required, needs no more.
	TokenBudget bool
}

// Config tunes a [Server]. PublicURL is required; everything else is ready to
// use at its zero value.
type Config struct {
	// PublicURL is where callers reach the server: an absolute https URL
	// without query, or an http one if its host is the loopback. It is the only source of the URLs in cards. If it has
	// a path, requests are served with and without it in front, so that a
	// proxy may pass it on or take it off.
	PublicURL string

	// Callers says who calls. Nil means [Local]: loopback only.
	Callers Callers

	// Audit is told of what is refused to callers with [Caller.Audit], beside
	// what is stored with changes. It must be quick and is called by many
	// goroutines at a time. Nil tells nobody.
	Audit func(audit.Entry)

	// MaxBody is the largest request body in bytes. Zero means 4 MiB.
	MaxBody int64

	// MaxParts is how many parts a message may have. Zero means 64.
	MaxParts int

	// WaitLimit bounds the wait of a SendMessage that blocks; then the task is
	// returned as it stands. Zero means one hour, which is as long as a run may
	// take by default.
	WaitLimit time.Duration

	// StreamLimit bounds the life of a stream; then it is closed, as if the
	// connection had been lost. Zero means 24 h.
	StreamLimit time.Duration

	// MaxHeld is how many streams and blocking SendMessage requests may be
	// open at once, over all agents and callers; one more is answered with
	// HTTP 503 before anything is done. Zero means 16384.
	MaxHeld int

	// ReadTimeout bounds the reading of one request body, and WriteTimeout one
	// write of an answer. Zero means 30 s.
	ReadTimeout, WriteTimeout time.Duration

	// CardMaxAge is how long cards may be cached. Zero means 5 minutes.
	CardMaxAge time.Duration

	// CardSince returns since when an agent has had the card with this digest,
	// for Last-Modified. It should remember over restarts. Nil means that
	// every card is as old as the server.
	CardSince func(ctx context.Context, agent, digest string, now time.Time) (time.Time, error)

	// RetryWindow is for how long cards promise that a repeated message joins
	// its task ([RetryExtension]). Zero means 720 h; a negative value leaves
	// the promise out, as an engine with Repeats must.
	RetryWindow time.Duration

	// Unavailable tells errors of the store that pass by themselves, such as a
	// full disk, from faults: they are answered with HTTP 503 and a time to
	// try again. Nil means that none does.
	Unavailable func(error) bool

	// Now supplies the times in headers. Nil means time.Now.
	Now func() time.Time

	// Logger receives diagnostics: ids, methods, codes and durations, never
	// content. Nil discards them.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Callers == nil {
		c.Callers = Local{}
	}
	c.MaxBody = cmp.Or(c.MaxBody, 4<<20)
	c.MaxParts = cmp.Or(c.MaxParts, 64)
	c.WaitLimit = cmp.Or(c.WaitLimit, time.Hour)
	c.StreamLimit = cmp.Or(c.StreamLimit, 24*time.Hour)
	c.MaxHeld = cmp.Or(c.MaxHeld, 16384)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, 30*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	c.CardMaxAge = cmp.Or(c.CardMaxAge, 5*time.Minute)
	c.RetryWindow = cmp.Or(c.RetryWindow, 720*time.Hour)
	if c.Audit == nil {
		c.Audit = func(audit.Entry) {}
	}
	if c.Unavailable == nil {
		c.Unavailable = func(error) bool { return false }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.CardSince == nil {
		c.CardSince = func(_ context.Context, _, _ string, now time.Time) (time.Time, error) { return now, nil }
	}
	return c
}
