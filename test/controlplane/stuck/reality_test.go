package stuck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// thing is an object of the cluster.
type thing struct {
	object.Ref
	path, uid   string
	terminating bool
}

// rest waits until each namespace says what it waits for, until the collector is through
// with everything, and until what was foretold has come about; then it looks at
// everything once more: what has gone by then was not to stay.
func (p *play) rest(some []*foresight, when int) {
	p.Helper()
	for _, w := range some {
		if err := w.settled(p.ctx); err != nil {
			p.Error(err)
		}
	}
	p.fence(fmt.Sprintf("%s-%d", p.name, when))
	ctx, cancel := context.WithTimeout(p.ctx, cluster.Patience) // for all of them
	defer cancel()
	for _, w := range some {
		// What does not come about is in the table.
		_ = cluster.Await(ctx, "it is as foretold", func(context.Context) (bool, error) {
			w.look(p.ctx, when)
			return w.asForetold(when) || w.unsure(when), nil
		})
	}
	for _, w := range some {
		w.look(p.ctx, when)
	}
}

// settled waits until a namespace that is deleted has gone, or says what it waits for:
// then its controller has been through with everything in it.
func (w *foresight) settled(ctx context.Context) error {
	name, ok := strings.CutPrefix(w.target, "namespace/")
	if !ok {
		return nil
	}
	return cluster.Await(ctx, w.target+" says what it waits for", func(ctx context.Context) (bool, error) {
		says, err := conditionsOf(ctx, name)
		if cluster.Code(err) == http.StatusNotFound {
			return true, nil
		}
		return len(says) > 0, err
	})
}

// conditionsOf are the conditions that are true of a namespace.
func conditionsOf(ctx context.Context, name string) (list []string, err error) {
	text, err := plane.Do(ctx, http.MethodGet, "/api/v1/namespaces/"+name, "", nil)
	if err != nil {
		return nil, err
	}
	var o struct {
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	err = json.Unmarshal(text, &o)
	for _, c := range o.Status.Conditions {
		if c.Status == "True" {
			list = append(list, c.Type)
		}
	}
	return list, err
}

// look looks at every object.
func (w *foresight) look(ctx context.Context, when int) {
	w.conditions, _ = conditionsOf(ctx, w.one.Name) // one that cannot be read says nothing
	for i := range w.rows {
		w.rows[i].is[when] = stateOf(ctx, w.rows[i].thing)
	}
}

// stateOf is how an object is now.
func stateOf(ctx context.Context, was thing) string {
	text, err := plane.Do(ctx, http.MethodGet, was.path, "", nil)
	if cluster.Code(err) == http.StatusNotFound {
		return gone
	}
	var o struct {
		Metadata struct{ UID, DeletionTimestamp string }
	}
	if err = errors.Join(err, json.Unmarshal(text, &o)); err != nil {
		return err.Error()
	}
	switch {
	case o.Metadata.UID != was.uid:
		return "made again"
	case o.Metadata.DeletionTimestamp != "":
		return terminating
	}
	return there
}

// went is what was there before, and is not any more or is terminating.
func (p *play) went() (list []thing) {
	p.Helper()
	now, err := objects(p.ctx)
	if err != nil {
		p.Fatal(err)
	}
	for path, o := range p.before {
		// What was terminating before goes on when the last one is repaired.
		if x := now[path]; !o.terminating && (x.uid != o.uid || x.terminating) {
			list = append(list, o)
		}
	}
	return list
}

// objects are all objects of the cluster that are not made for what happens. Each is
// read in a version in which its kind can be listed.
func objects(ctx context.Context) (all map[string]thing, err error) {
	err = cluster.Await(ctx, "each kind can be listed in some version", func(ctx context.Context) (bool, error) {
		collections, err := plane.Collections(ctx)
		if err != nil {
			return false, err
		}
		all = map[string]thing{}
		listed := map[string]bool{}
		for _, at := range collections {
			kind, ok := path.Dir(path.Dir(at))+"/"+path.Base(at), false
			if listed[kind] || path.Base(at) == "events" || path.Base(at) == "leases" {
				continue
			}
			if ok, err = list(ctx, at, all); err != nil {
				return false, err
			}
			listed[kind] = ok
		}
		for _, ok := range listed {
			if !ok {
				return false, nil
			}
		}
		return len(all) > 0, nil
	})
	return all, err
}

// list adds the objects of a collection. It cannot while they cannot be converted, or
// have not been read from storage yet.
func list(ctx context.Context, at string, all map[string]thing) (bool, error) {
	text, err := plane.Do(ctx, http.MethodGet, at, "", nil)
	switch cluster.Code(err) {
	case http.StatusInternalServerError, http.StatusTooManyRequests:
		return false, nil
	}
	var l struct {
		Kind, APIVersion string
		Items            []struct {
			Metadata struct{ Name, Namespace, UID, DeletionTimestamp string }
		}
	}
	if err = errors.Join(err, json.Unmarshal(text, &l)); err != nil {
		return false, fmt.Errorf("%s: %w", at, err)
	}
	for _, o := range l.Items {
		m, in := o.Metadata, path.Dir(at)
		if m.Namespace != "" {
			in += "/namespaces/" + m.Namespace
		}
		where := in + "/" + path.Base(at) + "/" + m.Name
		all[where] = thing{object.Ref{
			APIVersion: l.APIVersion, Kind: strings.TrimSuffix(l.Kind, "List"), Namespace: m.Namespace, Name: m.Name,
		}, where, m.UID, m.DeletionTimestamp != ""}
	}
	return true, nil
}

// judge compares: each situation with what is, and what went of the whole cluster with
// the accounts and the backups.
func (p *play) judge() {
	p.Helper()
	for _, w := range p.deletes {
		p.Run(w.one.Name, func(t *testing.T) {
			w.sideBySide(t)
			if w.by == withGC {
				w.carriedOut(t)
			}
		})
	}
	for _, o := range p.went() {
		i := slices.IndexFunc(p.deletes, func(w *foresight) bool { return w.accounts(o) })
		if i < 0 {
			p.Errorf("%s went, and is in no account", o.path)
		} else if w := p.deletes[i]; w.by == withGC && !slices.Contains(w.copies(p.T), o.uid) {
			p.Errorf("%s went, and is not in the backup", o.path)
		}
	}
}

// sideBySide prints the table of what was foretold and what is, with all that differs
// as errors.
func (w *foresight) sideBySide(t *testing.T) {
	t.Helper()
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "OBJECT\tFORETOLD AT ONCE\tIS\tFORETOLD AFTERWARDS\tIS\tREASON\tHELD BY")
	for _, r := range w.rows {
		reason, held := "", ""
		if e := w.effect(r.Ref); e != nil {
			reason, held = e.Reason, heldBy(e)
			for _, x := range e.Once {
				if x.Object.Namespace != w.one.Name {
					t.Errorf("%s is said to wait for %s of %s/%s, with which it has nothing to do", r.path, x.Finalizer, x.Object.Namespace, short(x.Object))
				}
			}
		}
		if w.by == withGC { // its operator is at work from the beginning
			r.is[atOnce] = r.foretold[atOnce]
			fmt.Fprintf(table, "%s\t\t\t%s\t%s\t%s\t%s\n", short(r.Ref), r.foretold[afterwards], r.is[afterwards], reason, held)
		} else {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", short(r.Ref), r.foretold[atOnce], r.is[atOnce], r.foretold[afterwards], r.is[afterwards], reason, held)
		}
		if r.foretold != r.is {
			t.Errorf("%s: foretold %v, and it is %v", r.path, r.foretold, r.is)
		}
	}
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	if unsaid := w.unsaid(); len(unsaid) > 0 {
		t.Errorf("%s was to say %v, and says %v", w.target, unsaid, w.conditions)
	}
	t.Logf("%s: %s delete %s\n%s", w.one.Tells, w.by, w.target, b.String())
}

// heldBy is what the plan says that an object waits for.
func heldBy(e *report.Effect) string {
	var by []string
	if e.BlockedBy != nil {
		by = append(by, e.BlockedBy.Finalizers...)
		by = append(by, e.BlockedBy.Conditions...)
		by = append(by, e.BlockedBy.Node)
		for _, d := range e.BlockedBy.Dependents {
			by = append(by, short(d))
		}
	}
	for _, r := range e.Once {
		by = append(by, fmt.Sprintf("%s of %s (%s)", r.Finalizer, short(r.Object), r.State))
	}
	return strings.Join(slices.DeleteFunc(by, func(s string) bool { return s == "" }), ", ")
}
