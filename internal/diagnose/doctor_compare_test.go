package diagnose_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// believed is a graph, a word for each node and edge: `a` is the ConfigMap a, `W/a` a
// Widget, `a?` a virtual one, `a??` a missing one, `a-` one that is being deleted, `a--`
// one that waits for its dependents, and `b>a` an edge.
func believed(text string) *report.Graph {
	g := &report.Graph{}
	for word := range strings.FieldsSeq(text) {
		if from, to, edge := strings.Cut(word, ">"); edge {
			g.Edges = append(g.Edges, report.Edge{Dependent: types.UID(from), Owner: types.UID(to)})
			continue
		}
		name := strings.TrimRight(word, "?-")
		n := report.Node{
			Virtual: strings.HasSuffix(word, "?") && !strings.HasSuffix(word, "??"), Missing: strings.HasSuffix(word, "??"),
			BeingDeleted: strings.HasSuffix(word, "-"), WaitingForDependents: strings.HasSuffix(word, "--"),
		}
		n.Observed = !n.Virtual && !n.Missing
		n.Ref = object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop"}
		if widget, ok := strings.CutPrefix(name, "W/"); ok {
			name, n.Ref.APIVersion, n.Ref.Kind = widget, "example.com/v1", "Widget"
		}
		n.Ref.Name, n.Ref.UID = name, types.UID(name)
		g.Nodes = append(g.Nodes, n)
	}
	return g
}

func TestCompare(t *testing.T) {
	pair := []thing{{name: "a", created: old}, {name: "b", owners: []string{"a"}, created: old}}
	leaving := func(finalizers ...string) []thing {
		return []thing{{name: "a", created: old, deleted: old, finalizers: finalizers}, {name: "b", owners: []string{"a"}, created: old, deleted: old, finalizers: []string{"x/y"}}}
	}
	for name, c := range map[string]struct {
		things []thing
		graphs []string
		file   bool
		want   []string
	}{
		"the same":                   {pair, []string{"a b b>a"}, false, []string{"Working"}},
		"the same, in a file":        {pair, []string{"a b b>a"}, true, []string{"NoProblemFound"}},
		"twice the same":             {pair, []string{"a b b>a", "a b b>a"}, false, []string{"Working"}},
		"nothing in either":          {[]thing{{name: "a"}}, []string{""}, false, []string{"NoProblemFound"}},
		"not linked, and not shown":  {append(pair[:2:2], thing{name: "z"}), []string{"a b b>a"}, false, []string{"Working"}},
		"a moment later it is there": {pair, []string{"", "a b b>a"}, false, []string{"Working"}},
		"garbage speaks against it even if the graph agrees": {[]thing{{name: "b", owners: []string{"a"}, created: old}}, []string{"a? b b>a"}, false,
			[]string{"Unknown", "GarbageLeft configmap/b: its owner cm/a is absent (created 4 hours ago)"}},
		"no object of a kind": {[]thing{{name: "a", created: old}, {kind: "Widget", name: "w", owners: []string{"a"}, created: old}, {name: "c", owners: []string{"a"}}},
			[]string{"a c c>a"}, false, []string{"NotWorking", "GraphKindUnknown widget.example.com/: the garbage collector knows none of 1 object with owners or dependents (such as widget.example.com/w in namespace shop)"}},
		"a kind that it only hears of": {[]thing{{kind: "Widget", name: "w", created: old}, {name: "c"}, {name: "b", owners: []string{"c"}}, {kind: "Widget", name: "v", owners: []string{"c"}}},
			[]string{"W/v? b c b>c"}, false, []string{"NotWorking", "GraphKindUnknown widget.example.com/: the garbage collector knows none of 1 object with owners or dependents (such as widget.example.com/v in namespace shop)"}},
		"one object":                {append(pair[:2:2], thing{name: "c", owners: []string{"a"}, created: old}), []string{"a b b>a"}, false, []string{"Unknown", "GraphObjectUnknown configmap/c: the garbage collector does not know it, or not with its owners and dependents"}},
		"one object that is new":    {append(pair[:2:2], thing{name: "c", owners: []string{"a"}, created: now - 5}), []string{"a b b>a"}, false, []string{"Working"}},
		"newer than a file may be":  {append(pair[:2:2], thing{name: "c", owners: []string{"a"}, created: now - 600}), []string{"a b b>a"}, true, []string{"NoProblemFound"}},
		"older than a minute":       {append(pair[:2:2], thing{name: "c", owners: []string{"a"}, created: now - 600}), []string{"a b b>a"}, false, []string{"Unknown", "GraphObjectUnknown configmap/c: the garbage collector does not know it, or not with its owners and dependents"}},
		"what does not exist":       {pair, []string{"a b g b>a g>a"}, false, []string{"Unknown", "GraphNodeGone configmap/g: it does not exist, but the garbage collector treats it as existing (0 dependents in its graph)"}},
		"what does not exist, once": {pair, []string{"a b g b>a g>a", "a b b>a"}, false, []string{"Working"}},
		"each time something else":  {pair, []string{"a b g b>a g>a", "a b h b>a h>a"}, false, []string{"Working"}},
		"it waits, but releases first": {[]thing{{name: "a", created: old, deleted: now - 600, finalizers: []string{object.Orphan, object.Foreground}}, {name: "b", owners: []string{"a!"}, created: old}},
			[]string{"a- b b>a"}, false, []string{"Working"}},
		"what it only hears of": {pair, []string{"a b g? b>a"}, false, []string{"Working"}},
		"what it has lost":      {pair, []string{"a b g?? b>a"}, false, []string{"Working"}},
		"other owners":          {pair, []string{"a b c? b>c"}, false, []string{"Unknown", "GraphOwnersDiffer configmap/b: the garbage collector knows 1 owner of it, and it has 1 owner"}},
		"no owners":             {append(pair[:2:2], thing{name: "c", owners: []string{"b"}, created: old}), []string{"a b c c>b"}, false, []string{"Unknown", "GraphOwnersDiffer configmap/b: the garbage collector knows 0 owners of it, and it has 1 owner"}},
		"an owner named twice":  {[]thing{{name: "a"}, {name: "b", owners: []string{"a", "a!"}}}, []string{"a b b>a b>a"}, false, []string{"Working"}},
		"an edge led astray": {[]thing{{name: "m"}, {name: "a", owners: []string{"m"}, created: old}, {name: "b", owners: []string{"a"}, created: old}},
			[]string{"m?? a b a>m b>m"}, true, []string{"Unknown", "GraphObjectUnknown configmap/m: the garbage collector does not know it, or not with its owners and dependents"}},
		"an edge that nothing leads astray": {[]thing{{name: "a", created: old}, {name: "b", owners: []string{"a"}, created: old}, {name: "m"}},
			[]string{"m?? a b b>m"}, true, []string{"Unknown", "GraphOwnersDiffer configmap/b: the garbage collector knows 1 owner of it, and it has 1 owner"}},
		"it does not know of a deletion":        {leaving("x/y"), []string{"a b- b>a"}, false, []string{"Unknown", "GraphStateDiffers configmap/a: the garbage collector does not know that it is being deleted"}},
		"it knows of a deletion":                {leaving("x/y"), []string{"a- b- b>a"}, false, []string{"Working"}},
		"it waited once, and does not any more": {leaving("x/y"), []string{"a-- b- b>a"}, false, []string{"Working"}},
		"it does not know that it waits": {[]thing{{name: "a", created: old, deleted: now - 600, finalizers: foreground}, {name: "b", owners: []string{"a!"}, created: old, deleted: old, finalizers: []string{"x/y"}}},
			[]string{"a- b- b>a"}, false, []string{"Unknown", "GraphStateDiffers configmap/a: the garbage collector does not know that it waits for its dependents"}},
		"it was deleted just now": {[]thing{{name: "a", created: old, deleted: now - 5, finalizers: foreground}, {name: "b", owners: []string{"a!"}, created: old, deleted: old, finalizers: []string{"x/y"}}},
			[]string{"a b- b>a"}, false, []string{"Working"}},
	} {
		t.Run(name, func(t *testing.T) {
			belief := &diagnose.CollectorGraph{From: "test", Live: !c.file}
			for _, g := range c.graphs {
				belief.Read = append(belief.Read, believed(g))
			}
			got := examined(t, snapshotOf(t, snapshot.CoversEverything(), c.things...), diagnose.CheckupOptions{At: now, Patience: patience, Graph: belief})
			if diff := cmp.Diff(c.want, messagesOf(got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// If the snapshot is incomplete, an object that only the collector knows may exist.
func TestCompareCoverage(t *testing.T) {
	belief := &diagnose.CollectorGraph{Read: []*report.Graph{believed("a b W/g b>a g>a")}, Live: true}
	things := []thing{{name: "a", created: old}, {name: "b", owners: []string{"a"}, created: old}}
	seen := &snapshot.Coverage{}
	seen.Add(schema.GroupResource{Resource: "configmaps"}, "")
	got := examined(t, snapshotOf(t, seen, things...), diagnose.CheckupOptions{At: now, Patience: patience, Graph: belief})
	if diff := cmp.Diff([]string{"Unknown"}, messagesOf(got)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff(&report.GraphComparison{Nodes: 3, Edges: 2, Compared: 2}, got.Graph); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
