package snapshot

import (
	"math"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// moments are the times between which the lists of a dump were read.
type moments struct {
	*Snapshot
	// began is when the dump was begun at the earliest.
	began int64
	// newest is when the youngest object of a list was made, bound since when a node is known
	// to have been there, by its name.
	newest func() map[listed]int64
	bound  func() map[string]int64
}

type listed struct {
	resource  schema.GroupResource
	namespace string
}

func momentsOf(s *Snapshot, began int64) *moments {
	m := &moments{Snapshot: s, began: began}
	m.newest, m.bound = sync.OnceValue(m.youngest), sync.OnceValue(m.nodes)
	return m
}

// Unseen is why an object of a kind that is covered may exist though it is not in the
// snapshot: it was there at a time, in seconds since 1970, at which its list may have been
// read already. It is empty where the object was seen, so that it has gone since, where it
// does not exist, and where the time is not known.
func (s *Snapshot) Unseen(k object.Kind, ref object.Ref, at int64) string {
	if s.missingIsAbsent || s.moments == nil || at == 0 || !s.moments.after(listed{k.GroupResource(), ref.Namespace}, at) {
		return ""
	}
	if o := s.moments.FindKind(k, ref.Namespace, ref.Name); o != nil && (ref.UID == "" || ref.UID == o.UID) {
		return ""
	}
	return meanwhile
}

// UnseenNode is Unseen for a node on which pods are. A pod may have waited for its node, so
// that it says nothing about when that was made; one that was made for the node does.
func (s *Snapshot) UnseenNode(name string) string {
	if s.missingIsAbsent || s.moments == nil {
		return ""
	}
	return s.Unseen(object.Node, object.Node.Ref("", name), s.moments.bound()[name])
}

// after reports whether a time is after a list may have been read: it was read when its
// youngest object was made or later, and times are whole seconds.
func (m *moments) after(l listed, at int64) bool { return at >= max(m.began, m.newest()[l]) }

func (m *moments) youngest() map[listed]int64 {
	newest := map[listed]int64{}
	for _, o := range m.Objects {
		if r, err := m.Resources.For(o.APIVersion, o.Kind); err == nil {
			l := listed{r.GroupResource(), o.Namespace}
			newest[l] = max(newest[l], o.Created)
		}
	}
	return newest
}

func (m *moments) nodes() map[string]int64 {
	bound := map[string]int64{}
	for _, o := range m.Objects {
		facts := o.Pod()
		if facts == nil || facts.NodeName == "" || o.Created == 0 {
			continue
		}
		at := int64(math.MaxInt64)
		if ref, ok := o.Controller(); ok && ref.Kind == object.DaemonSet.Kind || facts.Mirror {
			at = o.Created
		}
		if have, ok := bound[facts.NodeName]; !ok || at < have {
			bound[facts.NodeName] = at
		}
	}
	return bound
}
