// Package programs runs tests that need programs which not every machine has, such as a
// browser. Where one is missing nothing runs, nothing fails, and nobody is left to
// believe otherwise: the closing lines of `make test-cluster` say what did not run. A machine
// that decides about changes (CI=true) has to have them.
package programs

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// NotRun begins a line that hack/summary repeats at its end.
const NotRun = "NOT RUN: "

// Main runs the tests of a package, and returns the code to exit with. What names the
// tests, programs are what they call, and prepare makes ready what they share.
func Main(m *testing.M, what string, programs []string, prepare func() error) int {
	if err := ready(programs, prepare); err != nil {
		fmt.Fprintf(os.Stdout, "%s%s: %s\n", NotRun, what, strings.Join(strings.Fields(err.Error()), " "))
		if os.Getenv("CI") == "true" {
			return 1
		}
		return 0
	}
	return m.Run()
}

func ready(programs []string, prepare func() error) error {
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("there is no %s on this machine", name)
		}
	}
	return prepare()
}

// InstallPackages installs what the lock file of a directory names.
func InstallPackages(dir string) error {
	c := exec.Command("npm", "ci", "--prefer-offline", "--fetch-retries=1", "--no-audit", "--no-fund")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w: %s", err, out)
	}
	return nil
}
