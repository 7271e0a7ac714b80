package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// states in the order of the list: what needs a person comes first.
var states = []string{"gone", "moved", "changed", "new", "unchanged"}

// difference is what has become of one function of Kubernetes.
type difference struct {
	file, name, state string
	// to is where a function that has moved may be now.
	to []string
	// ours are the places that reproduce it.
	ours     []string
	old, new string
}

// compare says of everything that is marked what has become of it.
func compare(markers []marker, from, to release) ([]difference, error) {
	type key struct{ file, name string }
	ours := map[key][]string{}
	for _, m := range markers {
		for _, name := range m.names {
			k := key{m.file, name}
			ours[k] = append(ours[k], m.at)
		}
	}
	var list []difference
	for k, places := range ours {
		before, err := from.find(k.file, k.name)
		if err != nil {
			return nil, err
		}
		after, err := to.find(k.file, k.name)
		if err != nil {
			return nil, err
		}
		files := maps.Clone(before)
		maps.Copy(files, after)
		if len(files) == 0 {
			list = append(list, difference{file: k.file, name: k.name, state: "gone", ours: places})
		}
		for file := range files {
			d := difference{file: file, name: k.name, ours: places, old: joined(before[file]), new: joined(after[file])}
			switch {
			case d.old == d.new:
				d.state = "unchanged"
			case d.old == "":
				d.state = "new"
			case d.new != "":
				d.state = "changed"
			default:
				if err := d.follow(before[file][0].name, to); err != nil {
					return nil, err
				}
			}
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b difference) int {
		return cmp.Or(slices.Index(states, a.state)-slices.Index(states, b.state), cmp.Compare(a.file, b.file), cmp.Compare(a.name, b.name))
	})
	return list, nil
}

// follow looks for what is no longer in its file.
func (d *difference) follow(qualified string, to release) error {
	there, err := to.search(d.file, qualified)
	d.state, d.to = "moved", slices.Sorted(slices.Values(there))
	switch len(there) {
	case 0:
		d.state = "gone"
	case 1:
		found, err := to.find(there[0], qualified)
		d.new = joined(found[there[0]])
		return err
	}
	return err
}

// missing are the markers whose function a release does not have.
func missing(markers []marker, r release) ([]string, error) {
	var list []string
	for _, m := range markers {
		for _, name := range m.names {
			found, err := r.find(m.file, name)
			if err != nil {
				return nil, err
			}
			if len(found) == 0 {
				list = append(list, fmt.Sprintf("%s: %s declares no %s", m.at, m.file, name))
			}
		}
	}
	return list, nil
}

func joined(list []declaration) string {
	var b strings.Builder
	for _, d := range list {
		b.WriteString(d.text)
	}
	return b.String()
}

// write prints the list, and how many there are in which state.
func write(out io.Writer, list []difference, from, to string, names bool) {
	count := map[string]int{}
	for _, d := range list {
		count[d.state]++
		fmt.Fprintf(out, "%-9s  %s %s\n", d.state, d.file, d.name)
		for _, file := range d.to {
			fmt.Fprintf(out, "%11sto %s\n", "", file)
		}
		if d.state == "unchanged" {
			continue
		}
		fmt.Fprintf(out, "%11sreproduced at %s\n", "", strings.Join(d.ours, ", "))
		if !names && d.new != "" {
			fmt.Fprintf(out, "\n%s\n", diff.Diff(from, []byte(d.old), to, []byte(d.new)))
		}
	}
	fmt.Fprintf(out, "\n%s to %s:", from, to)
	for _, state := range states {
		fmt.Fprintf(out, " %d %s", count[state], state)
	}
	fmt.Fprintln(out)
}
