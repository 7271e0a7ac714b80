package kube

import (
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
	// listed and single are the kinds of the messages that are read.
	listed, single messageKind
}

// messageKind is the type of a message.
type messageKind struct{ apiVersion, kind string }

// mostShared bounds what a shared remembers of each sort. A watch goes on for months: what
// is forgotten is only not shared any more.
const mostShared = 1 << 15

func newShared(r object.Resource) *shared {
	strings := manifest.NewInterner()
	strings.Most = mostShared
	return &shared{
		apiVersion: r.APIVersion(), kind: r.Kind, strings: strings,
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
		m.pod = &podParts{strings: s.strings}
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
		Lifecycle:       s.lifecycle(m),
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

// lifecycle is what m has read of it, with the facts of the kind; nil for nothing.
func (s *shared) lifecycle(m *metadata) *object.Lifecycle {
	life := s.strings.Lifecycle(&m.Lifecycle)
	if s.kind == secretKind && s.apiVersion == "v1" {
		if token := object.TokenBy(string(m.account), types.UID(m.accountUID), ""); token != nil {
			return s.strings.WithFacts(life, nil, func() object.Facts { return token })
		}
	}
	if m.pod != nil {
		return m.pod.add(life, m.name)
	}
	return life
}
