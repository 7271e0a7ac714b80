// Package finalizer contains what is known about finalizers: which controllers remove them, what is
// lost if these don't do their work, and when a removal is refused. It judges a snapshot and sends
// no requests. (spec §7, §12, §19)
//
// Missing input counts against a removal: a user that could not be listed may exist.
package finalizer

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Class is the purpose of a finalizer.
type Class string

// The classes.
const (
	// Collector: one of the two that tell the garbage collector the propagation policy. Removing
	// it changes the policy.
	Collector Class = "Collector"
	// Protection: it blocks the deletion while other objects use the object.
	Protection Class = "Protection"
	// Cleanup: it blocks the deletion of a namespace or CRD until all its content is gone.
	Cleanup Class = "Cleanup"
	// Cloud: the object is the last reference to something outside of the cluster that costs money
	// or holds data.
	Cloud Class = "Cloud"
	// Operator: a known controller, or that of a kind in the cluster, cleans up after the object.
	Operator Class = "Operator"
	// Unknown: its purpose is unknown. It may be a lock set by a user.
	Unknown Class = "Unknown"
)

// Known is an entry of the table.
type Known struct {
	// Name is the finalizer. A `*` matches any text.
	Name  string
	Class Class
	// On describes the objects that have it.
	On string
	// RemovedBy is the controller that removes it, and When the condition as a clause: "when …".
	RemovedBy, When string
	// Without is what is lost or left behind if the finalizer is removed before the controller has
	// done its work.
	Without string
}

// ClassIn returns the class of a finalizer in a cluster that serves the resources. An unknown
// finalizer with the domain of a custom resource is an Operator.
func ClassIn(name string, served *object.Resources) Class {
	if k, ok := Of(name); ok {
		return k.Class
	}
	if served == nil {
		return Unknown
	}
	for _, r := range served.All() {
		if r.Custom && (IsOfGroup(name, r.Group) || IsAboveGroup(name, r.Group)) {
			return Operator
		}
	}
	return Unknown
}

// IsOfGroup reports whether the domain of a finalizer is an API group or below it: that of
// `finalizer.acme.io/cleanup` is below `acme.io`. The domain is the part before the slash, or all
// of it. A group of one word never matches.
func IsOfGroup(name, group string) bool {
	domain, _, _ := strings.Cut(name, "/")
	return strings.Contains(group, ".") && (domain == group || strings.HasSuffix(domain, "."+group))
}

// IsAboveGroup reports whether the domain of a finalizer is above an API group: that of
// `strimzi.io/topic-operator` is above `kafka.strimzi.io`. A domain of one word, such as `io`,
// never matches.
func IsAboveGroup(name, group string) bool {
	domain, _, _ := strings.Cut(name, "/")
	return strings.Contains(domain, ".") && strings.HasSuffix(group, "."+domain)
}

// The finalizers with special rules in this package.
const (
	// NamespaceToken is in spec.finalizers of every namespace.
	NamespaceToken = object.NamespaceToken

	definitionCleanup = "customresourcecleanup.apiextensions.k8s.io"
	claimProtection   = "kubernetes.io/pvc-protection"
	volumeProtection  = "kubernetes.io/pv-protection"
	jobTracking       = "batch.kubernetes.io/job-tracking"
)

// Field is a part of the table: the finalizers of one subject, such as storage.
type Field struct {
	Name       string
	Finalizers []Known
}

// fields are the parts of the table. Each finalizer was found in the source or the documentation of
// its project; others are not listed. The texts follow the documentation of the project, otherwise
// the purpose of the controller.
var fields = []Field{
	{"Kubernetes", ofKubernetes},
	{"Clouds and load balancers", ofClouds},
	{"Machines and clusters", ofMachines},
	{"Networks and gateways", ofNetworks},
	{"Volumes, snapshots and backups", ofStorage},
	{"Databases and messages", ofDatabases},
	{"Delivery and infrastructure as code", ofDelivery},
	{"Frameworks for operators", ofFrameworks},
	{"Platforms and many clusters", ofPlatforms},
	{"Virtual machines, batch and learning", ofWorkloads},
	{"Secrets, policies and monitoring", ofCare},
}

// exact are the finalizers with full names, patterns those with a `*`. Full names take precedence,
// and patterns do not overlap.
var exact, patterns = index()

func index() (exact map[string]Known, patterns []Known) {
	exact = map[string]Known{}
	for _, k := range Table() {
		if strings.Contains(k.Name, "*") {
			patterns = append(patterns, k)
		} else {
			exact[k.Name] = k
		}
	}
	return exact, patterns
}

// Of returns the entry of a finalizer; false if it is unknown.
func Of(name string) (Known, bool) {
	if k, ok := exact[name]; ok {
		return k, true
	}
	for _, k := range patterns {
		if fits(k.Name, name) {
			return k, true
		}
	}
	return Known{}, false
}

// On returns the entry of a finalizer on an object of a kind; false if it is unknown.
func On(name, kind string) (Known, bool) {
	k, ok := Of(name)
	return k.on(kind), ok
}

// on returns the entry with what is special about a kind.
func (k Known) on(kind string) Known {
	for i := range special {
		if s := &special[i]; s.name == k.Name && slices.Contains(s.kinds, kind) {
			k.When, k.Without = s.when, s.without
		}
	}
	return k
}

// special has the finalizers that controllers remove from some kinds after other work than from the rest.
//
// Source: argo-cd, controller/appcontroller.go finalizeProjectDeletion; source-controller,
// internal/controller/gitrepository_controller.go reconcileDelete, and those of the other sources, notifications and images;
// helm-controller, internal/controller/helmrelease_controller.go reconcileDelete; kueue,
// pkg/controller/jobframework/reconciler.go JobReconciler.ReconcileGenericJob; longhorn-manager,
// controller/backup_controller.go reconcile.
var special = []struct {
	name          string
	kinds         []string
	when, without string
}{
	{argoFinalizer + "*", []string{"AppProject"}, "when no Application uses the project", "a project that Applications still use"},
	{fluxFinalizer, []string{"GitRepository", "OCIRepository", "HelmRepository", "HelmChart", "Bucket"}, "when its artifacts are deleted", "artifacts in the storage of the source controller"},
	{fluxFinalizer, []string{"Alert", "Provider", "Receiver", "ImageRepository", "ImagePolicy", "ImageUpdateAutomation"}, "when it has stopped to work on it", "nothing that outlives the object"},
	{fluxFinalizer, []string{"HelmRelease"}, "when its Helm release is uninstalled", "what its Helm release has installed"},
	{longhornGroup, longhornBackups, "when its data in the backup target is deleted", "data in the backup target"},
	{longhornGroup, []string{"BackingImage"}, "when no volume uses it", "the image on the disks of the nodes"},
	{gardenerName, []string{"SecretBinding", "CredentialsBinding"}, "when no Shoot refers to it", "credentials that Shoots still need"},
	{kueueGroup + "/resource-in-use", []string{workloadKind}, "when its job is stopped, finished or gone", "quota that stays reserved"},
}

// fits reports whether a name matches a pattern. `*` matches any text, also an empty one.
func fits(pattern, name string) bool {
	part, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return name == pattern
	}
	name, ok := strings.CutPrefix(name, part)
	for ok && strings.Contains(rest, "*") {
		part, rest, _ = strings.Cut(rest, "*")
		_, name, ok = strings.Cut(name, part)
	}
	return ok && strings.HasSuffix(name, rest)
}

// Fields returns the parts of the table.
func Fields() []Field { return slices.Clone(fields) }

// Table returns all entries, part by part.
func Table() []Known {
	var all []Known
	for _, f := range fields {
		all = append(all, f.Finalizers...)
	}
	return all
}

// ofKubernetes are the finalizers of Kubernetes itself and of its side projects.
//
// Rule: spec §7.1.
var ofKubernetes = []Known{
	{object.Foreground, Collector, "any object", "the garbage collector", "when no blocking dependent is left",
		"the owner is deleted at once, and its dependents are collected in the background or stay with their own finalizers"},
	{object.Orphan, Collector, "any object", "the garbage collector", "when the references of all dependents are removed",
		"its dependents are deleted instead of orphaned"},

	{claimProtection, Protection, "PersistentVolumeClaim", "the PVC protection controller", "when no scheduled pod uses the PVC, finished pods included",
		"a pod that uses the PVC loses it, and with the reclaim policy Delete the data"},
	{volumeProtection, Protection, "PersistentVolume", "the PV protection controller", "when the volume is not bound",
		"the PVC that is bound to the volume is lost, and the storage behind it is not deleted"},
	{"kubernetes.io/vac-protection", Protection, "VolumeAttributesClass", "the VolumeAttributesClass protection controller", "when no volume and no PVC uses the class",
		"volumes and PVCs name a deleted class"},
	{jobTracking, Protection, "Pod of a Job", "the Job controller", "when the pod is counted, or its Job is gone or finished",
		"the Job does not count the pod, and may run another one for it"},
	{"resource.kubernetes.io/delete-protection", Protection, "ResourceClaim", "the resource claim controller", "when no pod reserves the claim and its allocation is cleared",
		"the devices stay allocated for drivers, or a running pod loses them"},
	{"networking.k8s.io/service-cidr-finalizer", Protection, "ServiceCIDR", "the ServiceCIDR controller", "when every address is covered by another ServiceCIDR",
		"addresses of Services may be assigned again"},
	{"scheduling.k8s.io/podgroup-protection", Protection, "PodGroup", "the PodGroup protection controller", "when no unfinished pod refers to the group",
		"pods refer to a deleted group"},
	{"gateway-exists-finalizer.gateway.networking.k8s.io", Protection, "GatewayClass", "the implementation of the gateway", "when no Gateway uses the class",
		"Gateways name a deleted class"},

	{definitionCleanup, Cleanup, "CustomResourceDefinition", "the API server", "when all instances of the CRD are gone",
		"the instances stay in etcd, unreachable, and come back when the CRD does"},
	{NamespaceToken, Cleanup, "spec of a Namespace", "the namespace controller", "when all content of the namespace is gone and discovery has no failures",
		"the content stays in etcd and cannot be deleted until a namespace of that name exists again"},

	{"kubernetes.io/pv-controller", Cloud, "PersistentVolume", "the PV controller", "when the storage behind the volume is deleted",
		"the storage behind the volume"},
	{"service.kubernetes.io/load-balancer-cleanup", Cloud, "Service", "the cloud controller manager", "when the cloud load balancer is deleted",
		"the load balancer, its address and its firewall rules"},
}

// StandsForStorage reports whether the objects with a known finalizer represent data: a volume, a
// snapshot, a database or a cloud resource.
func StandsForStorage(name string) bool {
	k, known := Of(name)
	return known && (k.Class == Cloud || slices.Contains(ofStorage, k) || slices.Contains(ofDatabases, k))
}
