package manifest

import (
	"errors"
	"io"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// maxLists is the maximum nesting of lists.
const maxLists = 8

// reading is the state of one Read.
type reading struct {
	o  Options
	h  Handler
	in *Interner
	// metadataRead is a reused buffer for the Interner.
	metadataRead Metadata
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
	// decodeHelm decodes records of Helm. It is a field because the kinds with facts refer to it, and it
	// to them.
	decodeHelm func(io.Reader) (*object.HelmReleaseFacts, error)
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

// span is a part of an item's text.
type span struct{ from, to int }

// ownerSpans is an owner reference in the input.
type ownerSpans struct {
	apiVersion, kind, name, uid span
	controller, block           object.Flag
}

// labelSpans is a label in the input.
type labelSpans struct{ key, value span }

// item is the buffer for reading one object. It is reused for the next one, so that only kept data
// is allocated.
type item struct {
	// line is the first line of the object. seen has a bit for each field that occurred.
	line int
	seen field
	// text has all strings that were read. Spans point into it.
	text []byte

	apiVersion, kind, namespace span
	name, uid, version          span
	more                        span // metadata.continue
	account, accountUID, typed  span // of a Secret
	link                        span // the top-level selfLink of a flattened list
	created, deleted            int64
	generation, grace           int64
	owners                      []ownerSpans
	labels                      []labelSpans
	finalizers                  []span
	protection                  object.Protection
	revision                    uint32
	tracker, approval           span
	wave, weight                span

	// factsOf is the kind by which spec, status and the other fields were read. While the kind is
	// unknown, everything that any kind needs of them is kept.
	factsOf              *factKind
	factsRead            bool
	factsSeen            uint32
	facts                facts
	spec, status, beside keptText
}

// facts are the fields of spec, status and annotations, by kind.
type facts struct {
	pod       object.PodFacts
	namespace object.NamespaceFacts
	// specShown is true if the object has a spec, also an empty one.
	specShown  bool
	definition object.CRDFacts
	job        object.JobFacts
	retries    jobRetries
	volume     object.PVFacts
	claim      object.ResourceClaimFacts
	cidr       object.ServiceCIDRFacts
	address    object.IPAddressFacts
	set        object.StatefulSetFacts
	account    object.ServiceAccountFacts
	role       object.ClusterRoleFacts
	inventory  object.InventoryFacts
	// delivery are the fields that decide about the inventory of a deployer.
	delivery delivery
	// helm is the record of a Helm release, not decoded yet.
	helm helmRecord
	// outside are annotations and fields that decide about outside resources.
	outside []object.FieldValue
	// specified is true if there was a spec, stated if there was a status.
	specified, stated bool
	// moment is when the object was last written, in seconds since 1970; 0 if unknown.
	moment int64
	// kubelet is the version of the kubelet of a Node.
	kubelet string
	// scoped is true if a definition had its scope, conditioned if it had conditions.
	scoped, conditioned bool
	// oldVersion is spec.version of a v1beta1 CustomResourceDefinition.
	oldVersion string
	// key is the buffer for the key of shared facts.
	key []byte
}

// field is a set of fields.
type field uint64

const (
	hasAPIVersion field = 1 << iota
	hasKind
	hasMetadata
	hasSpec
	hasStatus
	hasItems
	hasName
	hasNamespace
	hasUID
	hasVersion
	hasOwners
	hasLabels
	hasCreated
	hasGeneration
	hasFinalizers
	hasDeleted
	hasGrace
	hasContinue
	hasAnnotations
	hasMirror
	hasProtect
	hasResourcePolicy
	hasSyncOptions
	hasFluxPrune
	hasFluxReconcile
	hasFluxApply
	hasTracker
	hasApproval
	hasRevision
	hasWave
	hasWeight
	hasProvisioner
	hasMigratedTo
	hasAccount
	hasAccountUID
	hasType

	hasGraceValue          // deletionGracePeriodSeconds is present and not null
	hasFlatItems           // the fields of metadata are at the top level
	hasFinalizerAnnotation // the first of object.FinalizerAnnotations; the others follow
)

func (it *item) reset(line int) {
	*it = item{
		line: line,
		text: it.text[:0], owners: it.owners[:0], labels: it.labels[:0], finalizers: it.finalizers[:0],
		facts: facts{key: it.facts.key, outside: it.facts.outside[:0]}, spec: it.spec.again(), status: it.status.again(), beside: it.beside.again(),
	}
}

// hasKept reports whether text was kept because the kind was unknown.
func (it *item) hasKept() bool { return !it.spec.empty() || !it.status.empty() || !it.beside.empty() }

// hasFacts reports whether any field was read or kept that facts may follow from.
func (it *item) hasFacts() bool {
	return it.seen&(hasSpec|hasStatus) != 0 || it.factsSeen != 0 || !it.beside.empty()
}

func (it *item) bytes(s span) []byte { return it.text[s.from:s.to] }

// once records the occurrence of field f. A second occurrence is a Problem: choosing one of the
// values would be a guess.
func (l *lexer) once(it *item, f field, name string) error {
	if it.seen&f != 0 {
		return l.wrong("%s is there twice", name)
	}
	it.seen |= f
	return nil
}

// string reads a string into the item's text; null is empty.
func (l *lexer) string(it *item, to *span, name string) error {
	from := len(it.text)
	text, err := l.text(it.text, name)
	if err != nil {
		return err
	}
	it.text = text
	*to = span{from, len(text)}
	return nil
}
