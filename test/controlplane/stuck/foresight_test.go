package stuck

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// acts are the files with what is foretold, in the order in which they are played. What
// is down in the last one cannot be read any more by those after it.
var acts = []string{"running", "api-down", "conversion-down"}

// What dry-run says of a delete comes about when kubectl sends it, object by object, at
// once and after an operator has done its work; and delete follows it to that end.
func TestForetold(t *testing.T) {
	own(t)
	program, err := cluster.Program()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, ctx: context.WithoutCancel(t.Context())}
	var plays []*play
	var all []*situation
	for _, name := range acts {
		p := script(t, name, program)
		plays, all = append(plays, p), append(all, p.situations()...)
	}
	s.prepare(all)
	if err := plane.Controllers(append(controllers, "statefulset-controller", "serviceaccount-controller")...); err != nil {
		t.Fatal(err)
	}
	s.fence("started")
	s.renewing()
	for _, p := range plays {
		t.Run(p.name, func(t *testing.T) {
			p.stage = &stage{T: t, ctx: s.ctx}
			p.perform()
		})
	}
}

// own gives a test a control plane of its own, in which nobody else breaks anything.
func own(t *testing.T) {
	t.Helper()
	mine, err := cluster.Start()
	if err != nil {
		t.Fatal(err)
	}
	shared := plane
	plane = mine
	t.Cleanup(func() {
		plane = shared
		if err := mine.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// play is what is foretold beside each other: every situation twice, for kubectl to
// delete and for the program; and what is down around them.
type play struct {
	*stage
	name    string
	around  []*situation
	deletes []*foresight
	before  map[string]thing
}

// script reads a file of situations. One in which nothing is deleted is around the
// others.
func script(t *testing.T, name, program string) *play {
	t.Helper()
	file := filepath.Join("testdata", "foretold", name+".yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := &play{name: name}
	named := regexp.MustCompile(`(?m)^- name: (.*)$`)
	for by, text := range map[deleter]string{withKubectl: string(text), withGC: named.ReplaceAllString(string(text), "- name: again-$1")} {
		for _, one := range read(t, file, []byte(text)) {
			w := &foresight{one: one, by: by, program: program, act: make(chan struct{})}
			chosen, err := regexp.MatchString(*only, w.kind())
			switch {
			case err != nil:
				t.Fatal(err)
			case len(one.Then) > 0 && chosen:
				p.deletes = append(p.deletes, w)
			case len(one.Then) == 0 && by == withKubectl:
				p.around = append(p.around, one)
			}
		}
	}
	slices.SortFunc(p.deletes, func(a, b *foresight) int {
		return cmp.Or(strings.Compare(a.kind(), b.kind()), strings.Compare(string(a.by), string(b.by)))
	})
	return p
}

// kind is the name of the situation in its file.
func (w *foresight) kind() string { return strings.TrimPrefix(w.one.Name, "again-") }

func (p *play) situations() []*situation {
	all := slices.Clone(p.around)
	for _, w := range p.deletes {
		all = append(all, w.one)
	}
	return all
}

// perform builds everything, foretells everything, deletes everything, and compares.
func (p *play) perform() {
	p.Helper()
	phase := p.stopwatch()
	p.build()
	phase("built")
	p.all(p.deletes, (*foresight).foresee)
	phase("foretold")
	kubectl, gc := p.by(withKubectl), p.by(withGC)
	p.all(kubectl, (*foresight).deleteWithKubectl)
	p.all(gc, (*foresight).deleteWithGC)
	phase("deleted")
	p.rest(kubectl, atOnce)
	phase("at once")
	for _, w := range kubectl {
		close(w.act)
	}
	p.rest(p.deletes, afterwards)
	phase("afterwards")
	p.all(gc, (*foresight).endGC)
	phase("ended")
	p.judge()
	p.repair()
	phase("repaired")
}

func (p *play) by(by deleter) (some []*foresight) {
	for _, w := range p.deletes {
		if w.by == by {
			some = append(some, w)
		}
	}
	return some
}

// all has each of some do something, a few beside each other.
func (p *play) all(some []*foresight, do func(*foresight, context.Context) error) {
	p.Helper()
	of := map[*situation]*foresight{}
	var list []*situation
	for _, w := range some {
		of[w.one], list = w, append(list, w.one)
	}
	p.each(list, func(ctx context.Context, one *situation) error { return do(of[one], ctx) })
}

// build builds the situations, then what is around them.
func (p *play) build() {
	p.Helper()
	do := func(ctx context.Context, one *situation) error { return one.do(ctx, one.Made) }
	await := func(ctx context.Context, one *situation) error { return one.await(ctx) }
	p.all(p.deletes, func(w *foresight, ctx context.Context) error { return do(ctx, w.one) })
	p.all(p.deletes, func(w *foresight, ctx context.Context) error {
		w.one.appear()
		return await(ctx, w.one)
	})
	p.each(p.around, do)
	p.each(p.around, await)
	before, err := objects(p.ctx)
	if err != nil {
		p.Fatal(err)
	}
	p.before = before
	for _, w := range p.deletes {
		w.before = before
		if w.by == withGC {
			w.gc.dir = p.TempDir()
			close(w.act)
		}
	}
	p.populate()
}

// populate has those act beside the deletes who do. They end with the test, and so does
// the program.
func (p *play) populate() {
	ctx, stop := context.WithCancel(p.ctx)
	p.ctx = ctx
	var acting sync.WaitGroup
	for _, w := range p.deletes {
		acting.Go(func() { w.others(ctx, p.T) })
	}
	p.Cleanup(func() { stop(); acting.Wait() })
}

// repair undoes what disturbs those who come later.
func (p *play) repair() {
	p.Helper()
	p.each(p.around, func(ctx context.Context, one *situation) error { return one.do(ctx, one.After) })
	if slices.ContainsFunc(p.around, func(one *situation) bool { return len(one.After) > 0 }) {
		if err := plane.Whole(p.ctx); err != nil {
			p.Fatal(err)
		}
	}
}

// appear remembers where the objects are that controllers make.
func (s *situation) appear() {
	for _, u := range s.Until {
		kind, name, _ := strings.Cut(u.Object, "/")
		s.places[u.Object] = collection("v1", kind, s.Name) + "/" + name
	}
}

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
	cmd := exec.CommandContext(ctx, w.program, append(args, "-n", w.one.Name)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+plane.Kubeconfig)
	return cmd
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

func same(a, b object.Ref) bool {
	group := func(r object.Ref) string { g, _, _ := strings.Cut("/"+r.APIVersion, "/v"); return g }
	return group(a) == group(b) && a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name
}

func (w *foresight) effect(r object.Ref) *report.Effect {
	i := slices.IndexFunc(w.plan.Effects, func(e report.Effect) bool { return same(e.Object, r) })
	if i < 0 {
		return nil
	}
	return &w.plan.Effects[i]
}

// accounts reports whether the account of the plan says that an object goes.
func (w *foresight) accounts(o thing) bool {
	return slices.ContainsFunc(w.plan.Effects, func(e report.Effect) bool {
		return same(e.Object, o.Ref) && e.IsDeleted()
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
	e := w.effect(object.Ref{APIVersion: "v1", Kind: "Namespace", Name: w.one.Name})
	if e == nil || e.Outcome != report.Blocked || e.BlockedBy == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.BlockedBy.Conditions), func(name string) bool { return slices.Contains(w.conditions, name) })
}

// unsure reports whether something is foretold that cannot come about.
func (w *foresight) unsure(when int) bool {
	return slices.ContainsFunc(w.rows, func(r row) bool { return r.foretold[when] == unknown })
}
