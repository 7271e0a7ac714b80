package differential

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// containerKinds are the kinds of worlds with containers that every world shares.
// What an object of a kind without a body needs beside its metadata is in bodyOf.
var containerKinds = append(shared("ConfigMap", "Secret", "Pod", "ReplicaSet", "ServiceAccount", "Node", "Role", "ClusterRole", "Job", "PersistentVolume"),
	kind{"v1", "Namespace", "/api/v1", "namespaces", "namespaces", false, ""},
	kind{"v1", "PersistentVolumeClaim", "/api/v1", "persistentvolumeclaims", "persistentvolumeclaims", true, ""},
	kind{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "/apis/apiextensions.k8s.io/v1", "customresourcedefinitions",
		"apiextensions.k8s.io/customresourcedefinitions", false, ""},
)

// shared are kinds that other worlds have, too.
func shared(names ...string) []kind {
	var list []kind
	for _, k := range kinds {
		if slices.Contains(names, k.name) {
			list = append(list, k)
		}
	}
	return list
}

// pluralOf is the plural of a kind of a drawn definition.
func pluralOf(kind string) string { return strings.ToLower(kind) + "s" }

// group is where the kinds of the world's definitions are served: each world has a
// group of its own.
func (p place) group() string { return strings.TrimSuffix(string(p), "-") + "." + drawnGroup }

// instance is the kind of a world's definition.
func (p place) instance(k drawnKind) kind {
	plural := pluralOf(k.kind)
	return kind{p.group() + "/v1", k.kind, "/apis/" + p.group() + "/v1", plural, p.group() + "/" + plural, !k.clusterScoped, ""}
}

// kindIn is the kind of an object under the names of the real server.
func (p place) kindIn(r object.Ref) (kind, error) {
	list := append(slices.Clone(containerKinds), p.instance(namespacedInstance), p.instance(clusterInstance))
	for _, k := range list {
		if k.apiVersion == r.APIVersion && k.name == r.Kind {
			return k, nil
		}
	}
	return kind{}, fmt.Errorf("%s: no world with containers has this kind", r)
}

// enter is an object with all its names as they are on the real server: its own
// ones, those of its owners, and those of what its facts speak of.
func (p place) enter(o *object.Object) *object.Object {
	c := p.put(o)
	c.Ref = p.refIn(o.Ref)
	for i := range c.Owners {
		at := p.refIn(object.Ref{APIVersion: o.Owners[i].APIVersion, Kind: o.Owners[i].Kind, Name: o.Owners[i].Name})
		c.Owners[i].APIVersion, c.Owners[i].Name = at.APIVersion, at.Name
	}
	p.rename(c, func(s string) string { return string(p) + s }, p.group())
	return c
}

// leave is the reverse of enter.
func (p place) leave(o *object.Object) *object.Object {
	c := o.Clone()
	c.Owners = slices.Clone(o.Owners)
	p.take(c)
	c.APIVersion, c.Name = p.drawn(c.APIVersion), p.drawn(c.Name)
	for i := range c.Owners {
		c.Owners[i].APIVersion, c.Owners[i].Name = p.drawn(c.Owners[i].APIVersion), p.drawn(c.Owners[i].Name)
	}
	p.rename(c, p.cut, drawnGroup)
	return c
}

// refIn is a reference as it is on the real server. The name of a definition ends in
// its group.
func (p place) refIn(r object.Ref) object.Ref {
	in := p.ref(r)
	if r.Kind == "CustomResourceDefinition" {
		in.Name = strings.Replace(r.Name, drawnGroup, p.group(), 1)
	}
	in.APIVersion = strings.Replace(r.APIVersion, drawnGroup, p.group(), 1)
	return in
}

// drawn is a name or a version with the group that was drawn.
func (p place) drawn(s string) string { return strings.Replace(s, p.group(), drawnGroup, 1) }

// rename renames what the facts of an object speak of.
func (p place) rename(o *object.Object, to func(string) string, group string) {
	if o.Lifecycle == nil {
		return
	}
	life := o.Edit()
	if f := o.Pod(); f != nil {
		pod := *f
		if pod.NodeName != "" {
			pod.NodeName = to(pod.NodeName)
		}
		pod.Claims = slices.Clone(f.Claims)
		for i := range pod.Claims {
			pod.Claims[i].Name = to(pod.Claims[i].Name)
		}
		life.Facts = &pod
	}
	if f := o.Volume(); f != nil && f.ClaimName != "" {
		volume := *f
		volume.ClaimNamespace, volume.ClaimName = to(f.ClaimNamespace), to(f.ClaimName)
		volume.ClaimUID = types.UID(to(string(f.ClaimUID)))
		life.Facts = &volume
	}
	if f := o.Definition(); f != nil {
		definition := *f
		definition.Group = group
		life.Facts = &definition
	}
}

// keep is an object of a world, under its real names, in the form in which it goes
// into storage. Volumes tells the volumes of the claims, by the uid of the claim.
func (p place) keep(o *object.Object, volumes map[string]string) (cluster.Stored, error) {
	k, err := p.kindIn(o.Ref)
	if err != nil {
		return cluster.Stored{}, err
	}
	m := metadata{
		Name: o.Name, Namespace: o.Namespace, UID: string(o.UID), Finalizers: o.Finalizers(), Generation: generationOf(o),
		CreationTimestamp: "2026-01-01T00:00:00Z", DeletionGracePeriodSeconds: o.GracePeriod(), OwnerReferences: ownersOf(o),
	}
	if o.BeingDeleted() {
		m.DeletionTimestamp = time.Unix(deletedAt, 0).UTC().Format(time.RFC3339)
	}
	volume := volumes[string(o.UID)]
	if volume != "" {
		m.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	}
	for key, value := range o.Labels.All {
		m.Labels = map[string]string{key: string(p) + value}
	}
	meta, err := json.Marshal(m)
	if err != nil {
		return cluster.Stored{}, err
	}
	body := k.body
	switch o.Kind {
	case "Pod":
		body = podWithVolumes(o)
	case "Namespace":
		body = namespaceBody(o.NamespaceFacts())
	case "PersistentVolume":
		body = volumeBody(o.Volume())
	case "PersistentVolumeClaim":
		body = claimBody(volume)
	case "CustomResourceDefinition":
		body = definitionBody(o.Definition())
	case "Job":
		body = jobBody(o.Name)
	}
	if body != "" {
		body = "," + body
	}
	text := fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":%s%s}`, k.apiVersion, k.name, meta, body)
	return cluster.Stored{Key: k.key + "/" + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"), Manifest: text}, nil
}

func generationOf(o *object.Object) int {
	switch o.Kind {
	case "ReplicaSet", "Pod", "Job", "CustomResourceDefinition", namespacedInstance.kind, clusterInstance.kind:
		return 1
	}
	return 0
}

// podWithVolumes is a pod as far as its end and that of its claims depend on it.
func podWithVolumes(o *object.Object) string {
	p := o.Pod()
	var volumes []string
	for i, c := range p.Claims {
		name, source := fmt.Sprintf("c%d", i), fmt.Sprintf(`"persistentVolumeClaim":{"claimName":%q}`, c.Name)
		if c.Ephemeral {
			name = strings.TrimPrefix(c.Name, o.Name+"-")
			source = `"ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"none","resources":{"requests":{"storage":"1Gi"}}}}}`
		}
		volumes = append(volumes, fmt.Sprintf(`{"name":%q,%s}`, name, source))
	}
	spec := `"restartPolicy":"Never","containers":[{"name":"c","image":"i"}],` + tolerations
	if p.NodeName != "" {
		spec += fmt.Sprintf(`,"nodeName":%q`, p.NodeName)
	}
	return fmt.Sprintf(`"spec":{%s,"terminationGracePeriodSeconds":%d,"volumes":[%s]},"status":{"phase":%q}`,
		spec, *p.TerminationGracePeriod, strings.Join(volumes, ","), p.Phase)
}

func namespaceBody(n *object.NamespaceFacts) string {
	finalizers, _ := json.Marshal(n.Finalizers) // strings marshal
	return fmt.Sprintf(`"spec":{"finalizers":%s},"status":{"phase":%q}`, finalizers, n.Phase)
}

// volumeBody is a volume that stays when its claim has gone. No claim of another one's
// world can be bound to it: there is no storage class.
func volumeBody(v *object.PVFacts) string {
	claim := ""
	if v.ClaimName != "" {
		claim = fmt.Sprintf(`,"claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim","namespace":%q,"name":%q,"uid":%q}`, v.ClaimNamespace, v.ClaimName, v.ClaimUID)
	}
	return fmt.Sprintf(`"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"persistentVolumeReclaimPolicy":"Retain",`+
		`"storageClassName":%q,"hostPath":{"path":"/x"}%s},"status":{"phase":%q}`, v.ClaimUID, claim, v.Phase)
}

// claimBody is a claim, bound to a volume unless that is empty.
func claimBody(volume string) string {
	const spec, capacity = `"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":%q,"resources":{"requests":{"storage":"1Gi"}}%s}`, `"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"}`
	if volume == "" {
		return fmt.Sprintf(spec, "none", "") + `,"status":{"phase":"Pending"}`
	}
	name, class, _ := strings.Cut(volume, " ")
	return fmt.Sprintf(spec, class, fmt.Sprintf(`,"volumeName":%q`, name)) + `,"status":{"phase":"Bound",` + capacity + `}`
}

// jobBody is a Job of one pod, which is told by a label.
func jobBody(name string) string {
	labels := fmt.Sprintf(`{"job":%q}`, name)
	return fmt.Sprintf(`"spec":{"parallelism":1,"completions":1,"manualSelector":true,"selector":{"matchLabels":%s},"template":{"metadata":{"labels":%s},`+
		`"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}`, labels, labels)
}

// definitionBody is a definition as the API server's own controllers leave it, so that
// they have nothing to add.
func definitionBody(d *object.CRDFacts) string {
	scope := "Namespaced"
	if !d.Namespaced {
		scope = "Cluster"
	}
	names := fmt.Sprintf(`{"plural":%q,"singular":%q,"kind":%q,"listKind":"%sList"}`, d.Plural, strings.ToLower(d.Kind), d.Kind, d.Kind)
	var conditions []string
	for _, name := range []string{"NamesAccepted", "Established"} {
		conditions = append(conditions, fmt.Sprintf(`{"type":%q,"status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"r","message":"m"}`, name))
	}
	return fmt.Sprintf(`"spec":{"group":%q,"scope":%q,"conversion":{"strategy":"None"},"names":%s,"versions":[{"name":"v1","served":true,"storage":true,`+
		`"schema":{"openAPIV3Schema":{"type":"object"}}}]},"status":{"acceptedNames":%s,"conditions":[%s],"storedVersions":["v1"]}`,
		d.Group, scope, names, names, strings.Join(conditions, ","))
}
