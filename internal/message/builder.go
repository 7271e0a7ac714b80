package message

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Builder builds objects of one resource and interns repeated parts: namespaces, label sets, lists
// of finalizers, and the owner references of siblings. It must be used by one goroutine.
type Builder struct {
	apiVersion, kind string
	strings          *manifest.Interner
	// pods is true if the messages are whole pods: spec and status are read, too.
	pods bool
	// stored is true if the messages are whole objects of any kind.
	stored bool
	// Listed and Single are the kinds of the messages in a server's responses.
	Listed, Single Kind
}

// Kind is the type of a message.
type Kind struct{ APIVersion, Kind string }

// mostShared bounds each cache of a builder for a watch, which can run for months. Evicted entries
// are only not shared any more.
const mostShared = 1 << 15

// The kinds of metadata-only responses.
const (
	MetaVersion = "meta.k8s.io/v1"
	PartialKind = "PartialObjectMetadata"
	PartialList = "PartialObjectMetadataList"
)

// NewBuilder returns a Builder for metadata-only responses.
func NewBuilder(r object.Resource) *Builder {
	strings := manifest.NewInterner()
	strings.Most = mostShared
	return &Builder{
		apiVersion: r.APIVersion(), kind: r.Kind, strings: strings,
		Listed: Kind{MetaVersion, PartialList}, Single: Kind{MetaVersion, PartialKind},
	}
}

// NewPods returns a Builder for responses with whole pods.
func NewPods(r object.Resource) *Builder {
	b := NewBuilder(r)
	b.pods = true
	b.Listed, b.Single = Kind{"v1", "PodList"}, Kind{"v1", object.Pod.Kind}
	return b
}

// NewStored returns a Builder for stored objects of a kind, which are whole. The strings are shared
// with other builders.
func NewStored(apiVersion, kind string, strings *manifest.Interner) *Builder {
	return &Builder{apiVersion: apiVersion, kind: kind, strings: strings, stored: true, pods: kind == object.Pod.Kind && apiVersion == "v1"}
}

// Pods reports whether the messages are whole pods, so that no other decoding is needed.
func (b *Builder) Pods() bool { return b.pods }

// Metadata returns a buffer for reading messages of this kind.
func (b *Builder) Metadata() *Metadata {
	m := &Metadata{}
	m.typed = b.stored && b.secrets()
	if b.pods {
		m.pod = &podParts{strings: b.strings}
	}
	return m
}

// Object builds the object that m has read. Name, UID and resourceVersion share one allocation.
func (b *Builder) Object(m *Metadata) *object.Object {
	from := len(m.scratch)
	m.scratch = append(append(append(m.scratch, m.name...), m.uid...), m.version...)
	own := string(m.scratch[from:])
	n, u := len(m.name), len(m.name)+len(m.uid)
	return &object.Object{
		Ref: object.Ref{
			APIVersion: b.apiVersion, Kind: b.kind, Namespace: b.strings.Bytes(m.namespace),
			Name: own[:n], UID: types.UID(own[n:u]),
		},
		ResourceVersion: own[u:],
		Owners:          b.strings.Owners(m.owners),
		Labels:          b.labels(m),
		Created:         m.created,
		Generation:      m.generation,
		Lifecycle:       b.lifecycle(m),
	}
}

func (b *Builder) labels(m *Metadata) object.Labels {
	if len(m.labels) == 0 {
		return ""
	}
	from := len(m.scratch)
	for _, l := range m.labels {
		m.scratch = append(append(m.scratch, l.key...), 0)
		m.scratch = append(append(m.scratch, l.value...), 0)
	}
	return object.Labels(b.strings.Bytes(m.scratch[from:]))
}

// lifecycle returns the Lifecycle that m has read, with the facts of the kind; nil if it is empty.
func (b *Builder) lifecycle(m *Metadata) *object.Lifecycle {
	life := b.strings.Lifecycle(&m.Lifecycle)
	if b.secrets() {
		if token := object.TokenBy(string(m.account), types.UID(m.accountUID), string(m.secretType)); token != nil {
			return b.strings.WithFacts(life, nil, func() object.Facts { return token })
		}
	}
	if m.pod != nil {
		return m.pod.add(life, m.name)
	}
	return life
}

func (b *Builder) secrets() bool { return b.kind == "Secret" && b.apiVersion == "v1" }
