package realcluster

import "testing"

// A dependent of an owner that never was is collected as soon as it is there.
//
// Shows: S074
func TestOwnerNeverExisted(t *testing.T) {
	controllers(t, collector)
	s := begin(t, ofCollector+"s074_owner_never_existed.txt")
	s.do("create v1 Secret n/b uid=b owners=v1:ConfigMap:ghost:g")
	s.rest(1)
}

// Objects without references live through everything that happens around them.
//
// Shows: S075
func TestWithoutOwners(t *testing.T) {
	controllers(t, collector)
	s := begin(t, ofCollector+"s075_no_owners.txt")
	s.cluster(1)
	s.do("patch merge b labels=x=y")
	restart(t)
	// The file takes the reference away between the end of the owner and the look
	// of the collector, who is faster than a hand: here it goes before.
	s.do("patch merge c owners=")
	s.do("delete a policy=Background")
	s.rest(1)
}

// Shows: S076
func TestFinalizerBelow(t *testing.T) {
	controllers(t, collector)
	s := begin(t, ofCollector+"s076_finalizer_below.txt")
	s.cluster(1)
	fence(t)
	s.do("delete a policy=Background")
	s.rest(1)
	s.do("patch merge b owners=a,v1:Secret:ghost:g")
	s.do("patch merge c owners=b,v1:Secret:ghost:g")
	s.sees("MODIFIED v1 ConfigMap n/c owners=[b]")
	s.sees("MODIFIED v1 ConfigMap n/b owners=[a,v1:Secret:ghost:g] deleting grace=0 fin=[x/y]")
	s.do("patch merge b fin=")
	s.rest(2)
}

// Shows: S077
func TestFinalizerAbove(t *testing.T) {
	controllers(t, collector)
	s := begin(t, ofCollector+"s077_finalizer_above.txt")
	s.cluster(1)
	fence(t)
	s.do("delete a policy=Background")
	s.do("create v1 ConfigMap n/c uid=c owners=a,v1:Secret:ghost:g")
	s.rest(1)
	s.do("patch merge a fin=")
	s.rest(2)
}

// A foreground deletion hangs over a finalizer of a blocking dependent, also after
// a restart of the collector.
//
// Shows: S104
func TestBlockedByAFinalizer(t *testing.T) {
	controllers(t, collector)
	s := begin(t, ofCollector+"s104_blocked_by_a_finalizer.txt")
	s.cluster(1)
	fence(t)
	s.do("delete a policy=Foreground")
	s.rest(1)
	restart(t)
	s.rest(1)
	s.do("patch merge b fin=")
	s.rest(2)
}

// Shows: S108
func TestNewBlockingDependent(t *testing.T) {
	controllers(t, collector)
	s := begin(t, ofCollector+"s108_new_blocking_dependent.txt")
	s.cluster(1)
	fence(t)
	s.do("delete a policy=Foreground")
	s.sees("MODIFIED v1 Secret n/b owners=[a!] deleting grace=0 fin=[x/y]")
	s.do("create v1 Secret n/c uid=c owners=a!")
	fence(t)
	// Nobody looks at it when it comes.
	s.stays("ADDED v1 Secret n/c uid=c owners=[a!]")
	s.do("patch merge b fin=")
	s.rest(1)
}

// Shows: S109
func TestNewDependentThatDoesNotBlock(t *testing.T) {
	controllers(t, collector)
	s := begin(t, ofCollector+"s109_new_dependent_that_does_not_block.txt")
	s.cluster(1)
	fence(t)
	s.do("delete a policy=Foreground")
	s.sees("MODIFIED v1 Secret n/b owners=[a!] deleting grace=0 fin=[x/y]")
	s.do("create v1 Secret n/c uid=c owners=a")
	fence(t)
	s.stays("ADDED v1 Secret n/c uid=c owners=[a]")
	s.do("patch merge b fin=")
	s.rest(1)
}

// Shows: S110
func TestOwnerWithAFinalizer(t *testing.T) {
	controllers(t, collector)
	s := begin(t, ofCollector+"s110_owner_with_a_finalizer.txt")
	s.cluster(1)
	fence(t)
	s.do("delete a policy=Foreground")
	s.rest(1)
	s.do("create v1 Secret n/c uid=c owners=a!,v1:Secret:ghost:g")
	s.rest(2)
}

// Shows: S120
func TestDependentInAnotherNamespace(t *testing.T) {
	controllers(t)
	s := begin(t, ofCollector+"s120_dependent_in_another_namespace.txt")
	s.cluster(1)
	s.do("create v1 Secret m/b uid=b owners=a!")
	s.do("delete a policy=Foreground")
	s.stays("MODIFIED v1 ConfigMap n/a deleting grace=0 fin=[foregroundDeletion]")
	controllers(t, collector)
	s.rest(1)
	s.recorded("m", `ownerRef [v1/ConfigMap, namespace: m, name: a, uid: a] does not exist in namespace "m"`)
}

// Shows: S138
func TestOrphanFinalizerByHand(t *testing.T) {
	controllers(t)
	s := begin(t, ofCollector+"s138_orphan_finalizer_by_hand.txt")
	s.cluster(1)
	s.do("delete a policy=Orphan")
	s.stays("MODIFIED v1 ConfigMap n/a deleting grace=0 fin=[orphan]")
	s.do("patch merge a fin=")
	s.stays("DELETED v1 ConfigMap n/a deleting grace=0 fin=[orphan]")
	controllers(t, collector)
	s.rest(1)
}

// A cluster-scoped dependent holds the owner in a namespace forever; to lift the
// blocking, or to delete the owner in the background, sets it free.
//
// Shows: S119
func TestClusterScopedDependent(t *testing.T) {
	controllers(t, collector)
	s := begin(t, ofCollector+"s119_cluster_scoped_dependent.txt")
	s.cluster(1)
	s.recorded("default", `ownerRef [v1/ConfigMap, namespace: , name: a, uid: a] does not exist in namespace ""`)
	s.do("delete a policy=Foreground")
	s.rest(1)
	s.do("patch strategic z owners=a!f")
	s.rest(2)
	s.cluster(2)
	fence(t)
	s.do("delete a policy=Foreground")
	s.sees("MODIFIED v1 ConfigMap n/a deleting grace=0 fin=[foregroundDeletion]")
	fence(t)
	s.stays("MODIFIED v1 ConfigMap n/a deleting grace=0 fin=[foregroundDeletion]")
	s.do("delete a policy=Background")
	s.rest(3)
}

// Admission refuses to delete a blocking dependent; the owner goes as soon as the
// reference is taken away, and the dependent stays.
//
// Shows: S107
func TestReferenceIsRemoved(t *testing.T) {
	controllers(t, collector)
	s := begin(t, ofCollector+"s107_reference_is_removed.txt")
	s.cluster(1)
	fence(t)
	deny(t, "s107", "", "secrets", "oldObject.metadata.namespace == 's107-n'")
	awaitDenied(t, "/api/v1/namespaces/s107-n/secrets/b")
	s.do("delete a policy=Foreground")
	fence(t)
	fence(t)
	s.stays("MODIFIED v1 ConfigMap n/a deleting grace=0 fin=[foregroundDeletion]")
	s.do("patch merge b owners=")
	s.rest(1)
}
