package kept

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Key encrypts a history: 32 bytes for AES-256-GCM. Nil is for none.
type Key []byte

const keySize = 32

var (
	errWrongKey = errors.New("it was encrypted with another key")
	errNoKey    = errors.New("it is encrypted: give its key with --history-key")
)

// ReadKey reads a key from a file with 32 bytes, or with these as base64. An empty name is for
// none.
func ReadKey(name string) (Key, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, 4*keySize))
	if err != nil {
		return nil, err
	}
	if len(text) == keySize {
		return text, nil
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("%s: a key has 32 bytes, or these as base64: openssl rand -base64 32 makes one", name)
	}
	return key, nil
}
