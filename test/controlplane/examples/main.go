// Command examples makes the files in examples/ from a real control plane: API
// server and controllers do what they do for everybody, story.go says what users,
// an operator and kubelets do, and kubectl writes down what is there. What differs
// from run to run, such as uids and times, is then written the same way each time.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

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

// dump is what one `kubectl get … -o yaml` printed.
type dump struct {
	file    string // empty if it is not shown to anybody
	heading string
	chapter int // the last one when it was taken
	list    map[string]any
}

// dump keeps what is there: all that is served, or all that is in a namespace and
// what stands around it.
func (s *stage) dump(ctx context.Context, name, heading, namespace string) error {
	text, err := s.everything(ctx, namespace)
	if err != nil {
		return err
	}
	d := &dump{file: name, heading: heading, chapter: len(s.timeline.chapters) - 1}
	if err := yaml.Unmarshal(text, &d.list); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	again, err := yaml.Marshal(d.list)
	if err != nil {
		return err
	}
	if !bytes.Equal(again, text) {
		return fmt.Errorf("%s: what kubectl printed cannot be written as it was", name)
	}
	s.dumps = append(s.dumps, d)
	return nil
}

// everything is what kubectl writes down of a namespace and what stands around it,
// or of everything.
func (s *stage) everything(ctx context.Context, namespace string) ([]byte, error) {
	resources, err := s.resources(ctx, namespace != "")
	if err != nil {
		return nil, err
	}
	where := []string{"-A"}
	if namespace != "" {
		where = []string{"-n", namespace}
		resources = append([]string{"namespaces", "persistentvolumes", "customresourcedefinitions"}, resources...)
	}
	return s.Kubectl(ctx, nil, append([]string{"get", strings.Join(resources, ","), "-o", "yaml"}, where...)...)
}

// resources are the names of what can be listed. Events are passed over: nobody
// owns them and they own nobody. So are the states of components, which are no
// objects.
func (s *stage) resources(ctx context.Context, namespaced bool) ([]string, error) {
	arguments := []string{"api-resources", "--verbs=list", "-o", "name"}
	if namespaced {
		arguments = append(arguments, "--namespaced")
	}
	if s.listed[namespaced] != nil {
		return s.listed[namespaced], nil
	}
	text, err := s.Kubectl(ctx, nil, arguments...)
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(strings.Fields(string(text)), func(name string) bool {
		return name == "events" || strings.HasPrefix(name, "events.") || name == "componentstatuses"
	})
	slices.Sort(names)
	if len(names) == 0 {
		return nil, errors.New("nothing can be listed")
	}
	s.listed[namespaced] = names
	return names, nil
}

// items are the objects of a dump.
func (d *dump) items() []map[string]any {
	list, _ := d.list["items"].([]any)
	items := make([]map[string]any, len(list))
	for i, item := range list {
		items[i], _ = item.(map[string]any)
	}
	return items
}

// text is the dump as kubectl would print it, below a heading.
func (d *dump) text() ([]byte, error) {
	text, err := yaml.Marshal(d.list)
	if err != nil {
		return nil, err
	}
	return append([]byte("# "+d.heading+" Made by `make examples`; see README.md.\n"), text...), nil
}
