package render

import (
	"math"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxBreakageLines is the maximum number of lines about what breaks, unless the output is wide.
const maxBreakageLines = 5

// breakageTexts returns what breaks, the worst first, with the objects that break in the same way in one
// text.
func breakageTexts(s Style, p *report.Plan) []string {
	type group struct {
		namespace, kind, label, message string
		reference                       object.Ref
		certainty                       report.Certainty
		everywhere                      bool
	}
	var users groups[group, object.Ref]
	for i := range p.Broken {
		b := &p.Broken[i]
		users.add(group{b.Object.Namespace, b.Object.Kind, b.Label, b.Message, b.Reference, b.Certainty, b.ClusterWide}, b.Object)
	}
	texts := make([]string, len(users.keys))
	home := namespaceOf(p)
	for i, g := range users.keys {
		list := users.of[g]
		who := s.firstRefs(list, s.atMost(manyNames, len(list)))
		if g.namespace != "" && g.namespace != home {
			who += " -n " + s.text(g.namespace)
		}
		what := s.name(g.reference)
		if ns := g.reference.Namespace; ns != "" && ns != home && ns != g.namespace {
			what += " -n " + s.text(ns)
		}
		switch {
		case list[0].Name == "":
			texts[i] = what + " (" + s.text(g.label) + "): " + s.text(g.message)
		case g.everywhere && strings.HasSuffix(g.kind, "WebhookConfiguration"):
			texts[i] = "cluster: webhook " + s.text(list[0].Name+"/"+g.label) + " loses " + what + ": " + s.text(g.message)
		case g.everywhere:
			texts[i] = "cluster: " + who + " loses " + what + ": " + s.text(g.message)
		default:
			texts[i] = who + ": " + what + " (" + s.text(g.label) + "): " + s.text(g.message)
		}
		if g.certainty != report.Sure {
			texts[i] += "; not certain"
		}
	}
	return texts
}

// unreadReferrersText returns which lists may hold more references; empty if all were read.
func unreadReferrersText(s Style, gaps []report.Gap) string {
	names := object.Distinct(object.Mapped(gaps, func(g report.Gap) string {
		return s.text(schema.GroupResource{Group: object.GroupOf(g.APIVersion), Resource: g.Resource}.String())
	}))
	if len(names) == 0 {
		return ""
	}
	return "Unknown whether more breaks, not read: " + report.FirstNames(names, s.atMost(3, len(names))) + "."
}

// breakages writes what breaks below the list of effects.
func (w *writer) breakages(p *report.Plan) {
	w.part(&part{label: "BREAKS", items: breakageTexts(w.style, p), maxLines: w.style.atMost(maxBreakageLines, math.MaxInt)})
}

// explainReferrers writes what refers to an object. Of a PVC, explainStorage has named the pods.
func explainReferrers(w *writer, e *report.Explanation) {
	s, list := w.style, e.Referrers
	if e.Object.Is(object.PVC) && !s.Wide {
		isOfPods := func(r report.Referrer) bool {
			return len(e.UsedBy) > 0 && !r.Object.Is(object.PVC) && r.Certainty == report.Sure
		}
		if list = slices.DeleteFunc(slices.Clone(list), isOfPods); len(list) == 0 {
			return
		}
	}
	if list == nil {
		return
	}
	var texts []string
	for i := range list {
		r := &list[i]
		text := s.name(r.Object)
		if r.Object.Namespace != "" && r.Object.Namespace != e.Object.Namespace {
			text = s.namespacedName(r.Object)
		}
		label := s.text(r.Label)
		switch {
		case r.Optional:
			label += ", optional"
		case r.Certainty == report.Undecided && !strings.HasPrefix(r.Field, "metadata."):
			label = "by the name of " + s.text(r.Field)
		}
		if r.Object.Name == "" {
			text = "each new " + s.text(r.Object.Kind)
		}
		texts = append(texts, text+" ("+label+")")
	}
	if len(texts) == 0 {
		w.prose("Used by: no use found in what was read; custom resources may name it", 2)
	} else {
		most := s.atMost(maxRefs, len(texts))
		w.shortProse(maxFactLines, "Used by: "+enumerate(texts[:min(most, len(texts))], len(texts)), 2)
	}
	if text := unreadReferrersText(s, e.UnreadReferrers); text != "" && (s.isComplete() || e.Source.Type == "cluster") {
		w.prose(strings.Replace(text, "more breaks", "more uses it", 1), 2)
	}
}
