package render

import (
	"bufio"
	"io"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// manyData is the number of data objects that are named.
const manyData = 20

// ConfirmationText prints what a user should know before the confirmation: the cluster and the
// user, the numbers of changed objects, and the data among them.
func ConfirmationText(out io.Writer, s Style, c *report.Confirmation) error {
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	if c.Backup != "" {
		w.prose(s.text(c.Verb)+" "+s.paint(bold, s.text(c.Backup)), 2)
	} else {
		w.confirmedWhere(c)
	}
	if len(c.Counts) > 0 {
		w.line()
		w.table(confirmationCounts(s, c.Counts))
	}
	if len(c.Data) > 0 {
		w.line()
		w.prose(s.paint(red, "Data")+" is among what is deleted:", 2)
		for i, r := range c.Data {
			if i == manyData {
				w.prose("and "+strconv.Itoa(len(c.Data)-i)+" more", 2)
				break
			}
			w.prose("  "+s.place(r), 4)
		}
	}
	for _, note := range c.Notes {
		w.line()
		w.prose(s.text(note), 2)
	}
	return w.done()
}

// confirmedWhere writes the cluster and the user.
func (w *writer) confirmedWhere(c *report.Confirmation) {
	s := w.style
	w.prose(s.text(c.Verb)+" in "+s.paint(bold, s.text(c.Name())), 2)
	if c.Context != "" {
		w.prose("server:  "+s.text(c.Server), 2)
	}
	w.prose("cluster: "+orUntold(s.text(string(c.ClusterUID))), 2)
	w.prose("user:    "+orUntold(s.text(c.User)), 2)
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
	return "Type the name of the " + what + " (" + s.text(c.Name()) + ") to " + deed(s, c) + ":"
}

// deed describes the effect of the confirmation, with the data that is deleted.
func deed(s Style, c *report.Confirmation) string {
	switch {
	case c.Backup != "":
		return "remove it"
	case c.Restores > 0:
		return "restore " + plural(c.Restores, "object")
	case c.Deletes == 0 && c.Removes > 0:
		return "remove " + plural(c.Removes, "finalizer")
	case c.Deletes == 0:
		return "change " + plural(c.Edits(), "object")
	case c.Removes > 0:
		return "remove " + plural(c.Removes, "finalizer") + " and " + deleted(s, c)
	default:
		return deleted(s, c)
	}
}

func deleted(s Style, c *report.Confirmation) string {
	if c.Only != nil {
		return "delete " + s.text(c.Only.ShortName())
	}
	text := "delete "
	if c.UpTo {
		text += "up to "
	}
	text += plural(c.Deletes, "object")
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

func orUntold(text string) string {
	if text == "" {
		return "not known"
	}
	return text
}

// confirmationCounts returns the number of objects by kind and outcome.
func confirmationCounts(s Style, counts []report.ConsequenceCount) *table {
	t := &table{headers: []string{"KIND", "OUTCOME", "COUNT"}}
	for i := range counts {
		c := &counts[i]
		t.add(outcomeColour(report.Outcome(c.Change)), s.text(report.ShortKindName(c.APIVersion, c.Kind)), s.text(consequenceText(c)), strconv.Itoa(c.Count))
	}
	return t
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
