package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const (
	// maxEffects is the number of effects above which they are counted.
	maxEffects = 12
	// maxCounts is the number of kinds and namespaces above which a narrow table counts by kind
	// alone.
	maxCounts = 40
	// maxDataRows is the number of rows of data that a narrow table shows.
	maxDataRows = 20
	// manyNames is the number of objects that a row of data names.
	manyNames = 3
)

// needsCounts reports whether the effects are counted first: there are many, or a namespace or CRD
// is deleted.
func needsCounts(p *report.Plan, caused []report.Effect) bool {
	return len(caused) > maxEffects ||
		len(caused) > 1 && p.Seed.Verb == "delete" && slices.ContainsFunc(p.Seed.Targets, isContainer)
}

func isContainer(r object.Ref) bool {
	kind := object.KubectlKind(r.APIVersion, r.Kind)
	return kind == "namespace" || kind == "customresourcedefinition.apiextensions.k8s.io"
}

// countKey is the key of a count: a kind in a namespace.
type countKey struct{ kind, namespace string }

// outcomeCounts counts effects by kind, namespace and outcome.
type outcomeCounts map[countKey]map[report.Outcome]int

func (t outcomeCounts) add(at countKey, o report.Outcome, n int) {
	if t[at] == nil {
		t[at] = map[report.Outcome]int{}
	}
	t[at][o] += n
}

// byKind sums the namespaces of each kind, and counts them.
func (t outcomeCounts) byKind() outcomeCounts {
	spaces, sums := map[string]int{}, outcomeCounts{}
	for at := range t {
		spaces[at.kind]++
	}
	for at, counts := range t {
		if n := spaces[at.kind]; n > 1 {
			at.namespace = report.Plural(n, "namespace")
		}
		for o, n := range counts {
			sums.add(at, o, n)
		}
	}
	return sums
}

// countTable counts effects by kind, namespace and outcome. Outcomes that do not occur have no
// column, nor has a common namespace. A narrow table with too many rows sums the namespaces.
func countTable(s Style, effects []report.Effect) *table {
	counts := outcomeCounts{}
	for i := range effects {
		e := &effects[i]
		counts.add(countKey{object.ShortKindName(e.Object.APIVersion, e.Object.Kind), e.Object.Namespace}, e.Outcome, 1)
	}
	if len(counts) > maxCounts && !s.Wide {
		counts = counts.byKind()
	}
	rows := make([]countKey, 0, len(counts))
	for at := range counts {
		rows = append(rows, at)
	}
	slices.SortFunc(rows, func(a, b countKey) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.namespace, b.namespace))
	})
	outcomes := outcomesOf(effects)
	t := &table{headers: []string{"KIND", "NAMESPACE"}}
	for _, o := range outcomes {
		t.headers = append(t.headers, s.text(strings.ToUpper(string(o))))
	}
	for _, at := range rows {
		row := []string{s.text(at.kind), s.text(at.namespace)}
		for _, o := range outcomes {
			row = append(row, strconv.Itoa(counts[at][o]))
		}
		t.add("", row...)
	}
	dropCommonNamespace(t, effects, func(e *report.Effect) object.Ref { return e.Object })
	return t
}

// outcomesOf returns the outcomes that occur. Effects must be sorted by outcome.
func outcomesOf(effects []report.Effect) []report.Outcome {
	return object.Distinct(object.Mapped(effects, func(e report.Effect) report.Outcome { return e.Outcome }))
}

// dataTitle returns the text after "Data" above its rows.
func dataTitle(effects []report.Effect) string {
	if slices.ContainsFunc(effects, func(e report.Effect) bool { return e.Reason == string(reason.PVCLeft) }) {
		return " that is deleted, may be deleted, or stays:"
	}
	return " that is or may be deleted:"
}

// dataRow is a row of data with escaped texts.
type dataRow struct{ outcome, namespace, data, detail string }

// dataTable returns a table of the first rows, or of all if the output is wide.
func dataTable(s Style, rows []dataRow, effects []report.Effect) *table {
	if !s.Wide {
		rows = rows[:min(len(rows), maxDataRows)]
	}
	t := &table{headers: []string{"OUTCOME", "NAMESPACE", "DATA", "DETAIL"}}
	for _, r := range rows {
		t.add(outcomeColours[report.Outcome(r.outcome)], r.outcome, r.namespace, r.data, r.detail)
	}
	dropCommonNamespace(t, effects, func(e *report.Effect) object.Ref { return e.Object })
	return t
}

// dataRows returns the data that is or may be deleted: a row for each claim and volume with the outcome
// of its storage, then for the Secrets of each namespace and outcome, and then for each kind of custom
// resource.
func dataRows(s Style, p *report.Plan, effects []report.Effect) []dataRow {
	data := dataKinds(p)
	var rows []dataRow
	storage := storageText(s, p.Storage)
	var secrets, custom dataGroups
	for i := range effects {
		e := &effects[i]
		if !e.MayBeDeleted() && e.Reason != string(reason.PVCLeft) {
			continue
		}
		switch data[kindName{e.Object.APIVersion, e.Object.Kind}] {
		case report.VolumeData:
			detail, known := storage[e.Object]
			switch {
			case known:
			case e.Outcome == report.Kept:
				detail = s.text(e.Message)
			default:
				detail = "no volume is bound to it"
			}
			rows = append(rows, dataRow{s.text(string(e.Outcome)), s.text(e.Object.Namespace), s.name(e.Object), detail})
		case report.SecretData:
			secrets.add(e)
		case report.CustomData:
			custom.add(e)
		}
	}
	return append(append(rows, secrets.rows(s)...), custom.rows(s)...)
}

// dataGroup identifies objects of one kind and namespace with one outcome. Kept ones are deleted
// when a finalizer is removed.
type dataGroup struct {
	outcome         report.Outcome
	kind, namespace string
}

type dataGroups struct {
	groups[dataGroup, object.Ref]
}

func (g *dataGroups) add(e *report.Effect) {
	g.groups.add(dataGroup{e.Outcome, object.ShortKindName(e.Object.APIVersion, e.Object.Kind), e.Object.Namespace}, e.Object)
}

func (g *dataGroups) rows(s Style) []dataRow {
	rows := make([]dataRow, len(g.keys))
	for i, of := range g.keys {
		n := len(g.of[of])
		detail := s.firstNames(g.of[of])
		if of.outcome == report.Kept {
			detail += ", when a finalizer is removed"
		}
		rows[i] = dataRow{s.text(string(of.outcome)), s.text(of.namespace), s.text(of.kind) + " (" + strconv.Itoa(n) + ")", detail}
	}
	return rows
}

// storageText returns the outcome of the storage behind each claim and volume.
func storageText(s Style, all []report.Storage) map[object.Ref]string {
	text := map[object.Ref]string{}
	for _, x := range all {
		what := "storage"
		if x.Claim != nil && x.Volume != nil {
			what = "volume " + s.text(x.Volume.Name)
			text[*x.Volume] = "of " + s.namespacedName(*x.Claim)
		}
		if x.ReclaimPolicy != "" {
			what += " (" + s.text(x.ReclaimPolicy) + ")"
		}
		text[x.Of()] = what + ": " + s.text(x.Message)
	}
	return text
}
