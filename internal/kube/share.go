package kube

import (
	"encoding/binary"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// shared builds objects and keeps one copy of what repeats: namespaces, label
// sets, lists of finalizers, and the owner references of siblings. It is for one
// goroutine and for objects of one resource.
type shared struct {
	apiVersion, kind string
	strings          *manifest.Interner
	rares            map[string]*object.Rare
	// listed and single are the kinds of the messages that are read.
	listed, single messageKind
}

// messageKind is the type of a message.
type messageKind struct{ apiVersion, kind string }

// The bounds of what a shared remembers. A watch goes on for months: what is
// forgotten is only not shared any more.
const (
	mostStrings = 1 << 15
	mostRares   = 1 << 10
)

func newShared(r object.Resource) *shared {
	strings := manifest.NewInterner()
	strings.Most = mostStrings
	return &shared{
		apiVersion: r.APIVersion(), kind: r.Kind, strings: strings, rares: map[string]*object.Rare{},
		listed: messageKind{metaVersion, partialList}, single: messageKind{metaVersion, partialKind},
	}
}

// newSharedPods is for whole pods.
func newSharedPods(r object.Resource) *shared {
	s := newShared(r)
	s.listed, s.single = messageKind{"v1", "PodList"}, messageKind{"v1", "Pod"}
	return s
}

// metadata is what messages of this kind are read into.
func (s *shared) metadata() *metadata {
	m := &metadata{}
	if s.single.kind != partialKind {
		m.pod = &podParts{}
	}
	return m
}

// object builds the object that m has read. Name, uid and resourceVersion share
// one allocation.
func (s *shared) object(m *metadata) *object.Object {
	from := len(m.scratch)
	m.scratch = append(append(append(m.scratch, m.name...), m.uid...), m.version...)
	own := string(m.scratch[from:])
	n, u := len(m.name), len(m.name)+len(m.uid)
	return &object.Object{
		Ref: object.Ref{
			APIVersion: s.apiVersion, Kind: s.kind, Namespace: s.strings.Bytes(m.namespace),
			Name: own[:n], UID: types.UID(own[n:u]),
		},
		ResourceVersion: own[u:],
		Owners:          s.strings.Owners(m.owners),
		Labels:          s.labels(m),
		Created:         m.created,
		Generation:      m.generation,
		Rare:            s.rare(m),
	}
}

func (s *shared) labels(m *metadata) object.Labels {
	if len(m.labels) == 0 {
		return ""
	}
	from := len(m.scratch)
	for _, l := range m.labels {
		m.scratch = append(append(m.scratch, l.key...), 0)
		m.scratch = append(append(m.scratch, l.value...), 0)
	}
	return object.Labels(s.strings.Bytes(m.scratch[from:]))
}

// rare returns the finalizers, the protection and the deletion that m has read; nil for neither.
func (s *shared) rare(m *metadata) *object.Rare {
	rare := s.metaRare(m)
	if s.kind == secretKind && s.apiVersion == "v1" {
		return withToken(rare, object.TokenBy(string(m.account), types.UID(m.accountUID), ""))
	}
	if m.pod != nil {
		return s.pod(m, rare)
	}
	return rare
}

func (s *shared) metaRare(m *metadata) *object.Rare {
	if len(m.finalizers) == 0 && m.protection == 0 && m.revision == 0 && m.deleted == 0 && !m.hasGrace {
		return nil
	}
	from := len(m.scratch)
	m.scratch = binary.BigEndian.AppendUint32(append(m.scratch, byte(m.protection)), m.revision)
	for _, f := range m.finalizers {
		m.scratch = append(append(m.scratch, f...), 0)
	}
	key := m.scratch[from:]
	r, ok := s.rares[string(key)]
	if !ok {
		r = &object.Rare{Protection: m.protection, Revision: m.revision}
		for _, f := range m.finalizers {
			r.Finalizers = append(r.Finalizers, s.strings.Bytes(f))
		}
		s.keep(string(key), r)
	}
	if m.deleted == 0 && !m.hasGrace {
		return r
	}
	own := &object.Rare{Finalizers: r.Finalizers, Protection: m.protection, Revision: m.revision, DeletionTimestamp: m.deleted}
	if m.hasGrace {
		own.GracePeriod = new(m.grace)
	}
	return own
}

// keep remembers a Rare for others.
func (s *shared) keep(key string, r *object.Rare) {
	if len(s.rares) >= mostRares {
		clear(s.rares)
	}
	s.rares[key] = r
}
