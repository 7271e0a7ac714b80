// Package reason is the only table of the codes of verdicts, findings and notes. Each code has a
// severity, a few words and a sentence. A family of codes is a file. Messages that name objects are
// written by the packages that find them.
package reason

import (
	"slices"
	"strings"
)

// Code is the stable CamelCase name of a reason, a finding or a note. Codes are a public API:
// scripts compare them, and docs/reasons.md lists them.
type Code string

// String returns the code.
func (c Code) String() string { return string(c) }

// Severity grades a finding.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Meaning is a code with its texts.
type Meaning struct {
	Code Code
	// Severity is that of findings with the code; empty if no finding has it.
	Severity Severity
	// Short is a fact about the object, short enough for a column: "it has no owners". It may be
	// empty.
	Short string
	// Long is the fact and its consequence as sentences. It is empty if Short is enough.
	Long string
}

// Sentence returns Long, or Short as a sentence.
func (m *Meaning) Sentence() string {
	if m.Long == "" {
		return strings.ToUpper(m.Short[:1]) + m.Short[1:] + "."
	}
	return m.Long
}

// Family has the codes of one field of the documents. Two families may have the same code with
// different meanings.
type Family struct {
	// Title is the heading of the family in docs/reasons.md. Found is where its codes occur.
	Title, Found string
	Meanings     []Meaning
}

// Families returns all families, in the order of docs/reasons.md.
func Families() []*Family {
	return []*Family{
		Collector, Plan, Explanation, Expiry, Refusal, Gate, UndoSkip, UndoDrop, UndoChange, UndoNote,
		Gap, Proof, Check, Stuck, Doctor, Verdict, Release, Lost,
	}
}

// Of returns the meaning of a code; nil if the family does not have the code.
func (f *Family) Of(code Code) *Meaning {
	if i := f.Rank(code); i >= 0 {
		return &f.Meanings[i]
	}
	return nil
}

// Rank returns the position of a code in the family; -1 if the family does not have it.
func (f *Family) Rank(code Code) int {
	return slices.IndexFunc(f.Meanings, func(m Meaning) bool { return m.Code == code })
}

// Short returns the short text of a code of the family.
func (f *Family) Short(code Code) string { return f.Of(code).Short }

// Severity returns the severity of a code of the family.
func (f *Family) Severity(code Code) Severity { return f.Of(code).Severity }

// Sentence returns the meaning of a code as a sentence; empty if the family does not have the code.
func (f *Family) Sentence(code Code) string {
	if m := f.Of(code); m != nil {
		return m.Sentence()
	}
	return ""
}

// Codes returns the codes of a family.
func (f *Family) Codes() []string {
	codes := make([]string, len(f.Meanings))
	for i := range f.Meanings {
		codes[i] = string(f.Meanings[i].Code)
	}
	return codes
}

// Graded reports whether the codes are those of findings.
func (f *Family) Graded() bool { return f == Check || f == Stuck || f == Doctor }

// outcomes are the families with the reasons of outcomes.
var outcomes = []*Family{Collector, Plan, Explanation, Expiry}

// Short returns the short text of the reason of an outcome. An unknown code is returned as it is.
func Short(code string) string {
	for _, f := range outcomes {
		if m := f.Of(Code(code)); m != nil {
			return m.Short
		}
	}
	return code
}
