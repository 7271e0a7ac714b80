package reason

import (
	"slices"
	"strings"
)

// Code is the stable CamelCase name of a reason, a finding or a note. Codes are API:
// scripts compare them, and docs/reasons.md lists them.
type Code string

// String is the code.
func (c Code) String() string { return string(c) }

// Severity grades a finding.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Meaning is what a code means.
type Meaning struct {
	Code Code
	// Severity is that of a finding with the code; empty where none has it.
	Severity Severity
	// Short is a part of a sentence: a fact about the object, without its name, short
	// enough for a column. Not every code needs one.
	Short string
	// Long is one sentence or two, and what follows; empty where Short says it all.
	Long string
}

// Sentence is the meaning as a sentence of its own.
func (m *Meaning) Sentence() string {
	if m.Long == "" {
		return strings.ToUpper(m.Short[:1]) + m.Short[1:] + "."
	}
	return m.Long
}

// Family is the codes that may stand in one place. Another family may have the same
// code with another meaning.
type Family struct {
	// Title is the heading of the family in docs/reasons.md, Found where its codes occur.
	Title, Found string
	Meanings     []Meaning
}

// Families lists all of them.
func Families() []*Family {
	return []*Family{
		Collector, Plan, Explanation, Refusal, Gate, UndoSkip, UndoDrop, UndoNote,
		Gap, Proof, Check, Stuck, Doctor, Verdict, Release, Lost,
	}
}

// Of is the meaning of a code; nil for one that the family does not have.
func (f *Family) Of(code Code) *Meaning {
	if i := f.Rank(code); i >= 0 {
		return &f.Meanings[i]
	}
	return nil
}

// Rank is the position of a code in the order of the family; -1 for one that it does
// not have.
func (f *Family) Rank(code Code) int {
	return slices.IndexFunc(f.Meanings, func(m Meaning) bool { return m.Code == code })
}

// Short is the short text of a code, which the family has.
func (f *Family) Short(code Code) string { return f.Of(code).Short }

// Severity is that of findings with a code, which the family has.
func (f *Family) Severity(code Code) Severity { return f.Of(code).Severity }

// Sentence is the code as a sentence of its own; empty for one that the family does not
// have.
func (f *Family) Sentence(code Code) string {
	if m := f.Of(code); m != nil {
		return m.Sentence()
	}
	return ""
}

// Codes lists the codes of a family.
func (f *Family) Codes() []string {
	codes := make([]string, len(f.Meanings))
	for i := range f.Meanings {
		codes[i] = string(f.Meanings[i].Code)
	}
	return codes
}

// Graded reports whether the codes are those of findings.
func (f *Family) Graded() bool { return f == Check || f == Stuck || f == Doctor }

// outcomes are the families of which one code is the reason of an outcome.
var outcomes = []*Family{Collector, Plan, Explanation}

// Short says in a few words why an object has the outcome that it has. A code that no
// outcome has is its own text.
func Short(code string) string {
	for _, f := range outcomes {
		if m := f.Of(Code(code)); m != nil {
			return m.Short
		}
	}
	return code
}
