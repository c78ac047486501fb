package issuer

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/lru"
)

// Config tunes a [Set]. The zero value is ready to use.
type Config struct {
	// Now says what time it is. Nil means time.Now.
	Now func() time.Time

	// Logger is told when an issuer cannot be asked. Nil discards that.
	Logger *slog.Logger
}

// Set is issuers and their keys. It implements [access.Tokens].
type Set struct {
	client func(issuer string) (*http.Client, error)
	cfg    Config

	life   context.Context
	end    context.CancelFunc
	visits sync.WaitGroup // to issuers, under way

	mu       sync.Mutex
	issuers  map[string]*keys
	verified *lru.Map[[32]byte, verified]
}

var _ access.Tokens = (*Set)(nil)

// maxVerified is how many tokens are remembered.
const maxVerified = 8192

// verified is what a token said that was verified with the keys of a version.
type verified struct {
	claims  access.Claims
	keys    *keys
	version int64
}

// New makes a set. The function supplies, for each visit, the HTTP client with
// which an issuer is asked: a guarded one.
func New(client func(issuer string) (*http.Client, error), cfg Config) *Set {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Set{client: client, cfg: cfg, issuers: map[string]*keys{}, verified: lru.New[[32]byte, verified](maxVerified)}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Close ends the visits to issuers that are under way, and waits for them. After
// it only keys that are known are used.
func (s *Set) Close() {
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	s.visits.Wait()
}

// Verify implements [access.Tokens]. A token that was verified is remembered by
// its hash, until the keys of its issuer are read again.
func (s *Set) Verify(ctx context.Context, token string, known func(issuer string) bool) (access.Claims, error) {
	hash := sha256.Sum256([]byte(token))
	if before, ok := s.remembered(hash); ok && known(before.claims.Issuer) && before.keys.stillAt(before.version, s.cfg.Now()) {
		return before.claims, nil
	}
	signed, err := jose.ParseSignedCompact(token, algorithms())
	if err != nil {
		if _, unexpected := errors.AsType[*jose.ErrUnexpectedSignatureAlgorithm](err); unexpected {
			return access.Claims{}, access.ErrAlgorithm
		}
		return access.Claims{}, access.ErrToken
	}
	header := signed.Signatures[0].Header
	claims, err := parseClaims(signed.UnsafePayloadWithoutVerification())
	if err != nil {
		return access.Claims{}, access.ErrToken
	}
	claims.Algorithm = header.Algorithm
	if !known(claims.Issuer) {
		return access.Claims{}, access.ErrIssuer
	}
	k := s.of(claims.Issuer, known)
	found, version, err := k.find(ctx, header.KeyID, header.Algorithm)
	if err != nil {
		return access.Claims{}, err
	}
	verifier := oidc.NewVerifier(claims.Issuer, &oidc.StaticKeySet{PublicKeys: found}, &oidc.Config{
		SupportedSigningAlgs: access.Algorithms(),
		SkipClientIDCheck:    true, // package access judges the claims
		SkipExpiryCheck:      true,
	})
	if _, err := verifier.Verify(ctx, token); err != nil {
		return access.Claims{}, access.ErrSignature
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verified.Put(hash, verified{claims: claims, keys: k, version: version})
	return claims, nil
}

// remembered is what a token said that was verified with keys which are still
// the issuer's.
func (s *Set) remembered(hash [32]byte) (verified, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.verified.Get(hash)
	return v, ok && s.issuers[v.claims.Issuer] == v.keys
}

func algorithms() []jose.SignatureAlgorithm {
	var all []jose.SignatureAlgorithm
	for _, name := range access.Algorithms() {
		all = append(all, jose.SignatureAlgorithm(name))
	}
	return all
}

// of is the keys of a known issuer. Those that are not known any more go.
func (s *Set) of(issuer string, known func(string) bool) *keys {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k, ok := s.issuers[issuer]; ok {
		return k
	}
	for name := range s.issuers {
		if !known(name) {
			delete(s.issuers, name)
		}
	}
	k := &keys{set: s, issuer: issuer}
	s.issuers[issuer] = k
	return k
}

// visit begins a visit to an issuer, unless the set is closed.
func (s *Set) visit(f func(context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() != nil {
		return false
	}
	s.visits.Go(func() { f(s.life) })
	return true
}
