package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// state prints the world, one object a line.
func state(e *Env, _ *datadriven.TestData) (string, error) {
	var b strings.Builder
	for o := range e.Server.List {
		b.WriteString(Format(o, e.Names))
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return "empty", nil
	}
	return b.String(), nil
}

// warnings prints the warning headers since the last time.
func warnings(e *Env, _ *datadriven.TestData) (string, error) {
	var b strings.Builder
	for _, w := range e.Server.Warnings() {
		fmt.Fprintf(&b, "%s: %s\n", w.Ref, w.Text)
	}
	if b.Len() == 0 {
		return "none", nil
	}
	return b.String(), nil
}

// tick moves the clock: `tick 30`.
func tick(e *Env, d *datadriven.TestData) (string, error) {
	words := Words(d)
	if len(words) != 1 {
		return "", fmt.Errorf("want a number of seconds")
	}
	n, err := parseNumber("tick", words[0])
	if err != nil {
		return "", err
	}
	e.Server.Advance(n)
	return clock(e, d)
}

// clock prints the seconds since the scenario started.
func clock(e *Env, _ *datadriven.TestData) (string, error) {
	return fmt.Sprintf("%+ds", e.Server.Now()-Start), nil
}

// lingering prints the pods that a kubelet has to finish.
func lingering(e *Env, _ *datadriven.TestData) (string, error) {
	var b strings.Builder
	for _, ref := range e.Server.Lingering() {
		b.WriteString(ref.String() + "\n")
	}
	if b.Len() == 0 {
		return "none", nil
	}
	return b.String(), nil
}

// deny adds a rule to the server's admission, fault one to the way there.
func deny(e *Env, d *datadriven.TestData) (string, error) { return addRule(e.denials, d) }

func fault(e *Env, d *datadriven.TestData) (string, error) { return addRule(&e.faults.ruleSet, d) }

func addRule(rules *ruleSet, d *datadriven.TestData) (string, error) {
	r, err := parseRule(strings.Join(Words(d), " "))
	if err != nil {
		return "", err
	}
	rules.add(r)
	return "ok", nil
}

// coverage knows the places that a scenario calls unknown. Namespaces are also
// unknown in a world that lists none, so that worlds need not mention them.
type coverage struct {
	namespaces   bool
	gaps         []gap
	unserved     []gap
	undiscovered []string
}

type gap struct{ apiVersion, kind, namespace string }

// add reads `apiVersion:Kind` or `apiVersion:Kind:namespace`.
func (c *coverage) add(text string) error {
	g, err := parseGap(text)
	c.gaps = append(c.gaps, g)
	return err
}

// addUnserved reads the same of a place that answers 404: it is not covered either.
func (c *coverage) addUnserved(text string) error {
	g, err := parseGap(text)
	c.gaps, c.unserved = append(c.gaps, g), append(c.unserved, g)
	return err
}

func parseGap(text string) (gap, error) {
	words := strings.Split(text, ":")
	if len(words) < 2 || len(words) > 3 {
		return gap{}, fmt.Errorf("%s: want apiVersion:Kind or apiVersion:Kind:namespace", text)
	}
	g := gap{apiVersion: words[0], kind: words[1]}
	if len(words) == 3 {
		g.namespace = words[2]
	}
	return g, nil
}

func (g gap) has(r object.Resource, namespace string) bool {
	return object.GroupOf(g.apiVersion) == r.Group && g.kind == r.Kind && (g.namespace == "" || g.namespace == namespace)
}

// Undiscovered implements controllers.Discovery.
func (c coverage) Undiscovered() []object.Undiscovered {
	var list []object.Undiscovered
	for _, apiVersion := range c.undiscovered {
		list = append(list, object.Undiscovered{APIVersion: apiVersion, Why: "the scenario says so"})
	}
	return list
}

// Unserved implements controllers.Discovery.
func (c coverage) Unserved(r object.Resource, namespace string) bool {
	return slices.ContainsFunc(c.unserved, func(g gap) bool { return g.has(r, namespace) })
}

// Covers implements apisim.Coverage.
func (c coverage) Covers(r object.Resource, namespace string) bool {
	if r.Kind == "Namespace" && r.Group == "" && !c.namespaces {
		return false
	}
	return !slices.ContainsFunc(c.gaps, func(g gap) bool { return g.has(r, namespace) })
}

// Why implements apisim.Coverage.
func (c coverage) Why(object.Resource, string) string { return "the scenario says so" }
