package registry_test

import (
	"encoding"
	"testing"
	"time"

	"github.com/legation/legation/internal/registry"
)

func TestUnits(t *testing.T) {
	const day = 24 * time.Hour
	durations := map[string]time.Duration{
		"90s": 90 * time.Second, "1m30s": 90 * time.Second, "10m": 10 * time.Minute, "60m": time.Hour, "1h30m": 90 * time.Minute,
		"1d": day, "24h": day, "2d": 2 * day, "48h": 2 * day, "1d12h": 36 * time.Hour, "1h5s": time.Hour + 5*time.Second, "0s": 0,
	}
	for text, want := range durations {
		var d registry.Duration
		if err := d.UnmarshalText([]byte(text)); err != nil || time.Duration(d) != want {
			t.Errorf("duration %q = %v, %v, want %v", text, time.Duration(d), err, want)
		}
		var again registry.Duration
		if err := again.UnmarshalText([]byte(d.String())); err != nil || again != d {
			t.Errorf("duration %q is written as %q", text, d)
		}
	}
	written := map[string]string{"60m": "1h", "24h": "24h", "48h": "2d", "36h": "36h", "90s": "1m30s", "3600s": "1h", "1h5s": "1h0m5s"}
	for text, want := range written {
		var d registry.Duration
		if err := d.UnmarshalText([]byte(text)); err != nil || d.String() != want {
			t.Errorf("duration %q is written as %q, want %q", text, d, want)
		}
	}
	sizes := map[string]registry.Size{"0B": 0, "1B": 1, "1024B": 1 << 10, "64KiB": 64 << 10, "4MiB": 4 << 20, "1GiB": 1 << 30, "1536KiB": 1536 << 10}
	for text, want := range sizes {
		var s, again registry.Size
		if err := s.UnmarshalText([]byte(text)); err != nil || s != want {
			t.Errorf("size %q = %d, %v, want %d", text, s, err, want)
		}
		if err := again.UnmarshalText([]byte(s.String())); err != nil || again != s {
			t.Errorf("size %q is written as %q", text, s)
		}
	}
	costs := map[string]registry.Cost{"0": 0, "1": 1e6, "0.5": 5e5, "12.50": 125e5, "0.000001": 1, "999999999999": 999999999999e6}
	for text, want := range costs {
		var c, again registry.Cost
		if err := c.UnmarshalText([]byte(text)); err != nil || c != want {
			t.Errorf("cost %q = %d, %v, want %d", text, c, err, want)
		}
		if err := again.UnmarshalText([]byte(c.String())); err != nil || again != c {
			t.Errorf("cost %q is written as %q", text, c)
		}
	}
	wrong := map[encoding.TextUnmarshaler][]string{
		new(registry.Duration): {"", "10", "m", "-1m", "1.5h", "1m1h", "1w", "99999999999d", "9999999999999999h", " 1m", "300000h99999999999999s"},
		new(registry.Size):     {"", "4", "4MB", "4mb", "-4MiB", "1.5MiB", "4 MiB", "99999999999MiB"},
		new(registry.Cost):     {"", "1.", ".5", "-1", "1e3", "1.0000001", "1000000000000", "1,5"},
	}
	for into, all := range wrong {
		for _, text := range all {
			if err := into.UnmarshalText([]byte(text)); err == nil {
				t.Errorf("%T takes %q", into, text)
			}
		}
	}
}
