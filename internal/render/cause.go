package render

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// manyCauses is the number of owners, and then of kinds of owners, above which findings of one code
// are merged: a restored backup has as many missing owners as objects.
const manyCauses = 3

// cause is a group of findings with a common cause.
type cause struct {
	code     string
	severity reason.Severity
	// owners are the targets of the references, and objects their holders; each once.
	owners, objects []report.Ref
	// message and evidence are common to all findings; empty if they differ.
	message, evidence string
	// remedy is the first remedy of a finding.
	remedy string
}

// common is the key of findings with one cause.
type common struct {
	code  string
	owner report.Ref
}

// causesOf groups findings by cause, ordered by severity and then by the number of objects.
func causesOf(findings []report.Finding) []cause {
	keys := make([]common, len(findings))
	for i := range findings {
		keys[i] = commonOf(&findings[i])
	}
	for _, wider := range []func(common) common{
		func(k common) common { k.owner.Namespace, k.owner.Name, k.owner.UID = "", "", ""; return k },
		func(k common) common { return common{code: k.code} },
	} {
		widen(keys, wider)
	}
	return gather(findings, keys)
}

// byCode groups findings by code, ordered by severity.
func byCode(findings []report.Finding) []cause {
	keys := make([]common, len(findings))
	for i := range findings {
		keys[i].code = findings[i].Code
	}
	return gather(findings, keys)
}

// gather groups the findings with equal keys.
func gather(findings []report.Finding, keys []common) []cause {
	var order []common
	groups := map[common]*cause{}
	for i := range findings {
		f := &findings[i]
		g := groups[keys[i]]
		if g == nil {
			g = &cause{code: f.Code, severity: f.Severity, message: f.Message, evidence: f.Evidence}
			groups[keys[i]] = g
			order = append(order, keys[i])
		}
		g.add(f)
	}
	causes := make([]cause, len(order))
	for i, k := range order {
		g := groups[k]
		g.objects, g.owners = each(g.objects), each(g.owners)
		causes[i] = *g
	}
	slices.SortStableFunc(causes, func(a, b cause) int {
		return cmp.Or(cmp.Compare(severityRank(a.severity), severityRank(b.severity)), -cmp.Compare(len(a.objects), len(b.objects)))
	})
	return causes
}

// commonOf returns the key of a finding: the code and the owner without its version. A shared UID
// has the group of the object's kind instead, and owners that were not covered have one key.
func commonOf(f *report.Finding) common {
	k := common{code: f.Code}
	switch {
	case f.Code == string(reason.OwnerNotCovered):
	case f.Reference != nil:
		k.owner = *f.Reference
		k.owner.APIVersion = object.GroupOf(k.owner.APIVersion)
	case f.Code == string(reason.SharedUID):
		k.owner.APIVersion = object.GroupOf(f.Object.APIVersion)
	}
	return k
}

// widen replaces the keys of codes with more than manyCauses keys.
func widen(keys []common, wider func(common) common) {
	causes := map[string]map[common]bool{}
	for _, k := range keys {
		if causes[k.code] == nil {
			causes[k.code] = map[common]bool{}
		}
		causes[k.code][k] = true
	}
	for i, k := range keys {
		if len(causes[k.code]) > manyCauses {
			keys[i] = wider(k)
		}
	}
}

func (c *cause) add(f *report.Finding) {
	c.objects = append(c.objects, f.Object)
	if f.Reference != nil {
		c.owners = append(c.owners, *f.Reference)
	}
	if f.Message != c.message {
		c.message = ""
	}
	if f.Evidence != c.evidence {
		c.evidence = ""
	}
	c.remedy = cmp.Or(c.remedy, f.Remedy)
}

// each sorts objects and removes duplicates.
func each(refs []report.Ref) []report.Ref {
	slices.SortFunc(refs, compareRefs)
	return slices.Compact(refs)
}
