package pages

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/docs/markdown"
)

// session is a reader of one page: a bash at a terminal of its own, in a copy of the
// repository, with nobody's home directory.
type session struct {
	t *testing.T
	// dir is the copy of the repository, home the home directory and temporary what
	// the page means by /tmp.
	dir, home, temporary string
	terminal             *os.File
	commands             *os.File
	shown                chan []byte
	bash                 *exec.Cmd
}

// mark stands around an exit code. Nothing of ours prints it, since control characters
// are escaped.
const mark = "\x1e"

// loop runs commands as they come, all in one shell: a command sees the variables and
// the exit code of the ones before it.
const loop = `while IFS= read -r -d '' __step <&3; do
  (exit "$__code")
  eval "$__step" 3<&-
  __code=$?
  printf '` + mark + `%d` + mark + `' "$__code"
done`

// sit makes a reader.
func sit(t *testing.T) *session {
	t.Helper()
	s := &session{t: t, dir: filepath.Join(t.TempDir(), "kubectl-gc"), home: t.TempDir(), temporary: t.TempDir(), shown: make(chan []byte)}
	if err := markdown.Copy(root, s.dir); err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.commands = write
	s.bash = exec.Command("bash", "-c", loop)
	s.bash.Dir, s.bash.Env = s.dir, s.environment()
	s.bash.ExtraFiles = []*os.File{read}
	if s.terminal, err = pty.Start(s.bash); err != nil {
		t.Fatal(err)
	}
	_ = read.Close() // bash has its own
	go s.watch()
	t.Cleanup(s.leave)
	return s
}

func (s *session) environment() []string {
	return []string{
		"PATH=" + programs + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"HOME=" + s.home, "XDG_STATE_HOME=" + filepath.Join(s.home, ".local", "state"), "TMPDIR=" + s.temporary,
		"KUBECONFIG=" + plane.Kubeconfig, "STAGE=" + absolute(s.t, filepath.Join("testdata", strings.TrimPrefix(s.t.Name(), "TestPages/"))), "OBJECTS=" + absolute(s.t, "testdata/objects"),
		"LC_ALL=C.UTF-8", "TZ=UTC", "TERM=dumb", "NO_COLOR=1", "__code=0",
		// A repository is one that a page has made, never one that the copy happens to be in.
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(s.dir), "GIT_CONFIG_GLOBAL=" + filepath.Join(s.home, ".gitconfig"),
		// Each of these programs lives for a moment.
		"GOGC=400",
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// watch passes on what the terminal shows, until nobody has it open any more.
func (s *session) watch() {
	defer close(s.shown)
	for {
		text := make([]byte, 1<<14)
		n, err := s.terminal.Read(text)
		if n > 0 {
			s.shown <- text[:n]
		}
		if err != nil {
			return
		}
	}
}

// leave ends the shell, and with the terminal whatever runs on it.
func (s *session) leave() {
	_ = s.commands.Close() // the end of the commands is the end of the shell
	_ = s.bash.Process.Kill()
	_ = s.bash.Wait() // with the error of a kill
	go func() {
		for range s.shown { //nolint:revive // what is shown now is looked at by nobody
		}
	}()
	_ = s.terminal.Close()
}

// questions are what our commands ask a person, and what somebody says who means it.
var questions = []struct {
	form   *regexp.Regexp
	answer string
}{
	{regexp.MustCompile(`Type the name of the context \((\S+)\) to [^\n]*: $`), "$1"},
}

// result is what a terminal shows of a command, and its exit code.
type result struct {
	output string
	code   int
}

// interruption is when somebody types Ctrl-C: when a command has printed a text, and
// then something has come true.
type interruption struct {
	printed string
	true    func() error
}

// run runs one command. What it asks is answered.
func (s *session) run(command string, end *interruption) (result, error) {
	if _, err := s.commands.WriteString(command + "\x00"); err != nil {
		return result{}, err
	}
	var all bytes.Buffer
	interrupt := make(chan error, 1)
	late := time.NewTimer(cluster.Patience)
	defer late.Stop()
	for {
		typed := ""
		select {
		case text, ok := <-s.shown:
			if !ok {
				return result{}, fmt.Errorf("the shell has ended:\n%s", all.String())
			}
			all.Write(text)
			typed = reply(all.String())
		case err := <-interrupt:
			if err != nil {
				return result{}, fmt.Errorf("%w\n%s", err, all.String())
			}
			typed = "\x03"
		case <-late.C:
			return result{}, fmt.Errorf("it does not end:\n%s", all.String())
		}
		output := strings.ReplaceAll(all.String(), "\r\n", "\n")
		if parts := strings.Split(output, mark); len(parts) == 3 {
			code, err := strconv.Atoi(parts[1])
			return result{parts[0], code}, err
		}
		if end != nil && strings.Contains(output, end.printed) {
			go func(holds func() error) { interrupt <- holds() }(end.true)
			end = nil
		}
		if _, err := s.terminal.WriteString(typed); err != nil {
			return result{}, err
		}
	}
}

// reply is what somebody types who reads this last.
func reply(text string) string {
	for _, q := range questions {
		if at := q.form.FindStringSubmatchIndex(text); at != nil {
			return string(q.form.ExpandString(nil, q.answer, text, at)) + "\n"
		}
	}
	return ""
}
