package cli_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
)

// update redraws the pictures of the documentation.
var update = flag.Bool("update", false, "draw docs/pictures anew")

// shownPicture matches a command line, and below it the picture that it draws.
var shownPicture = regexp.MustCompile("(?m)^(kubectl gc .* -o svg .*)\n```\n\n!\\[[^]]+\\]\\((pictures/[a-z]+\\.svg)\\)$")

// TestShownPictures compares the pictures of the documentation with the output of the commands
// above them; -update redraws them.
func TestShownPictures(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("LC_ALL", "C.UTF-8")
	page, err := os.ReadFile("docs/pictures.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, m := range shownPicture.FindAllStringSubmatch(string(page), -1) {
		name := filepath.Join("docs", m[2])
		shown[name] = true
		drawn := draws(t, m[1])
		if *update {
			if err := os.WriteFile(name, []byte(drawn), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		have, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != drawn {
			t.Errorf("%s is not what %q draws; -update draws it anew, look at it", name, m[1])
		}
	}
	files, err := filepath.Glob("docs/pictures/*.svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if !shown[name] {
			t.Errorf("docs/pictures.md does not show %s", name)
		}
	}
	if len(shown) < 4 {
		t.Errorf("only %d pictures are shown", len(shown))
	}
}

// draws returns the output of a command line without quotes.
func draws(t *testing.T, line string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut}
	args := append([]string{"kubectl-gc"}, strings.Fields(strings.TrimPrefix(line, "kubectl gc "))...)
	if code := cli.Main(t.Context(), args, streams); code == 1 || code == 2 {
		t.Fatalf("%s: exit code %d: %s", line, code, errOut.String())
	}
	return out.String()
}
