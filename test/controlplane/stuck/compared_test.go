package stuck

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

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
