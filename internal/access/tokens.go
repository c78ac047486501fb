package access

import (
	"context"
	"errors"
	"time"
)

// Tokens verifies tokens with the keys of their issuers. It is safe for
// concurrent use.
type Tokens interface {
	// Verify returns the claims of a token that the issuer it names has signed.
	// Only issuers that are known are asked for anything. The errors are
	// [ErrToken], [ErrIssuer], [ErrAlgorithm], [ErrSignature],
	// [ErrUnavailable] and the context's, and say nothing of the token.
	Verify(ctx context.Context, token string, known func(issuer string) bool) (Claims, error)
}

// Errors of Tokens. Compare with errors.Is.
var (
	// ErrToken: it is not a signed token.
	ErrToken = errors.New("not a signed token")

	// ErrIssuer: the issuer is not known.
	ErrIssuer = errors.New("the issuer of the token is not known")

	// ErrSignature: none of the issuer's keys has signed the token.
	ErrSignature = errors.New("the issuer has not signed this token")

	// ErrAlgorithm: the token is signed with an algorithm that is not accepted.
	ErrAlgorithm = errors.New("the algorithm of the signature is not accepted")

	// ErrUnavailable: the key is not known, and the issuer could not be asked
	// for it.
	ErrUnavailable = errors.New("the keys of the issuer cannot be had")
)

// Claims are those of a token whose signature was verified (RFC 7519, section
// 4.1). Whether they are acceptable was not looked at.
type Claims struct {
	Issuer          string
	Subject         string
	Audience        []string
	AuthorizedParty string // azp, else client_id
	Algorithm       string // of the signature

	// Zero means that the token does not say.
	Expires, NotBefore, IssuedAt time.Time
}

// Algorithms are the algorithms of signatures (RFC 7518, RFC 8037) that can be
// accepted. None of them works with a shared secret, and none is not one of
// them.
func Algorithms() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}
