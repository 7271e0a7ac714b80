// Package scenario runs data-driven scenarios: small worlds written one object a
// line, requests against a simulated API server, and what came of them.
//
// An object is written as
//
//	apps/v1 ReplicaSet shop/web-7f uid=r owners=d!^ fin=x/y rv=5 deleting grace=0
//
// The same text is printed, so that output can be pasted as input. Attributes:
//
//	uid=a               the UID; the name of the object when absent
//	owners=b!,c^        owner references by UID: ! is blockOwnerDeletion: true,
//	                    ^ is controller: true, !f and ^f are an explicit false
//	owners=v1:Pod:p:u!  the same in full: apiVersion, kind, name, UID
//	fin=x/y,orphan      metadata.finalizers
//	labels=app=web,k=v  labels
//	rv=5 gen=1          resourceVersion (1 when absent) and generation
//	deleting            deletionTimestamp at the start of the scenario;
//	                    deleting=+30 and deleting=-60 are seconds from there
//	grace=30            deletionGracePeriodSeconds
//	node=n1 phase=Running period=30 mirror claims=a,~b
//	                    facts of a pod; `node=` is a pod that is not scheduled,
//	                    and a pod with none of the five has no facts. ~ marks
//	                    the claim of an ephemeral volume; `claims=` is a pod
//	                    without claims, and without it they are not known
//	finished managed=x/y ttl=300@1700000000
//	                    facts of a Job; finished=false is one that runs, ttl is its
//	                    ttlSecondsAfterFinished and when it has finished, and a Job
//	                    with none of them has no facts
//	phase=Bound claim=shop/c:u reclaim=Delete by=driver to=driver csi
//	                    facts of a PersistentVolume, with the UID of its claim, its
//	                    reclaim policy, who has provisioned it and who has taken it
//	                    over, and that a CSI driver serves it
//	revision=3          the revision of a Deployment or ReplicaSet
//	reserved=pods:p:u   facts of a ResourceClaim: its users by resource, name and UID
//	of=shop/web         facts of an IPAddress: the Service that has it
//	cidrs=10.9.0.0/24   facts of a ServiceCIDR
//	templates=data,log deletes
//	                    facts of a StatefulSet: for which volumes it makes claims, and
//	                    that it deletes them
//	secrets=a,b         facts of a ServiceAccount: the Secrets that it names
//	rules=r1,r2         facts of a ClusterRole: its rules, each by a word
//	aggregates=a,b      facts of a ClusterRole: labels by which it takes the rules of others
//	token=ci:u          facts of a Secret that is a token: its ServiceAccount by name and
//	                    UID, which may be missing; token?=ci:u where the type of the
//	                    Secret was not seen
//	phase=Active spec=kubernetes
//	                    facts of a namespace; spec is spec.finalizers
//	defines=example.com/v1:Widget:widgets scope=Cluster established terminating
//	                    facts of a CustomResourceDefinition
package scenario
