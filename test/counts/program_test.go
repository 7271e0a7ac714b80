package counts

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/extent"
)

const module = "github.com/kubectl-gc/kubectl-gc/"

// program is the program with counters, covdata the tool that reads them, and goroot where the
// source of the standard library is.
var program, covdata, goroot string

func TestMain(m *testing.M) {
	os.Exit(run(m)) //nolint:forbidigo // TestMain has to
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "counts")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "kubectl-gc")
	packages := module + "..."
	if extent.All() { // loops of these are hidden in one call; with them everything that is linked is compiled anew
		packages += ",slices,maps,sort"
	}
	build := exec.Command("go", "build", "-cover", "-covermode=count", "-coverpkg="+packages, "-o", program, "./cmd/kubectl-gc")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %s", err, out)
		return 1
	}
	for to, args := range map[*string][]string{&covdata: {"tool", "-n", "covdata"}, &goroot: {"env", "GOROOT"}} {
		out, err := exec.Command("go", args...).Output()
		if err != nil {
			fmt.Fprintln(os.Stderr, "go", args, err)
			return 1
		}
		*to = strings.TrimSpace(string(out))
	}
	return m.Run()
}

// counts are the executed statements by the block they are in: `FILE:LINE.COLUMN,LINE.COLUMN`.
type counts map[string]int

// executed runs a command on a cluster in a file, and counts.
func executed(t *testing.T, command []string, file string) counts {
	t.Helper()
	dir := t.TempDir()
	args := slices.Clone(command)
	if args[0] == "__complete" { // what is completed comes last
		args = slices.Insert(args, len(args)-1, "--from", file)
	} else {
		args = append(args, "--from", file)
	}
	c := exec.CommandContext(t.Context(), program, args...)
	c.Env = append(os.Environ(), "GOCOVERDIR="+dir, "KUBECONFIG="+filepath.Join(dir, "none"))
	var complaint bytes.Buffer
	c.Stderr = &complaint
	var exit *exec.ExitError
	if err := c.Run(); err != nil && (!errors.As(err, &exit) || exit.ExitCode() <= 2) { // the other codes are answers
		t.Fatalf("%q: %v: %s", command, err, complaint.String())
	}
	profile := filepath.Join(dir, "profile")
	if out, err := exec.CommandContext(t.Context(), covdata, "textfmt", "-i="+dir, "-o="+profile).CombinedOutput(); err != nil {
		t.Fatalf("covdata: %v: %s", err, out)
	}
	read, err := readProfile(profile)
	if err != nil {
		t.Fatalf("%q: %v", command, err)
	}
	return read
}

// readProfile reads the lines `BLOCK STATEMENTS COUNT` of a profile.
func readProfile(file string) (counts, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	read := counts{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) != 3 {
			continue // the first line
		}
		statements, err := strconv.Atoi(words[1])
		if err != nil {
			return nil, err
		}
		count, err := strconv.Atoi(words[2])
		if err != nil {
			return nil, err
		}
		if count > 0 {
			read[words[0]] += statements * count
		}
	}
	if len(read) == 0 {
		return nil, fmt.Errorf("nothing was counted: %w", lines.Err())
	}
	return read, lines.Err()
}
