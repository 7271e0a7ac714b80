package unserve_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/unserve"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestScenarios runs the stories under testdata/scenarios. `world` is the cluster, with
// the kind Thing in two versions (or, with `cluster`, without namespaces); `judge` is
// what we say; and `run` is what the collector does, each time from the start: it says
// what it writes, and at the end what is left of the objects that it wrote to. Whatever
// it does wrongly must have been said. With -rewrite it writes down what happened.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		s := &story{names: scenario.Names{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			t.Helper()
			out, err := s.tell(t, d)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return out
		})
	})
}

type story struct {
	names      scenario.Names
	objects    []*object.Object
	namespaced bool
	gone       string
	doc        *report.Exposure
}

func (s *story) tell(t *testing.T, d *datadriven.TestData) (string, error) {
	t.Helper()
	switch d.Cmd {
	case "world":
		s.namespaced, s.names, s.doc = !d.HasArg("cluster"), scenario.Names{}, nil
		var err error
		s.objects, err = scenario.ParseWorld("v1 Namespace n\n"+d.Input, s.names)
		return "", err
	case "judge":
		version := ""
		if len(d.CmdArgs) > 0 {
			version = d.CmdArgs[0].Key
		}
		s.gone = "example.com/" + version
		return s.judge(t, version)
	case "run":
		return s.run(t, strings.Split(strings.TrimSpace(d.Input), "\n"))
	default:
		return "", fmt.Errorf("no such directive")
	}
}

func (s *story) judge(t *testing.T, version string) (string, error) {
	t.Helper()
	d := definition(s.namespaced)
	snap, err := snapshot.New(append(slices.Clone(s.objects), d), resources(s.namespaced), snapshot.CoversEverything(), snapshot.Source{Discovered: true})
	if err != nil {
		return "", err
	}
	if s.doc, err = unserve.Judge(t.Context(), snap, d, version, unserve.Options{Fix: true}); err != nil {
		return "", err
	}
	return describe(s.doc), nil
}

// describe is a document in a few words a line.
func describe(doc *report.Exposure) string {
	var b strings.Builder
	for _, d := range doc.Dependents {
		fmt.Fprintf(&b, "%s %s: %s\n", d.Outcome, place(d.Object), d.Message)
		for _, w := range d.When {
			fmt.Fprintf(&b, "  %s %s%s\n", w.Condition, w.Outcome, because(w.Because))
		}
	}
	for _, c := range doc.Consequences {
		end := ""
		if c.InTheEnd != "" {
			end = ", in the end " + string(c.InTheEnd)
		}
		fmt.Fprintf(&b, "then %s %s (%s)%s%s\n", c.Outcome, place(c.Object), c.Condition, because(c.Because), end)
	}
	for _, o := range doc.Owners {
		fmt.Fprintf(&b, "owner %s of %d, new ones %s\n", place(o.Object), o.Dependents, o.New)
	}
	for _, x := range doc.Safe {
		fmt.Fprintf(&b, "safe %s: %s%s\n", place(x.Object), x.Reason, because(x.Because))
	}
	for _, n := range doc.Notes {
		fmt.Fprintf(&b, "note %s\n", n.Note)
	}
	for _, p := range doc.Patches {
		fmt.Fprintf(&b, "patch %s %s\n", place(p.Object), p.Patch)
	}
	return b.String()
}

func place(r report.Ref) string { return strings.TrimPrefix(r.Namespace+"/"+r.KubectlName(), "/") }

func because(refs []report.Ref) string {
	if len(refs) == 0 {
		return ""
	}
	list := make([]string, len(refs))
	for i, r := range refs {
		list[i] = place(r)
	}
	return " because of " + strings.Join(list, ", ")
}

// run tells what the collector does when this happens.
func (s *story) run(t *testing.T, steps []string) (string, error) {
	t.Helper()
	ctx := t.Context()
	c := newCluster(s.objects, resources(s.namespaced), s.gone)
	var b strings.Builder
	touched := map[object.Ref]bool{}
	watch(c, nil, func(o *object.Object, removed, wrong bool) {
		touched[o.Ref] = true
		verb, how := "PATCH", ""
		if removed {
			verb = "DELETE"
		}
		if wrong {
			how = ", wrongly"
		}
		fmt.Fprintf(&b, "%s %s%s\n", verb, place(report.RefOf(o.Ref)), how)
		if wrong && s.seen(o.Ref) && !listed(s.doc, o.Ref) {
			t.Errorf("%s is lost, and nobody said so:\n%s", o.Ref, describe(s.doc))
		}
	})
	for _, step := range steps {
		if words := strings.Fields(step); words[0] == "delete" {
			touched[s.names[types.UID(words[1])]] = true
		}
		if err := s.step(ctx, c, strings.Fields(step)); err != nil {
			return "", fmt.Errorf("%s: %w", step, err)
		}
	}
	for _, ref := range slices.SortedFunc(maps.Keys(touched), object.Compare) {
		fmt.Fprintf(&b, "%s: %s\n", place(report.RefOf(ref)), c.state(ctx, ref))
	}
	if b.Len() == 0 {
		return "nothing\n", nil
	}
	return b.String(), nil
}

// seen reports whether an object was there when we were asked.
func (s *story) seen(r object.Ref) bool {
	return slices.ContainsFunc(s.objects, func(o *object.Object) bool { return o.Ref == r })
}

func (s *story) step(ctx context.Context, c *cluster, words []string) error {
	ref := func(i int) object.Ref { return s.names[types.UID(words[i])] }
	switch words[0] {
	case "settle":
		return c.drain(ctx)
	case "unserve":
		c.unserve()
	case "learn":
		c.learn(known)
		return c.drain(ctx)
	case "serve":
		c.learn(served)
		return c.drain(ctx)
	case "restart":
		c.restart()
		return c.drain(ctx)
	case "begin":
		c.begin()
	case "delete":
		policy := metav1.DeletePropagationBackground
		if len(words) > 2 {
			policy = metav1.DeletionPropagation(words[2])
		}
		if err := c.remove(ctx, ref(1), policy); err != nil {
			return err
		}
		return c.drain(ctx)
	case "release":
		if err := c.release(ctx, ref(1), types.UID(words[2])); err != nil {
			return err
		}
		return c.drain(ctx)
	case "adopt", "create":
		objects, err := scenario.ParseWorld(strings.Join(words[1:], " "), s.names)
		if err != nil {
			return err
		}
		if words[0] == "adopt" {
			// The first word names the object, the owners are the ones to add.
			err = c.adopt(ctx, objects[0].Ref, objects[0].Owners[0])
		} else {
			objects[0].ResourceVersion = ""
			_, err = c.server.Create(ctx, objects[0])
		}
		if err != nil {
			return err
		}
		return c.drain(ctx)
	default:
		return fmt.Errorf("no such step")
	}
	return nil
}

// listed reports whether a document says that something may become of an object.
func listed(doc *report.Exposure, r object.Ref) bool {
	ref := report.RefOf(r)
	return slices.ContainsFunc(doc.Dependents, func(d report.ExposedDependent) bool { return d.Object == ref }) ||
		slices.ContainsFunc(doc.Consequences, func(c report.ExposureConsequence) bool { return c.Object == ref })
}
