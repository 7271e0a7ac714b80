package bombs

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/extent"
)

// What docs/offline.md promises of the resident memory of the whole process.
const (
	promised  = 300_000_000
	perObject = 1_000
)

// program is the program that TestMain builds.
var program string

func TestMain(m *testing.M) {
	os.Exit(run(m)) //nolint:forbidigo // TestMain has to
}

func run(m *testing.M) int {
	// Linux counts the memory of a process from that of the one that starts it: this one
	// has to stay small, however busy the machine is.
	debug.SetGCPercent(50)
	debug.SetMemoryLimit(promised / 2)
	dir, err := os.MkdirTemp("", "bombs")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program = filepath.Join(dir, "kubectl-gc")
	build := exec.Command("go", "build", "-o", program, "../../cmd/kubectl-gc")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v: %s", err, out)
		return 1
	}
	return m.Run()
}

// bomb is one input and what has to become of it.
type bomb struct {
	name string
	// write writes the input; where it is nil, make lays out a directory.
	write func(io.Writer)
	make  func(t *testing.T, dir string)
	// args are the command; empty for `snapshot`, which reads and writes everything.
	args []string
	// behind are arguments after the input.
	behind []string
	// stdin gives the input on standard input.
	stdin bool
	// objects is how many objects the input holds: they may take memory, too. Where it
	// is not read to its end, the error says how many it was.
	objects int
	// each is how much memory an object may take; 0 for what docs/offline.md promises.
	each int
	// backup tells that the input is an argument, and no dump.
	backup bool
	// long is a bomb that is only tried when all are: it takes long, and others are of its
	// kind.
	long bool
	// want is in the error; empty where the input is merely large, and read.
	want string
	// nameless is an error about all inputs together.
	nameless bool
}

// try runs the program on a bomb and checks what it took and what it said.
func (b *bomb) try(t *testing.T) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dump")
	if b.write != nil {
		writeFile(t, path, b.write)
	} else {
		b.make(t, path)
	}
	args := b.args
	if args == nil {
		args = []string{"snapshot", "--to", "-", "--compression", "none"}
	}
	from := path
	if b.stdin {
		from = "-"
	}
	input := []string{"--from", from}
	if b.backup {
		input = []string{path}
	}
	said, peak := child(t, slices.Concat(args, input, b.behind), path, b.stdin)
	t.Logf("%d MB: %.300s", peak/1_000_000, said)
	objects := b.objects
	if m := readSoFar.FindStringSubmatch(said); m != nil {
		objects, _ = strconv.Atoi(m[1])
	}
	if most := promised + objects*cmp.Or(b.each, perObject); peak > most {
		t.Errorf("the process took %d MB, want at most %d MB", peak/1_000_000, most/1_000_000)
	}
	if b.want == "" {
		if strings.Contains(said, "error") {
			t.Errorf("it was not read: %.600s", said)
		}
		return
	}
	line := ""
	for l := range strings.Lines(said) {
		if strings.HasPrefix(l, "error") || strings.HasPrefix(l, "Error") {
			line = l
		}
	}
	if b.backup {
		line = said // it lists what is damaged
	}
	if !strings.Contains(line, b.want) || !b.nameless && !strings.Contains(line, shown(from)) {
		t.Errorf("it says\n\t%.600s\nwant an error that names %s and says %q", said, shown(from), b.want)
	}
}

// readSoFar is how many objects were read when memory ran out.
var readSoFar = regexp.MustCompile(`for each of ([0-9]+) objects`)

// shown is how a message names what is read.
func shown(from string) string {
	if from == "-" {
		return "standard input"
	}
	return from
}

// child runs the program to its end. It returns the start of what it says on standard
// error, and the peak of its resident memory in bytes.
func child(t *testing.T, args []string, path string, stdin bool) (said string, peak int) {
	t.Helper()
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), "KUBECONFIG=/nowhere", "GOMEMLIMIT=", "GOGC=")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if stdin {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		c.Stdin = f
	}
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("the resources that a process used cannot be told here")
	}
	return stderr.String(), int(usage.Maxrss) * 1024
}

// writeFile writes a file through a generator, which may go on forever: nothing of it
// is held.
func writeFile(t *testing.T, path string, write func(io.Writer)) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	write(w)
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// put writes text; the buffered writer behind it remembers what fails.
func put(w io.Writer, text string) { _, _ = io.WriteString(w, text) }

// times writes text over and over until it makes so many bytes.
func times(w io.Writer, text string, size int) {
	block := strings.Repeat(text, max(1, (64<<10)/len(text)))
	for n := 0; n < size; n += len(block) {
		put(w, block)
	}
}

// counted writes n pieces with their numbers.
func counted(w io.Writer, n int, format string) {
	for i := range n {
		fmt.Fprintf(w, format, i)
	}
}

const mib = 1 << 20

// large is so many bytes when everything is tried, and otherwise what takes any reader
// that holds it above the bound just as well.
func large(bytes int) int { return extent.Of(max(bytes/5, 100*mib), bytes) }

// many is so many pieces when everything is tried, and otherwise a tenth.
func many(pieces int) int { return extent.Of(pieces/10, pieces) }

// tryAll tries what is chosen of a table.
func tryAll(t *testing.T, bombs []bomb) {
	t.Helper()
	all := len(bombs)
	if !extent.All() {
		bombs = slices.DeleteFunc(bombs, func(b bomb) bool { return b.long })
	}
	t.Logf("%d of %d bombs; make bombs tries all", len(bombs), all)
	for _, b := range bombs {
		t.Run(b.name, b.try)
	}
}
