package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// row is one controller, or a part of a component that acts like one.
type row struct {
	// component is the process. name is its name of the controller, or a description in
	// parentheses.
	component, name string
	// upstream is the file in Kubernetes, or in the project of the controller.
	upstream string
	// deletes, releases and makes are what it does to objects; empty for nothing.
	deletes, releases, makes string
	// files simulate it. left is what they leave out, and why. For a controller that does nothing
	// to objects, left is what it does instead.
	files []string
	left  string
}

// acts reports whether it deletes, releases or makes anything.
func (r row) acts() bool { return r.deletes+r.releases+r.makes != "" }

// header names the columns of the table.
const header = "component\tname\tupstream\tdeletes\treleases\tmakes\tmodelled\tnot modelled"

// parse reads the table. A dash is an empty column.
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
			return nil, fmt.Errorf("line %d has an empty column: write a dash", i+2)
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

// models is the directory of the simulated controllers.
const models = "internal/apisim/controllers"

// modelled returns an error if the table names a missing file, or lacks a file with a controller.
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
