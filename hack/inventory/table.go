package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// row is one controller, or a part of a component that does the same.
type row struct {
	// component is the process; name is how that calls the controller, or in
	// parentheses what does not have a name.
	component, name string
	// upstream is the file of Kubernetes, or of the project that has it.
	upstream string
	// deletes, releases and makes say what it does to objects; empty for nothing.
	deletes, releases, makes string
	// files are where that is modelled. left says what of it is not, and why; of one
	// that does nothing, what it does instead.
	files []string
	left  string
}

// acts reports whether it deletes, releases or makes anything.
func (r row) acts() bool { return r.deletes+r.releases+r.makes != "" }

// header names the columns of the table.
const header = "component\tname\tupstream\tdeletes\treleases\tmakes\tmodelled\tnot modelled"

// parse reads the table. A dash stands for nothing.
func parse(text string) ([]row, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[0] != header {
		return nil, fmt.Errorf("line 1: %q are not the columns", lines[0])
	}
	var rows []row
	for i, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		if len(cells) != strings.Count(header, "\t")+1 {
			return nil, fmt.Errorf("line %d has %d columns", i+2, len(cells))
		}
		if slices.Contains(cells, "") {
			return nil, fmt.Errorf("line %d has an empty column: a dash stands for nothing", i+2)
		}
		for j, cell := range cells {
			cells[j] = strings.TrimPrefix(cell, "-")
		}
		r := row{component: cells[0], name: cells[1], upstream: cells[2], deletes: cells[3], releases: cells[4], makes: cells[5], left: cells[7]}
		if cells[6] != "" {
			r.files = strings.Split(cells[6], ", ")
		}
		if len(r.files) == 0 && r.left == "" {
			return nil, fmt.Errorf("line %d: %s is modelled nowhere, and nothing says why", i+2, r.name)
		}
		if !r.acts() && len(r.files) > 0 {
			return nil, fmt.Errorf("line %d: %s does nothing, and is modelled", i+2, r.name)
		}
		if slices.ContainsFunc(rows, func(o row) bool { return o.component == r.component && o.name == r.name }) {
			return nil, fmt.Errorf("line %d: %s is there twice", i+2, r.name)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// models is where the controllers of a simulated world are.
const models = "internal/apisim/controllers"

// modelled fails when the table names a file that is not there, or lacks one that has a
// controller.
func modelled(repository fs.FS, rows []row) error {
	named := map[string]bool{}
	for _, r := range rows {
		for _, file := range r.files {
			if _, err := fs.Stat(repository, file); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			named[file] = true
		}
	}
	files, err := fs.Glob(repository, path.Join(models, "*.go"))
	if err != nil || len(files) == 0 {
		return errors.Join(err, fmt.Errorf("%d files in %s", len(files), models))
	}
	for _, file := range files {
		text, err := fs.ReadFile(repository, file)
		if err != nil {
			return err
		}
		if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), ") Step(ctx context.Context") && !named[file] {
			return fmt.Errorf("%s has a controller that the table does not know", file)
		}
	}
	return nil
}
