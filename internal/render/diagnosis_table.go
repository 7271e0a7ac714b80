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
	s = s.forScreen()
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
		if left := w.blocks(list, maxScreenLines-s.height(headline)-s.height(notes...)-strings.Count(next, "\n")-3); left > 0 {
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
	text := "Next: " + s.text(s.Connection.Command(report.Act{Action: report.Explain, Target: c.objects[0]}.CommandLine()))
	if s.limit() > 0 && width(text) > s.limit() {
		return ""
	}
	return "\n" + text + "\n"
}

func findingTable(s Style, findings []report.Finding) *table {
	t := &table{headers: []string{"SEVERITY", "CODE", "NAMESPACE", "OBJECT", "REFERENCE", "UID", "EVIDENCE", "REMEDY", "MESSAGE"}}
	for _, f := range bySeverity(findings) {
		reference := ""
		if f.Reference != nil {
			reference = s.name(*f.Reference)
		}
		message := s.text(f.Message)
		if f.Remedy != "" && !s.Wide {
			message = strings.TrimLeft(message+s.pick(" → ", " -> ")+s.text(f.Remedy), " ")
		}
		t.add(severityColours[f.Severity],
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
			parts = append(parts, s.paint(severityColours[c.severity], report.Plural(c.n, noun)))
		}
	}
	looked := report.Plural(n.References, "owner reference")
	if n.FieldReferences > 0 {
		looked += " and " + report.Plural(n.FieldReferences, "other reference")
	}
	looked += " of " + report.Plural(n.Objects, "object")
	if len(parts) == 0 && len(d.Findings) == 0 {
		return "Nothing found in " + looked
	}
	if len(parts) == 0 {
		parts = []string{report.Plural(len(d.Findings), "finding")}
	}
	text := enumerate(parts, len(parts)) + " in " + looked
	if causes > 0 && causes < len(d.Findings) {
		text += ": " + report.Plural(causes, "cause")
	}
	return text
}

// maxCauses is the number of owners, and then of kinds of owners, above which findings of one code
// are merged: a restored backup has as many missing owners as objects.
const maxCauses = 3

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

// causeKey is the key of findings with one cause.
type causeKey struct {
	code  string
	owner object.Ref
}

// causesOf groups findings by cause, ordered by severity and then by the number of objects.
func causesOf(findings []report.Finding) []cause {
	keys := make([]causeKey, len(findings))
	for i := range findings {
		keys[i] = causeKeyOf(&findings[i])
	}
	for _, wider := range []func(causeKey) causeKey{
		func(k causeKey) causeKey { k.owner.Namespace, k.owner.Name, k.owner.UID = "", "", ""; return k },
		func(k causeKey) causeKey { return causeKey{code: k.code} },
	} {
		mergeKeys(keys, wider)
	}
	return groupFindings(findings, keys)
}

// byCode groups findings by code, ordered by severity.
func byCode(findings []report.Finding) []cause {
	keys := make([]causeKey, len(findings))
	for i := range findings {
		keys[i].code = findings[i].Code
	}
	return groupFindings(findings, keys)
}

// groupFindings groups the findings with equal keys.
func groupFindings(findings []report.Finding, keys []causeKey) []cause {
	var alike groups[causeKey, *report.Finding]
	for i := range findings {
		alike.add(keys[i], &findings[i])
	}
	causes := object.Mapped(alike.keys, func(k causeKey) cause { return causeOf(alike.of[k]) })
	slices.SortStableFunc(causes, func(a, b cause) int {
		return cmp.Or(cmp.Compare(severityRank(a.severity), severityRank(b.severity)), -cmp.Compare(len(a.objects), len(b.objects)))
	})
	return causes
}

// causeKeyOf returns the key of a finding: the code and the owner without its version. A shared UID
// has the group of the object's kind instead, and owners that were not covered have one key.
func causeKeyOf(f *report.Finding) causeKey {
	k := causeKey{code: f.Code}
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

// mergeKeys replaces the keys of codes with more than maxCauses keys.
func mergeKeys(keys []causeKey, wider func(causeKey) causeKey) {
	causes := map[string]map[causeKey]bool{}
	for _, k := range keys {
		if causes[k.code] == nil {
			causes[k.code] = map[causeKey]bool{}
		}
		causes[k.code][k] = true
	}
	for i, k := range keys {
		if len(causes[k.code]) > maxCauses {
			keys[i] = wider(k)
		}
	}
}

func causeOf(findings []*report.Finding) cause {
	first := findings[0]
	c := cause{code: first.Code, severity: first.Severity, message: first.Message, evidence: first.Evidence}
	for _, f := range findings {
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
	c.objects, c.owners = uniqueRefs(c.objects), uniqueRefs(c.owners)
	return c
}

// uniqueRefs sorts objects and removes duplicates.
func uniqueRefs(refs []object.Ref) []object.Ref {
	slices.SortFunc(refs, object.Compare)
	return slices.Compact(refs)
}

// findingWords are the title and advice of a finding.
type findingWords struct {
	title, advice string
	// prefersMessage prefers the message of the findings as title, if it is the same for all.
	prefersMessage bool
}

const (
	adviseGarbage        = "It is deleted as garbage unless it has another owner. To keep it, remove the reference."
	adviseNeverDeleted   = "The garbage collector never deletes it. Remove or repair the reference."
	adviseUpdatesRefused = "The API server refuses every later update of it. Remove the reference."
	adviseOwnerAbsent    = "The owner counts as absent; objects with no other owner are deleted. Repair the reference."
)

// wordsByCode are the texts for the findings of check.
var wordsByCode = map[reason.Code]findingWords{
	reason.OwnerNotFound:            {title: "Owner does not exist", advice: adviseGarbage},
	reason.OwnerUIDMismatch:         {title: "Owner has another UID, as after a restore", advice: adviseGarbage},
	reason.OwnerKindMismatch:        {title: "Owner is of another kind", advice: adviseOwnerAbsent, prefersMessage: true},
	reason.OwnerNameMismatch:        {title: "Owner has another name", advice: adviseOwnerAbsent, prefersMessage: true},
	reason.OwnerNamespaceMismatch:   {title: "Owner is in another namespace", advice: adviseOwnerAbsent, prefersMessage: true},
	reason.OwnerNamespaced:          {title: "Cluster-scoped, and the owner is in a namespace", advice: adviseNeverDeleted},
	reason.OwnerKindUnknown:         {title: "Owner is of a kind that is not served", advice: adviseNeverDeleted, prefersMessage: true},
	reason.OwnerVersionNotServed:    {title: "Owner is named in a version that is not served", advice: adviseNeverDeleted, prefersMessage: true},
	reason.OwnerKindNotServed:       {title: "Owner is of a kind that has no objects", advice: adviseGarbage, prefersMessage: true},
	reason.OwnerNotCovered:          {title: "Unknown whether the owner exists", advice: "Not known to be a problem. Check the cluster itself, or a dump that contains the owner's kind."},
	reason.OwnerKindCase:            {title: "Kind of the owner has the wrong capitalization", advice: "The garbage collector accepts that, other tools may not.", prefersMessage: true},
	reason.OwnerVersionNotPreferred: {title: "Owner is named in a version that is not the preferred one", advice: "Works while that version is served; check --without-version answers as if it were not.", prefersMessage: true},
	reason.OwnerBanned:              {title: "Owner is an Event", advice: adviseUpdatesRefused},
	reason.ReferenceIncomplete:      {title: "Reference has an empty field", advice: adviseUpdatesRefused},
	reason.TwoControllers:           {title: "Two owners with controller: true", advice: adviseUpdatesRefused},
	reason.SelfOwner:                {title: "Owns itself", advice: adviseNeverDeleted},
	reason.SelfOwnerBlocks:          {title: "Owns itself, and blocks its own deletion", advice: "A foreground delete of it never ends. Remove the reference."},
	reason.OwnerCycle:               {title: "Objects own one another in a circle", advice: "The garbage collector deletes none of them. Remove one of the references."},
	reason.OwnerCycleBlocks:         {title: "Objects own and block one another in a circle", advice: "The garbage collector deletes none, and foreground deletes may hang. Remove a reference."},
	reason.SharedUID:                {title: "Another object has the same UID", advice: "The garbage collector cannot tell them apart. The API server that serves them must give each its own UID."},
	reason.ReferenceNotFound:        {title: "Named, and does not exist", advice: "Create what is missing, or correct the name."},
	reason.NoUID:                    {title: "No UID", advice: "Its dependents are unknown. Use the cluster or a dump of it instead of a manifest."},
}

// calicoGroup is the group of Calico's API server. It showed its objects under the UIDs of its own
// CRDs, of Namespaces and of ServiceAccounts.
const calicoGroup = "projectcalico.org"

var calicoWords = findingWords{
	title:  "Same UID as another object: a known bug of Calico's API server",
	advice: "Update Calico (projectcalico/calico#5715), then restart kube-controller-manager.",
}

// wordsOf returns the texts for a cause. A code without texts is its own title.
func wordsOf(c *cause) findingWords {
	if c.code == string(reason.SharedUID) && object.GroupOf(c.objects[0].APIVersion) == calicoGroup {
		return calicoWords
	}
	if w, ok := wordsByCode[reason.Code(c.code)]; ok {
		return w
	}
	return findingWords{title: c.code, prefersMessage: true}
}

// causeBlock returns a cause in three lines: title, objects and advice.
func causeBlock(s Style, c *cause) block {
	w := wordsOf(c)
	title := s.text(w.title)
	if w.prefersMessage && c.message != "" {
		title = s.text(c.message)
		if first, _, _ := strings.Cut(title, " "); !strings.ContainsFunc(first, func(r rune) bool { return !isLetter(r) }) {
			title = sentenceCase(title)
		}
	}
	if owners := ownersText(s, c); owners != "" {
		title += ": " + owners
	}
	concerned := c.objects
	if isCycle(c) {
		concerned = uniqueRefs(slices.Concat(c.objects, c.owners))
	}
	b := block{severity: c.severity, lines: []string{title, s.summarizeRefs(concerned, s.limit()-severityColumn)}, brief: title + " (" + s.refOrCounts(concerned) + ")"}
	if w.advice != "" {
		b.lines = append(b.lines, w.advice)
	}
	return b
}

// isCycle reports whether the owners of a cause are among its objects.
func isCycle(c *cause) bool {
	return slices.Contains([]reason.Code{reason.OwnerCycle, reason.OwnerCycleBlocks, reason.SelfOwner, reason.SelfOwnerBlocks}, reason.Code(c.code))
}

// ownersText names the owners without their namespace, which is that of their dependents.
func ownersText(s Style, c *cause) string {
	switch {
	case len(c.owners) == 0 || isCycle(c):
		return ""
	case len(c.owners) <= maxNames:
		return strings.Join(object.Mapped(c.owners, s.name), ", ")
	}
	return s.countKinds(byKind(c.owners), maxKindCounts)
}
