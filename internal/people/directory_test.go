package people_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/people"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/store/sqlite"
)

// clock is a time that tests set.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func newClock() *clock { return &clock{at: time.Date(2026, 3, 14, 15, 9, 26, 535_897_932, time.UTC)} }

func openStore(t *testing.T) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Config{Sync: sqlite.Off})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func openDirectory(t *testing.T, store people.Store, c *clock) *people.Directory {
	t.Helper()
	d, err := people.Open(t.Context(), store, people.Config{Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func put(t *testing.T, d *people.Directory, name string, role people.Role, end time.Time) (people.Person, string) {
	t.Helper()
	p, token, err := d.Put(t.Context(), "root", name, role, end)
	if err != nil {
		t.Fatalf("Put(%s) error = %v", name, err)
	}
	return p, token
}

func TestTokensLetIn(t *testing.T) {
	c, store := newClock(), openStore(t)
	d := openDirectory(t, store, c)
	want, token := put(t, d, "ann", people.Admin, time.Time{})
	got, err := d.Authenticate(token)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Authenticate() error %v (-want +got):\n%s", err, diff)
	}
	// As after a restart, and as another one sees it that was there before.
	for name, other := range map[string]*people.Directory{"opened anew": openDirectory(t, store, c), "the same": d} {
		if got, err := other.Authenticate(token); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: Authenticate() = %+v, %v", name, got, err)
		}
	}
}

func TestTokensKeepOut(t *testing.T) {
	c, store := newClock(), openStore(t)
	d := openDirectory(t, store, c)
	_, admin := put(t, d, "root", people.Admin, time.Time{})
	_, first := put(t, d, "ann", people.Viewer, time.Time{})
	_, second := put(t, d, "ann", people.Viewer, time.Time{})
	_, removed := put(t, d, "zoe", people.Viewer, time.Time{})
	_, ends := put(t, d, "end", people.Viewer, c.now().Add(time.Hour))
	if err := d.Remove(t.Context(), "root", "zoe"); err != nil {
		t.Fatal(err)
	}
	if p, err := d.Authenticate(ends); err != nil {
		t.Errorf("Authenticate() before the end = %+v, %v", p, err)
	}
	c.advance(time.Hour + time.Millisecond)
	if p, err := d.Authenticate(ends); !errors.Is(err, people.ErrExpired) || p.Name != "end" {
		t.Errorf("Authenticate() after the end = %q, %v, want ErrExpired", p.Name, err)
	}
	last := admin[len(admin)-1:]
	for name, token := range map[string]string{
		"replaced":        first,
		"removed":         removed,
		"nothing":         "",
		"cut off":         admin[:len(admin)-1],
		"one more":        admin + "a",
		"mistyped":        admin[:30] + swapped(admin[30:31]) + admin[31:],
		"another end":     admin[:len(admin)-1] + swapped(last),
		"upper case":      strings.ToUpper(admin),
		"another prefix":  "lgn_" + admin[4:],
		"not base32":      admin[:20] + "!" + admin[21:],
		"of two":          second[:16] + admin[16:],
		"somebody else's": otherToken(t),
	} {
		p, err := d.Authenticate(token)
		if !errors.Is(err, people.ErrToken) || p.Name != "" {
			t.Errorf("%s: Authenticate() = %q, %v, want ErrToken", name, p.Name, err)
		}
		if token != "" && err != nil && strings.Contains(err.Error(), token) {
			t.Errorf("%s: the error repeats the token", name)
		}
	}
}

func swapped(c string) string {
	if c == "a" {
		return "b"
	}
	return "a"
}

// otherToken is a token of another installation.
func otherToken(t *testing.T) string {
	_, token := put(t, openDirectory(t, openStore(t), newClock()), "ann", people.Admin, time.Time{})
	return token
}

func TestNamesAndTimes(t *testing.T) {
	c := newClock()
	d := openDirectory(t, openStore(t), c)
	for _, name := range []string{"", "-ann", "ann smith", "ann\n", "ännchen", strings.Repeat("a", 65), "local", "Legation"} {
		if _, _, err := d.Put(t.Context(), "root", name, people.Admin, time.Time{}); !errors.Is(err, people.ErrInvalid) {
			t.Errorf("Put(%q) error = %v, want ErrInvalid", name, err)
		}
	}
	if _, _, err := d.Put(t.Context(), "root", "ann", "root", time.Time{}); !errors.Is(err, people.ErrInvalid) {
		t.Errorf("Put() of an unknown role: error = %v", err)
	}
	if _, _, err := d.Put(t.Context(), "root", "ann", people.Admin, c.now()); !errors.Is(err, people.ErrInvalid) {
		t.Errorf("Put() of a token that has ended: error = %v", err)
	}
	for _, name := range []string{"ann", "Ann.Smith@example.com", "7", "a+b_c-d"} {
		put(t, d, name, people.Admin, time.Time{})
	}
	if err := d.Remove(t.Context(), "root", "nobody"); !errors.Is(err, people.ErrNotFound) {
		t.Errorf("Remove() of nobody: error = %v", err)
	}
}

func TestChangesAreWrittenDown(t *testing.T) {
	store := openStore(t)
	d := openDirectory(t, store, newClock())
	p, token := put(t, d, "ann", people.Admin, time.Time{})
	put(t, d, "zoe", people.Admin, time.Time{})
	if err := d.Remove(t.Context(), "zoe", "ann"); err != nil {
		t.Fatal(err)
	}
	if err := d.Remove(t.Context(), "zoe", "zoe"); !errors.Is(err, people.ErrLastAdmin) {
		t.Errorf("Remove() of the last admin: error = %v", err)
	}
	page, err := store.Audit(t.Context(), audit.Query{Limit: 10})
	entries := page.Entries
	if err != nil || len(entries) != 3 {
		t.Fatalf("Audit() = %d entries, %v, want 3", len(entries), err)
	}
	want := audit.Entry{Who: "root", Party: "Person/ann", Operation: "person put", Outcome: audit.Done, Reason: "role_admin", KeyID: p.Token.ID}
	got := entries[2].Entry
	got.At = time.Time{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	if last := entries[0]; last.Who != "zoe" || last.Party != "Person/ann" || last.Operation != "person remove" {
		t.Errorf("entry of the removal = %+v", last)
	}
	if !strings.HasPrefix(token, "lgp_"+p.Token.ID+"_") {
		t.Error("the token does not begin with lgp_ and its id")
	}
	if names := d.People(); len(names) != 1 || names[0].Name != "zoe" {
		t.Errorf("People() = %+v, want zoe", names)
	}
}

func TestTheFirstAdmin(t *testing.T) {
	store, c := openStore(t), newClock()
	path := filepath.Join(t.TempDir(), "admin-token")
	for _, left := range []string{path, path + ".new"} { // by a start that did not get further
		if err := os.WriteFile(left, []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	created, err := people.EnsureAdmin(t.Context(), store, path, c.now)
	if err != nil || !created {
		t.Fatalf("EnsureAdmin() = %v, %v", created, err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Fatalf("the file has mode %v, error %v, want 0600", info.Mode(), err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := openDirectory(t, store, c).Authenticate(strings.TrimSuffix(string(text), "\n"))
	if err != nil || p.Name != people.FirstAdmin || p.Role != people.Admin {
		t.Errorf("the token in the file is that of %q, %v", p.Name, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if created, err := people.EnsureAdmin(t.Context(), store, path, nil); err != nil || created {
		t.Errorf("EnsureAdmin() again = %v, %v", created, err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file was written again, error %v", err)
	}
}

// broken is a store that fails.
type broken struct{ people, change error }

func (b broken) People(context.Context) ([]people.Person, error) { return nil, b.people }
func (b broken) ChangePeople(context.Context, people.Change, work.Effects) error {
	return b.change
}

// deceptive is a store of which a change fails after it was stored, while whoever
// asked for it hangs up.
type deceptive struct {
	people.Store
	hangUp func()
	change error
	people error // of reading afterwards

	changed bool
}

func (d *deceptive) ChangePeople(ctx context.Context, change people.Change, effects work.Effects) error {
	if d.hangUp != nil {
		d.hangUp()
	}
	d.changed = true
	return errors.Join(ctx.Err(), d.Store.ChangePeople(ctx, change, effects), d.change)
}

func (d *deceptive) People(ctx context.Context) ([]people.Person, error) {
	if d.changed && d.people != nil {
		return nil, d.people
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return d.Store.People(ctx)
}

// A token is void once its removal is stored, whatever whoever removed it was
// told, and whether they waited for it.
func TestWhatIsStoredBites(t *testing.T) {
	failure := errors.New("the answer was lost")
	for name, tt := range map[string]struct {
		change, read error
	}{
		"hung up":                       {},
		"failed":                        {change: failure},
		"failed, and cannot be read":    {change: failure, read: failure},
		"succeeded, and cannot be read": {read: failure},
	} {
		t.Run(name, func(t *testing.T) {
			c, store := newClock(), openStore(t)
			d := openDirectory(t, store, c)
			_, root := put(t, d, "root", people.Admin, time.Time{})
			_, gone := put(t, d, "gone", people.Admin, time.Time{})
			ctx, cancel := context.WithCancel(t.Context())
			between := &deceptive{Store: store, hangUp: cancel, change: tt.change, people: tt.read}
			d = openDirectory(t, between, c)
			err := d.Remove(ctx, "root", "gone")
			if want := tt.change != nil || tt.read != nil; errors.Is(err, failure) != want || !want && err != nil {
				t.Errorf("Remove() error = %v", err)
			}
			if p, err := d.Authenticate(gone); !errors.Is(err, people.ErrToken) {
				t.Errorf("the token of who was removed is that of %q, %v", p.Name, err)
			}
			if p, err := d.Authenticate(root); err != nil || p.Name != "root" {
				t.Errorf("another's token is that of %q, %v", p.Name, err)
			}
			if err := d.Remove(ctx, "root", "root"); !errors.Is(err, context.Canceled) {
				t.Errorf("Remove() of somebody who has gone: error = %v", err)
			}
		})
	}
}

func TestTheFirstAdminFails(t *testing.T) {
	failure := errors.New("disk is full")
	path := filepath.Join(t.TempDir(), "admin-token")
	for name, tt := range map[string]struct {
		store broken
		path  string
	}{
		"people cannot be read":  {broken{people: failure}, path},
		"people cannot be added": {broken{change: failure}, path},
		"no directory":           {broken{}, filepath.Join(path, "none", "admin-token")},
	} {
		created, err := people.EnsureAdmin(t.Context(), tt.store, tt.path, nil)
		if err == nil || created {
			t.Errorf("%s: EnsureAdmin() = %v, %v", name, created, err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a token that is nobody's was left, error %v", name, err)
		}
	}
	if _, err := people.Open(t.Context(), broken{people: failure}, people.Config{}); !errors.Is(err, failure) {
		t.Errorf("Open() error = %v", err)
	}
}

// The file of a token that may let in is kept, whatever went wrong.
func TestTheFirstAdminIsStoredAllTheSame(t *testing.T) {
	failure := errors.New("the answer was lost")
	for name, tt := range map[string]struct {
		change, read error
		created      bool
	}{
		"stopped":                    {created: true},
		"failed":                     {change: failure, created: true},
		"failed, and cannot be read": {change: failure, read: failure},
	} {
		t.Run(name, func(t *testing.T) {
			c, store := newClock(), openStore(t)
			path := filepath.Join(t.TempDir(), "admin-token")
			ctx, cancel := context.WithCancel(t.Context())
			created, err := people.EnsureAdmin(ctx, &deceptive{Store: store, hangUp: cancel, change: tt.change, people: tt.read}, path, c.now)
			if created != tt.created || (err == nil) != tt.created {
				t.Errorf("EnsureAdmin() = %v, %v", created, err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			p, err := openDirectory(t, store, c).Authenticate(strings.TrimSpace(string(text)))
			if err != nil || p.Name != people.FirstAdmin {
				t.Errorf("the token in the file is that of %q, %v", p.Name, err)
			}
		})
	}
}

// FuzzParseToken takes whatever comes apart, and what it takes for a token has
// the form of one.
func FuzzParseToken(f *testing.F) {
	f.Add("")
	f.Add("lgp_")
	f.Add("lgp_abcdefghijkl_" + strings.Repeat("a", 59))
	f.Fuzz(func(t *testing.T, text string) {
		token, err := people.ParseToken(text)
		if err == nil && !strings.HasPrefix(text, "lgp_"+token.ID+"_") || err != nil && token != (people.Token{}) {
			t.Errorf("ParseToken(%q) = %+v, %v", text, token, err)
		}
	})
}
