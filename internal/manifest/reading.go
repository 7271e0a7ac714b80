package manifest

import (
	"errors"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// maxLists is how many lists may be inside one another.
const maxLists = 8

// reading is one Read: what it was asked for and how far it is.
type reading struct {
	o  Options
	h  Handler
	in *Interner
	// ownersRead and finalizersRead are on their way there.
	ownersRead     []Owner
	finalizersRead [][]byte
	// limits are those of the options, none of them zero.
	limits Limits
	// document counts from 1.
	document int
	// handed counts the objects and lists that the handler has been told of.
	handed int
	// waiting is the number of objects that wait for the kind of their list.
	waiting int
	// items has one item for each list that can be open, and one for the
	// document itself.
	items [maxLists + 1]item
	// kept reads the spec and status that were kept until the kind was known.
	kept lexer
	// converted reads what YAML was converted to.
	converted lexer
	scan      scan
	// fullOnly reads all YAML with the full parser, for comparison.
	fullOnly bool
	// yaml tells that the document is YAML; last that the input ends with it, open that its
	// list may go on (see List).
	yaml, last, open bool
	// shown is the object that was handed over last, if its text is wanted, wanted what of it.
	// scanned tells that what is being read is the part of a YAML text that a scan kept.
	shown   *object.Object
	wanted  *Fields
	scanned bool
	// depth is the number of lists around the object that is being read.
	depth int
	// texts makes the text of an object from YAML, parts takes parts of JSON, which part holds.
	texts scan
	parts lexer
	part  keptText
	// recognised tells that the current document has a key of an object or list.
	recognised bool
}

func (rd *reading) at(line int) Position {
	return Position{File: rd.o.File, Document: rd.document, Line: line}
}

func (rd *reading) problem(line int, message string, cause error) error {
	return &Problem{Position: rd.at(line), Message: message, Err: cause}
}

// hand tells the handler of an object.
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

// refusal is an error of the handler. It keeps it apart from a Problem of this
// reading, even if the handler returns a Problem of its own: it does not unwrap.
type refusal struct{ error }

func (rd *reading) stop(err error) error {
	if err == nil {
		return nil
	}
	return refusal{err}
}

// within puts the place inside a list before the message of a Problem.
func within(place func() string, err error) error {
	p, ok := errors.AsType[*Problem](err)
	if !ok {
		return err
	}
	p.Message = place() + ": " + p.Message
	return p
}
