package credential_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/credential"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/vault"
)

// files is a certificate in two files.
type files struct{ certificate, key string }

func newFiles(t *testing.T) files {
	dir := t.TempDir()
	return files{filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")}
}

func (f files) spec() registry.Credential {
	return registry.Credential{MTLS: &registry.Certificate{CertificateFile: f.certificate, KeyFile: f.key}}
}

// write writes one or both halves of what an authority issued, changed at a time.
func (f files) write(w *world, text string, certificate, key bool) {
	w.Helper()
	cut := strings.Index(text, "-----BEGIN PRIVATE KEY")
	put := func(name, half string) {
		if err := os.WriteFile(name, []byte(half), 0o600); err != nil {
			w.Fatal(err)
		}
		w.clock.add(time.Second) // to the next look
		if err := os.Chtimes(name, w.clock.now(), w.clock.now()); err != nil {
			w.Fatal(err)
		}
	}
	if certificate {
		put(f.certificate, text[:cut])
	}
	if key {
		put(f.key, text[cut:])
	}
}

func TestFilesAreReadAgain(t *testing.T) {
	w, f := newWorld(t), newFiles(t)
	var shown string
	w.agent.asks(&a2a.MutualTlsSecurityScheme{}, func(r *http.Request) bool {
		shown = ""
		if certificates := r.TLS.PeerCertificates; len(certificates) > 0 {
			shown = certificates[0].Subject.CommonName
		}
		return shown != ""
	})
	remote := w.dial(w.source(f.spec()))
	ask := func(when, want string) {
		t.Helper()
		_, err := remote.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t-1"})
		if err != nil || shown != want {
			t.Errorf("%s: shown is %q, error %v, want %q", when, shown, err, want)
		}
	}
	_, err := remote.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t-1"})
	if failed, ok := asError(err); !ok || failed.Reason != credential.Closed || !strings.Contains(err.Error(), "spec.credential.mtls names files that are not a certificate and its key in PEM") {
		t.Errorf("no files: error = %v", err)
	}
	one, two := w.ca.issue(t, "one", time.Hour), w.ca.issue(t, "two", time.Hour)
	f.write(w, one, true, true)
	ask("files", "one")
	f.write(w, two, true, false)
	ask("half of the next", "one")
	w.clock.add(time.Second)
	ask("and again", "one")
	if got := strings.Count(w.logs.String(), "the changed client certificate can not be read"); got != 1 {
		t.Errorf("told %d times of a pair that does not fit, want once", got)
	}
	f.write(w, two, false, true)
	ask("all of the next", "two")
	three := w.ca.issue(t, "three", time.Hour)
	if err := os.WriteFile(f.certificate, []byte(three), 0o600); err != nil {
		t.Fatal(err)
	}
	ask("within a second", "two")
	if err := os.Remove(f.key); err != nil {
		t.Fatal(err)
	}
	w.clock.add(time.Second)
	ask("removed", "two")
	w.silent()
}

func TestCertificatesAreChecked(t *testing.T) {
	w := newWorld(t)
	w.put("good", w.ca.issue(t, "good", time.Hour))
	w.put("two", strings.SplitAfter(w.ca.issue(t, "a", time.Hour), "END CERTIFICATE-----\n")[0]+
		strings.SplitAfter(w.ca.issue(t, "b", time.Hour), "END CERTIFICATE-----\n")[1])
	w.put("text", "not-a-certificate-4711")
	folder, long := newFiles(t), newFiles(t)
	folder.certificate, folder.key = t.TempDir(), folder.certificate
	long.key = long.certificate
	if err := os.WriteFile(long.certificate, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(folder.key, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		spec   registry.Credential
		reason credential.Reason
		words  string
	}{
		{"good", inVault("good"), "", ""},
		{"of two pairs", inVault("two"), credential.Unusable, "is not a certificate and its key in PEM: tls: private key does not match public key"},
		{"not PEM", inVault("text"), credential.Unusable, "is not a certificate and its key in PEM"},
		{"not there", inVault("absent"), credential.Missing, "secret absent (spec.credential.mtls.secret) has no value"},
		{"a directory", folder.spec(), credential.Closed, "is not a file"},
		{"too long", long.spec(), credential.Closed, "is longer than 1 MiB"},
	} {
		ends, err := w.source(tt.spec).Check(t.Context(), "root")
		failed, ok := asError(err)
		switch {
		case tt.reason == "" && (err != nil || ends.Before(w.clock.now())):
			t.Errorf("%s: Check() = %v, %v, want when it ends", tt.name, ends, err)
		case tt.reason != "" && (!ok || failed.Reason != tt.reason || !strings.Contains(err.Error(), tt.words)):
			t.Errorf("%s: error = %v, want %s and %q", tt.name, err, tt.reason, tt.words)
		}
		if err != nil {
			w.silent(err.Error())
		}
	}
	w.clock.add(-24 * time.Hour)
	if _, err := w.source(inVault("good")).Check(t.Context(), "root"); err == nil || !strings.Contains(err.Error(), "begins only on") {
		t.Errorf("before it begins: error = %v", err)
	}
}

// Of what was opened nothing stays but the key that was made of it.
func TestOpenedCertificatesAreWiped(t *testing.T) {
	content := []byte(newAuthority(t).issue(t, "a", time.Hour))
	keeper := credential.New(vaultFunc(func(context.Context, vault.Reference, vault.Use) (vault.Value, error) {
		return vault.NewValue(content), nil
	}), noClients, credential.Config{})
	source, err := keeper.For("partner", 1, "https://a.example", inVault("x"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.Check(t.Context(), "root"); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(content, make([]byte, len(content))) {
		t.Error("the content is still in memory")
	}
}

func inVault(name registry.SecretName) registry.Credential {
	return registry.Credential{MTLS: &registry.Certificate{Secret: name}}
}
