package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// outsidePart returns the part of the first screen about outside resources: "bucket/b1: deleted
// (deletionPolicy: Delete)", lost data first. If they are too many, they are counted by outcome.
func outsidePart(s Style, p *report.Plan) *part {
	const most = 3
	sorted := slices.Clone(p.Outside)
	slices.SortStableFunc(sorted, func(a, b report.Outside) int { return outsideRank(&a) - outsideRank(&b) })
	var groups effectGroups
	for i := range sorted {
		x := &sorted[i]
		groups.add(&report.Effect{Object: x.Object}, outsideText(s, x))
	}
	cloud := &part{label: "CLOUD", items: groups.items(s, namespaceOf(p)), maxLines: most}
	if len(cloud.items) > most {
		cloud.items, cloud.maxLines = outsideCounts(s, sorted), 2*most
	}
	return cloud
}

// outsideCounts returns a text for each outcome: "8 deleted, 5 with data: bucket/b1, bucket/b2, … and 6
// more".
func outsideCounts(s Style, sorted []report.Outside) []string {
	var items []string
	for _, outcome := range []report.Outcome{report.Deleted, report.Unknown, report.Kept} {
		var refs []object.Ref
		data := 0
		for i := range sorted {
			if x := &sorted[i]; x.Outcome == outcome {
				refs = append(refs, x.Object)
				if x.LosesData() {
					data++
				}
			}
		}
		if len(refs) == 0 {
			continue
		}
		text := strconv.Itoa(len(refs)) + " " + lower(string(outcome))
		if data > 0 {
			text += ", " + strconv.Itoa(data) + " with data"
		}
		items = append(items, text+": "+s.firstRefs(refs, 2))
	}
	return items
}

// outsideRank sorts lost data first, then what else is deleted, what is unknown, and what is kept.
func outsideRank(x *report.Outside) int {
	switch {
	case x.LosesData():
		return 0
	case x.Outcome == report.Deleted:
		return 1
	case x.Outcome == report.Unknown:
		return 2
	default:
		return 3
	}
}

// outsideText returns the outcome of an outside resource, with the last word of the field that decides.
// Without a field, it names the resource.
func outsideText(s Style, x *report.Outside) string {
	text := lower(string(x.Outcome))
	if x.Field == "" {
		text += ": " + x.What
	} else {
		text += " (" + x.Decision(x.Field[strings.LastIndexAny(x.Field, "./")+1:]) + ")"
	}
	return s.text(withWhy(text, x))
}

// withWhy adds why the outcome of an outside resource is as it is to a text.
func withWhy(text string, x *report.Outside) string {
	if text == "" || x.Why == "" {
		return text + x.Why
	}
	return text + "; " + x.Why
}

// outsideTable returns a row for each outside resource.
func outsideTable(s Style, list []report.Outside) *table {
	t := &table{headers: []string{"OUTCOME", "NAMESPACE", "OBJECT", "WHAT", "WHY"}, inWidth: true}
	for i := range list {
		x := &list[i]
		t.add(outcomeColours[x.Outcome], s.text(string(x.Outcome)), s.text(x.Object.Namespace), s.name(x.Object), s.text(x.What), s.text(withWhy(x.Decision(x.Field), x)))
	}
	dropCommonNamespace(t, list, func(x *report.Outside) object.Ref { return x.Object })
	return t
}
