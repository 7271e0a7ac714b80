package render

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// CheckupText prints whether the garbage collector works, then the problems with advice. Wide
// output has all evidence.
func CheckupText(out io.Writer, s Style, c *report.Checkup) error {
	s = s.forScreen()
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	headline := s.paint(checkupColours[c.Verdict], checkupVerdict(c))
	w.prose(headline, 2)
	notes := checkupNotes(s, c)
	switch {
	case s.Wide:
		checkupDetails(w, c)
	case slices.ContainsFunc(c.Findings, isProblem):
		w.line()
		list := checkupBlocks(s, c)
		if left := w.blocks(list, maxScreenLines-s.height(headline)-s.height(notes...)-3); left > 0 {
			w.prose(moreText(left, "problem"), 2)
		}
	}
	writeNotes(w, notes)
	return w.done()
}

// isProblem reports whether a finding is more than a remark.
func isProblem(f report.Finding) bool { return f.Severity != reason.Info }

// checkupBlocks returns the problems by code, ordered by severity: title, objects and advice.
func checkupBlocks(s Style, c *report.Checkup) []block {
	problems := slices.DeleteFunc(slices.Clone(c.Findings), func(f report.Finding) bool { return !isProblem(f) })
	var list []block
	for _, found := range byCode(problems) {
		title, ok := checkupTitles[reason.Code(found.code)]
		if !ok {
			title = s.text(found.code)
		}
		where := s.summarizeRefs(found.objects, s.limit()-severityColumn)
		if found.message != "" {
			where += ": " + s.text(found.message)
			if found.evidence != "" {
				where += " (" + s.text(found.evidence) + ")"
			}
		}
		b := block{severity: found.severity, lines: []string{title, where}, brief: title + " (" + s.refOrCounts(found.objects) + ")"}
		if found.remedy != "" {
			b.lines = append(b.lines, sentenceCase(s.text(found.remedy))+".")
		}
		list = append(list, b)
	}
	return list
}

// checkupDetails writes the evidence of the verdict and every finding.
func checkupDetails(w *writer, c *report.Checkup) {
	s := w.style
	if len(c.Reasons) > 0 {
		w.line()
	}
	for _, r := range c.Reasons {
		label := s.text(r.Code)
		if r.Count > 0 {
			label += " (" + strconv.Itoa(r.Count) + ")"
		}
		w.prose("- "+label+": "+s.text(r.Message), 2)
	}
	w.titled("", checkupTable(s, c.Findings))
}

var checkupColours = map[report.CollectorVerdict]string{
	report.CollectorWorking: green, report.CollectorNoProblemFound: green, report.CollectorNotWorking: red, report.CollectorUnknown: magenta,
}

// checkupTable lists the findings by severity.
func checkupTable(s Style, findings []report.Finding) *table {
	t := &table{headers: []string{"SEVERITY", "CODE", "NAMESPACE", "OBJECT", "MESSAGE"}}
	for _, f := range bySeverity(findings) {
		message := f.Message
		if f.Evidence != "" {
			message += " (" + f.Evidence + ")"
		}
		t.add(severityColours[f.Severity], s.text(string(f.Severity)), s.text(f.Code), s.text(f.Object.Namespace), subjectName(s, f.Object), s.text(message))
	}
	return t
}

// subjectName returns an object, or a kind if the finding is about all its objects.
func subjectName(s Style, r object.Ref) string {
	if r.Name == "" && r.UID == "" {
		return s.text(object.ShortKindName(r.APIVersion, r.Kind))
	}
	return s.name(r)
}

// subjectPlace is subjectName with the namespace.
func subjectPlace(s Style, r object.Ref) string {
	if r.Name == "" && r.UID == "" {
		return subjectName(s, r)
	}
	return s.namespacedName(r)
}

// checkupNotes returns the notes about passed checks and gaps, and in wide output the remedies.
func checkupNotes(s Style, c *report.Checkup) []string {
	var notes []string
	told := map[string]bool{}
	for _, f := range c.Findings {
		if s.Wide && f.Remedy != "" && !told[f.Code] {
			told[f.Code] = true
			notes = append(notes, s.text(f.Code)+s.pick(" → ", " -> ")+s.text(f.Remedy)+".")
		}
	}
	slices.Sort(notes)
	if text := passedText(s, c); text != "" {
		notes = append(notes, text)
	}
	if remarks := c.Summary.Infos; remarks > 0 && !s.Wide {
		notes = append(notes, report.Plural(remarks, "remark")+": -o wide")
	}
	if g := c.Graph; g != nil {
		text := "Graph: " + report.Plural(g.Nodes, "node") + " and " + report.Plural(g.Edges, "edge") + " from " + s.text(g.From) +
			", " + report.Plural(g.Compared, "object") + " compared, "
		if g.Different == 0 {
			text += "no difference."
		} else {
			text += report.Plural(g.Different, "difference") + "."
		}
		notes = append(notes, text)
	}
	if c.EarlierTakenAt != "" {
		notes = append(notes, "Compared with the dump of "+s.text(c.EarlierTakenAt)+".")
	}
	return append(notes, completeness(s, c.Source, c.Complete, c.Gaps)...)
}

// checkupTitles are the titles of findings about a collector.
var checkupTitles = map[reason.Code]string{
	reason.GarbageOld:              "Garbage that should be gone by now",
	reason.GarbageLeft:             "Garbage of unknown age",
	reason.ForegroundStuck:         "Foreground deletion that makes no progress",
	reason.ForegroundWaits:         "Foreground deletion that waits only for the garbage collector",
	reason.OrphanStuck:             "Orphaning that makes no progress",
	reason.CollectorMissedDeletion: "Both garbage collector finalizers are set: it does only half of the work until it restarts",
	reason.WebhookDown:             "The API server refuses requests, because a webhook does not answer",
	reason.WriteRefused:            "A policy or an unresponsive webhook blocks the garbage collector",
	reason.WriteDoubtful:           "A policy or webhook may block the garbage collector",
	reason.KindUnlisted:            "A served kind cannot be listed",
	reason.GroupUndiscovered:       "A registered API does not respond",
	reason.LeaseAbsent:             "kube-controller-manager has no lease",
	reason.LeaseExpired:            "kube-controller-manager does not renew its lease",
	reason.CollectorSwitchedOff:    "The garbage collector is disabled",
	reason.GraphKindUnknown:        "The garbage collector does not see a kind",
	reason.GraphObjectUnknown:      "The garbage collector has not seen these objects",
	reason.GraphNodeGone:           "The garbage collector treats deleted objects as existing",
	reason.GraphOwnersDiffer:       "The garbage collector has different owners in its graph",
	reason.GraphStateDiffers:       "The garbage collector has not noticed that these are being deleted",
}

// collectorCheck is one check of a checkup, with the codes that it may find.
type collectorCheck struct {
	name  string
	codes []reason.Code
	// isMade reports whether the check could be made.
	isMade func(*report.Checkup) bool
}

// collectorChecks are all checks. A refusal by a policy or webhook counts for each of the first
// three.
var collectorChecks = []collectorCheck{
	{"no garbage left behind", []reason.Code{reason.GarbageOld, reason.GarbageLeft, reason.GarbageYoung, reason.WriteRefused, reason.WriteDoubtful}, alwaysMade},
	{"no foreground deletion without progress", []reason.Code{reason.ForegroundStuck, reason.ForegroundWaits, reason.WriteRefused, reason.WriteDoubtful}, hasTime},
	{"no orphaning without progress", []reason.Code{reason.OrphanStuck, reason.WriteRefused, reason.WriteDoubtful}, hasTime},
	{"no missed deletion", []reason.Code{reason.CollectorMissedDeletion}, hasTime},
	{"every kind can be listed", []reason.Code{reason.KindUnlisted}, hasKinds},
	{"every API responds", []reason.Code{reason.GroupUndiscovered}, hasKinds},
	{"the lease of kube-controller-manager is renewed", []reason.Code{reason.LeaseExpired}, hasLease},
	{"the garbage collector sees every kind", []reason.Code{reason.GraphKindUnknown}, hasGraph},
	{"it has seen every object", []reason.Code{reason.GraphObjectUnknown}, hasGraph},
	{"it knows what is gone", []reason.Code{reason.GraphNodeGone}, hasGraph},
	{"it knows all owners", []reason.Code{reason.GraphOwnersDiffer}, hasGraph},
	{"it knows what is being deleted", []reason.Code{reason.GraphStateDiffers}, hasGraph},
}

func alwaysMade(*report.Checkup) bool { return true }
func hasTime(c *report.Checkup) bool  { return !hasReason(c, reason.TimeUnknown) }
func hasKinds(c *report.Checkup) bool { return !hasReason(c, reason.KindsNotKnown) }
func hasLease(c *report.Checkup) bool { return hasReason(c, reason.LeaseRenewed) }
func hasGraph(c *report.Checkup) bool { return c.Graph != nil && c.Graph.Compared > 0 }

// hasReason reports whether a verdict has a reason.
func hasReason(c *report.Checkup, code reason.Code) bool {
	return slices.ContainsFunc(c.Reasons, func(r report.CheckupReason) bool { return r.Code == string(code) })
}

// passedChecks returns the names of the checks that were made and found nothing.
func passedChecks(c *report.Checkup) []string {
	var names []string
	for _, i := range collectorChecks {
		found := func(f report.Finding) bool { return slices.Contains(i.codes, reason.Code(f.Code)) }
		if i.isMade(c) && !slices.ContainsFunc(c.Findings, found) {
			names = append(names, i.name)
		}
	}
	return names
}

// passedText counts the passed checks. Wide output lists them.
func passedText(s Style, c *report.Checkup) string {
	names := passedChecks(c)
	if len(names) == 0 {
		return ""
	}
	seen := ""
	if hasReason(c, reason.NotAllSeen) {
		seen = " for what was seen"
	}
	noun := "check"
	if len(c.Findings) > 0 {
		noun = "other check"
	}
	if s.Wide {
		return report.Plural(len(names), noun) + " passed" + seen + ": " + strings.Join(names, ", ") + "."
	}
	return report.Plural(len(names), noun) + " passed" + seen + ": -o wide"
}

// checkupVerdict returns the verdict in one sentence.
func checkupVerdict(c *report.Checkup) string {
	switch c.Verdict {
	case report.CollectorWorking:
		return "The garbage collector works: its graph agrees with the cluster."
	case report.CollectorNotWorking:
		return "The garbage collector does not work, at least not for everything."
	case report.CollectorNoProblemFound:
		return "No problem found with the garbage collector. That is not proof that it works."
	case report.CollectorUnknown:
	}
	text := "Cannot tell whether the garbage collector works"
	if why := unknownReasons(c); len(why) > 0 {
		text += ": " + enumerate(why, len(why))
	}
	return text + "."
}

// unknownReasons returns the reasons for an unknown verdict that are not findings.
func unknownReasons(c *report.Checkup) []string {
	var why []string
	for _, because := range []struct {
		code reason.Code
		text string
	}{
		{reason.TimeUnknown, "the dump does not say when it was taken"},
		{reason.KindsNotKnown, "the served kinds are unknown"},
		{reason.NotAllSeen, "not everything could be checked"},
	} {
		if hasReason(c, because.code) {
			why = append(why, because.text)
		}
	}
	return why
}
