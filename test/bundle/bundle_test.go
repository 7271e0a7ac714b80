// Package bundle checks that the script of the page is what its sources make.
package bundle

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/programs"
)

const sources = "../../internal/draw/web"

// built is a copy of the sources, with their packages installed.
var built string

func TestMain(m *testing.M) {
	var err error
	if built, err = os.MkdirTemp("", "kubectl-gc-bundle-"); err != nil {
		panic(err)
	}
	code := programs.Main(m, "the bundle of the page", []string{"node", "npm"}, func() error {
		if err := copySources(built); err != nil {
			return err
		}
		return programs.InstallPackages(built)
	})
	if err := os.RemoveAll(built); err != nil {
		panic(err)
	}
	os.Exit(code) //nolint:forbidigo // a TestMain may
}

// copySources copies all but what is made or installed.
func copySources(to string) error {
	for _, pattern := range []string{"*", ".npmrc", "src/*"} {
		names, err := filepath.Glob(filepath.Join(sources, pattern))
		if err != nil {
			return err
		}
		for _, name := range names {
			info, err := os.Stat(name)
			if err != nil {
				return err
			}
			if info.IsDir() {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			copied := filepath.Join(to, strings.TrimPrefix(name, sources))
			if err := os.MkdirAll(filepath.Dir(copied), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(copied, text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// The committed bundle is the one that its sources make, to the byte.
func TestBundleIsBuiltFromItsSources(t *testing.T) {
	run(t, "build")
	for _, name := range []string{"app.js", "app.css"} {
		want, err := os.ReadFile(filepath.Join(built, "dist", name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(sources, "dist", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want, got) {
			t.Errorf("web/dist/%s is not what its sources make: make web", name)
		}
	}
}

func TestTypes(t *testing.T) { run(t, "check") }

func run(t *testing.T, script string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "npm", "run", "--silent", script)
	c.Dir = built
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("npm run %s: %v\n%s", script, err, out)
	}
}
