package render

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// crowded draws a graph of many objects in few kinds and namespaces, with problems of any kind, and
// printed columns.
func crowded(t *rapid.T) Tree {
	kinds := []struct{ apiVersion, kind string }{
		{"v1", "Pod"}, {"v1", "ConfigMap"}, {"apps/v1", "Deployment"}, {"apps/v1", "ReplicaSet"}, {"batch/v1", "Job"}, {"v1", "Event"},
		{"coordination.k8s.io/v1", "Lease"},
	}
	g := Tree{Graph: &report.Graph{}, Printed: map[types.UID]object.Printed{}}
	n := rapid.IntRange(1, 400).Draw(t, "objects")
	spread := rapid.SampledFrom([]int{1, 3, 20, 400}).Draw(t, "spread")
	unusual := rapid.SampledFrom([]int{2, 10, 1000}).Draw(t, "unusual")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)) // hundreds of drawn objects take long to shrink
	rare := func() bool { return r.IntN(unusual) == 0 }
	for i := range n {
		k := kinds[r.IntN(len(kinds))]
		node := report.Node{Observed: true, BeingDeleted: rare(), WaitingForDependents: rare(),
			Ref: object.Ref{APIVersion: k.apiVersion, Kind: k.kind, Namespace: fmt.Sprintf("ns-%d", i%spread), Name: fmt.Sprintf("<%d>", i), UID: types.UID(fmt.Sprint(i))}}
		node.Observed = !rare()
		node.Missing = !node.Observed
		g.Nodes = append(g.Nodes, node)
		if rare() {
			g.Printed[node.Ref.UID] = object.Printed{Ready: "0/1", Status: "Running"}
		}
	}
	few := rapid.SampledFrom([]int{1, 5, 400}).Draw(t, "owners")
	for i := range n {
		for range r.IntN(3) {
			g.Edges = append(g.Edges, report.Edge{
				Dependent: g.Nodes[i].Ref.UID, Owner: g.Nodes[r.IntN(min(few, n))].Ref.UID, Controller: rare(),
				BlockOwnerDeletion: rare(), Class: []report.Class{report.Existing, report.Existing, report.Dangling}[r.IntN(3)],
			})
		}
	}
	if rapid.Bool().Draw(t, "asked") {
		g.Roots = []object.Ref{g.Nodes[rapid.IntRange(0, n-1).Draw(t, "root")].Ref}
	}
	return g
}

var (
	elsewhere    = regexp.MustCompile(`↺.*`)
	countedHere  = regexp.MustCompile(`… (\d+) (?:more |others: )?`)
	countedBelow = regexp.MustCompile(`, (\d+) objects? below`)
	countedLast  = regexp.MustCompile(`(\d+) objects? without owners|(\d+) generated`)
	countedWoe   = regexp.MustCompile(`(\d+) (?:Terminating|absent|not in the dump|without an owner|with a dangling|blocking|not ready)`)
)

func sum(text string, of *regexp.Regexp) (n int) {
	for _, m := range of.FindAllStringSubmatch(text, -1) {
		k, _ := strconv.Atoi(strings.Join(m[1:], ""))
		n += k
	}
	return n
}

// TestTreeCountsWhatItDoesNotShow: a tree of any graph has at most 60 lines, and a few more if they
// are wrapped. Each object except Events is shown once or counted, and each problem is shown or
// counted.
func TestTreeCountsWhatItDoesNotShow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := crowded(rt)
		s := Style{Width: rapid.SampledFrom([]int{0, 100}).Draw(rt, "width")}
		out := treeText(rt, s, g.Graph, g.Printed)
		most := 60
		if s.Width > 0 {
			most += 20 // for wrapped lines
		}
		if n := strings.Count(out, "\n"); n > most {
			rt.Errorf("%d lines", n)
		}
		if s.Width > 0 {
			for line := range strings.Lines(out) {
				if width(line) > s.Width+1 {
					rt.Errorf("%d columns: %s", width(line), line)
				}
			}
			return // with wrapped lines, numbers can't be parsed
		}
		shown := map[string]bool{}
		for line := range strings.Lines(out) {
			if i := strings.Index(line, "<"); i >= 0 && !strings.Contains(line, "↺") && !strings.Contains(line, "(continued)") {
				name := line[i : strings.Index(line, ">")+1]
				if shown[name] {
					rt.Errorf("%s is shown twice", name)
				}
				shown[name] = true
			}
		}
		here := "\n\n" + elsewhere.ReplaceAllString(out, "")
		counted := sum(here, countedHere) + sum(here, countedBelow) + sum(here[strings.LastIndex(here, "\n\n"):], countedLast)
		tr := newTree(nil, s, g)
		events := 0
		for i := range tr.nodes {
			if tr.nodes[i].Ref.IsEvent() && tr.hidden[i] {
				events++ // they do not count
			}
		}
		if len(shown)+counted+events != len(g.Nodes) {
			rt.Errorf("%d are shown and %d counted, of %d:\n%s", len(shown), counted, len(g.Nodes), out)
		}
		woes := 0
		for i := range tr.nodes {
			if tr.problems[i] != noProblem && !shown[tr.nodes[i].Ref.Name] {
				woes++
			}
		}
		first, rest, _ := strings.Cut(out, "\n")
		if tr.whole {
			rest = out
		} else if all, _ := strconv.Atoi(strings.Fields(first)[0]); all != len(g.Nodes) {
			rt.Errorf("it begins with %q", first)
		}
		if got := sum(rest, countedWoe); got != woes {
			rt.Errorf("%d remarkable ones are counted, %d are not shown:\n%s", got, woes, out)
		}
	})
}

// TestTreeShowsTroubleFirst: among many equal objects, the one with a problem is shown.
func TestTreeShowsTroubleFirst(t *testing.T) {
	g := &report.Graph{Nodes: []report.Node{{Observed: true, Ref: object.Ref{APIVersion: "apps/v1", Kind: "DaemonSet", Namespace: "shop", Name: "log", UID: "log"}}}}
	for i := range 250 {
		uid := types.UID(fmt.Sprint(i))
		g.Nodes = append(g.Nodes, report.Node{Observed: true, BeingDeleted: i == 200, Ref: object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: fmt.Sprintf("log-%03d", i), UID: uid}})
		g.Edges = append(g.Edges, report.Edge{Dependent: uid, Owner: "log", Controller: true, Class: report.Existing})
	}
	out := treeText(t, Style{}, g, map[types.UID]object.Printed{"7": {Ready: "1/1", Status: "Running"}, "249": {Ready: "0/1", Status: "CrashLoopBackOff"}})
	for _, want := range []string{
		"251 objects, of which 47 are shown: 1 Terminating and 1 not ready.\n", "pod/log-249 ", "CrashLoopBackOff", "pod/log-200 ", "… 204 more Pods\n",
		"\nEverything: -o wide\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
	if wide := treeText(t, Style{Wide: true}, g, nil); strings.Count(wide, "pod/log-") != 250 {
		t.Error("-o wide leaves something out")
	}
}
