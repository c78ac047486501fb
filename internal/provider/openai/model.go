// Package openai is the provider for every endpoint that speaks the chat
// completions API of OpenAI, found by its base URL.
//
// It is not a run: it makes one model call for a turn, without tools. [Model]
// makes a call and knows nothing of tasks; [Agent] is a model as an agent.
//
// Two invariants: a call whose answer has begun is never made again, and
// neither the key nor a word that was said is in a log or an error. Start
// reading at [Config], then [Model.Complete].
package openai

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
	"unicode/utf8"

	oai "github.com/sashabaranov/go-openai"
)

const (
	defaultMaxContext = 256 << 10
	defaultMaxAnswer  = 8 << 20
	defaultTimeout    = 60 * time.Second
)

// Config is an endpoint, a model and how it is called. BaseURL, Model and
// HTTPClient are required.
type Config struct {
	// BaseURL is the address of the API with its version, as in
	// https://api.example.com/v1. It has no query and no credentials.
	BaseURL string

	// Key is sent as a bearer token. Empty sends none.
	Key string

	// Model is the name the endpoint knows the model by.
	Model string

	// System is the system prompt. Empty sends none.
	System string

	// Temperature, from 0 to 2, and TopP, above 0 and at most 1, are sent when
	// set; nil leaves them to the endpoint.
	Temperature, TopP *float32

	// Prices are what tokens cost, for the cost of turns.
	Prices Prices

	// MaxTokens is how long an answer may be. Zero leaves it to the endpoint, or
	// means 4096 for a call with a budget.
	MaxTokens int

	// HTTPClient makes the requests. It must be one that is guarded. Redirects
	// are refused whatever it says about them.
	HTTPClient *http.Client

	// MaxContextBytes is how much of what was said before the turn's message is
	// sent with it; whole turns are left out, the oldest first. Zero means
	// 256 KiB, a negative value means nothing.
	MaxContextBytes int

	// FirstByteTimeout bounds the wait from the request to the first byte of
	// the answer. Zero means 60 seconds.
	FirstByteTimeout time.Duration

	// IdleTimeout bounds each wait for a further byte. Zero means 60 seconds.
	IdleTimeout time.Duration

	// MaxAnswer is how many bytes of text are taken; an answer is cut there.
	// Zero means 8 MiB.
	MaxAnswer int

	// Logger receives why calls failed. Nil discards it.
	Logger *slog.Logger
}

// Model makes calls to one model. It is safe for concurrent use.
type Model struct {
	cfg  Config
	http *http.Client
	log  *slog.Logger

	uncounted atomic.Bool // the endpoint can not be asked what a call used
}

// NewModel checks the configuration. Nothing is sent.
func NewModel(cfg Config) (*Model, error) {
	if err := checkBaseURL(cfg.BaseURL); err != nil {
		return nil, err
	}
	switch {
	case cfg.Model == "":
		return nil, errors.New("openai: the model has no name")
	case !utf8.ValidString(cfg.System):
		return nil, errors.New("openai: the system prompt is not UTF-8")
	case cfg.HTTPClient == nil:
		return nil, errors.New("openai: there is no HTTP client to call the endpoint with")
	case cfg.Temperature != nil && !(*cfg.Temperature >= 0 && *cfg.Temperature <= 2):
		return nil, errors.New("openai: the temperature is not from 0 to 2")
	case cfg.TopP != nil && !(*cfg.TopP > 0 && *cfg.TopP <= 1):
		return nil, errors.New("openai: top-p is not above 0 and at most 1")
	case cfg.MaxTokens < 0 || cfg.MaxAnswer < 0 || cfg.FirstByteTimeout < 0 || cfg.IdleTimeout < 0:
		return nil, errors.New("openai: a limit is negative")
	}
	for _, c := range []byte(cfg.Key) {
		if c <= ' ' || c >= 0x7f {
			return nil, errors.New("openai: the key has characters that no HTTP header carries")
		}
	}
	cfg.MaxContextBytes = orDefault(cfg.MaxContextBytes, defaultMaxContext)
	cfg.MaxAnswer = orDefault(cfg.MaxAnswer, defaultMaxAnswer)
	cfg.FirstByteTimeout = orDefault(cfg.FirstByteTimeout, defaultTimeout)
	cfg.IdleTimeout = orDefault(cfg.IdleTimeout, defaultTimeout)

	client := *cfg.HTTPClient
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	m := &Model{cfg: cfg, http: &client, log: cfg.Logger}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	// The library refuses what it knows a model will not take; better now than
	// at the first call.
	if err := oai.NewReasoningValidator().Validate(m.request(nil, cfg.MaxTokens)); err != nil {
		return nil, fmt.Errorf("openai: model %q: %w", cfg.Model, err)
	}
	return m, nil
}

func checkBaseURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil: // its text repeats the URL
		return errors.New("openai: the base URL is not a URL")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return errors.New("openai: the base URL is not an http or https URL with a host")
	case u.User != nil:
		return errors.New("openai: the base URL has credentials; give the key as a secret instead")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("openai: the base URL has a query or a fragment")
	}
	return nil
}

func orDefault[T int | time.Duration](v, fallback T) T {
	if v == 0 {
		return fallback
	}
	return v
}
