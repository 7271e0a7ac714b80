package render

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// DiagnosisTable prints the findings about a snapshot by severity: a block for each cause, or in
// wide output a row for each finding.
func DiagnosisTable(out io.Writer, s Style, d *report.Diagnosis) error {
	s = s.screen()
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	notes := completeness(s, d.Source, d.Complete, d.Gaps)
	causes := causesOf(d.Findings)
	headline := findingSummary(s, d, len(causes))
	w.prose(headline, 2)
	switch {
	case len(causes) == 0:
	case s.Wide:
		w.line()
		w.table(findingTable(s, d.Findings))
	default:
		w.line()
		list := make([]block, len(causes))
		for i := range causes {
			list[i] = causeBlock(s, &causes[i])
		}
		next := nextText(s, &causes[0])
		if left := w.blocks(list, screenLines-s.height(headline)-s.height(notes...)-strings.Count(next, "\n")-3); left > 0 {
			w.prose(moreText(left, "cause"), 2)
		}
		w.WriteString(next)
	}
	writeNotes(w, notes)
	return w.done()
}

// nextText returns the command that explains the first error. It is empty if the line would be too
// long to paste.
func nextText(s Style, c *cause) string {
	if c.severity != reason.Error {
		return ""
	}
	text := "Next: " + s.text(report.Act{Action: report.Explain, Target: c.objects[0]}.CommandLine())
	if s.limit() > 0 && width(text) > s.limit() {
		return ""
	}
	return "\n" + text + "\n"
}

func findingTable(s Style, findings []report.Finding) *table {
	sorted := slices.Clone(findings)
	slices.SortStableFunc(sorted, func(a, b report.Finding) int { return severityRank(a.Severity) - severityRank(b.Severity) })
	t := &table{headers: []string{"SEVERITY", "CODE", "NAMESPACE", "OBJECT", "REFERENCE", "UID", "EVIDENCE", "REMEDY", "MESSAGE"}}
	for i := range sorted {
		f := &sorted[i]
		reference := ""
		if f.Reference != nil {
			reference = s.name(*f.Reference)
		}
		message := s.text(f.Message)
		if f.Remedy != "" && !s.Wide {
			message = strings.TrimLeft(message+s.pick(" → ", " -> ")+s.text(f.Remedy), " ")
		}
		t.add(severityColour(f.Severity),
			s.text(string(f.Severity)), s.text(f.Code), s.text(f.Object.Namespace), s.name(f.Object), reference,
			s.text(string(f.Object.UID)), s.text(f.Evidence), s.text(f.Remedy), message)
	}
	_, several := namespaces(findings, func(f *report.Finding) object.Ref { return f.Object })
	t.dropUnless(several || findings[0].Object.Namespace != "", "NAMESPACE")
	t.dropUnless(slices.ContainsFunc(findings, func(f report.Finding) bool { return f.Reference != nil }), "REFERENCE")
	t.dropUnless(s.Wide, "UID", "EVIDENCE", "REMEDY")
	return t
}

// severityRank returns the rank for sorting, the most severe first and unknown ones last.
func severityRank(v reason.Severity) int {
	order := []reason.Severity{reason.Error, reason.Warning, reason.Info}
	if i := slices.Index(order, v); i >= 0 {
		return i
	}
	return len(order)
}

// findingSummary counts the findings and causes.
func findingSummary(s Style, d *report.Diagnosis, causes int) string {
	n := d.Summary
	var parts []string
	for _, c := range []struct {
		severity reason.Severity
		n        int
	}{{reason.Error, n.Errors}, {reason.Warning, n.Warnings}, {reason.Info, n.Infos}} {
		if c.n > 0 {
			noun := string(c.severity)
			if c.severity == reason.Info {
				noun = "remark"
			}
			parts = append(parts, s.paint(severityColour(c.severity), plural(c.n, noun)))
		}
	}
	looked := plural(n.References, "owner reference") + " of " + plural(n.Objects, "object")
	if len(parts) == 0 && len(d.Findings) == 0 {
		return "Nothing found in " + looked
	}
	if len(parts) == 0 {
		parts = []string{plural(len(d.Findings), "finding")}
	}
	text := enumerate(parts, len(parts)) + " in " + looked
	if causes > 0 && causes < len(d.Findings) {
		text += ": " + plural(causes, "cause")
	}
	return text
}

// manyCauses is the number of owners, and then of kinds of owners, above which findings of one code
// are merged: a restored backup has as many missing owners as objects.
const manyCauses = 3

// cause is a group of findings with a common cause.
type cause struct {
	code     string
	severity reason.Severity
	// owners are the targets of the references, and objects their holders; each once.
	owners, objects []object.Ref
	// message and evidence are common to all findings; empty if they differ.
	message, evidence string
	// remedy is the first remedy of a finding.
	remedy string
}

// common is the key of findings with one cause.
type common struct {
	code  string
	owner object.Ref
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
func each(refs []object.Ref) []object.Ref {
	slices.SortFunc(refs, compareRefs)
	return slices.Compact(refs)
}

// words are the title and advice of a finding.
type words struct {
	title, advice string
	// said prefers the message of the findings as title, if it is the same for all.
	said bool
}

const (
	asGarbage   = "The garbage collector deletes what has no other owner. To keep it, remove the reference."
	notTaken    = "The garbage collector never deletes it. Remove or repair the reference."
	notUpdated  = "The API server refuses every later update of it. Remove the reference."
	otherObject = "The owner counts as absent, and what has no other owner is deleted. Repair the reference."
)

// checkWords are the texts for the findings of check.
var checkWords = map[reason.Code]words{
	reason.OwnerNotFound:            {title: "Owner does not exist", advice: asGarbage},
	reason.OwnerUIDMismatch:         {title: "Owner has another UID, as after a restore", advice: asGarbage},
	reason.OwnerKindMismatch:        {title: "Owner is of another kind", advice: otherObject, said: true},
	reason.OwnerNameMismatch:        {title: "Owner has another name", advice: otherObject, said: true},
	reason.OwnerNamespaceMismatch:   {title: "Owner is in another namespace", advice: otherObject, said: true},
	reason.OwnerNamespaced:          {title: "Cluster-scoped, and the owner is in a namespace", advice: notTaken},
	reason.OwnerKindUnknown:         {title: "Owner is of a kind that is not served", advice: notTaken, said: true},
	reason.OwnerVersionNotServed:    {title: "Owner is named in a version that is not served", advice: notTaken, said: true},
	reason.OwnerKindNotServed:       {title: "Owner is of a kind that has no objects", advice: asGarbage, said: true},
	reason.OwnerNotCovered:          {title: "Whether the owner exists is not known", advice: "Nothing is known to be wrong. Ask the cluster itself, or a dump that has the owner's kind."},
	reason.OwnerKindCase:            {title: "Kind of the owner is not written as it is", advice: "The garbage collector accepts that, other tools may not.", said: true},
	reason.OwnerVersionNotPreferred: {title: "Owner is named in a version that is not the preferred one", advice: "Right while that version is served; check --without-version answers as if it were not.", said: true},
	reason.OwnerBanned:              {title: "Owner is an Event", advice: notUpdated},
	reason.ReferenceIncomplete:      {title: "Reference has an empty field", advice: notUpdated},
	reason.TwoControllers:           {title: "Two owners with controller: true", advice: notUpdated},
	reason.SelfOwner:                {title: "Owns itself", advice: notTaken},
	reason.SelfOwnerBlocks:          {title: "Owns itself, and blocks its own deletion", advice: "A foreground delete of it never ends. Remove the reference."},
	reason.OwnerCycle:               {title: "Objects own one another in a circle", advice: "The garbage collector deletes none of them. Remove one of the references."},
	reason.OwnerCycleBlocks:         {title: "Objects own and block one another in a circle", advice: "The garbage collector deletes none, and foreground deletes may hang. Remove a reference."},
	reason.SharedUID:                {title: "Another object has the same UID", advice: "The garbage collector cannot tell them apart. The API server that serves them must give each its own UID."},
	reason.NoUID:                    {title: "No UID", advice: "Its dependents are unknown. Use the cluster or a dump of it instead of a manifest."},
}

// calico is the group of Calico's API server. It showed its objects under the UIDs of its own CRDs,
// of Namespaces and of ServiceAccounts.
const calico = "projectcalico.org"

var calicoWords = words{
	title:  "Same UID as another object: a known bug of Calico's API server",
	advice: "Update Calico (projectcalico/calico#5715), then restart kube-controller-manager.",
}

// wordsOf returns the texts for a cause. A code without texts is its own title.
func wordsOf(c *cause) words {
	if c.code == string(reason.SharedUID) && object.GroupOf(c.objects[0].APIVersion) == calico {
		return calicoWords
	}
	if w, ok := checkWords[reason.Code(c.code)]; ok {
		return w
	}
	return words{title: c.code, said: true}
}

// causeBlock returns a cause in three lines: title, objects and advice.
func causeBlock(s Style, c *cause) block {
	w := wordsOf(c)
	title := s.text(w.title)
	if w.said && c.message != "" {
		title = s.text(c.message)
		if first, _, _ := strings.Cut(title, " "); !strings.ContainsFunc(first, func(r rune) bool { return !letter(r) }) {
			title = sentenceCase(title)
		}
	}
	if owners := ownersText(s, c); owners != "" {
		title += ": " + owners
	}
	concerned := c.objects
	if isCircle(c) {
		concerned = each(slices.Concat(c.objects, c.owners))
	}
	b := block{severity: c.severity, lines: []string{title, s.crowd(concerned, s.limit()-severityColumn)}, brief: title + " (" + s.brief(concerned) + ")"}
	if w.advice != "" {
		b.lines = append(b.lines, w.advice)
	}
	return b
}

// isCircle reports whether the owners of a cause are among its objects.
func isCircle(c *cause) bool {
	return slices.Contains([]reason.Code{reason.OwnerCycle, reason.OwnerCycleBlocks, reason.SelfOwner, reason.SelfOwnerBlocks}, reason.Code(c.code))
}

// ownersText names the owners without their namespace, which is that of their dependents.
func ownersText(s Style, c *cause) string {
	switch {
	case len(c.owners) == 0 || isCircle(c):
		return ""
	case len(c.owners) <= fewNames:
		names := make([]string, len(c.owners))
		for i, o := range c.owners {
			names[i] = s.name(o)
		}
		return strings.Join(names, ", ")
	}
	return s.countKinds(byKind(c.owners), fewKinds)
}
