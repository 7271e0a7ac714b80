// Command licences writes THIRD_PARTY_NOTICES: the licence of every module that is
// linked into the program, on any platform of a release. It fails when a module
// has no licence that it can name, or one that is not allowed. With -check it
// writes nothing and fails when the file is not what it would write.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const noticesFile = "THIRD_PARTY_NOTICES"

// platforms are those of a release; what is linked differs between them.
var platforms = []string{"linux/amd64", "linux/arm64", "linux/ppc64le", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

func main() {
	check := flag.Bool("check", false, "fail on a difference instead of writing")
	root := flag.String("C", "../..", "the root of the repository")
	flag.Parse()
	if err := run(context.Background(), *root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root string, check bool) error {
	modules, err := linked(ctx, root, "./cmd/kubectl-gc", platforms)
	if err != nil {
		return err
	}
	var found []notice
	var bad []string
	for _, m := range modules {
		n, err := noticeOf(m)
		if err != nil {
			bad = append(bad, err.Error())
			continue
		}
		found = append(found, n)
	}
	if bad != nil {
		return errors.New(strings.Join(bad, "\n"))
	}
	text, file := page(found), filepath.Join(root, noticesFile)
	if !check {
		return os.WriteFile(file, text, 0o644)
	}
	have, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, text) {
		return fmt.Errorf("%s is out of date: run make licences", noticesFile)
	}
	return nil
}
