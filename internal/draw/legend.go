package draw

import (
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// word returns the look in one or two words for a box; empty for Plain.
func word(l Look) string {
	switch l {
	case Look(report.Deleted):
		return "deleted"
	case Look(report.Blocked):
		return "blocked"
	case Look(report.Orphaned):
		return "orphaned"
	case Look(report.Pruned):
		return "pruned"
	case Look(report.Kept):
		return "kept"
	case Look(report.Unknown):
		return "unknown"
	case BeingDeleted:
		return "being deleted"
	case Waiting:
		return "waiting"
	case Absent:
		return "absent"
	case Unseen:
		return "not seen"
	default:
		return ""
	}
}

// asSeen explains Plain in a picture without outcomes. It does not say live: its owners may be
// absent.
const asSeen = "seen, not being deleted"

// wordsOf returns a function that explains a look in a picture of the given source.
func wordsOf(src report.Source, plain string) func(Look) string {
	return func(l Look) string {
		switch l {
		case Look(report.Deleted):
			return "deleted"
		case Look(report.Blocked):
			return "blocked: being deleted, and still there in the end"
		case Look(report.Orphaned):
			return "orphaned: stays, without its owner"
		case Look(report.Pruned):
			return "pruned: stays, and loses a reference"
		case Look(report.Kept):
			return "kept"
		case Look(report.Unknown):
			return "unknown: depends on what could not be read"
		case BeingDeleted:
			return "being deleted"
		case Waiting:
			return "being deleted, waits for its dependents"
		case Absent:
			return "absent: does not exist"
		case Unseen:
			if src.Type == "cluster" {
				return "not read from the cluster"
			}
			return "not in the dump"
		default:
			return plain
		}
	}
}

// legend counts the objects of each look.
func (f *figures) legend(words func(Look) string) []Entry {
	count := map[Look]int{}
	for i := range f.list {
		count[f.list[i].look] += len(f.list[i].refs)
	}
	entries := []Entry{}
	for _, l := range looks() {
		if count[l] > 0 {
			entries = append(entries, Entry{Look: l, Words: words(l), Count: count[l]})
		}
	}
	return entries
}

// words returns the title of an area without a namespace.
func (a *Area) words() string {
	switch {
	case a.Elsewhere:
		return "in other namespaces"
	case a.Namespace == "":
		return "in no namespace"
	}
	return ""
}
