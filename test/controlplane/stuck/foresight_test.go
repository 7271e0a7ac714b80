package stuck

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// foresight is one situation, what was foretold of it, and what is there.
type foresight struct {
	one     *situation
	by      deleter
	program string // kubectl-gc
	target  string // as kubectl names it
	plan    *report.Plan
	before  map[string]thing
	rows    []row
	// conditions are those that are true of the namespace.
	conditions []string
	// act is closed when the operator of the situation may do its work.
	act chan struct{}
	gc  carried
}

// deleter is who sends the delete.
type deleter string

const (
	withKubectl deleter = "kubectl"
	withGC      deleter = "kubectl gc"
)

// row compares what was foretold of an object with what is there.
type row struct {
	thing
	foretold, is [2]string
}

// The two moments of a row: when everything rests that waits for an operator, and when
// that has done its work.
const (
	atOnce = iota
	afterwards
)

// The states of objects.
const (
	there       = "there"
	terminating = "terminating"
	gone        = "gone"
	// unknown is only foretold: nothing is like that.
	unknown = "unknown"
)

// command is a command of the program as it is built.
func (w *foresight) command(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, w.program, append(args, "--kubeconfig", plane.Kubeconfig, "-n", w.one.Name)...)
}

// asked is the plan that a command answers with.
func (w *foresight) asked(ctx context.Context, args ...string) (*report.Plan, error) {
	var out, errOut bytes.Buffer
	c := w.command(ctx, append(args, "-o", "json")...)
	c.Stdout, c.Stderr = &out, &errOut
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s: %s: %w\n%s", w.one.Name, strings.Join(args, " "), err, errOut.String())
	}
	var p report.Plan
	return &p, json.Unmarshal(out.Bytes(), &p)
}

// foresee asks for the plan: with dry-run, or as the program does before it deletes.
func (w *foresight) foresee(ctx context.Context) (err error) {
	kind, name, _ := strings.Cut(w.one.Then[0].Delete, "/")
	w.target = strings.ToLower(kind) + "/" + name
	if kind != "Namespace" {
		w.target = strings.ToLower(kind) + "." + w.one.Name + ".example.com/" + name
	}
	ask := []string{"dry-run", "delete", w.target}
	if w.by == withGC {
		ask = append([]string{"delete", w.target, "--dry-run"}, w.gc.flags()...)
	}
	if w.plan, err = w.asked(ctx, ask...); err != nil {
		return err
	}
	for _, o := range w.before {
		if e := w.effect(o.Ref); w.within(o) || e != nil && !e.AlreadyHappening {
			w.rows = append(w.rows, row{thing: o, foretold: w.foretoldOf(o)})
		}
	}
	slices.SortFunc(w.rows, func(a, b row) int { return strings.Compare(a.path, b.path) })
	if !slices.ContainsFunc(w.rows, func(r row) bool { return r.Kind == kind && r.Name == name }) {
		return fmt.Errorf("%s: %s is not among what is compared", w.one.Name, w.target)
	}
	return nil
}

// within reports whether an object is of the situation.
func (w *foresight) within(o thing) bool {
	return o.Namespace == w.one.Name || o.Kind == "Namespace" && o.Name == w.one.Name
}

// foretoldOf is what the plan says of an object: of one that it does not mention, that
// nothing happens to it.
func (w *foresight) foretoldOf(o thing) (at [2]string) {
	e := w.effect(o.Ref)
	if e == nil {
		return [2]string{there, there}
	}
	outcomes := [2]report.Outcome{e.Outcome, e.Outcome}
	if e.AtOnce != "" {
		outcomes[atOnce] = e.AtOnce
	}
	for i, o := range outcomes {
		switch o {
		case report.Deleted:
			at[i] = gone
		case report.Blocked:
			at[i] = terminating
		case report.Unknown:
			at[i] = unknown
		default:
			at[i] = there
		}
	}
	return at
}

func same(a, b report.Ref) bool {
	group := func(r report.Ref) string { g, _, _ := strings.Cut("/"+r.APIVersion, "/v"); return g }
	return group(a) == group(b) && a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name
}

func (w *foresight) effect(r report.Ref) *report.Effect {
	i := slices.IndexFunc(w.plan.Effects, func(e report.Effect) bool { return same(e.Object, r) })
	if i < 0 {
		return nil
	}
	return &w.plan.Effects[i]
}

// accounts reports whether the account of the plan says that an object goes.
func (w *foresight) accounts(o thing) bool {
	return slices.ContainsFunc(w.plan.Consequences, func(c report.Consequence) bool {
		return same(c.Object, o.Ref) && c.Change == report.ChangeDeleted
	})
}

// stays reports whether something is foretold not to get to its end.
func (w *foresight) stays() bool {
	return slices.ContainsFunc(w.rows, func(r row) bool { return r.foretold[afterwards] == terminating })
}

// asForetold reports whether everything is as it was foretold for a moment.
func (w *foresight) asForetold(when int) bool {
	return !slices.ContainsFunc(w.rows, func(r row) bool { return r.foretold[when] != r.is[when] }) && (when == atOnce || len(w.unsaid()) == 0)
}

// unsaid are the conditions by which the namespace was to say why it stays, and which are
// not true.
func (w *foresight) unsaid() (list []string) {
	e := w.effect(report.Ref{APIVersion: "v1", Kind: "Namespace", Name: w.one.Name})
	if e == nil || e.Outcome != report.Blocked || e.BlockedBy == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.BlockedBy.Conditions), func(name string) bool { return slices.Contains(w.conditions, name) })
}

// unsure reports whether something is foretold that cannot come about.
func (w *foresight) unsure(when int) bool {
	return slices.ContainsFunc(w.rows, func(r row) bool { return r.foretold[when] == unknown })
}
