package render

import (
	"bufio"
	"cmp"
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// maxDataNames is the number of data objects that are named.
const maxDataNames = 20

// ConfirmationText prints what a user should know before the confirmation: the cluster and the
// user, the numbers of changed objects, and the data among them.
func ConfirmationText(out io.Writer, s Style, c *report.Confirmation) error {
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	if c.Backup != "" {
		w.prose(s.text(c.Verb)+" "+s.paint(bold, s.text(c.Backup)), 2)
	} else {
		w.clusterAndUser(c)
	}
	t := &table{headers: []string{"KIND", "OUTCOME", "COUNT"}}
	for i := range c.Counts {
		n := &c.Counts[i]
		t.add(outcomeColours[report.Outcome(n.Change)], s.text(object.ShortKindName(n.APIVersion, n.Kind)), s.text(consequenceText(n)), strconv.Itoa(n.Count))
	}
	w.titled("", t)
	if len(c.Data) > 0 {
		w.line()
		w.prose(s.paint(red, "Data")+" is among the deleted objects:", 2)
		for i, r := range c.Data {
			if i == maxDataNames {
				w.prose("and "+strconv.Itoa(len(c.Data)-i)+" more", 2)
				break
			}
			w.prose("  "+s.namespacedName(r), 4)
		}
	}
	for _, note := range c.Notes {
		w.line()
		w.prose(s.text(note), 2)
	}
	return w.done()
}

// clusterAndUser writes the cluster and the user.
func (w *writer) clusterAndUser(c *report.Confirmation) {
	s := w.style
	w.prose(s.text(c.Verb)+" in "+s.paint(bold, s.text(c.Name())), 2)
	if c.Context != "" {
		w.prose("server:  "+s.text(c.Server), 2)
	}
	w.prose("cluster: "+cmp.Or(s.text(string(c.ClusterUID)), "unknown"), 2)
	w.prose("user:    "+cmp.Or(s.text(c.User), "unknown"), 2)
}

// ConfirmationPrompt returns the prompt: what to type, and what that does.
func ConfirmationPrompt(s Style, c *report.Confirmation) string {
	what := "context"
	switch {
	case c.Backup != "":
		what = "backup"
	case c.Context == "":
		what = "server"
	}
	return "Type the name of the " + what + " (" + s.text(c.Name()) + ") to " + confirmedAction(s, c) + ":"
}

// confirmedAction describes the effect of the confirmation, with the data that is deleted.
func confirmedAction(s Style, c *report.Confirmation) string {
	switch {
	case c.Backup != "":
		return "remove it"
	case c.Restores > 0:
		return "restore " + report.Plural(c.Restores, "object")
	case c.Deletes == 0 && c.Removes > 0:
		return "remove " + report.Plural(c.Removes, "finalizer")
	case c.Deletes == 0:
		return "change " + report.Plural(c.Edits(), "object")
	case c.Removes > 0:
		return "remove " + report.Plural(c.Removes, "finalizer") + " and " + deletionText(s, c)
	default:
		return deletionText(s, c)
	}
}

func deletionText(s Style, c *report.Confirmation) string {
	if c.Only != nil {
		return "delete " + s.text(c.Only.ShortName())
	}
	text := "delete "
	if c.UpTo {
		text += "up to "
	}
	text += report.Plural(c.Deletes, "object")
	var kinds []string
	for _, kind := range c.DataKinds() {
		noun := nounOf(s, kind.Count, kind.APIVersion, kind.Kind)
		switch {
		case kind.Count == c.Deletes:
			return text + ", all of them " + noun
		case kind.Count == 1 && len(kinds) == 0:
			kinds = append(kinds, "1 of them a "+noun)
		case len(kinds) == 0:
			kinds = append(kinds, strconv.Itoa(kind.Count)+" of them "+noun)
		default:
			kinds = append(kinds, strconv.Itoa(kind.Count)+" "+noun)
		}
	}
	if len(kinds) == 0 {
		return text
	}
	return text + ", " + enumerate(kinds, len(kinds))
}

// consequenceText describes an outcome and its condition briefly.
func consequenceText(c *report.ConsequenceCount) string {
	what := lower(string(c.Change))
	switch {
	case c.When == report.FinalizerRemoved && c.Certainty == report.Sure:
		return what + " once a controller removes its finalizer"
	case c.When == report.FinalizerRemoved:
		return what + " if a finalizer is removed"
	case c.Certainty != report.Sure:
		return "may be " + what
	default:
		return what
	}
}

// ObstaclesText returns why a plan is refused: the end of a sentence, or one line for each of
// several obstacles. Names are not escaped, since it is part of an error message.
func ObstaclesText(obstacles []report.Obstacle) string {
	lines := make([]string, len(obstacles))
	for i := range obstacles {
		o := &obstacles[i]
		lines[i] = strings.ReplaceAll(obstacleText(o), "\n", `\n`)
		if o.Unlock != "" {
			lines[i] += " (--unlock=" + o.Unlock + ")"
		}
	}
	if len(lines) > 1 {
		return "\n  " + strings.Join(lines, "\n  ")
	}
	return " " + lines[0]
}

func obstacleText(o *report.Obstacle) string {
	if o.Limit < o.Planned {
		return "the plan deletes " + report.Plural(o.Planned, "object") + ", at most " + strconv.Itoa(o.Limit) + " are allowed"
	}
	const most = 3
	n := len(o.Objects)
	who, is, its := firstOf(o.Objects, most, NamespacedName), pluralForm(n, " is ", " are "), pluralForm(n, " its ", " their ")
	if o.Finalizer != "" {
		return "finalizer " + o.Finalizer + " of " + who + ": " + o.Message
	}
	switch {
	case o.Reason == "BreaksCluster" && n > 0 && strings.HasSuffix(o.Objects[0].Kind, "PolicyBinding"):
		return who + pluralForm(n, " loses its parameters: ", " lose their parameters: ") + o.Message
	case o.Reason == "BreaksCluster":
		return who + pluralForm(n, " loses its Service: ", " lose their Services: ") + o.Message
	}
	if o.Message != "" {
		return "not all objects that would be deleted with " + who + " were seen; the others may be protected, and have no copy: " + o.Message
	}
	switch reason.Code(o.Reason) {
	case reason.ProtectedNamespace:
		return who + is + "protected: the cluster depends on the namespace; no option unlocks this"
	case reason.ProtectedByAnnotation:
		return who + is + "protected by" + its + reason.ProtectingPart(reason.ProtectedByAnnotation) + "; no option unlocks this: remove the annotation first"
	case reason.ProtectedByHelm, reason.ProtectedKind:
		return who + is + "protected by" + its + reason.ProtectingPart(reason.Code(o.Reason))
	case reason.ProtectedOutside:
		return "data outside of the cluster is deleted with " + who + ", or may be"
	default:
		return who + " could not be read: unknown whether an annotation protects it"
	}
}

// AnswersText returns the answers of the API server to dry-run requests. Names are not escaped.
func AnswersText(answers []report.Answer) string {
	var refused []string
	var untried groups[string, string] // by reason
	accepted := 0
	for i := range answers {
		a := &answers[i]
		what := a.Verb + " " + NamespacedName(a.Object)
		switch {
		case a.Refused != "":
			refused = append(refused, "\n  "+what+" would be refused: "+a.Refused)
		case a.Untried != "":
			untried.add(a.Untried, what)
		default:
			accepted++
		}
	}
	head := "The API server tried no requests."
	if tried := accepted + len(refused); tried > 0 {
		head = "The API server tried " + report.Plural(tried, "request") + " and would accept " + strconv.Itoa(accepted) + "."
	}
	var text strings.Builder
	text.WriteString(head)
	const most = 10
	if more := len(refused) - most; more > 0 {
		refused = append(refused[:most], "\n  and "+strconv.Itoa(more)+" more would be refused")
	}
	text.WriteString(strings.Join(refused, ""))
	for _, why := range untried.keys {
		list := untried.of[why]
		text.WriteString("\n  not tried: " + enumerate(list[:min(3, len(list))], len(list)) + ": " + why)
	}
	return text.String()
}
