package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/programs"
)

func TestMain(m *testing.M) {
	os.Exit(programs.Main(m, "the browser tests", []string{"chromium", "node", "npm"}, install)) //nolint:forbidigo // a TestMain may
}

// install installs Playwright, unless that was done for the same lock file.
func install() error {
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		return err
	}
	const installed = "node_modules/installed-lock.json"
	if done, err := os.ReadFile(installed); err == nil && bytes.Equal(done, lock) {
		return nil
	}
	if err := programs.InstallPackages("."); err != nil {
		return err
	}
	return os.WriteFile(installed, lock, 0o644)
}

// line is what reporter.mjs says of a test.
type line struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Why  string `json:"why"`
	Note string `json:"note"`
	// Took is in milliseconds.
	Took float64 `json:"took"`
}

func TestPage(t *testing.T) {
	dir := t.TempDir()
	if !t.Run("pages are written", func(t *testing.T) { writePages(t, dir) }) {
		return
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "node", "--test-reporter=./reporter.mjs", "--test-reporter-destination=stdout", "all.mjs")
	c.Env = append(os.Environ(), "PAGES="+dir, "CHROMIUM="+chromium)
	var errors bytes.Buffer
	c.Stderr = &errors
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ran, failed := tell(t, out)
	if err := c.Wait(); err != nil && !failed || ran == 0 {
		t.Errorf("%d tests ran: %v\n%s", ran, err, errors.String())
	}
}

// tell makes a Go test of each line.
func tell(t *testing.T, out interface{ Read([]byte) (int, error) }) (ran int, failed bool) {
	t.Helper()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Errorf("not a report of a test: %s", lines.Text())
			continue
		}
		if l.Name == "" {
			t.Log(l.Note)
			continue
		}
		ran++
		failed = failed || !l.OK
		t.Run(l.Name, func(t *testing.T) {
			t.Logf("%.0f ms", l.Took)
			if !l.OK {
				t.Error(l.Why)
			}
		})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return ran, failed
}
