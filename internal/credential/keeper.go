package credential

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/lru"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/vault"
)

// Vault opens secrets. The caller wipes what it is given.
type Vault interface {
	Open(ctx context.Context, ref vault.Reference, use vault.Use) (vault.Value, error)
}

// Clients makes the client with which the token endpoint and the issuer of a
// party are asked: a guarded one of its own, that presents no certificate, and
// for which the roots, in PEM, may vouch besides those of this machine. It is
// closed after use and may be called by several goroutines at a time.
type Clients func(party string, exceptions []registry.Exception, roots string) (*guard.Client, error)

// Config tunes a [Keeper]. The zero value is ready to use.
type Config struct {
	// FetchTimeout bounds the fetching of one token, discovery included, within
	// the deadline of whoever asked for it. Zero means 15 seconds.
	FetchTimeout time.Duration

	// Now says what time it is. Nil means time.Now.
	Now func() time.Time

	// Logger is told of tokens that were fetched, and of failures: parties,
	// hosts and times. Nil discards that.
	Logger *slog.Logger
}

// Keeper makes sources of credentials, and keeps the access tokens they have
// fetched. It is safe for concurrent use and has nothing to close.
type Keeper struct {
	vault   Vault
	clients Clients
	cfg     Config
	epoch   atomic.Int64 // see Forget

	mu     sync.Mutex
	grants *lru.Map[grantKey, *grant]
}

const (
	defaultFetchTimeout = 15 * time.Second
	maxGrants           = 4096 // whose tokens are remembered
)

// New returns a keeper that opens secrets in a vault and asks token endpoints
// with the clients given.
func New(secrets Vault, clients Clients, cfg Config) *Keeper {
	if cfg.FetchTimeout <= 0 {
		cfg.FetchTimeout = defaultFetchTimeout
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Keeper{vault: secrets, clients: clients, cfg: cfg, grants: lru.New[grantKey, *grant](maxGrants)}
}

// For returns the source of the credential of a party that is reached at a URL,
// as a generation of its document has it. The exceptions are those of the
// document, and hold for its token endpoint too. Sources of one generation share
// their access tokens. Nothing is opened, read or sent. It fails with an *[Error]
// where the document says nothing that could be used.
func (k *Keeper) For(party string, generation int64, rawURL string, spec registry.Credential, exceptions []registry.Exception) (*Source, error) {
	s := &Source{keeper: k, party: party, spec: spec, kind: kindOf(spec), exceptions: exceptions}
	target, err := url.Parse(rawURL)
	if err != nil || target.Hostname() == "" {
		return nil, s.fault(Unusable, "", "the URL in spec.url can not be used")
	}
	s.host = target.Hostname()
	switch s.kind {
	case "":
		return nil, s.fault(Unusable, "", "spec.credential does not say one way to prove ourselves; set it, to none: true if the agent asks for none")
	case MTLS:
		if target.Scheme != "https" {
			return nil, s.fault(Unusable, "", "a client certificate can only be shown over https, and spec.url is not")
		}
		if spec.MTLS.Secret == "" {
			s.files = newFiles(spec.MTLS.CertificateFile, spec.MTLS.KeyFile, k.cfg)
		}
	case OAuth2:
		s.grant = k.grantFor(party, generation, spec.OAuth2)
	}
	return s, nil
}

// Forget makes every access token fetched so far one that is not used again. It
// is for the moment a secret has a new version or is deleted.
func (k *Keeper) Forget() { k.epoch.Add(1) }

// grantKey is what an access token is good for.
type grantKey struct {
	party                                              string
	generation                                         int64
	tokenURL, issuer, client, secret, audience, scopes string
}

func (k *Keeper) grantFor(party string, generation int64, spec *registry.OAuth2) *grant {
	key := grantKey{
		party: party, generation: generation,
		tokenURL: string(spec.TokenURL), issuer: string(spec.Issuer), client: spec.ClientID, secret: string(spec.Secret),
		audience: spec.Audience, scopes: strings.Join(spec.Scopes, "\n"),
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	g, ok := k.grants.Get(key)
	if !ok {
		g = newGrant(k.cfg.Now, &k.epoch)
		k.grants.Put(key, g)
	}
	return g
}

// open opens a secret for one use. The field is where the document names it.
func (s *Source) open(ctx context.Context, name registry.SecretName, field string, use vault.Use) (vault.Value, error) {
	use.Party = s.party
	value, err := s.keeper.vault.Open(ctx, vault.Reference{Name: string(name)}, use)
	if err == nil {
		return value, nil
	}
	return vault.Value{}, s.opening(ctx, name, field, err)
}

// secretWords names a secret and the field that names it.
func secretWords(name registry.SecretName, field string) string {
	return fmt.Sprintf("secret %s (spec.credential.%s)", bounded(string(name)), field)
}
