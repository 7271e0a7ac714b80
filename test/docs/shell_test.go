package docs

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/docs/markdown"
)

// shell runs what a page shows, in a copy of what a reader has before them. There
// is no cluster, no network and no kubeconfig in it.
type shell struct {
	// dir is the copy of the repository, home what the user owns beside it.
	dir, home string
	path      string
}

// machine are the programs that pages may use on any machine. A page that needs
// another one says so with a marker.
var machine = []string{
	"awk", "base64", "basename", "bash", "cat", "column", "cp", "cut", "date", "diff", "dirname", "echo", "env", "false", "find",
	"grep", "gzip", "head", "ls", "mkdir", "mktemp", "mv", "paste", "printf", "rm", "sed", "sh", "sleep", "sort", "tail", "tar",
	"tee", "test", "tr", "true", "uniq", "wc", "xargs",
}

// ours are the programs that TestMain makes.
var ours = []string{"kubectl-gc", "kubectl", "go", "jq"}

func newShell(t *testing.T) shell {
	t.Helper()
	s := shell{dir: filepath.Join(t.TempDir(), "kubectl-gc"), home: t.TempDir(), path: t.TempDir()}
	for _, name := range machine {
		// Not every machine has all of them; a page that uses one has to.
		if file, err := exec.LookPath(name); err == nil {
			link(t, file, filepath.Join(s.path, name))
		}
	}
	for _, name := range ours {
		file, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		link(t, file, filepath.Join(s.path, name))
	}
	if err := markdown.Copy(root, s.dir); err != nil {
		t.Fatal(err)
	}
	return s
}

func link(t *testing.T, file, name string) {
	t.Helper()
	if err := os.Symlink(file, name); err != nil {
		t.Fatal(err)
	}
}

// result is what a terminal shows of a command, and its exit code.
type result struct {
	output string
	code   int
}

// mark stands in front of an exit code. No output of ours has it, since control
// characters are escaped.
const mark = "\x1e"

// run runs the steps of one block one after the other in one shell. Where a page
// says /tmp it means a place of its own.
func (s shell) run(t *testing.T, language string, steps []markdown.Step) []result {
	t.Helper()
	name := "sh"
	if language == "bash" {
		name = "bash"
	}
	temporary := filepath.Join(s.home, "tmp")
	if err := os.MkdirAll(temporary, 0o755); err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, step := range steps {
		// The next step sees the exit code of this one, as it does at a prompt.
		fmt.Fprintf(&script, "%s\n__code=$?; printf '%s%%d%s' \"$__code\"; (exit \"$__code\")\n",
			strings.ReplaceAll(step.Text, "/tmp/", temporary+"/"), mark, mark)
	}
	var out bytes.Buffer
	c := exec.CommandContext(t.Context(), name, "-c", script.String())
	c.Dir, c.Stdout, c.Stderr = s.dir, &out, &out
	c.Env = []string{
		"PATH=" + s.path, "HOME=" + s.home, "TMPDIR=" + temporary, "KUBECONFIG=" + filepath.Join(s.home, "no-kubeconfig"),
		"LC_ALL=C.UTF-8", "TZ=UTC", "TERM=dumb",
	}
	// The code of the last step is in the output, like all the others.
	runErr := c.Run()
	parts := strings.Split(strings.ReplaceAll(out.String(), temporary+"/", "/tmp/"), mark)
	if len(parts) != 2*len(steps)+1 {
		t.Fatalf("the shell ended within the block (%v):\n%s", runErr, out.String())
	}
	results := make([]result, len(steps))
	for i := range steps {
		code, err := strconv.Atoi(parts[2*i+1])
		if err != nil {
			t.Fatal(err)
		}
		results[i] = result{parts[2*i], code}
	}
	return results
}

// answered reports whether the command did what it is there for. Findings, gaps and
// refusals (3, 4, 5) are answers of ours; failures are not.
func answered(s markdown.Step, code int) bool {
	if code == 0 {
		return true
	}
	for _, c := range s.Calls {
		if _, ours := c.OfProgram(); ours {
			return code >= 3 && code <= 5
		}
	}
	return false
}
