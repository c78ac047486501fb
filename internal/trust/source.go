package trust

import (
	"context"
	"time"
)

// Source reads cards. It may be called by several goroutines at a time, for one
// agent by one of them.
type Source interface {
	// Read returns the card of a remote agent as it is now. It asks conditionally
	// where it can; of a card that is unchanged it returns the same bytes. It
	// ends with the context. The error should be a *[ReadError].
	Read(ctx context.Context, of Registration) (Fetched, error)
}

// Fetched is a card as it was read.
type Fetched struct {
	// Raw is the card byte for byte. It is not changed any more.
	Raw []byte

	// URL is where it was read; ETag and LastModified are its validators, or
	// empty.
	URL, ETag, LastModified string

	// MaxAge is how long it may be used without asking again.
	MaxAge time.Duration
}

// ReadError says why a card could not be read.
type ReadError struct {
	// Code says it in a word: "resolve", "tls", "status".
	Code Code

	// Words say what happened, on one line of bounded length, without secrets.
	Words string

	// NoCard says that there was a whole answer, and that it is no agent card.
	// It counts as a card that does not verify. Everything else counts as not
	// reached.
	NoCard bool

	// RetryAfter is how long not to ask again. Zero means that nobody said.
	RetryAfter time.Duration

	// Err is the cause, or nil.
	Err error
}

// Error returns the words.
func (e *ReadError) Error() string { return e.Words }

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }
