package cli_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/cli"
	"github.com/legation/legation/internal/testkit"
)

// run is one command, in this process.
func run(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = cli.Main(args, strings.NewReader(stdin), &out, &err)
	return status, out.String(), err.String()
}

func wantIn(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in:\n%s", want, text)
		}
	}
}

// Whatever an agent calls its files, they land in the directory, under names
// that mean nothing special.
func TestFileNames(t *testing.T) {
	names := map[string]string{
		"plain.txt":                       "plain.txt",
		"../../up.txt":                    "up.txt",
		"/etc/passwd":                     "passwd",
		`C:\\Windows\\system.ini`:         "system.ini",
		".bashrc":                         "bashrc",
		"..":                              "file-1.bin",
		".":                               "file-1.bin",
		"/":                               "file-1.bin",
		"":                                "file-1.bin",
		"-rf":                             "rf",
		"~root":                           "root",
		`a\u0000b\u001b[2J\u202etxt.exe`:  "a_b_[2J_txt.exe",
		`line\nbreak`:                     "line_break",
		"con.txt":                         "_con.txt",
		"LPT1":                            "_LPT1",
		"trailing. . ":                    "trailing",
		"Bericht für Zoë.pdf":             "Bericht für Zoë.pdf",
		"what?*<>|.txt":                   "what_____.txt",
		strings.Repeat("x", 300) + ".tar": strings.Repeat("x", 116) + ".tar",
		strings.Repeat("ü", 300):          strings.Repeat("ü", 60),
		"a." + strings.Repeat("e", 300):   "a." + strings.Repeat("e", 118),
		`a"b` + "\x27" + "c":              `a_b'c`,
		"two/levels/deep.md":              "deep.md",
		"legation.db\\u2028":              "legation.db_",
	}
	for name, want := range names {
		quoted := `"` + strings.ReplaceAll(name, `a"b`, `a\"b`) + `"`
		peer := testkit.ListenPeer(t, testkit.Routes(map[string]testkit.Answer{
			cardPath: card(silentStream),
			"SendMessage": testkit.Result(`{"message":{"messageId":"r","role":"ROLE_AGENT","parts":[{"raw":"AAEC","filename":` +
				quoted + `,"mediaType":"image/x"}]}}`),
		}))
		above := t.TempDir()
		dir := filepath.Join(above, "out")
		status, stdout, stderr := run(t, "", "send", peer.URL, "hello", "--out", dir)
		if status != 0 || stdout != "" {
			t.Errorf("%q: status %d, stdout %q, stderr:\n%s", name, status, stdout, stderr)
			continue
		}
		var got []string
		for _, entry := range entries(t, dir) {
			got = append(got, entry.Name())
		}
		if diff := cmp.Diff([]string{want}, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
		if n := len(entries(t, above)); n != 1 {
			t.Errorf("%q: something else was written beside the directory", name)
		}
	}
}

func entries(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A link that waits in the directory leads nowhere.
func TestFilesStayInTheDirectory(t *testing.T) {
	above := t.TempDir()
	target := filepath.Join(above, "precious")
	dir := filepath.Join(above, "out")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(dir, "file-1.bin")); err != nil {
		t.Skip("no symbolic links here")
	}
	peer := testkit.ListenPeer(t, testkit.Routes(peers["message"]))
	if status, _, stderr := run(t, "", "send", peer.URL, "hello", "--out", dir); status != 0 {
		t.Fatalf("status %d:\n%s", status, stderr)
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("the link was followed")
	}
	if content, err := os.ReadFile(filepath.Join(dir, "file-1-1.bin")); err != nil || !bytes.Equal(content, []byte{0, 1, 2, 3, 4}) {
		t.Errorf("file-1-1.bin holds %v, %v; want the chunks joined", content, err)
	}
}

// The message says what the command line did.
func TestWhatIsSent(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "page.HTML")
	image := filepath.Join(dir, "image")
	for path, content := range map[string]string{page: "<p>", image: "\x89PNG\r\n\x1a\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	peer := testkit.ListenPeer(t, testkit.Routes(map[string]testkit.Answer{
		cardPath:               card(dedupesAndChooses),
		"SendStreamingMessage": testkit.Events(asTask(completed)),
	}))
	status, _, stderr := run(t, "", "send", peer.URL, "two", "words", "--file", page, "--file", image, "--data", ` { "a" : 1 } `,
		"--skill", "s", "--task", "t-1", "--context", "c-1", "--message-id", "m-1", "--header", "X-One: 1", "--header", "X-One: 2")
	if status != 0 {
		t.Fatalf("status %d:\n%s", status, stderr)
	}
	requests := peer.Requests()
	sent := requests[len(requests)-1]
	want := `{"message":{"messageId":"m-1","contextId":"c-1","taskId":"t-1","role":"ROLE_USER","parts":[` +
		`{"text":"two words"},` +
		`{"raw":"PHA+","filename":"page.HTML","mediaType":"text/html"},` +
		`{"raw":"iVBORw0KGgo=","filename":"image","mediaType":"image/png"},` +
		`{"data":{"a":1},"mediaType":"application/json"}],` +
		`"metadata":{"urn:legation:skill:v1":{"skillId":"s"}},"extensions":["urn:legation:skill:v1"]}}`
	if diff := cmp.Diff(want, sent.Params); diff != "" {
		t.Errorf("params (-want +got):\n%s", diff)
	}
	if got := sent.Header.Get("A2A-Extensions"); got != "urn:legation:skill:v1" {
		t.Errorf("A2A-Extensions = %q", got)
	}
	for _, r := range requests {
		if diff := cmp.Diff([]string{"1", "2"}, r.Header["X-One"]); diff != "" {
			t.Errorf("%s: X-One (-want +got):\n%s", r.Target, diff)
		}
	}
}

func TestTooMuchInput(t *testing.T) {
	peer := testkit.ListenPeer(t, testkit.Routes(peers["said"]))
	status, _, stderr := run(t, strings.Repeat("x", 4<<20+1), "send", peer.URL, "-")
	if status != 1 {
		t.Errorf("status %d, want 1", status)
	}
	wantIn(t, stderr, "standard input: more than 4 MiB")
	status, _, stderr = run(t, "caf\xe9", "send", peer.URL, "-")
	if status != 1 {
		t.Errorf("status %d, want 1", status)
	}
	wantIn(t, stderr, "is not UTF-8 text; send it with --file")
	many := []string{"send", peer.URL}
	for range 17 {
		many = append(many, "--data", "1")
	}
	if status, _, stderr := run(t, "", many...); status != 2 || !strings.Contains(stderr, "at most 16") {
		t.Errorf("status %d, want 2:\n%s", status, stderr)
	}
	if got := peer.Requests(); len(got) != 0 {
		t.Errorf("%d requests were sent, want none", len(got))
	}
}

// Ctrl-C before the agent has answered leaves open whether it took the message.
func TestInterruptedBeforeTheAnswer(t *testing.T) {
	interrupts := func(after testkit.Answer) testkit.Answer {
		return func(w *testkit.Wire, r *testkit.Request) {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Signal(os.Interrupt)
			}
			if err != nil {
				t.Errorf("send the signal: %v", err)
			}
			after(w, r)
		}
	}
	tests := []struct {
		name   string
		routes map[string]testkit.Answer
		want   []string
	}{
		{
			"sending, the agent recognises repeats",
			map[string]testkit.Answer{cardPath: card(dedupes), "SendStreamingMessage": interrupts(testkit.Hang())},
			[]string{"It is unknown whether it took the message.", "this is safe: legation send", "--message-id"},
		},
		{
			"sending, nothing is promised",
			map[string]testkit.Answer{cardPath: card(silentStream), "SendMessage": interrupts(testkit.Hang())},
			[]string{"It is unknown whether it took the message.", "look whether there is a task"},
		},
		{
			"reading the card",
			map[string]testkit.Answer{cardPath: interrupts(testkit.Hang())},
			[]string{"no agent card"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			peer := testkit.ListenPeer(t, testkit.Routes(tt.routes))
			status, stdout, stderr := run(t, "", "send", peer.URL, "hello")
			if status != 130 || stdout != "" {
				t.Errorf("status %d, stdout %q, want 130 and nothing", status, stdout)
			}
			wantIn(t, stderr, tt.want...)
		})
	}
}

// While standard input is awaited Ctrl-C ends the command.
func TestInterruptedWhileReading(t *testing.T) {
	input, output := io.Pipe()
	defer output.Close()
	var stderr bytes.Buffer
	reading := readerFunc(func(b []byte) (int, error) {
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			self.Signal(os.Interrupt)
		}
		return input.Read(b)
	})
	if status := cli.Main([]string{"send", "http://127.0.0.1:1", "-"}, reading, io.Discard, &stderr); status != 130 {
		t.Errorf("status %d, want 130:\n%s", status, &stderr)
	}
	wantIn(t, stderr.String(), "Interrupted. Nothing was sent.")
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// REQ-SEC-05: each check of a certificate that fails is named, with a way out.
func TestCertificates(t *testing.T) {
	good := certify(t, time.Now().Add(time.Hour), "127.0.0.1")
	tests := []struct {
		name string
		cert tls.Certificate
		host string
		args []string
		want string
	}{
		{"unknown authority", good, "127.0.0.1", nil, "name its certificate with --ca FILE"},
		{"wrong name", good, "localhost", []string{"--ca", pemFile(t, good)}, "it would be right for: 127.0.0.1"},
		{"expired", certify(t, time.Now().Add(-time.Minute), "127.0.0.1"), "127.0.0.1", nil, ""},
	}
	tests[2].args, tests[2].want = []string{"--ca", pemFile(t, tests[2].cert)}, "the certificate has expired"
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, _, stderr := run(t, "", slices.Concat([]string{"card", "show", serveTLS(t, tt.cert, tt.host)}, tt.args)...)
			if status != 1 {
				t.Errorf("status %d, want 1", status)
			}
			wantIn(t, stderr, "legation: hint: ", tt.want)
		})
	}
	t.Run("trusted", func(t *testing.T) {
		// The server is no agent, which is found out behind the handshake.
		_, _, stderr := run(t, "", "card", "show", serveTLS(t, good, "127.0.0.1"), "--ca", pemFile(t, good))
		wantIn(t, stderr, "HTTP 418")
	})
	t.Run("no TLS", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		plain := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
		go plain.Serve(listener)
		t.Cleanup(func() { plain.Close() })
		_, _, stderr := run(t, "", "card", "show", "https://"+listener.Addr().String())
		wantIn(t, stderr, "try http:// instead of https://")
	})
}

func serveTLS(t *testing.T, cert tls.Certificate, host string) string {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	return "https://" + net.JoinHostPort(host, strconv.Itoa(server.Listener.Addr().(*net.TCPAddr).Port))
}

// certify makes a certificate that is its own authority.
func certify(t *testing.T, until time.Time, ip string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: until.Add(-2 * time.Hour), NotAfter: until,
		IPAddresses: []net.IP{net.ParseIP(ip)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func pemFile(t *testing.T, cert tls.Certificate) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
