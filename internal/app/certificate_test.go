package app_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/legation/legation/internal/app"
)

// issue makes a certificate for this machine, signed by itself.
func issue(t *testing.T, name string) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}

// TestTLS serves HTTPS as two files say: REQ-SEC-01, REQ-SEC-02, REQ-SEC-03,
// REQ-SEC-04. What replaces them is served from the next connection on, and
// what cannot be read is not.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cfg := settings(t, "echo=echo:")
	cfg.TLSCert, cfg.TLSKey = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	changed := time.Now().Add(-time.Hour)
	put := func(cert, key []byte) {
		t.Helper()
		changed = changed.Add(time.Minute)
		for name, text := range map[string][]byte{cfg.TLSCert: cert, cfg.TLSKey: key} {
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(name, changed, changed); err != nil {
				t.Fatal(err)
			}
		}
	}
	first, firstKey := issue(t, "first")
	put(first, firstKey)
	var log bytes.Buffer
	a, stop := serve(t, cfg, app.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), LookAlways: true})
	if !strings.HasPrefix(a.URL(), "https://127.0.0.1:") {
		t.Errorf("URL() = %s", a.URL())
	}
	trusted := x509.NewCertPool()
	connect := func(settings *tls.Config) (name string, resp *http.Response, err error) {
		settings.RootCAs = trusted
		web := &http.Client{Transport: &http.Transport{TLSClientConfig: settings, DisableKeepAlives: true}}
		resp, err = web.Get(a.URL() + "/.well-known/agent-card.json")
		if err != nil {
			return "", nil, err
		}
		resp.Body.Close()
		return resp.TLS.PeerCertificates[0].Subject.CommonName, resp, nil
	}

	if _, _, err := connect(&tls.Config{}); err == nil {
		t.Error("a certificate that nobody trusts was accepted")
	}
	trusted.AppendCertsFromPEM(first)
	name, resp, err := connect(&tls.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if name != "first" || resp.TLS.Version != tls.VersionTLS13 || resp.Header.Get("Strict-Transport-Security") != "max-age=31536000" {
		t.Errorf("%s is served with TLS %x and %q", name, resp.TLS.Version, resp.Header.Get("Strict-Transport-Security"))
	}
	for _, old := range []uint16{tls.VersionTLS10, tls.VersionTLS11} {
		if _, _, err := connect(&tls.Config{MinVersion: old, MaxVersion: old}); err == nil {
			t.Errorf("TLS %x is served", old)
		}
	}

	second, secondKey := issue(t, "second")
	trusted.AppendCertsFromPEM(second)
	put(second, firstKey) // half of the way
	if name, _, err := connect(&tls.Config{}); err != nil || name != "first" {
		t.Errorf("with a key that does not fit %q is served, %v", name, err)
	}
	put(second, secondKey)
	if name, _, err := connect(&tls.Config{}); err != nil || name != "second" {
		t.Errorf("after the change %q is served, %v", name, err)
	}
	if err := os.Remove(cfg.TLSCert); err != nil {
		t.Fatal(err)
	}
	if name, _, err := connect(&tls.Config{}); err != nil || name != "second" {
		t.Errorf("without the file %q is served, %v", name, err)
	}
	stop()
	if text := log.String(); !strings.Contains(text, "the one before is served") || !strings.Contains(text, "certificate changed") || strings.Contains(text, "PRIVATE") {
		t.Errorf("log:\n%s", text)
	}
}

func TestCertificatesThatCannotBeRead(t *testing.T) {
	cfg := settings(t)
	cfg.TLSCert, cfg.TLSKey = filepath.Join(t.TempDir(), "none.pem"), filepath.Join(t.TempDir(), "none.pem")
	if _, err := app.New(t.Context(), cfg, app.Options{}); err == nil || !strings.Contains(err.Error(), "--tls-cert and --tls-key name PEM files") {
		t.Errorf("New() error = %v", err)
	}
}
