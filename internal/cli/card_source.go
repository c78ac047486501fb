package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/legation/legation/card"
)

// cardSource is where a command gets a card: a file, standard input, or an
// agent.
type cardSource struct {
	remote remote
	typed  string
}

const cardSourceText = `The card is a file, - for standard input, or the URL of an agent or of its card.`

func (s *cardSource) flags(cmd *cobra.Command) { s.remote.flags(cmd, askTimeout) }

// read returns the card byte for byte.
func (s *cardSource) read(ctx context.Context, io streams) ([]byte, error) {
	if !strings.HasPrefix(s.typed, "http://") && !strings.HasPrefix(s.typed, "https://") {
		return readCardFile(ctx, io, s.typed)
	}
	s.remote.url = s.typed
	ctx, cancel := s.remote.limit(ctx)
	defer cancel()
	read, cfg, err := s.remote.card(ctx)
	if err != nil {
		return nil, err
	}
	defer cfg.Guard.Close()
	return read.Raw, nil
}

// readCardFile reads the file of a card, or standard input for -.
func readCardFile(ctx context.Context, io streams, path string) ([]byte, error) {
	if path != "-" {
		// A pipe that nobody writes to would be waited for, and nothing ends that.
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is not a file; write - to read standard input", line(path, maxName))
		}
		return readFile(path, card.MaxBytes)
	}
	content, err := readInput(ctx, io.in, card.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	return content, nil
}

// aboutFile says which file an error of the card package is about.
func aboutFile(path string, err error) error {
	if path == "-" {
		path = "standard input"
	}
	return fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "card: "))
}

// readPrivateKey reads a key that signs.
func readPrivateKey(path string) (*card.PrivateKey, error) {
	text, err := readFile(path, card.MaxBytes)
	if err != nil {
		return nil, err
	}
	key, err := card.ParsePrivateKey(text)
	if err != nil {
		return nil, aboutFile(path, err)
	}
	return key, nil
}

// writeSecret writes a file that only its owner can read, and that was not
// there before.
func writeSecret(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(path) // half a key is none
	}
	return err
}
