package manifest

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Objects that are written every few seconds while a cluster runs tell when a dump of it was taken:
// the Leases of nodes and of the control plane, the heartbeats of Nodes, and Events. None of that
// is kept of an object. Other Leases may belong to a removed controller, which would seem to be
// running by that time.

var leaseMoment = &factKind{
	kind: object.Lease,
	fields: []factField{{path: "spec.renewTime", keep: keepValue, read: func(l *lexer, it *item, _ string, _ bool) error {
		return l.moment(it)
	}}},
}

// moment reads a time at which an object was written. It ignores an invalid time.
func (l *lexer) moment(it *item) error {
	if l.token() != '"' {
		return l.skip()
	}
	from := len(it.text)
	text, err := l.text(it.text, "a time")
	if err != nil {
		return err
	}
	it.text = text
	var t time.Time
	if t.UnmarshalText(text[from:]) == nil {
		it.facts.moment = max(it.facts.moment, t.Unix())
	}
	return nil
}

// aside reports to the handler what an object tells about its cluster: when it was written, if its
// kind tells that, and the version of a kubelet.
func (rd *reading) aside(o *object.Object, it *item) {
	if it.facts.moment > 0 && rd.h.Moment != nil && (o.IsEvent() || o.Is(object.Node) || renewedByCluster(o)) {
		rd.h.Moment(it.facts.moment)
	}
	if it.facts.kubelet != "" && rd.h.Kubelet != nil && o.Is(object.Node) {
		rd.h.Kubelet(it.facts.kubelet)
	}
}

func renewedByCluster(o *object.Object) bool {
	return o.Is(object.Lease) && (o.Namespace == "kube-node-lease" || o.Namespace == "kube-system")
}
