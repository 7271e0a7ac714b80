package snapshot

import (
	"math"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// moments are the bounds on when the lists of a dump were read.
type moments struct {
	*Snapshot
	// began is the earliest time at which the dump can have begun.
	began int64
	// newest returns the creation time of the youngest object of each list. bound returns, by node
	// name, a time at which the node is known to have existed.
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

// Unseen returns why an object of a covered kind may exist although it is not in the snapshot: it
// existed at the given time, in seconds since 1970, when its list may already have been read. It
// returns "" if the object is in the snapshot, doesn't exist, or the time is unknown.
func (s *Snapshot) Unseen(k object.Kind, ref object.Ref, at int64) string {
	if s.missingIsAbsent || s.moments == nil || at == 0 || !s.moments.after(listed{k.GroupResource(), ref.Namespace}, at) {
		return ""
	}
	if o := s.moments.FindKind(k, ref.Namespace, ref.Name); o != nil && (ref.UID == "" || ref.UID == o.UID) {
		return ""
	}
	return meanwhile
}

// UnseenNode is Unseen for a node with pods. A pod may have waited for its node, so that its
// creation proves nothing about the node's. A pod that was created for the node proves that it
// existed.
func (s *Snapshot) UnseenNode(name string) string {
	if s.missingIsAbsent || s.moments == nil {
		return ""
	}
	return s.Unseen(object.Node, object.Node.Ref("", name), s.moments.bound()[name])
}

// after reports whether a time may be later than the reading of a list: the list was read when its
// youngest object was created or later, and times are whole seconds.
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
