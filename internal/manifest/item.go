package manifest

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// span is a part of an item's text.
type span struct{ from, to int }

// ownerSpans is an owner reference as it was read.
type ownerSpans struct {
	apiVersion, kind, name, uid span
	controller, block           object.Flag
}

// labelSpans is a label as it was read.
type labelSpans struct{ key, value span }

// item is one object while it is being read. It is used again for the next one,
// so that reading allocates nothing but what is kept.
type item struct {
	// line is where it starts; seen has a bit for each field that was there.
	line int
	seen field
	// text holds all strings that were read; spans point into it.
	text []byte

	apiVersion, kind, namespace span
	name, uid, version          span
	more                        span // metadata.continue
	account, accountUID, typed  span // of a Secret
	link                        span // selfLink at the top, of a flattened list
	created, deleted            int64
	generation, grace           int64
	owners                      []ownerSpans
	labels                      []labelSpans
	finalizers                  []span
	protection                  object.Protection
	revision                    uint32

	// factsOf is what was read of spec, status and beside them. While the kind is not known, of these
	// is kept what any of the kinds would need.
	factsOf              *factKind
	factsRead            bool
	factsSeen            uint32
	facts                facts
	spec, status, beside keptText
}

// facts are what spec, status and annotations say of the kinds that matter.
type facts struct {
	pod        object.PodFacts
	namespace  object.NamespaceFacts
	definition object.CRDFacts
	job        object.JobFacts
	volume     object.PVFacts
	claim      object.ResourceClaimFacts
	cidr       object.ServiceCIDRFacts
	address    object.IPAddressFacts
	set        object.StatefulSetFacts
	account    object.ServiceAccountFacts
	role       object.ClusterRoleFacts
	// specified tells that there was a spec, stated that there was a status.
	specified, stated bool
	// moment is when the object was last written, in seconds since 1970; 0 if it does not
	// say so.
	moment int64
	// kubelet is the version of the kubelet of a Node.
	kubelet string
	// scoped tells that the definition has said its scope, conditioned that it
	// has said its conditions.
	scoped, conditioned bool
	// oldVersion is spec.version of a v1beta1 CustomResourceDefinition.
	oldVersion string
	// key is made of them, of objects that may share theirs.
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
	hasRevision
	hasProvisioner
	hasMigratedTo
	hasAccount
	hasAccountUID
	hasType

	hasGraceValue // deletionGracePeriodSeconds is there and not null
	hasFlatItems  // the fields of metadata are at the top
)

func (it *item) reset(line int) {
	*it = item{
		line: line,
		text: it.text[:0], owners: it.owners[:0], labels: it.labels[:0], finalizers: it.finalizers[:0],
		facts: facts{key: it.facts.key}, spec: it.spec.again(), status: it.status.again(), beside: it.beside.again(),
	}
}

// hasKept reports whether something was kept because the kind was not known.
func (it *item) hasKept() bool { return !it.spec.empty() || !it.status.empty() || !it.beside.empty() }

// hasFacts reports whether something was read or kept from which facts may follow.
func (it *item) hasFacts() bool {
	return it.seen&(hasSpec|hasStatus) != 0 || it.factsSeen != 0 || !it.beside.empty()
}

func (it *item) bytes(s span) []byte { return it.text[s.from:s.to] }

// once notes that field f is there. It is a Problem when it was there before:
// which of two values counts would be a guess.
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
