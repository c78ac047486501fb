package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"
)

// certificate is read from files, and again when they have changed: a renewed
// certificate is served from the next handshake on. Pairs that do not fit, as
// while one file is new and the other is not yet, are passed over.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger
	every             time.Duration

	mu     sync.Mutex
	served *tls.Certificate
	files  stamp
	looked time.Time
}

// stamp tells the content of two files from an earlier one.
type stamp struct{ cert, key fileStamp }

type fileStamp struct {
	changed time.Time
	size    int64
}

// lookEvery bounds how often files are looked at, however many connect.
const lookEvery = time.Second

// loadTLS returns settings that serve the certificate in the files.
func loadTLS(certFile, keyFile string, always bool, log *slog.Logger) (*tls.Config, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log, every: lookEvery}
	if always {
		c.every = 0
	}
	if err := c.load(); err != nil {
		return nil, fmt.Errorf("certificate: %w; --tls-cert and --tls-key name PEM files, the certificate first and then its chain", err)
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current(), nil },
	}, nil
}

// load reads the files.
func (c *certificate) load() error {
	files, err := c.stat()
	if err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	c.files, c.looked = files, time.Now()
	if err != nil {
		return err
	}
	c.served = &pair
	return nil
}

func (c *certificate) stat() (s stamp, err error) {
	if s.cert, err = stampOf(c.certFile); err != nil {
		return s, err
	}
	s.key, err = stampOf(c.keyFile)
	return s, err
}

func stampOf(name string) (fileStamp, error) {
	info, err := os.Stat(name)
	if err != nil {
		return fileStamp{}, err
	}
	return fileStamp{changed: info.ModTime(), size: info.Size()}, nil
}

// current is the certificate to serve now.
func (c *certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < c.every {
		return c.served
	}
	c.looked = time.Now()
	files, err := c.stat()
	if err == nil && files == c.files {
		return c.served
	}
	if err == nil {
		err = c.load()
	}
	if err != nil {
		c.log.Warn("the changed certificate cannot be read; the one before is served", "error", err)
		return c.served
	}
	c.log.Info("certificate changed", "until", c.served.Leaf.NotAfter)
	return c.served
}

// strictTransport tells browsers and clients that heed it to come back over TLS
// only (RFC 6797).
func strictTransport(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS != nil {
			w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}
