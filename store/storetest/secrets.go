package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

var secretTests = map[string]func(*fixture){
	"versions count from one, and each is found": func(f *fixture) {
		first := f.addSecret("token", 1, keyA)
		second := f.addSecret("token", 2, keyB)
		f.addSecret("another", 1, keyA)
		f.crash()
		f.secret(vault.Reference{Name: "token"}, second)
		f.secret(vault.Reference{Name: "token", Version: 1}, first)
		f.secret(vault.Reference{Name: "token", Version: 2}, second)
		f.noSecret(vault.Reference{Name: "token", Version: 3})
		f.noSecret(vault.Reference{Name: "Token"})
		f.noSecret(vault.Reference{Name: "unknown"})
		f.newestVersion("token", 2)
		f.newestVersion("unknown", 0)
	},

	"only the next version can be added": func(f *fixture) {
		secret := f.addSecret("token", 1, keyA)
		for _, version := range []int64{-1, 0, 1, 3} {
			wrong := f.sealed("token", version, keyB)
			f.fails("AddSecret()", f.store.AddSecret(f.ctx(), wrong, none), vault.ErrConflict)
		}
		f.secret(vault.Reference{Name: "token"}, secret)
	},

	"one of many that add the same version succeeds": func(f *fixture) {
		var added, refused atomic.Int64
		var all sync.WaitGroup
		for range 16 {
			secret := f.sealed("token", 1, keyA)
			all.Go(func() {
				switch err := f.store.AddSecret(f.ctx(), secret, none); {
				case err == nil:
					added.Add(1)
				case errors.Is(err, vault.ErrConflict):
					refused.Add(1)
				default:
					f.Errorf("AddSecret() error = %v", err)
				}
			})
		}
		all.Wait()
		if added.Load() != 1 || refused.Load() != 15 {
			f.Errorf("%d added and %d refused, want 1 and 15", added.Load(), refused.Load())
		}
	},

	"the oldest versions are forgotten": func(f *fixture) {
		const more = 3
		for i := range int64(vault.MaxVersions + more) {
			f.addSecret("token", i+1, keyA)
		}
		versions := f.versions("token")
		if len(versions) != vault.MaxVersions || versions[0].Version != vault.MaxVersions+more {
			f.Errorf("%d versions up to %d, want %d up to %d", len(versions), versions[0].Version, vault.MaxVersions, vault.MaxVersions+more)
		}
		f.noSecret(vault.Reference{Name: "token", Version: more})
	},

	"what is told of secrets is no content": func(f *fixture) {
		one := f.addSecret("b", 1, keyA)
		two := f.addSecret("b", 2, keyB)
		other := f.addSecret("a", 1, keyB)
		used := f.use(two)
		want := []vault.Metadata{metadata(other, keyB), metadata(two, keyB)}
		want[1].UsedAt = used.At
		got, err := f.store.Secrets(f.ctx())
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			f.Errorf("Secrets() error %v (-want +got):\n%s", err, diff)
		}
		if diff := cmp.Diff([]vault.Metadata{want[1], metadata(one, keyA)}, f.versions("b")); diff != "" {
			f.Errorf("SecretVersions() (-want +got):\n%s", diff)
		}
		_, err = f.store.SecretVersions(f.ctx(), "unknown")
		f.fails("SecretVersions() of an unknown secret", err, vault.ErrNotFound)
	},

	"a deleted version is gone and its number is not used again": func(f *fixture) {
		first := f.addSecret("token", 1, keyA)
		second := f.addSecret("token", 2, keyA)
		f.addSecret("token", 3, keyA)
		f.deleteSecret("token@3")
		f.noSecret(vault.Reference{Name: "token", Version: 3})
		f.secret(vault.Reference{Name: "token"}, second)
		f.deleteSecret("token@1")
		f.noSecret(vault.Reference{Name: "token", Version: 1})
		f.fails("DeleteSecret() again", f.store.DeleteSecret(f.ctx(), vault.Reference{Name: "token", Version: 1}, none), vault.ErrNotFound)
		f.newestVersion("token", 3)
		if diff := cmp.Diff([]vault.Metadata{metadata(second, keyA)}, f.versions("token")); diff != "" {
			f.Errorf("SecretVersions() (-want +got):\n%s", diff)
		}
		f.fails("AddSecret()", f.store.AddSecret(f.ctx(), first, none), vault.ErrConflict)
		fourth := f.addSecret("token", 4, keyA)
		f.secret(vault.Reference{Name: "token"}, fourth)
	},

	"a deleted secret is gone and its numbers are not used again": func(f *fixture) {
		f.addSecret("token", 1, keyA)
		f.addSecret("token", 2, keyA)
		kept := f.addSecret("another", 1, keyA)
		f.deleteSecret("token")
		f.crash()
		f.noSecret(vault.Reference{Name: "token"})
		f.noSecret(vault.Reference{Name: "token", Version: 1})
		f.fails("DeleteSecret() again", f.store.DeleteSecret(f.ctx(), vault.Reference{Name: "token"}, none), vault.ErrNotFound)
		f.newestVersion("token", 2)
		if got, err := f.store.Secrets(f.ctx()); err != nil || !cmp.Equal(got, []vault.Metadata{metadata(kept, keyA)}) {
			f.Errorf("Secrets() = %v, %v, want only the other one", got, err)
		}
		f.addSecret("token", 3, keyA)
	},

	"there are so many versions and no more": func(f *fixture) {
		var all sync.WaitGroup
		for i := range vault.MaxStored / vault.MaxVersions {
			all.Go(func() {
				for version := range int64(vault.MaxVersions) {
					if err := f.store.AddSecret(f.ctx(), f.sealed(numbered("s", i), version+1, keyA), none); err != nil {
						f.Errorf("AddSecret() error = %v", err)
						return
					}
				}
			})
		}
		all.Wait()
		full := func() {
			f.Helper()
			f.fails("AddSecret() of one more", f.store.AddSecret(f.ctx(), f.sealed("more", 1, keyA), none), vault.ErrFull)
		}
		full()
		f.addSecret("s00000", vault.MaxVersions+1, keyA) // in place of its oldest
		full()

		// The newest number of what is deleted is remembered until room is needed.
		f.deleteSecret("s00000")
		f.newestVersion("s00000", vault.MaxVersions+1)
		for version := range int64(vault.MaxVersions - 1) {
			f.addSecret("more", version+1, keyA)
		}
		f.newestVersion("s00000", vault.MaxVersions+1)
		f.addSecret("more", vault.MaxVersions, keyA)
		f.newestVersion("s00000", 0)
		f.fails("AddSecret() of a forgotten one", f.store.AddSecret(f.ctx(), f.sealed("s00000", 1, keyA), none), vault.ErrFull)
	},

	"uses are recorded, and outlast the secret": func(f *fixture) {
		secret := f.addSecret("token", 1, keyA)
		f.addSecret("another", 1, keyA)
		var want []vault.UseRecord
		for range 5 {
			want = append([]vault.UseRecord{f.use(secret)}, want...)
		}
		f.deleteSecret("token")
		f.crash()
		got := f.uses("token", 0, 100)
		if len(got) != len(want) {
			f.Fatalf("%d records, want %d", len(got), len(want))
		}
		for i, record := range got {
			if i > 0 && record.Number >= got[i-1].Number {
				f.Errorf("record %d has number %d after %d", i, record.Number, got[i-1].Number)
			}
			want[i].Number = record.Number
		}
		if diff := cmp.Diff(want, got); diff != "" {
			f.Errorf("SecretUses() (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want[2:4], f.uses("token", want[1].Number, 2)); diff != "" {
			f.Errorf("SecretUses() of a page (-want +got):\n%s", diff)
		}
	},

	"a use of what is not there is refused and not recorded": func(f *fixture) {
		f.addSecret("token", 1, keyA)
		f.addSecret("token", 2, keyA)
		f.deleteSecret("token@1")
		f.addSecret("gone", 1, keyA)
		f.deleteSecret("gone")
		for _, record := range []vault.UseRecord{{Name: "token", Version: 1}, {Name: "gone", Version: 1}, {Name: "token", Version: 3}, {Name: "unknown", Version: 1}} {
			record.At = f.clock.Now()
			f.fails("UseSecret()", f.store.UseSecret(f.ctx(), record), vault.ErrNotFound)
		}
		for _, name := range []string{"token", "gone", "unknown"} {
			if got := f.uses(name, 0, 10); len(got) != 0 {
				f.Errorf("SecretUses(%s) = %v, want none", name, got)
			}
		}
	},

	"the last use is the latest, not the last recorded": func(f *fixture) {
		secret := f.addSecret("token", 1, keyA)
		latest := f.use(secret)
		earlier := vault.UseRecord{Name: "token", Version: 1, At: latest.At.Add(-time.Hour)}
		if err := f.store.UseSecret(f.ctx(), earlier); err != nil {
			f.Fatal(err)
		}
		if got := f.versions("token")[0].UsedAt; !got.Equal(latest.At) {
			f.Errorf("UsedAt = %v, want %v", got, latest.At)
		}
	},

	"effects are committed with what they travel with": func(f *fixture) {
		record, fence := f.working(alice)
		record = f.append(fence, f.status(record, a2a.TaskStateWorking, task.Suspend))
		wake := work.Effects{Wake: []work.Key{runOf(record.ID)}}
		f.fails("AddSecret()", f.store.AddSecret(f.ctx(), f.sealed("token", 7, keyA), wake), vault.ErrConflict)
		f.fails("DeleteSecret()", f.store.DeleteSecret(f.ctx(), vault.Reference{Name: "token"}, wake), vault.ErrNotFound)
		f.claimNone()
		if err := f.store.AddSecret(f.ctx(), f.sealed("token", 1, keyA), wake); err != nil {
			f.Fatal(err)
		}
		item := f.claimOne(record.ID)
		f.append(item.Fence, f.status(record, a2a.TaskStateWorking, task.Suspend))
		if err := f.store.DeleteSecret(f.ctx(), vault.Reference{Name: "token"}, wake); err != nil {
			f.Fatal(err)
		}
		f.claimOne(record.ID)
	},
}

// addSecret adds a version that must be accepted.
func (f *fixture) addSecret(name string, version int64, key vault.KeyID) vault.Secret {
	f.Helper()
	secret := f.sealed(name, version, key)
	if err := f.store.AddSecret(f.ctx(), secret, none); err != nil {
		f.Fatalf("AddSecret(%s@%d) error = %v", name, version, err)
	}
	return secret
}

func (f *fixture) deleteSecret(text string) {
	f.Helper()
	ref, err := vault.ParseReference(text)
	if err != nil {
		f.Fatal(err)
	}
	if err := f.store.DeleteSecret(f.ctx(), ref, none); err != nil {
		f.Fatalf("DeleteSecret(%s) error = %v", ref, err)
	}
}

// use records a use that must be accepted. The clock advances with it.
func (f *fixture) use(secret vault.Secret) vault.UseRecord {
	f.Helper()
	f.clock.advance(time.Second)
	record := vault.UseRecord{
		Name: secret.Name, Version: secret.Version, At: f.clock.Now(),
		Use: vault.Use{Who: "alice", Purpose: "send", Party: "weather", Host: "weather.example"},
	}
	if err := f.store.UseSecret(f.ctx(), record); err != nil {
		f.Fatalf("UseSecret() error = %v", err)
	}
	return record
}

func (f *fixture) uses(name string, before int64, limit int) []vault.UseRecord {
	f.Helper()
	records, err := f.store.SecretUses(f.ctx(), name, before, limit)
	if err != nil {
		f.Fatalf("SecretUses(%s) error = %v", name, err)
	}
	return records
}

// secret makes sure that a reference leads to a version.
func (f *fixture) secret(ref vault.Reference, want vault.Secret) {
	f.Helper()
	got, err := f.store.Secret(f.ctx(), ref)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		f.Errorf("Secret(%s) error %v (-want +got):\n%s", ref, err, diff)
	}
}

func (f *fixture) noSecret(ref vault.Reference) {
	f.Helper()
	_, err := f.store.Secret(f.ctx(), ref)
	f.fails("Secret("+ref.String()+")", err, vault.ErrNotFound)
}

func (f *fixture) newestVersion(name string, want int64) {
	f.Helper()
	if got, err := f.store.SecretVersion(f.ctx(), name); err != nil || got != want {
		f.Errorf("SecretVersion(%s) = %d, %v, want %d", name, got, err, want)
	}
}

func (f *fixture) versions(name string) []vault.Metadata {
	f.Helper()
	versions, err := f.store.SecretVersions(f.ctx(), name)
	if err != nil {
		f.Fatalf("SecretVersions(%s) error = %v", name, err)
	}
	return versions
}

func metadata(secret vault.Secret, key vault.KeyID) vault.Metadata {
	return vault.Metadata{
		Name: secret.Name, Version: secret.Version, Author: secret.Author, CreatedAt: secret.CreatedAt, Key: key,
	}
}
