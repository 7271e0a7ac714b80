package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Outline is what a dump names: enough to complete words by. Of a file of our own
// format its first line is read, and for each question the parts that the answer is in,
// or all before them where the file has no parts; of any other dump everything. That a file is whole is not checked, so that nothing
// may be judged by an outline.
type Outline struct {
	// Resources are the types that can be named.
	Resources *object.Resources

	options Options
	// path, stat and types are of a file of our own format, whole is what was read of
	// others.
	path  string
	stat  fs.FileInfo
	types []typeName
	whole *Snapshot
}

// ReadOutline reads files as ReadFiles does, as far as an outline needs it.
func ReadOutline(paths []string, o Options) (*Outline, error) {
	if len(paths) == 1 && paths[0] != "-" {
		l := &Outline{options: o, path: paths[0]}
		if err := l.readHeader(); !errors.Is(err, errForeign) {
			return l, err
		}
	}
	whole, err := ReadFiles(paths, o)
	if err != nil {
		return nil, err
	}
	return &Outline{Resources: whole.Resources, whole: whole}, nil
}

// readHeader reads the first line of a file of our own format; errForeign if the file
// is of another one.
func (l *Outline) readHeader() error {
	f, err := openStored(l.path, l.options.Limits)
	if err != nil {
		return err
	}
	defer f.close()
	header, err := f.header()
	if err != nil {
		return err
	}
	l.stat = f.stat
	l.Resources = header.snapshot().Resources
	for _, t := range header.Types {
		l.types = append(l.types, typeName{t[0], t[1]})
	}
	return nil
}

// Holds tells whether there are objects of a type.
func (l *Outline) Holds(r object.Resource) bool {
	if l.whole != nil {
		return l.indexIn(r) < len(l.whole.Objects)
	}
	return l.numberOf(r) >= 0
}

// indexIn is the place of the first object of a type in what was read as a whole.
func (l *Outline) indexIn(r object.Resource) int {
	first, _ := slices.BinarySearchFunc(l.whole.Objects, object.Ref{APIVersion: r.APIVersion(), Kind: r.Kind},
		func(o *object.Object, ref object.Ref) int { return object.Compare(o.Ref, ref) })
	if first < len(l.whole.Objects) && !ofType(l.whole.Objects[first], r) {
		return len(l.whole.Objects)
	}
	return first
}

func ofType(o *object.Object, r object.Resource) bool {
	return o.Kind == r.Kind && o.APIVersion == r.APIVersion()
}

// numberOf is how a file of our own format numbers a type; -1 if it holds none.
func (l *Outline) numberOf(r object.Resource) int {
	return slices.Index(l.types, typeName{r.APIVersion(), r.Kind})
}

// Names are the names of a type's objects that start with a prefix, sorted, in a
// namespace if objects of the type have one.
func (l *Outline) Names(r object.Resource, namespace, prefix string) ([]string, error) {
	var names []string
	err := l.each(r, rowQuery{namespaced: r.Namespaced, namespace: namespace, prefix: prefix}, func(name string, _ func() (*object.Object, error)) error {
		names = append(names, name)
		return nil
	})
	return slices.Compact(names), err
}

// Namespaces are the namespaces that objects are in, sorted.
func (l *Outline) Namespaces() ([]string, error) {
	seen := map[string]bool{}
	if l.whole != nil {
		for _, o := range l.whole.Objects {
			seen[o.Namespace] = true
		}
	} else if err := l.rows(row{}, func(at row, _ []byte) error {
		seen[at.namespace] = true
		return nil
	}); err != nil {
		return nil, err
	}
	delete(seen, "")
	return slices.Sorted(maps.Keys(seen)), nil
}

// Find finds one object; nil if it is not there.
func (l *Outline) Find(r object.Resource, namespace, name string) (*object.Object, error) {
	var found *object.Object
	err := l.each(r, rowQuery{namespaced: r.Namespaced, namespace: namespace, prefix: name}, func(other string, read func() (*object.Object, error)) (err error) {
		if other == name {
			if found, err = read(); err == nil {
				err = errEnough
			}
		}
		return err
	})
	return found, err
}

// errEnough ends a reading early.
var errEnough = errors.New("enough was read")

// each visits the objects of a type that a query asks for, in their order.
func (l *Outline) each(r object.Resource, q rowQuery, visit func(name string, read func() (*object.Object, error)) error) error {
	var err error
	if l.whole != nil {
		err = l.eachRead(r, q, visit)
	} else if q.number = l.numberOf(r); q.number >= 0 {
		err = l.eachStored(q, visit)
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (l *Outline) eachRead(r object.Resource, q rowQuery, visit func(string, func() (*object.Object, error)) error) error {
	for _, o := range l.whole.Objects[l.indexIn(r):] {
		if !ofType(o, r) {
			return nil
		}
		if !q.matches(o.Namespace, o.Name) {
			continue
		}
		if err := visit(o.Name, func() (*object.Object, error) { return o, nil }); err != nil {
			return err
		}
	}
	return nil
}

func (l *Outline) eachStored(q rowQuery, visit func(string, func() (*object.Object, error)) error) error {
	intern := manifest.NewInterner()
	return l.rows(q.first(), func(at row, line []byte) error {
		if q.precedes(at) {
			return errEnough
		}
		if at.number != q.number || !q.matches(at.namespace, at.name) {
			return nil
		}
		return visit(at.name, func() (*object.Object, error) { return storedObjectOf(line, l.types, intern) })
	})
}

// rows visits the lines of a file of our own format that are objects, in their order.
// Those before a place may be left out.
func (l *Outline) rows(from row, visit func(at row, line []byte) error) error {
	f, err := openStored(l.path, l.options.Limits)
	if err != nil {
		return err
	}
	defer f.close()
	if !os.SameFile(f.stat, l.stat) || f.stat.Size() != l.stat.Size() || !f.stat.ModTime().Equal(l.stat.ModTime()) {
		return fmt.Errorf("%s: the file changed while it was read", f.in.name)
	}
	return f.rows(from, visit)
}
