package credential

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"
)

const (
	lookEvery = time.Second // at the files, however many connect
	maxFile   = 1 << 20     // bytes
)

// files are a certificate and its key, read again from time to time. Pairs that do
// not fit, as while one file is new and the other is not yet, are passed over as
// long as there is an earlier one.
type files struct {
	certificate, key string
	now              func() time.Time
	log              *slog.Logger

	mu     sync.Mutex
	pair   *tls.Certificate
	err    error // of the last reading
	looked time.Time
	count  int64 // of different certificates so far
}

func newFiles(certificate, key string, cfg Config) *files {
	return &files{certificate: certificate, key: key, now: cfg.Now, log: cfg.Logger}
}

// current is the certificate as the files have it now.
func (f *files) current() (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if since := now.Sub(f.looked); f.looked.IsZero() || since >= lookEvery || since < 0 {
		f.looked = now
		f.look()
	}
	if f.pair == nil {
		return nil, f.err
	}
	return f.pair, nil
}

// version counts the certificates that the files have had.
func (f *files) version() int64 {
	_, _ = f.current() // what is wrong with it shows when it is used
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

func (f *files) look() {
	certificate, err := readFile(f.certificate)
	if err != nil {
		f.failed(err)
		return
	}
	key, err := readFile(f.key)
	if err != nil {
		f.failed(err)
		return
	}
	defer clear(key)
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		f.failed(err)
		return
	}
	if f.pair == nil || !bytes.Equal(f.pair.Leaf.Raw, pair.Leaf.Raw) {
		f.count++
	}
	f.pair, f.err = &pair, nil
}

func (f *files) failed(err error) {
	if f.pair != nil && f.err == nil {
		f.log.Warn("the changed client certificate can not be read; the one before is shown", "file", f.certificate, "error", err)
	}
	f.err = err
}

// readFile reads a file that is one, and not longer than it may be.
func readFile(name string) ([]byte, error) {
	if info, err := os.Stat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", bounded(name))
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errors.New(bounded(name) + " is longer than 1 MiB")
	}
	return data, err
}
