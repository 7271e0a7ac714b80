package snapshot

import (
	"os"
	"strings"
	"testing"
)

// TestKindsOfXZ: a stream may have other kinds of checksums than the usual one, or none. Truncated
// anywhere, each is an error. Filters of xz for executables are refused by name.
func TestKindsOfXZ(t *testing.T) {
	for _, check := range []string{"none", "crc32", "sha256"} {
		content, err := os.ReadFile("testdata/packed/dump-" + check + ".tar.xz")
		if err != nil {
			t.Fatal(err)
		}
		if s, err := readBytes(content, Options{}); err != nil || len(s.Objects) != 1 || s.Objects[0].Name != "p" {
			t.Errorf("%s: %v, %v", check, s, err)
		}
		twice := append(append([]byte{}, content...), content...)
		if s, err := readBytes(twice, Options{}); err != nil || len(s.Objects) != 1 {
			t.Errorf("two streams with %s: %v", check, err)
		}
		for n := 8; n < len(content); n++ {
			if _, err := readBytes(content[:n], Options{}); err == nil || !strings.Contains(err.Error(), "standard input: ") {
				t.Errorf("%s, cut at %d of %d: %v", check, n, len(content), err)
			}
		}
		content[7] = 0x0d // a kind that is reserved
		if _, err := readBytes(content, Options{}); err == nil || !strings.Contains(err.Error(), "xz: ") {
			t.Errorf("%s as another kind: %v", check, err)
		}
	}
	content, err := os.ReadFile("testdata/packed/dump-x86.tar.xz")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readBytes(content, Options{}); err == nil || !strings.Contains(err.Error(), "standard input: xz: it has filters that are not read") {
		t.Errorf("%v", err)
	}
}
