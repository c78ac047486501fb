package piece_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/provider/piece"
)

type got struct {
	Text string
	Last bool
	At   time.Duration
}

// stream runs a producer and returns what was emitted when.
func stream(t *testing.T, produce func(w io.Writer)) []got {
	t.Helper()
	var pieces []got
	start := time.Now()
	err := piece.Stream(t.Context(), func(_ context.Context, w *piece.Writer) error {
		produce(w)
		return nil
	}, func(p []byte, last bool) error {
		pieces = append(pieces, got{string(p), last, time.Since(start)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pieces
}

func TestPieces(t *testing.T) {
	const ms = time.Millisecond
	full := strings.Repeat("x", 16<<10)
	tests := map[string]struct {
		produce func(w io.Writer)
		want    []got
	}{
		"nothing":     {func(io.Writer) {}, nil},
		"all at once": {func(w io.Writer) { io.WriteString(w, "a"); io.WriteString(w, "b") }, []got{{"ab", true, 0}}},
		"the end comes while bits are waiting": {
			func(w io.Writer) { io.WriteString(w, "a"); time.Sleep(20 * ms) },
			[]got{{"a", true, 20 * ms}},
		},
		"bits gather for 50 ms": {
			func(w io.Writer) {
				for range 4 {
					io.WriteString(w, "a")
					time.Sleep(20 * ms)
				}
			},
			[]got{{"aaa", false, 50 * ms}, {"a", true, 80 * ms}},
		},
		"the end comes late": {
			func(w io.Writer) { io.WriteString(w, "a"); time.Sleep(time.Second) },
			[]got{{"a", false, 50 * ms}, {"", true, time.Second}},
		},
		"a full piece does not wait": {
			func(w io.Writer) { io.WriteString(w, full+"y"); time.Sleep(time.Second); io.WriteString(w, "z") },
			[]got{{full, false, 0}, {"y", false, 50 * ms}, {"z", true, time.Second}},
		},
		"a long end is several pieces": {
			func(w io.Writer) { io.WriteString(w, full+full+"y") },
			[]got{{full, false, 0}, {full, false, 0}, {"y", true, 0}},
		},
		"a letter waits for its rest": {
			func(w io.Writer) {
				io.WriteString(w, "a\xf0\x9f")
				time.Sleep(100 * ms)
				io.WriteString(w, "\x98")
				time.Sleep(100 * ms)
				io.WriteString(w, "\x80")
			},
			[]got{{"a", false, 50 * ms}, {"\U0001F600", true, 200 * ms}},
		},
		"what is no letter does not wait": {
			func(w io.Writer) { io.WriteString(w, "\x80\x80\x80\x80\xff"); time.Sleep(100 * ms) },
			[]got{{"\x80\x80\x80\x80\xff", false, 50 * ms}, {"", true, 100 * ms}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if diff := cmp.Diff(test.want, stream(t, test.produce)); diff != "" {
					t.Errorf("pieces (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestNoLetterIsSplit(t *testing.T) {
	text := strings.Repeat("aé€\U0001F600", 20_000)
	var joined strings.Builder
	for _, p := range stream(t, func(w io.Writer) { io.WriteString(w, text) }) {
		if !utf8.ValidString(p.Text) {
			t.Fatalf("a piece of %d bytes is not UTF-8", len(p.Text))
		}
		if len(p.Text) > 16<<10 {
			t.Fatalf("a piece has %d bytes, want at most 16 KiB", len(p.Text))
		}
		joined.WriteString(p.Text)
	}
	if joined.String() != text {
		t.Error("the pieces joined are not what was written")
	}
}

func TestWriterWaitsForASlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ahead := 0
		read := 0
		err := piece.Stream(t.Context(), func(_ context.Context, w *piece.Writer) error {
			for range 100 {
				if _, err := w.Write(make([]byte, 4<<10)); err != nil {
					return err
				}
				ahead += 4 << 10
			}
			return nil
		}, func(p []byte, last bool) error {
			time.Sleep(time.Second)
			synctest.Wait()
			if over := ahead - read; over > 80<<10 {
				t.Errorf("%d bytes are written and not taken, want at most 80 KiB", over)
			}
			read += len(p)
			return nil
		})
		if err != nil || read != 400<<10 {
			t.Errorf("read %d bytes, error %v; want 400 KiB, nil", read, err)
		}
	})
}

func TestHowAStreamEnds(t *testing.T) {
	mine := errors.New("mine")
	flood := func(_ context.Context, w *piece.Writer) error {
		for {
			if _, err := w.Write(make([]byte, 1<<10)); err != nil {
				return err
			}
		}
	}
	take := func([]byte, bool) error { return nil }
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := map[string]struct {
		ctx     context.Context
		produce func(context.Context, *piece.Writer) error
		emit    func([]byte, bool) error
		want    string
	}{
		"produce fails":  {t.Context(), func(context.Context, *piece.Writer) error { return mine }, take, "mine"},
		"produce panics": {t.Context(), func(context.Context, *piece.Writer) error { panic("oh") }, take, "produce output: panic with a string"},
		"emit fails":     {t.Context(), flood, func([]byte, bool) error { return mine }, "mine"},
		"context ends":   {canceled, flood, take, "context canceled"},
		"context ends while nothing comes": {canceled, func(ctx context.Context, _ *piece.Writer) error {
			<-ctx.Done()
			return mine
		}, take, "context canceled"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := piece.Stream(test.ctx, test.produce, test.emit); err == nil || err.Error() != test.want {
				t.Errorf("Stream() = %v, want %s", err, test.want)
			}
		})
	}
}

func TestWhatWasWrittenBeforeAFailureIsHandedOver(t *testing.T) {
	mine := errors.New("mine")
	var pieces []string
	err := piece.Stream(t.Context(), func(_ context.Context, w *piece.Writer) error {
		w.Write([]byte("half"))
		return mine
	}, func(p []byte, last bool) error {
		pieces = append(pieces, string(p))
		return nil
	})
	if diff := cmp.Diff([]string{"half"}, pieces); diff != "" || err != mine {
		t.Errorf("error %v, pieces (-want +got):\n%s", err, diff)
	}
}
