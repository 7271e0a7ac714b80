package snapshot

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

//go:embed builtin.txt
var builtinTable string

// BuiltinResources returns the resources that the API server of the newest release offers by default,
// without custom resources. It is the fallback for dumps without discovery documents.
// (spec §11.2, U2)
func BuiltinResources() *object.Resources {
	rs := &object.Resources{}
	for line := range strings.Lines(builtinTable) {
		f := strings.Fields(line)
		if len(f) != 7 || strings.HasPrefix(line, "#") {
			continue
		}
		verbs := object.AllVerbs
		if f[4] != "*" {
			verbs = object.VerbsOf(commaList(f[4]))
		}
		group, version := object.SplitAPIVersion(f[0])
		rs.Add(object.Resource{
			Group: group, Version: version, Name: f[1], Kind: f[2], Singular: strings.ToLower(f[2]),
			Namespaced: f[3] == "namespaced", Verbs: verbs,
			ShortNames: commaList(f[5]), Categories: commaList(f[6]),
		})
	}
	return rs
}

// builtinResources returns the shared BuiltinResources, which must not be changed.
var builtinResources = sync.OnceValue(BuiltinResources)

func commaList(s string) []string {
	if s == "-" {
		return nil
	}
	return strings.Split(s, ",")
}

// unsaid ends the apiVersion of an object if neither the object nor its list nor its path has it:
// only the group is known. The core group has one version.
const unsaid = "/"

// apiVersionOf returns the apiVersion of items without one, by the path of their file.
func (l location) apiVersionOf(known object.Resource) string {
	switch {
	case l.grouped && l.version != "":
		return groupVersion(l.group, l.version)
	case known.Group == "":
		return known.APIVersion()
	default:
		return known.Group + unsaid
	}
}

// builtinKinds is what a dump without discovery documents shows about the built-in kinds of its
// server.
type builtinKinds struct {
	version Version
	// served are the group versions that the server names; nil if it names none.
	served map[string]bool
	// shown are the types with an apiVersion in the dump.
	shown map[typeName]bool
}

// builtinKinds returns what was read about the server. A server that names no group besides the
// core was asked by a client without permission to see them.
func (r *reader) builtinKinds() builtinKinds {
	known := builtinKinds{version: r.source.Version(), shown: map[typeName]bool{}}
	served := map[string]bool{}
	for _, gv := range r.documents.groupVersions() {
		served[gv] = true
	}
	if served["apps/v1"] || served["extensions/v1beta1"] {
		known.served = served
	}
	for name := range r.seen {
		if !strings.HasSuffix(name.apiVersion, unsaid) {
			known.shown[name] = true
		}
	}
	return known
}

// serves reports whether the server may serve a version of a built-in resource.
func (r builtinKinds) serves(res object.Resource) bool {
	if r.shown[typeName{res.APIVersion(), res.Kind}] {
		return true
	}
	s := spanOf(res)
	return (r.served == nil || r.served[res.APIVersion()]) && !r.version.Before(s.first) && (s.last == 0 || r.version.Least <= s.last)
}

// spanOf returns the releases that serve a version of a built-in resource.
func spanOf(res object.Resource) span {
	if first := laterKinds[res.APIVersion()+" "+res.Name]; first != 0 {
		return span{first: first}
	}
	s := apiSpans[res.APIVersion()]
	if res.Version == "v1" { // a resource may be younger than the version of its group
		s.first = max(s.first, introduced()[res.GroupResource()][res.Version])
	}
	return s
}

// laterKinds has the release that added a resource to a version of its group, if Kubernetes 1.10
// had the resource and that version was served earlier.
var laterKinds = map[string]int{
	"batch/v1 cronjobs":                   21,
	"networking.k8s.io/v1 ingresses":      19,
	"networking.k8s.io/v1beta1 ingresses": 14,
	"storage.k8s.io/v1 volumeattachments": 13,
}

// builtin returns the built-in resources in the versions that the server serves, as far as known,
// so that objects keep the version of their own server. Versions that the dump shows come first. A
// resource without any possible version keeps that of the rules.
func (r builtinKinds) builtin() *object.Resources {
	table := builtinResources()
	older := map[schema.GroupResource][]object.Resource{}
	for _, o := range olderVersions {
		res := o.resource()
		if now, ok := table.Preferred(res.GroupResource()); ok {
			res.ShortNames, res.Categories = now.ShortNames, now.Categories
		}
		older[res.GroupResource()] = append(older[res.GroupResource()], res)
	}
	var order []schema.GroupResource
	current := map[schema.GroupResource][]object.Resource{}
	for _, res := range table.All() {
		gr := res.GroupResource()
		if current[gr] == nil {
			order = append(order, gr)
		}
		current[gr] = append(current[gr], res)
	}
	rs := &object.Resources{}
	for _, gr := range order {
		for _, res := range r.versions(gr, current[gr], older) {
			rs.Add(res)
		}
	}
	return rs
}

// versions returns the versions of one resource. now are those of the release of the rules, older
// those of earlier releases.
func (r builtinKinds) versions(gr schema.GroupResource, now []object.Resource, older map[schema.GroupResource][]object.Resource) []object.Resource {
	isShown := func(res object.Resource) bool { return r.shown[typeName{res.APIVersion(), res.Kind}] }
	unserved := func(res object.Resource) bool { return !r.serves(res) }
	current, record := slices.DeleteFunc(slices.Clone(now), unserved), slices.DeleteFunc(slices.Clone(older[gr]), unserved)
	slices.SortStableFunc(record, compareResources)
	shown := slices.DeleteFunc(slices.Concat(current, record), func(res object.Resource) bool { return !isShown(res) })
	if len(shown) > 0 {
		slices.SortStableFunc(shown, compareResources)
		return append(shown, slices.DeleteFunc(current, isShown)...)
	}
	for old, was := range older {
		if old != gr && object.Storage(old) == gr && !r.surely(current) && !r.surely(record) && slices.ContainsFunc(was, func(res object.Resource) bool {
			return isShown(res) || len(current)+len(record) == 0 && r.served != nil && r.serves(res)
		}) {
			return nil // the old name is the only known one
		}
	}
	switch {
	case len(current) > 0:
		return current
	case len(record) > 0:
		return record
	default:
		return now
	}
}

// surely reports whether one of the versions is known to be served, not merely not excluded.
func (r builtinKinds) surely(versions []object.Resource) bool {
	return slices.ContainsFunc(versions, func(res object.Resource) bool {
		first := spanOf(res).first
		return r.version.Least >= first && (first != 0 || r.served[res.APIVersion()]) || first < 14
	})
}

func compareResources(a, b object.Resource) int {
	return compareTypes(typeName{a.APIVersion(), a.Kind}, typeName{b.APIVersion(), b.Kind})
}

// name completes the apiVersions of objects that only have a group.
func (r *reader) name(rs *object.Resources) {
	names := map[typeName]typeName{}
	whole := func(t *typeName) {
		if !strings.HasSuffix(t.apiVersion, unsaid) {
			return
		}
		if _, ok := names[*t]; !ok {
			names[*t] = typeName{versionOf(rs, *t), t.kind}
		}
		*t = names[*t]
	}
	for _, o := range r.objects {
		t := typeName{o.APIVersion, o.Kind}
		whole(&t)
		o.APIVersion = t.apiVersion
	}
	for name, k := range r.seen {
		t := name
		if whole(&t); t == name {
			continue
		}
		delete(r.seen, name)
		r.addSeen(t, k)
	}
	for _, s := range r.sightings {
		for i := range s.shown {
			whole(&s.shown[i].typeName)
		}
	}
	for i := range r.failed {
		whole(&r.failed[i].typeName)
	}
}

// versionOf returns the apiVersion of a kind with a known group: the preferred one, that of an old
// name, or that of the rules.
func versionOf(rs *object.Resources, t typeName) string {
	group := strings.TrimSuffix(t.apiVersion, unsaid)
	find := func(all []object.Resource, groupOf func(schema.GroupResource) string) string {
		i := slices.IndexFunc(all, func(res object.Resource) bool { return res.Kind == t.kind && groupOf(res.GroupResource()) == group })
		if i < 0 {
			return ""
		}
		return all[i].APIVersion()
	}
	own := func(gr schema.GroupResource) string { return gr.Group }
	old := func(gr schema.GroupResource) string {
		if now := object.Storage(gr); now != gr {
			return now.Group
		}
		return unsaid
	}
	older := object.Mapped(olderVersions, olderVersion.resource)
	return cmp.Or(find(rs.All(), own), find(older, old), find(builtinResources().All(), own), find(older, own), t.apiVersion)
}

// olderVersion is a version of a built-in resource that only releases before 1.37 serve.
type olderVersion struct {
	apiVersion, name, kind string
	namespaced             bool
}

func (o olderVersion) resource() object.Resource {
	group, version := object.SplitAPIVersion(o.apiVersion)
	return object.Resource{Group: group, Version: version, Name: o.name, Kind: o.kind, Singular: strings.ToLower(o.kind),
		Namespaced: o.namespaced, Verbs: object.AllVerbs}
}

// olderVersions are the versions in dumps of older clusters. They are added to the built-in
// resources only if the dump shows that they were served.
var olderVersions = []olderVersion{
	{"admissionregistration.k8s.io/v1beta1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", false},
	{"admissionregistration.k8s.io/v1beta1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", false},
	{"apiextensions.k8s.io/v1beta1", "customresourcedefinitions", "CustomResourceDefinition", false},
	{"apiregistration.k8s.io/v1beta1", "apiservices", "APIService", false},
	{"apps/v1beta1", "controllerrevisions", "ControllerRevision", true},
	{"apps/v1beta1", "deployments", "Deployment", true},
	{"apps/v1beta1", "statefulsets", "StatefulSet", true},
	{"apps/v1beta2", "controllerrevisions", "ControllerRevision", true},
	{"apps/v1beta2", "daemonsets", "DaemonSet", true},
	{"apps/v1beta2", "deployments", "Deployment", true},
	{"apps/v1beta2", "replicasets", "ReplicaSet", true},
	{"apps/v1beta2", "statefulsets", "StatefulSet", true},
	{"autoscaling/v2beta1", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true},
	{"autoscaling/v2beta2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true},
	{"batch/v1beta1", "cronjobs", "CronJob", true},
	{"batch/v2alpha1", "cronjobs", "CronJob", true},
	{"certificates.k8s.io/v1beta1", "certificatesigningrequests", "CertificateSigningRequest", false},
	{"coordination.k8s.io/v1beta1", "leases", "Lease", true},
	{"discovery.k8s.io/v1beta1", "endpointslices", "EndpointSlice", true},
	{"events.k8s.io/v1beta1", "events", "Event", true},
	{"extensions/v1beta1", "daemonsets", "DaemonSet", true},
	{"extensions/v1beta1", "deployments", "Deployment", true},
	{"extensions/v1beta1", "ingresses", "Ingress", true},
	{"extensions/v1beta1", "networkpolicies", "NetworkPolicy", true},
	{"extensions/v1beta1", "podsecuritypolicies", "PodSecurityPolicy", false},
	{"extensions/v1beta1", "replicasets", "ReplicaSet", true},
	{"flowcontrol.apiserver.k8s.io/v1beta1", "flowschemas", "FlowSchema", false},
	{"flowcontrol.apiserver.k8s.io/v1beta1", "prioritylevelconfigurations", "PriorityLevelConfiguration", false},
	{"flowcontrol.apiserver.k8s.io/v1beta2", "flowschemas", "FlowSchema", false},
	{"flowcontrol.apiserver.k8s.io/v1beta2", "prioritylevelconfigurations", "PriorityLevelConfiguration", false},
	{"flowcontrol.apiserver.k8s.io/v1beta3", "flowschemas", "FlowSchema", false},
	{"flowcontrol.apiserver.k8s.io/v1beta3", "prioritylevelconfigurations", "PriorityLevelConfiguration", false},
	{"networking.k8s.io/v1beta1", "ingressclasses", "IngressClass", false},
	{"networking.k8s.io/v1beta1", "ingresses", "Ingress", true},
	{"networking.k8s.io/v1beta1", "ipaddresses", "IPAddress", false},
	{"networking.k8s.io/v1beta1", "servicecidrs", "ServiceCIDR", false},
	{"node.k8s.io/v1beta1", "runtimeclasses", "RuntimeClass", false},
	{"policy/v1beta1", "poddisruptionbudgets", "PodDisruptionBudget", true},
	{"policy/v1beta1", "podsecuritypolicies", "PodSecurityPolicy", false},
	{"rbac.authorization.k8s.io/v1beta1", "clusterrolebindings", "ClusterRoleBinding", false},
	{"rbac.authorization.k8s.io/v1beta1", "clusterroles", "ClusterRole", false},
	{"rbac.authorization.k8s.io/v1beta1", "rolebindings", "RoleBinding", true},
	{"rbac.authorization.k8s.io/v1beta1", "roles", "Role", true},
	{"scheduling.k8s.io/v1beta1", "priorityclasses", "PriorityClass", false},
	{"settings.k8s.io/v1alpha1", "podpresets", "PodPreset", true},
	{"storage.k8s.io/v1beta1", "csidrivers", "CSIDriver", false},
	{"storage.k8s.io/v1beta1", "csinodes", "CSINode", false},
	{"storage.k8s.io/v1beta1", "csistoragecapacities", "CSIStorageCapacity", true},
	{"storage.k8s.io/v1beta1", "storageclasses", "StorageClass", false},
	{"storage.k8s.io/v1beta1", "volumeattachments", "VolumeAttachment", false},
}
