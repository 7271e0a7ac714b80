// Package render prints the documents of package report, for people and for machines.
//
// A renderer is a function of a writer, a Style and a document. It does not read the terminal, the
// environment or the clock: the same document in the same style always gives the same bytes. All
// untrusted text is escaped before it is shown to people (Escape).
package render

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Style selects how a document is printed.
type Style struct {
	// Colour adds colour, but never information.
	Colour bool
	// ASCII keeps the output within ASCII, names included.
	ASCII bool
	// Wide adds columns and lifts Width.
	Wide bool
	// NoHeaders omits the column names of tables.
	NoHeaders bool
	// Width is the maximum number of columns; 0 for no limit.
	Width int
	// Connection has the flags of printed commands that no document contains.
	Connection report.Connection
	// format is how untrusted text is written.
	format textFormat
}

// gc returns a command of this program with the flags of the run, such as that of `stuck`, for a
// sentence. Lines are not broken inside it (wrapText).
func (s Style) gc(arguments string) string {
	text := s.text(s.Connection.Command("kubectl gc " + arguments))
	if s.format == terminalText {
		return strings.ReplaceAll(text, " ", noBreak)
	}
	return text
}

// gcIn returns a command about a namespace; about all of the cluster if namespace is empty.
func (s Style) gcIn(namespace, arguments string) string {
	if namespace != "" {
		arguments += " -n " + report.ShellWord(namespace)
	}
	return s.gc(arguments)
}

// textFormat is the format that untrusted text is made safe for.
type textFormat uint8

const (
	// terminalText escapes text for a terminal.
	terminalText textFormat = iota
	// verbatim leaves text as it is, to be escaped later.
	verbatim
	// markdownText is for Markdown, and makes text inert there.
	markdownText
	// htmlText is for a page that is read later and escapes its own markup.
	htmlText
)

// limit returns the maximum number of columns; 0 for no limit.
func (s Style) limit() int {
	if s.Wide {
		return 0
	}
	return s.Width
}

// isComplete reports whether everything is printed, not only the first screen.
func (s Style) isComplete() bool { return s.Wide || s.format == markdownText }

// atMost returns the number of entries to print: all if everything is printed, else at most most.
func (s Style) atMost(most, all int) int {
	if s.isComplete() {
		return all
	}
	return min(most, all)
}

// text returns untrusted text, escaped.
func (s Style) text(raw string) string {
	switch s.format {
	case verbatim:
		return raw
	case markdownText:
		return inertWords(escape(raw, s.ASCII))
	default:
		return escape(raw, s.ASCII)
	}
}

// name returns the short name of an object, escaped.
func (s Style) name(r object.Ref) string { return s.objectName(r.ShortName()) }

// objectName returns a name, escaped. In Markdown it becomes code.
func (s Style) objectName(raw string) string {
	if s.format == markdownText {
		return inertName(escape(raw, s.ASCII))
	}
	return s.text(raw)
}

// namespacedName returns the object with its namespace.
func (s Style) namespacedName(r object.Ref) string {
	if r.Namespace == "" {
		return s.name(r)
	}
	return s.objectName(r.ShortName() + " -n " + r.Namespace)
}

// pick returns a sign, or its ASCII spelling.
func (s Style) pick(sign, ascii string) string {
	if s.ASCII {
		return ascii
	}
	return sign
}

// firstRefs names the first few of many objects: "pod/a, pod/b and 3 more".
func (s Style) firstRefs(refs []object.Ref, most int) string {
	return firstOf(refs, most, s.name)
}

// commaSeparated returns untrusted texts, escaped and separated by commas.
func (s Style) commaSeparated(raw []string) string {
	return strings.Join(object.Mapped(raw, s.text), ", ")
}

// The used colours, as SGR parameters.
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

var outcomeColours = map[report.Outcome]string{
	report.Deleted: red, report.Blocked: yellow, report.Orphaned: blue, report.Pruned: cyan, report.Kept: green, report.Unknown: magenta,
}

var severityColours = map[reason.Severity]string{reason.Error: red, reason.Warning: yellow, reason.Info: blue}

var verdictColours = map[report.Verdict]string{
	report.Live: green, report.Garbage: red, report.Undecidable: magenta, report.Expires: yellow,
	report.BeingDeleted: yellow, report.WaitingForDependents: yellow, report.HeldByFinalizer: yellow,
}

// star returns the mark of effects that depend on timing.
func (s Style) star() string {
	if s.format == markdownText {
		return `\*`
	}
	return "*"
}
