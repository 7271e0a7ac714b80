package manifest

import (
	"errors"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// maxLists is the maximum nesting of lists.
const maxLists = 8

// reading is the state of one Read.
type reading struct {
	o  Options
	h  Handler
	in *Interner
	// ownersRead and finalizersRead are reused buffers for the Interner.
	ownersRead     []Owner
	finalizersRead [][]byte
	// limits are those of the options with defaults.
	limits Limits
	// document is the number of the current document, from 1.
	document int
	// handed is the number of objects and lists that were passed to the handler.
	handed int
	// waiting is the number of objects that wait for the kind of their list.
	waiting int
	// items has one item for the document and one for each nested list.
	items [maxLists + 1]item
	// kept reads the spec and status that were kept while the kind was unknown.
	kept lexer
	// converted reads the JSON that YAML was converted to.
	converted lexer
	scan      scan
	// fullOnly forces the full parser for all YAML, for comparison.
	fullOnly bool
	// yaml is true if the document is YAML, last if it is the last one of the input, and open if
	// its list may be truncated (see List.Open).
	yaml, last, open bool
	// shown is the last object that was passed on, if its text is requested, and wanted its
	// requested parts. scanned is true while the output of a scan is read.
	shown   *object.Object
	wanted  *Fields
	scanned bool
	// depth is the number of lists around the current object.
	depth int
	// texts extracts texts from YAML, parts extracts them from JSON into part.
	texts scan
	parts lexer
	part  keptText
	// recognised is true if the current document has a key of an object or list.
	recognised bool
}

func (rd *reading) at(line int) Position {
	return Position{File: rd.o.File, Document: rd.document, Line: line}
}

func (rd *reading) problem(line int, message string, cause error) error {
	return &Problem{Position: rd.at(line), Message: message, Err: cause}
}

// hand passes an object to the handler.
func (rd *reading) hand(o *object.Object, inList bool, line int) error {
	rd.handed++
	if rd.h.Object != nil {
		if err := rd.h.Object(o, inList, rd.at(line)); err != nil {
			return rd.stop(err)
		}
	}
	return rd.shows(o)
}

func (rd *reading) handList(list List) error {
	rd.handed++
	list.Open = rd.open
	if rd.h.List == nil {
		return nil
	}
	return rd.stop(rd.h.List(list))
}

func (rd *reading) foreign(line int, what string) error {
	if rd.h.Foreign == nil {
		return nil
	}
	return rd.stop(rd.h.Foreign(rd.at(line), what))
}

// refusal is an error of the handler. It doesn't unwrap, so that it differs from a Problem of this
// reading even if the handler returns a Problem.
type refusal struct{ error }

func (rd *reading) stop(err error) error {
	if err == nil {
		return nil
	}
	return refusal{err}
}

// within prepends the position inside a list to the message of a Problem.
func within(place func() string, err error) error {
	p, ok := errors.AsType[*Problem](err)
	if !ok {
		return err
	}
	p.Message = place() + ": " + p.Message
	return p
}
