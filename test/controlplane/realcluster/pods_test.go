package realcluster

import "testing"

// Nobody stops the containers of a pod whose node has gone: the pod collector says
// that it failed and deletes it without grace. It looks every 20 seconds, and the node
// has to be away for 40.
//
// Shows: S063
func TestNodeHasGone(t *testing.T) {
	controllers(t, collector)
	s := begin(t, ofControllers+"s063_node_has_gone.txt")
	s.cluster(1)
	beside(t)
	s.kubelet("here")
	s.sees("DELETED v1 Pod shop/here deleting grace=0 node=n1 phase=Running period=30")
	s.restsAs(s.nth("state", 1).outcome)
}

// A deleted node takes its lease and its CSINode along at once, its mirror pods
// with grace; the pod collector removes those, and all other pods of the node.
//
// Shows: S064
func TestNodeDeleted(t *testing.T) {
	controllers(t, collector)
	s := begin(t, ofControllers+"s064_node_deleted.txt")
	s.cluster(1)
	fence(t)
	s.do("delete n2")
	s.sees("DELETED coordination.k8s.io/v1 Lease kube-node-lease/n2 owners=[n2]")
	s.sees("DELETED storage.k8s.io/v1 CSINode n2 owners=[n2]")
	s.sees("MODIFIED v1 Pod kube-system/static owners=[n2^] deleting=+30 grace=30 node=n2 phase=Running period=30 mirror")
	fence(t)
	s.stays("ADDED v1 Pod shop/p uid=p node=n2 phase=Running period=30")
	beside(t)
	s.restsAs(s.nth("state", 1).outcome)
}
