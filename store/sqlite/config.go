package sqlite

import (
	"log/slog"
	"time"
)

// Sync says when a change counts as stored.
type Sync int

const (
	// Full waits until the disk has the change.
	Full Sync = iota
	// Off leaves the moment to the operating system. A crash of the machine
	// may lose or damage the store; it is for tests.
	Off
)

// Config tunes a [Store]. The zero value is ready to use.
type Config struct {
	// Sync says when a change counts as stored. The zero value is Full.
	Sync Sync

	// Now is the clock of leases. Nil means time.Now.
	Now func() time.Time

	// Logger receives diagnostics. Nil discards them.
	Logger *slog.Logger

	// CacheBytes bounds the tasks kept in memory. Zero means 64 MiB.
	CacheBytes int

	// TailBytes bounds the newest events kept in memory. Zero means 32 MiB.
	TailBytes int

	// Readers is how many reads run at once. Zero means 4.
	Readers int

	// MaxBytes is the size at which the database counts as full, in whole
	// pages of 4 KiB. Zero leaves it to the disk.
	MaxBytes int64
}

const pageBytes = 4096

func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.CacheBytes <= 0 {
		c.CacheBytes = 64 << 20
	}
	if c.TailBytes <= 0 {
		c.TailBytes = 32 << 20
	}
	if c.Readers <= 0 {
		c.Readers = 4
	}
	return c
}
