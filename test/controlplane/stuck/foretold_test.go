package stuck

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// foretold are the situations of which dry-run says what a delete will do.
const foretold = "testdata/foretold/namespaces.yaml"

// What dry-run says of a delete comes about when kubectl sends it, object by object, at
// once and after an operator has done its work; and delete follows it to that end.
func TestForetold(t *testing.T) {
	own(t)
	program, err := cluster.Program()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, ctx: context.WithoutCancel(t.Context())}
	text, err := os.ReadFile(foretold)
	if err != nil {
		t.Fatal(err)
	}
	once := usual(chosen(read(t, foretold, text)), "")
	again := usual(chosen(read(t, foretold, regexp.MustCompile(`(?m)^- name: (.*)$`).ReplaceAll(text, []byte("- name: again-$1")))), "again-")
	s.prepare(slices.Concat(once, again))
	if err := plane.Controllers(append(controllers, "statefulset-controller", "serviceaccount-controller")...); err != nil {
		t.Fatal(err)
	}
	s.fence("started")
	s.renewing()
	for i, one := range once {
		t.Run(one.Name, func(t *testing.T) {
			w := &foresight{stage: &stage{T: t, ctx: s.ctx}, one: one, program: program}
			w.build()
			w.foresee()
			w.deleteWithKubectl()
			w.sideBySide()
			w.repair()
		})
		t.Run(again[i].Name, func(t *testing.T) {
			w := &foresight{stage: &stage{T: t, ctx: s.ctx}, one: again[i], program: program}
			w.build()
			w.foresee()
			w.deleteWithGC()
			w.repair()
		})
	}
}

// everything is for all situations: each of the others takes minutes, for the namespace
// controller tries again later and later.
var everything = flag.Bool("foretell-all", false, "foretell all deletes of namespaces, and not only some")

// usual are the situations that are lived through without being asked for: a controller
// that runs, one that does not, and a node that is not ready.
func usual(all []*situation, prefix string) []*situation {
	if *everything {
		return all
	}
	return slices.DeleteFunc(all, func(x *situation) bool {
		return !slices.Contains([]string{"operator-runs", "operator-scaled-down", "node-not-ready"}, strings.TrimPrefix(x.Name, prefix))
	})
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

// chosen are the situations that -only names.
func chosen(all []*situation) []*situation {
	return slices.DeleteFunc(all, func(one *situation) bool {
		ok, err := regexp.MatchString(*only, strings.TrimPrefix(one.Name, "again-"))
		return err != nil || !ok
	})
}

// foresight is one situation, what was foretold of it, and what is there.
type foresight struct {
	*stage
	one     *situation
	program string // kubectl-gc
	target  string // as kubectl names it
	plan    *report.Plan
	digest  string
	before  map[string]thing
	rows    []row
	act     chan struct{}
}

// thing is an object of the cluster before the delete.
type thing struct {
	report.Ref
	path, uid   string
	terminating bool
}

// row compares what was foretold of an object with what is there, at once and in the
// end.
type row struct {
	thing
	foretold, is [2]string
}

// The states of objects.
const (
	there       = "there"
	terminating = "terminating"
	gone        = "gone"
)

func (w *foresight) build() {
	w.Helper()
	w.act = make(chan struct{})
	only := []*situation{w.one}
	w.each(only, func(ctx context.Context, one *situation) error { return one.do(ctx, one.Made) })
	w.each(only, func(ctx context.Context, one *situation) error { return one.appear(ctx) })
	w.each(only, func(ctx context.Context, one *situation) error { return one.await(ctx) })
	ctx, stop := context.WithCancel(w.ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); w.others(ctx) }()
	w.Cleanup(func() { stop(); <-ended })
	w.before = w.objects()
}

// run runs the program as it is built.
func (w *foresight) run(args ...string) (code int, out, errOut string) {
	w.Helper()
	var o, e bytes.Buffer
	c := exec.Command(w.program, append(args, "--kubeconfig", plane.Kubeconfig, "-n", w.one.Name)...)
	c.Stdout, c.Stderr = &o, &e
	if err := c.Run(); err != nil && c.ProcessState == nil {
		w.Fatal(err)
	}
	return c.ProcessState.ExitCode(), o.String(), e.String()
}

// patience is how long what was foretold may take; what is not so then is wrong.
const patience = 30 * time.Second

// lift are the flags without which a namespace is not deleted.
const lift = "--allow-protected=Namespace,PersistentVolumeClaim"

// foresee asks for the plan.
func (w *foresight) foresee() {
	w.Helper()
	kind, name, _ := strings.Cut(w.one.Then[0].Delete, "/")
	w.target = strings.ToLower(kind) + "/" + name
	if kind != "Namespace" {
		w.target = strings.ToLower(kind) + "." + w.one.Name + ".example.com/" + name
	}
	code, out, errOut := w.run("dry-run", "delete", w.target, "-o", "json")
	w.plan = &report.Plan{}
	if err := json.Unmarshal([]byte(out), w.plan); err != nil || code != 0 {
		w.Fatalf("dry-run: code %d, %v: %s", code, err, errOut)
	}
	for _, o := range w.before {
		e := w.effect(o.Ref)
		if !w.within(o) && (e == nil || e.Baseline && w.one.Broken) {
			continue // what was left before goes on when the next one is repaired
		}
		w.rows = append(w.rows, row{thing: o, foretold: w.foretoldOf(o)})
	}
	slices.SortFunc(w.rows, func(a, b row) int { return strings.Compare(a.path, b.path) })
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
		outcomes[0] = e.AtOnce
	}
	for i, o := range outcomes {
		switch o {
		case report.Deleted:
			at[i] = gone
		case report.Blocked:
			at[i] = terminating
		case report.Unknown:
			at[i] = "unknown"
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

// deleteWithKubectl sends the delete, and looks what is there when everything rests that
// waits for an operator, and again when it has done its work.
func (w *foresight) deleteWithKubectl() {
	w.Helper()
	if _, err := plane.Kubectl(w.ctx, nil, "delete", w.target, "-n", w.one.Name, "--wait=false"); err != nil {
		w.Fatal(err)
	}
	w.rest(0)
	close(w.act)
	w.rest(1)
	w.accounted()
}

// rest waits until the namespace says what it waits for, and until what was foretold to
// go has gone; then it looks at everything.
func (w *foresight) rest(when int) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	if strings.HasPrefix(w.target, "namespace/") {
		err := cluster.Await(ctx, "the namespace says what it waits for", func(ctx context.Context) (bool, error) {
			text, err := plane.Do(ctx, http.MethodGet, "/api/v1/namespaces/"+w.one.Name, "", nil)
			if cluster.Code(err) == http.StatusNotFound {
				return true, nil
			}
			if err != nil || bytes.Contains(text, []byte(`"status":"True"`)) {
				return true, err
			}
			// While pods end it says nothing.
			text, err = plane.Do(ctx, http.MethodGet, "/api/v1/namespaces/"+w.one.Name+"/pods", "", nil)
			return bytes.Contains(text, []byte("deletionTimestamp")), err
		})
		if err != nil {
			w.Error(err)
		}
	}
	w.fence(fmt.Sprintf("%s-%d", w.one.Name, when))
	_ = cluster.Await(ctx, "it is as foretold", func(context.Context) (bool, error) {
		w.look(w.ctx, when)
		return !slices.ContainsFunc(w.rows, func(r row) bool { return r.foretold[when] != r.is[when] }), nil
	})
}

// look looks at every object.
func (w *foresight) look(ctx context.Context, when int) {
	for i := range w.rows {
		r := &w.rows[i]
		text, err := plane.Do(ctx, http.MethodGet, r.path, "", nil)
		var o struct {
			Metadata struct{ UID, DeletionTimestamp string }
		}
		switch cluster.Code(err) {
		case http.StatusNotFound:
			r.is[when] = gone
			continue
		case http.StatusOK, 0:
		default:
			r.is[when] = fmt.Sprint(cluster.Code(err))
			continue
		}
		if err == nil {
			err = json.Unmarshal(text, &o)
		}
		switch {
		case err != nil:
			r.is[when] = err.Error()
		case o.Metadata.UID != r.uid:
			r.is[when] = "made again"
		case o.Metadata.DeletionTimestamp != "":
			r.is[when] = terminating
		default:
			r.is[when] = there
		}
	}
}

// accounted compares what went of the whole cluster with the account of the plan.
func (w *foresight) accounted() {
	w.Helper()
	for _, o := range w.went() {
		if !slices.ContainsFunc(w.plan.Consequences, func(c report.Consequence) bool {
			return same(c.Object, o.Ref) && c.Change == report.ChangeDeleted
		}) {
			w.Errorf("%s went, and is not in the account", o.path)
		}
	}
}

// went is what was there before, and is not any more or is terminating.
func (w *foresight) went() (list []thing) {
	w.Helper()
	now := w.objects()
	for path, o := range w.before {
		if x, ok := now[path]; !ok && !w.readable(path) || ok && (x.uid != o.uid || x.terminating && !o.terminating) {
			list = append(list, o)
		}
	}
	return list
}

// readable tells of what cannot be listed whether it is there.
func (w *foresight) readable(path string) bool {
	_, err := plane.Do(w.ctx, http.MethodGet, path, "", nil)
	return err == nil
}

// sideBySide is the table of what was foretold and what is, with all that differs as
// errors.
func (w *foresight) sideBySide() string {
	w.Helper()
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "OBJECT\tFORETOLD AT ONCE\tIS\tFORETOLD AFTERWARDS\tIS\tREASON\tHELD BY")
	for _, r := range w.rows {
		reason, held := "", ""
		if e := w.effect(r.Ref); e != nil {
			reason, held = e.Reason, heldBy(e)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", short(r.Ref), r.foretold[0], r.is[0], r.foretold[1], r.is[1], reason, held)
		if r.foretold != r.is {
			w.Errorf("%s: foretold %v, and it is %v", r.path, r.foretold, r.is)
		}
	}
	if err := table.Flush(); err != nil {
		w.Fatal(err)
	}
	w.Logf("%s: kubectl delete %s\n%s", w.one.Tells, w.target, b.String())
	return b.String()
}

func (w *foresight) within(o thing) bool { return o.Namespace == w.one.Name }

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

// deleteWithGC has the program delete, with the operator at work, and looks at its report
// and at its backup.
func (w *foresight) deleteWithGC() {
	w.Helper()
	close(w.act)
	dir := w.TempDir()
	limit, want := "--timeout=2m", 0
	if slices.ContainsFunc(w.rows, func(r row) bool { return w.within(r.thing) && r.foretold[1] == terminating }) {
		// For what is foretold to stay nobody waits longer; the namespace controller looks
		// again only some seconds after the pods have gone.
		limit, want = "--timeout=30s", 6
	}
	flags := []string{lift, "--backup-dir", dir, "--backup-secrets", limit, "-o", "json"}
	code, out, errOut := w.run(append([]string{"delete", w.target, "--dry-run"}, flags...)...)
	var plan report.Plan
	if err := json.Unmarshal([]byte(out), &plan); err != nil || code != 0 {
		w.Fatalf("delete --dry-run: code %d, %v: %s", code, err, errOut)
	}
	code, out, errOut = w.run(append([]string{"delete", w.target, "--confirm", plan.Digest}, flags...)...)
	var done report.Run
	if err := json.Unmarshal([]byte(out), &done); err != nil {
		w.Fatalf("delete: code %d, %v: %s", code, err, errOut)
	}
	w.look(w.ctx, 1)
	for i := range w.rows {
		if w.rows[i].foretold[1] != w.rows[i].is[1] {
			w.Errorf("%s: foretold %s, and it is %s", w.rows[i].path, w.rows[i].foretold[1], w.rows[i].is[1])
		}
	}
	if code != want || len(done.Drift) > 0 || len(done.Surprises) > 0 {
		w.Errorf("delete: exit code %d, want %d; drift %+v, surprises %+v\n%s", code, want, done.Drift, done.Surprises, errOut)
	}
	kept := w.copies(dir)
	for _, o := range w.went() {
		if !slices.Contains(kept, o.uid) {
			w.Errorf("%s went, and is not in the backup", o.path)
		}
	}
}

// copies are the UIDs of the objects in the backups of a directory.
func (w *foresight) copies(dir string) (kept []string) {
	w.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if err != nil {
		w.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			w.Fatal(err)
		}
		var o struct{ Metadata struct{ UID string } }
		if err := json.Unmarshal(text, &o); err != nil {
			w.Fatalf("%s: %v", file, err)
		}
		kept = append(kept, o.Metadata.UID)
	}
	return kept
}

// repair undoes what disturbs others.
func (w *foresight) repair() {
	w.Helper()
	if err := w.one.do(w.ctx, w.one.After); err != nil {
		w.Error(err)
	}
}

// objects are all objects of the cluster that are not made for what happens.
func (w *foresight) objects() map[string]thing {
	w.Helper()
	collections, err := plane.Collections(w.ctx)
	if err != nil {
		w.Fatal(err)
	}
	all := map[string]thing{}
	seen := map[string]bool{}
	for _, at := range collections {
		text, err := plane.Do(w.ctx, http.MethodGet, at, "", nil)
		if cluster.Code(err) == http.StatusInternalServerError || cluster.Code(err) == http.StatusServiceUnavailable {
			continue // what cannot be converted: another version can be read
		}
		var list struct {
			Kind, APIVersion string
			Items            []struct {
				Metadata struct{ Name, Namespace, UID, DeletionTimestamp string }
			}
		}
		if err = errors.Join(err, json.Unmarshal(text, &list)); err != nil {
			w.Fatal(at, err)
		}
		in, kind := at[:strings.LastIndex(at, "/")+1], at[strings.LastIndex(at, "/")+1:]
		if kind == "events" || kind == "leases" {
			continue
		}
		for _, o := range list.Items {
			if seen[o.Metadata.UID] {
				continue
			}
			seen[o.Metadata.UID] = true
			path := in
			if o.Metadata.Namespace != "" {
				path += "namespaces/" + o.Metadata.Namespace + "/"
			}
			path += kind + "/" + o.Metadata.Name
			all[path] = thing{report.Ref{
				APIVersion: list.APIVersion, Kind: strings.TrimSuffix(list.Kind, "List"), Namespace: o.Metadata.Namespace, Name: o.Metadata.Name,
			}, path, o.Metadata.UID, o.Metadata.DeletionTimestamp != ""}
		}
	}
	return all
}

// appear waits until the objects that controllers make are there, and remembers them.
func (s *situation) appear(context.Context) error {
	for _, u := range s.Until {
		kind, name, _ := strings.Cut(u.Object, "/")
		s.places[u.Object] = collection("v1", kind, s.Name) + "/" + name
	}
	return nil
}
