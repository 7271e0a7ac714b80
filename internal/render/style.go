// Package render turns the documents of package report into bytes, for people
// and for machines.
//
// A renderer is a function of a writer, a Style and a document. It looks at
// nothing else: not at the terminal, the environment or the clock. The same
// document in the same style is always the same bytes. Everything that comes
// from outside is escaped before a person sees it (Escape).
package render

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Style says how a person wants to see a document.
type Style struct {
	// Colour adds colour. It never says anything that words do not say too.
	Colour bool
	// ASCII keeps the output within ASCII, names included.
	ASCII bool
	// Wide adds columns and lifts Width.
	Wide bool
	// NoHeaders leaves the line of column names out of tables.
	NoHeaders bool
	// Width is the number of columns to stay within; 0 for no limit.
	Width int
	// manner is how foreign text is written.
	manner manner
}

// manner is what foreign text is made safe for.
type manner uint8

const (
	// Without a manner everything is shown, and nothing acts on a terminal.
	_ manner = iota
	// verbatim leaves text as it is, for whoever escapes it later.
	verbatim
	// marked is for Markdown, in which it means nothing.
	marked
	// paged is for a page that is looked at later, and escapes its markup itself.
	paged
)

// limit is the number of columns to stay within; 0 for no limit.
func (s Style) limit() int {
	if s.Wide {
		return 0
	}
	return s.Width
}

// all reports whether everything is to be said, and not only what a first screen needs.
func (s Style) all() bool { return s.Wide || s.manner == marked }

// text is foreign text as it may be shown.
func (s Style) text(raw string) string {
	switch s.manner {
	case verbatim:
		return raw
	case marked:
		return inertWords(escape(raw, s.ASCII))
	default:
		return escape(raw, s.ASCII)
	}
}

// name is the object by its short name, as it may be shown.
func (s Style) name(r report.Ref) string { return s.object(r.ShortName()) }

// object is the name of something, which Markdown sets apart from words.
func (s Style) object(raw string) string {
	if s.manner == marked {
		return inertName(escape(raw, s.ASCII))
	}
	return s.text(raw)
}

// place is the object with the namespace that it is in.
func (s Style) place(r report.Ref) string {
	if r.Namespace == "" {
		return s.name(r)
	}
	return s.object(r.ShortName() + " -n " + r.Namespace)
}

// pick chooses between a sign and its ASCII spelling.
func (s Style) pick(sign, ascii string) string {
	if s.ASCII {
		return ascii
	}
	return sign
}

// some names the first few of many objects: "pod/a, pod/b and 3 more".
func (s Style) some(refs []report.Ref, most int) string {
	names := make([]string, 0, most)
	for _, r := range refs[:min(len(refs), most)] {
		names = append(names, s.name(r))
	}
	return enumerate(names, len(refs))
}

// texts is foreign text as it may be shown, separated by commas.
func (s Style) texts(raw []string) string {
	shown := make([]string, len(raw))
	for i, t := range raw {
		shown[i] = s.text(t)
	}
	return strings.Join(shown, ", ")
}

// The colours that are in use, as SGR parameters.
const (
	red     = "31"
	green   = "32"
	yellow  = "33"
	blue    = "34"
	magenta = "35"
	cyan    = "36"
	bold    = "1"
)

func (s Style) paint(colour, text string) string {
	if !s.Colour || colour == "" || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

func outcomeColour(o report.Outcome) string {
	switch o {
	case report.Deleted:
		return red
	case report.Blocked:
		return yellow
	case report.Orphaned:
		return blue
	case report.Pruned:
		return cyan
	case report.Kept:
		return green
	case report.Unknown:
		return magenta
	}
	return ""
}

func severityColour(v reason.Severity) string {
	switch v {
	case reason.Error:
		return red
	case reason.Warning:
		return yellow
	case reason.Info:
		return blue
	}
	return ""
}

func verdictColour(v report.Verdict) string {
	switch v {
	case report.Live:
		return green
	case report.Garbage:
		return red
	case report.BeingDeleted, report.WaitingForDependents, report.HeldByFinalizer:
		return yellow
	case report.Undecidable:
		return magenta
	}
	return ""
}

// star marks what depends on timing.
func (s Style) star() string {
	if s.manner == marked {
		return `\*`
	}
	return "*"
}
