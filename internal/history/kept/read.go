package kept

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/go-json-experiment/json"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Is reports whether a file is a history.
func Is(path string) (is bool, err error) {
	err = withLines(path, snapshot.Options{}, func(l *snapshot.Lines) error {
		is = l.Begins(mark)
		return nil
	})
	return is, err
}

var errDamaged = errors.New("it is damaged, or was not written to its end")

// Open reads a file of history. The limits of the options hold for it as they do for a dump.
func Open(ctx context.Context, path string, o snapshot.Options) (r *Record, err error) {
	err = withLines(path, o, func(l *snapshot.Lines) error {
		if r, err = readLines(ctx, l); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
	return r, err
}

func withLines(path string, o snapshot.Options, read func(*snapshot.Lines) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	l, err := snapshot.ReadLines(f, o)
	if err != nil {
		return err
	}
	defer l.Close()
	return read(l)
}

func readLines(ctx context.Context, l *snapshot.Lines) (*Record, error) {
	first, err := next(l)
	if err != nil {
		return nil, err
	}
	var t title
	switch err := json.Unmarshal(first, &t); {
	case err != nil || !bytes.HasPrefix(first, []byte(mark)):
		return nil, errDamaged
	case t.Format != formatVersion:
		return nil, fmt.Errorf("its format has version %d, this program reads %d", t.Format, formatVersion)
	}
	return readEntries(ctx, t, l)
}

// next returns the next line. Whatever ends the file early is damage, except a limit.
func next(l *snapshot.Lines) ([]byte, error) {
	line, err := l.Next()
	if err != nil && !errors.Is(err, snapshot.ErrLimit) {
		return nil, errDamaged
	}
	return line, err
}

func readEntries(ctx context.Context, t title, l *snapshot.Lines) (*Record, error) {
	r := newRecord(t)
	intern := manifest.NewInterner()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		text, err := next(l)
		if err != nil {
			return nil, err
		}
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, l.At(err)
		}
		if e.SHA256 != nil {
			if !bytes.Equal(e.SHA256, l.Sum()) || l.Last() != nil {
				return nil, errDamaged
			}
			r.index()
			return r, nil
		}
		if err := r.take(&e, intern); err != nil {
			return nil, l.At(err)
		}
	}
}

// take adds the content of a line.
func (r *Record) take(e *entry, intern *manifest.Interner) error {
	p := &r.whole
	switch {
	case e.Served != nil:
		for _, s := range e.Served {
			p.Resources.Add(s.Resource())
		}
	case e.Limit != nil:
		p.Limits = append(p.Limits, e.Limit.limit())
	case e.Tick != nil:
		r.ticks = append(r.ticks, e.Tick.moment())
	case e.Stood != nil:
		o := e.Stood.Object(intern)
		if o.UID == "" {
			return fmt.Errorf("%s has no uid", o.Ref)
		}
		p.Standing = append(p.Standing, o)
	case e.Elsewhere != nil:
		p.Elsewhere = append(p.Elsewhere, e.Elsewhere.Object(intern))
	case e.Absent != nil:
		p.Absent = append(p.Absent, object.Ref(*e.Absent))
	case e.Change != nil:
		c, err := e.Change.change(intern)
		p.Changes = append(p.Changes, c)
		return err
	case e.Body != nil:
		return r.body(e.Body)
	}
	return nil
}
