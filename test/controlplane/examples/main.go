// Command examples makes the files in examples/ from a real control plane: API
// server and controllers do what they do for everybody, story.go says what users,
// an operator and kubelets do, and kubectl writes down what is there. What differs
// from run to run, such as uids and times, is then written the same way each time.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

func main() {
	to := flag.String("to", "../../examples", "folder to write to")
	flag.Parse()
	if err := write(context.Background(), *to); err != nil {
		fmt.Fprintln(os.Stderr, "examples:", err)
		os.Exit(1)
	}
}

// write makes all the files, or none.
func write(ctx context.Context, dir string) error {
	files, err := generate(ctx, func(*stage) error { return nil })
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// file is a file to write.
type file struct {
	name string
	text []byte
}

// generate tells the story to a control plane of its own and returns what was
// dumped on the way. What comes after the story shows in no file.
func generate(ctx context.Context, after func(*stage) error) (files []file, err error) {
	c, err := cluster.Start(cluster.Admission("ServiceAccount"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	s := &stage{Cluster: c, listed: map[bool][]string{}}
	if err := s.play(ctx); err != nil {
		return nil, err
	}
	if err := after(s); err != nil {
		return nil, err
	}
	local, err := s.local()
	if err != nil {
		return nil, err
	}
	if err := normalise(s.dumps, s.timeline, local); err != nil {
		return nil, err
	}
	for _, d := range s.dumps {
		if d.file == "" {
			continue
		}
		text, err := d.text()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.file, err)
		}
		files = append(files, file{name: d.file, text: text})
	}
	return files, nil
}
