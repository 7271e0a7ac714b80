package claims

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// real.txt and the tests have to say the same; what one says alone is named.
func TestCheck(t *testing.T) {
	const test = "package p\n\n// Does this.\n//\n// Shows: S001, S002\nfunc TestIt(t *testing.T) {\n\t// Shows: S003.\n}\n"
	for _, c := range []struct{ name, real, tests, want, err string }{
		{"same", "S001 word test/controlplane/p/a_test.go\nS002 word test/controlplane/p/a_test.go\n" +
			"S003 word test/controlplane/p/a_test.go\nS003 other x\nS004 not: word\n", test, "", ""},
		{"different", "S001 word test/controlplane/p/a_test.go\nS002 word test/controlplane/p/b_test.go\n" +
			"S003 word test/controlplane/p/a_test.go\n", test,
			"- S002 word test/controlplane/p/b_test.go\n+ S002 word test/controlplane/p/a_test.go\n", ""},
		{"not at a test", "", "package p\n\n// Shows: S001\nvar x int\n", "", "a_test.go:3:1: \"// Shows: S001\" does not stand at a test"},
		{"not Go", "", "package", "", "a_test.go:1:8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "p")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{filepath.Join(dir, "a_test.go"): c.tests, filepath.Join(dir, File): c.real} {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			wrong, err := check(dir, "word")
			if wrong != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", wrong, c.want)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
}
