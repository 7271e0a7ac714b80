package scenario

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// DrawCluster draws a world as DrawWorld does, and around it what other deleters of a
// cluster look at: its namespaces, definitions of its custom resources and their API, nodes,
// claims and volumes, a claim of a device, a ServiceAccount with a token, a Service with its addresses and their
// ranges; some of them own something, are owned, are held or are being deleted.
func DrawCluster(t *rapid.T, allowed Variety) World {
	w := DrawWorld(t, allowed)
	var text strings.Builder
	for _, name := range []string{"n", "m"} {
		if rapid.IntRange(0, 5).Draw(t, "namespace there") > 0 {
			end := w.drawEnd(t, " phase=Active spec=kubernetes", " phase=Terminating spec=kubernetes deleting")
			fmt.Fprintf(&text, "v1 Namespace %s uid=ns-%s%s\n", name, name, end)
		}
	}
	for _, d := range []string{
		"widgets.example.com uid=crd-w defines=example.com/v1:Widget:widgets established",
		"gadgets.example.com uid=crd-g defines=example.com/v1:Gadget:gadgets scope=Cluster established",
	} {
		if rapid.IntRange(0, 2).Draw(t, "CRD there") > 0 {
			end := w.drawEnd(t, "", " terminating deleting fin=customresourcecleanup.apiextensions.k8s.io")
			fmt.Fprintf(&text, "apiextensions.k8s.io/v1 CustomResourceDefinition %s%s\n", d, end)
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "API there") == 2 {
		fmt.Fprintln(&text, "apiregistration.k8s.io/v1 APIService v1.example.com uid=api labels=kube-aggregator.kubernetes.io/automanaged=true")
	}
	if rapid.Bool().Draw(t, "nodes") {
		fmt.Fprintln(&text, "v1 Node n1 uid=n1")
	}
	w.drawStorage(t, &text)
	w.drawDevice(t, &text)
	w.drawService(t, &text)
	w.drawTokens(t, &text)
	around, err := ParseWorld(text.String(), Names{})
	if err != nil {
		panic("scenario: what stands around a drawn world: " + err.Error())
	}
	for _, o := range w.Objects {
		if o.Kind == "Pod" {
			drawPod(t, o)
		}
	}
	for _, o := range around {
		o.ResourceVersion = fmt.Sprint(len(w.Objects) + 1)
		w.drawTies(t, o)
		w.Objects = append(w.Objects, o)
	}
	return w.withDeployer(t).withOperator(t).withSnapshot(t)
}

// withDeployer draws, in some worlds, an object whose deployer has applied some of the others.
func (w World) withDeployer(t *rapid.T) World {
	if len(w.Objects) == 0 || rapid.IntRange(0, 3).Draw(t, "deployer") > 0 {
		return w
	}
	text := rapid.SampledFrom([]string{
		"argoproj.io/v1alpha1 Application n/app fin=resources-finalizer.argocd.argoproj.io",
		"argoproj.io/v1alpha1 Application n/app fin=resources-finalizer.argocd.argoproj.io/background",
		"kustomize.toolkit.fluxcd.io/v1 Kustomization m/app fin=finalizers.fluxcd.io",
	}).Draw(t, "kind of deployer") + " uid=app" + w.drawEnd(t, "", " deleting")
	applied := []string{"/ConfigMap/n/gone"}
	for range rapid.IntRange(1, 4).Draw(t, "applied") {
		o := rapid.SampledFrom(w.Objects).Draw(t, "applied object")
		if strings.HasPrefix(text, "kustomize") && o.Labels == "" { // Flux deletes nothing else
			o.Labels = object.LabelsOf(map[string]string{object.FluxKustomization.Group + "/name": "app", object.FluxKustomization.Group + "/namespace": "m"})
		}
		c := o.Coordinates()
		applied = append(applied, strings.Join([]string{c.Group, c.Kind, c.Namespace, c.Name}, "/"))
	}
	deployer, err := ParseWorld(text+" inventory=["+strings.Join(applied, ",")+"]\n", Names{})
	if err != nil {
		panic("scenario: a drawn deployer: " + err.Error())
	}
	deployer[0].ResourceVersion = fmt.Sprint(len(w.Objects) + 1)
	w.Objects = append(w.Objects, deployer...)
	return w
}

// operators are controllers that find what they delete with their object op by labels or owner
// references.
var operators = []struct {
	text string
	// found reports whether an object may be found, and mark makes it so.
	found func(o *object.Object) bool
	mark  func(o *object.Object)
}{
	{"example.com/v1 Widget n/op fin=kro.run/finalizer", anyObject, labelled("kro.run/instance-id", "op")},
	{"example.com/v1 Gadget op fin=kro.run/finalizer", anyObject, labelled("kro.run/instance-id", "op")},
	{
		"example.com/v1 Widget n/op fin=finalizer.apiextensions.crossplane.io", func(o *object.Object) bool { return o.Kind == "Gadget" },
		labelled("crossplane.io/claim-name", "op", "crossplane.io/claim-namespace", "n"),
	},
	{
		"example.com/v1 Gadget op fin=defined.apiextensions.crossplane.io", func(o *object.Object) bool { return o.Is(object.CRD) },
		func(o *object.Object) {
			if !o.RefersTo("op") {
				o.Owners = append(o.Owners, object.OwnerReference{APIVersion: "example.com/v1", Kind: "Gadget", Name: "op", UID: "op", Controller: object.True})
			}
		},
	},
}

func anyObject(*object.Object) bool { return true }

// labelled adds labels to an object: keys and values in turn.
func labelled(pairs ...string) func(o *object.Object) {
	return func(o *object.Object) {
		all := map[string]string{}
		for key, value := range o.Labels.All {
			all[key] = value
		}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i]] = pairs[i+1]
		}
		o.Labels = object.LabelsOf(all)
	}
}

// withOperator draws, in some worlds, one of operators with what it finds.
func (w World) withOperator(t *rapid.T) World {
	if rapid.IntRange(0, 3).Draw(t, "operator") > 0 {
		return w
	}
	drawn := rapid.SampledFrom(operators).Draw(t, "kind of operator")
	var may []*object.Object
	for _, o := range w.Objects {
		if drawn.found(o) {
			may = append(may, o)
		}
	}
	if len(may) == 0 {
		return w
	}
	for range rapid.IntRange(1, 3).Draw(t, "found") {
		drawn.mark(rapid.SampledFrom(may).Draw(t, "found object"))
	}
	operator, err := ParseWorld(drawn.text+" uid=op"+w.drawEnd(t, "", " deleting")+"\n", Names{})
	if err != nil {
		panic("scenario: a drawn operator: " + err.Error())
	}
	operator[0].ResourceVersion = fmt.Sprint(len(w.Objects) + 1)
	w.Objects = append(w.Objects, operator...)
	return w
}

// withSnapshot draws, in some worlds, a snapshot of a volume and its content, which may refer to another
// snapshot or stay.
func (w World) withSnapshot(t *rapid.T) World {
	if rapid.IntRange(0, 5).Draw(t, "snapshot") > 0 {
		return w
	}
	back := rapid.SampledFrom([]string{"vs", "vs", "other"}).Draw(t, "snapshot of the content")
	kept := rapid.SampledFrom([]string{"", "", " keeps"}).Draw(t, "content stays")
	const group = "snapshot.storage.k8s.io"
	text := "snapshot.storage.k8s.io/v1 VolumeSnapshot n/vs uid=vs inventory=[" + group + "/VolumeSnapshotContent//vsc] " +
		"fin=snapshot.storage.kubernetes.io/volumesnapshot-bound-protection" + w.drawEnd(t, "", " deleting") + "\n" +
		"snapshot.storage.k8s.io/v1 VolumeSnapshotContent vsc uid=vsc inventory=[" + group + "/VolumeSnapshot/n/" + back + "]" + kept +
		" fin=snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection" + w.drawEnd(t, "", " deleting") + "\n"
	both, err := ParseWorld(text, Names{})
	if err != nil {
		panic("scenario: a drawn snapshot: " + err.Error())
	}
	for _, o := range both {
		o.ResourceVersion = fmt.Sprint(len(w.Objects) + 1)
		w.Objects = append(w.Objects, o)
	}
	return w
}

// drawEnd draws whether something is being deleted, where a world has such objects.
func (w World) drawEnd(t *rapid.T, lives, goes string) string {
	if w.has(t, Terminating, 4) {
		return goes
	}
	return lives
}

// drawStorage draws a claim and its volume, which stays or goes when the claim does, or
// nobody knows.
func (w World) drawStorage(t *rapid.T, text *strings.Builder) {
	if !rapid.Bool().Draw(t, "storage") {
		return
	}
	fmt.Fprintf(text, "v1 PersistentVolumeClaim n/c uid=c fin=kubernetes.io/pvc-protection%s\n", w.drawEnd(t, "", " deleting grace=0"))
	reclaim := rapid.SampledFrom([]string{
		"", " reclaim=Delete by=disk.example.com csi", " reclaim=Delete by=kubernetes.io/disk to=disk.example.com", " reclaim=Delete",
		" reclaim=Retain by=disk.example.com", " reclaim=Recycle",
	}).Draw(t, "reclaim")
	fin := rapid.SampledFrom([]string{"", "", ",external-provisioner.volume.kubernetes.io/finalizer"}).Draw(t, "provisioner")
	fmt.Fprintf(text, "v1 PersistentVolume v uid=v phase=Bound claim=n/c:c fin=kubernetes.io/pv-protection%s%s%s\n",
		fin, reclaim, w.drawEnd(t, "", " deleting grace=0"))
}

// drawDevice draws a claim of a device, which pods of its namespace may reserve.
func (w World) drawDevice(t *rapid.T, text *strings.Builder) {
	if rapid.IntRange(0, 2).Draw(t, "device") < 2 {
		return
	}
	users := []string{"pods:gone:gone"}
	for _, o := range w.Objects {
		if o.Kind == "Pod" && o.Namespace == "n" {
			users = append(users, fmt.Sprintf("pods:%s:%s", o.Name, o.UID))
		}
	}
	user := users[len(users)-1-rapid.IntRange(0, len(users)-1).Draw(t, "reserved by")]
	fmt.Fprintf(text, "resource.k8s.io/v1 ResourceClaim n/d uid=d reserved=%s fin=resource.kubernetes.io/delete-protection%s\n",
		user, w.drawEnd(t, "", " deleting grace=0"))
}

// drawService draws a Service with what belongs to it, and the ranges of its address.
func (w World) drawService(t *rapid.T, text *strings.Builder) {
	parts := rapid.IntRange(0, 7).Draw(t, "service")
	if parts&1 != 0 {
		held := rapid.SampledFrom([]string{"", "", " fin=service.kubernetes.io/load-balancer-cleanup"}).Draw(t, "load balancer")
		if held != "" {
			held += w.drawEnd(t, "", " deleting grace=0")
		}
		fmt.Fprintf(text, "v1 Service n/s uid=s%s\nv1 Endpoints n/s uid=e\ndiscovery.k8s.io/v1 EndpointSlice n/s-1 uid=slice owners=s\n", held)
	}
	if parts&1 != 0 && rapid.Bool().Draw(t, "mirrored") {
		fmt.Fprintln(text, "discovery.k8s.io/v1 EndpointSlice n/s-m uid=mirror labels=kubernetes.io/service-name=s,"+
			"endpointslice.kubernetes.io/managed-by=endpointslicemirroring-controller.k8s.io")
	}
	if parts&2 != 0 {
		of := rapid.SampledFrom([]string{" of=n/s", " of=n/s", ""}).Draw(t, "address of")
		fmt.Fprintf(text, "networking.k8s.io/v1 IPAddress 10.0.0.5 uid=ip labels=ipaddress.kubernetes.io/managed-by=ipallocator.k8s.io%s\n", of)
	}
	if parts&4 != 0 {
		const format = "networking.k8s.io/v1 ServiceCIDR %s uid=%[1]s%s fin=networking.k8s.io/service-cidr-finalizer%s\n"
		fmt.Fprintf(text, format, "narrow", " cidrs=10.0.0.0/24", w.drawEnd(t, "", " deleting grace=0"))
		if wide := rapid.SampledFrom([]string{"", " cidrs=10.0.0.0/16", " "}).Draw(t, "wide"); wide != "" {
			fmt.Fprintf(text, format, "wide", wide, w.drawEnd(t, "", " deleting grace=0"))
		}
	}
}

// drawTokens draws a ServiceAccount and tokens, not all of which are certain to be its.
func (w World) drawTokens(t *rapid.T, text *strings.Builder) {
	parts := rapid.IntRange(0, 5).Draw(t, "tokens")
	if parts&1 != 0 {
		fmt.Fprintf(text, "v1 ServiceAccount n/ci uid=sa%s\n", w.drawEnd(t, "", " deleting grace=0 fin="+Foreign))
	}
	if parts&4 != 0 {
		of := rapid.SampledFrom([]string{"token=ci:sa", "token=ci", "token=ci:other", "token?=ci:sa", "token?=ci:other"}).Draw(t, "token of")
		fmt.Fprintf(text, "v1 Secret n/ci-token uid=token %s\n", of)
	}
}

// drawTies draws an owner for something that has none usually, and a dependent.
func (w World) drawTies(t *rapid.T, o *object.Object) {
	refTo := func(owner *object.Object) object.OwnerReference {
		return object.OwnerReference{
			APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID,
			BlockOwnerDeletion: object.Flag(rapid.IntRange(0, 2).Draw(t, "blocking")),
		}
	}
	if rapid.IntRange(0, 5).Draw(t, "owned") == 0 {
		if owner := rapid.SampledFrom(w.Objects).Draw(t, "owner"); owner.Namespace == "" || owner.Namespace == o.Namespace {
			o.Owners = append(o.Owners, refTo(owner))
		}
	}
	if rapid.IntRange(0, 5).Draw(t, "owns") == 0 {
		if d := rapid.SampledFrom(w.Objects).Draw(t, "dependent"); (o.Namespace == "" || o.Namespace == d.Namespace) && !d.RefersTo(o.UID) {
			d.Owners = append(d.Owners, refTo(o))
		}
	}
	if w.has(t, ForeignFinalizers, 6) {
		o.Edit().Finalizers = append(o.Finalizers(), Foreign)
	}
}

// drawPod draws on which node a pod is and which claims it uses.
func drawPod(t *rapid.T, o *object.Object) {
	facts := object.PodFacts{VolumesKnown: rapid.IntRange(0, 3).Draw(t, "volumes known") > 0}
	facts.NodeName = rapid.SampledFrom([]string{"n1", "n1", "n1", "n2", ""}).Draw(t, "node")
	facts.Phase = rapid.SampledFrom([]string{"Running", "Running", "Succeeded", ""}).Draw(t, "phase")
	if facts.VolumesKnown && rapid.Bool().Draw(t, "uses the PVC") {
		facts.Claims = []object.Claim{{Name: "c"}}
	}
	o.Edit().Facts = &facts
}
