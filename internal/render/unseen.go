package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxUnseen is the maximum number of missing kinds that a note names.
const maxUnseen = 5

// missingInput is the missing input of an answer.
type missingInput struct {
	source   report.Source
	complete bool
	gaps     []report.Gap
	// ifIncomplete begins the note if the answer is incomplete.
	ifIncomplete string
	// commandShown reports that the command to read the kinds is shown elsewhere.
	commandShown bool
	// ifComplete begins the note if the answer is complete; empty for a note in wide output only.
	ifComplete string
}

// completeness returns the notes about missing input that could change the answer, and the command
// to read it.
func completeness(s Style, src report.Source, complete bool, gaps []report.Gap) []string {
	return missingInput{source: src, complete: complete, gaps: gaps}.notes(s)
}

func (u missingInput) notes(s Style) []string {
	notes := releaseNotes(s, u.source)
	if len(u.source.Namespaces) > 0 && (s.isComplete() || !u.complete) {
		notes = append(notes, "Searched: "+namespacesText(s, u.source.Namespaces)+" and cluster-scoped objects.")
		if slices.ContainsFunc(u.gaps, isOtherNamespaces) {
			notes = append(notes, "References from other namespaces, which are always wrong, were not searched: "+s.gc("check")+" finds them.")
		}
	}
	u.gaps = slices.DeleteFunc(slices.Clone(u.gaps), isOtherNamespaces)
	matter, others := u.split()
	switch {
	case !u.complete && len(matter) == 0:
		notes = append(notes, s.paint(bold, "Incomplete:")+" part of this is unknown.")
	case !u.complete:
		notes = append(notes, u.incompleteNotes(s, matter)...)
	}
	switch {
	case len(others) == 0:
	case u.complete && u.ifComplete != "":
		notes = append(notes, u.ifComplete+report.Plural(len(kindsOf(others)), "kind")+" that"+u.notSeenText(len(kindsOf(others)))+".")
	case s.isComplete():
		notes = append(notes, "Irrelevant for this answer: "+enumerate(kindNames(s, kindsOf(others)), len(kindsOf(others)))+gapNamespaces(s, others)+u.notSeenText(2)+".")
	}
	return notes
}

// isOtherNamespaces reports whether a gap means that other namespaces were not searched on purpose.
func isOtherNamespaces(g report.Gap) bool {
	return g.APIVersion == "" && strings.HasPrefix(g.Why, string(reason.LeftOut)+":") && !g.Matters
}

// split separates the gaps that could change the answer from the others.
func (u missingInput) split() (matter, others []report.Gap) {
	for _, g := range u.gaps {
		if g.Matters && !u.complete {
			matter = append(matter, g)
		} else {
			others = append(others, g)
		}
	}
	return matter, others
}

// incompleteNotes names the kinds that could change the answer, and the command to read them.
func (u missingInput) incompleteNotes(s Style, gaps []report.Gap) []string {
	kinds := kindsOf(gaps)
	most := s.atMost(maxUnseen, len(kinds))
	means := cmp.Or(u.ifIncomplete, "Incomplete:")
	text := ""
	for {
		list := kindNames(s, kinds[:most])
		rest := len(kinds) - most
		text = s.paint(bold, means) + " " + andMore(list, rest) + gapNamespaces(s, gaps) + u.notSeenText(2) + "."
		if s.isComplete() || s.limit() == 0 || most <= 1 || width(text) <= s.limit() {
			break
		}
		most--
	}
	if u.source.Type == "cluster" {
		return []string{strings.TrimSuffix(text, ".") + whyUnread(s, gaps)}
	}
	if u.commandShown {
		return []string{text}
	}
	return []string{text, gatherText(s, kinds[:most])}
}

// whyUnread ends the sentence about unread kinds: with the command for missing permissions, or with
// the error of the server.
func whyUnread(s Style, gaps []report.Gap) string {
	forbidden := func(g report.Gap) bool { return strings.HasPrefix(g.Why, string(reason.Forbidden)+":") }
	if slices.ContainsFunc(gaps, forbidden) {
		return "; " + s.gc("rbac") + " prints the permissions."
	}
	for _, g := range gaps {
		if _, why, found := strings.Cut(g.Why, ": "); found && !strings.HasPrefix(g.Why, string(reason.LeftOut)+":") {
			return ": " + s.text(strings.TrimSuffix(why, ".")) + "."
		}
	}
	return "."
}

// gatherText returns the command that reads kinds for a dump. A list does not contain kinds without
// objects, so --complete names them.
func gatherText(s Style, kinds []unseenKind) string {
	words := object.Mapped(kinds, func(k unseenKind) string { return k.resource })
	text := "Add them with --from more.json --complete=" + s.text(strings.Join(words, ",")) + ": " + s.text(s.Connection.Gather(words))
	if s.limit() > 0 && width(text) > s.limit() {
		return "Add them: " + s.text(s.Connection.Gather(words)) // on one line, to be pasted
	}
	return text
}

// notSeenText says that n kinds were not seen.
func (u missingInput) notSeenText(n int) string {
	if u.source.Type == "cluster" {
		return " could not be read"
	}
	return pluralForm(n, " is", " are") + " not in the dump"
}

// unseenKind is a kind with a missing list.
type unseenKind struct {
	// name is the plural in texts, resource the name for kubectl.
	name, resource string
	rank           int
}

// wellKnownKinds are the kinds that are named first: data, then workloads, then their surroundings.
var wellKnownKinds = []struct{ resource, name, word string }{
	{"persistentvolumeclaims", "PVCs", "pvc"},
	{"secrets", "Secrets", "secrets"},
	{"configmaps", "ConfigMaps", "cm"},
	{"statefulsets.apps", "StatefulSets", "sts"},
	{"jobs.batch", "Jobs", "jobs"},
	{"replicasets.apps", "ReplicaSets", "rs"},
	{"pods", "Pods", "pods"},
	{"deployments.apps", "Deployments", "deploy"},
	{"daemonsets.apps", "DaemonSets", "ds"},
	{"cronjobs.batch", "CronJobs", "cj"},
	{"replicationcontrollers", "ReplicationControllers", "rc"},
	{"namespaces", "Namespaces", "ns"},
	{"nodes", "Nodes", "nodes"},
	{"persistentvolumes", "PVs", "pv"},
	{"services", "Services", "svc"},
	{"serviceaccounts", "ServiceAccounts", "sa"},
	{"customresourcedefinitions.apiextensions.k8s.io", "CRDs", "crd"},
}

// kindsOf returns the kinds of gaps, each once. Known kinds come first, in the order of known, then
// custom ones.
func kindsOf(gaps []report.Gap) []unseenKind {
	var kinds []unseenKind
	for _, g := range gaps {
		group := object.GroupOf(g.APIVersion)
		full := schema.GroupResource{Group: group, Resource: g.Resource}.String()
		k := unseenKind{name: full, resource: full, rank: len(wellKnownKinds) + 1}
		if object.MayBeCustom(group) {
			k.rank = len(wellKnownKinds)
		}
		for i, x := range wellKnownKinds {
			if x.resource == full {
				k.name, k.resource, k.rank = x.name, x.word, i
			}
		}
		if !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	slices.SortStableFunc(kinds, func(a, b unseenKind) int { return cmp.Or(a.rank-b.rank, strings.Compare(a.name, b.name)) })
	return kinds
}

func kindNames(s Style, kinds []unseenKind) []string {
	return object.Mapped(kinds, func(k unseenKind) string { return s.text(k.name) })
}

// andMore lists words and the number of further kinds.
func andMore(words []string, rest int) string {
	if rest == 0 {
		return enumerate(words, len(words))
	}
	return strings.Join(words, ", ") + " and " + report.Plural(rest, "more kind")
}
