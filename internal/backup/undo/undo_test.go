package undo

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// cluster is the current state of the cluster.
type cluster struct {
	objects map[object.Coordinates]*object.Object
	closed  map[object.Coordinates]bool // places with an unknown state
}

func clusterOf(objects ...*object.Object) *cluster {
	c := &cluster{objects: map[object.Coordinates]*object.Object{}, closed: map[object.Coordinates]bool{}}
	for _, o := range objects {
		c.objects[o.Ref.Coordinates()] = o
	}
	return c
}

var clusterScoped = map[string]bool{"Namespace": true, "Node": true, "PersistentVolume": true, "ClusterRole": true,
	"CustomResourceDefinition": true, "PriorityClass": true}

func (c *cluster) lookup(r object.Ref) (*object.Object, error) {
	switch {
	case clusterScoped[r.Kind]:
		r.Namespace = ""
	case r.Namespace == "":
		return nil, &object.NamespaceRequiredError{Ref: r}
	}
	if c.closed[r.Coordinates()] {
		return nil, errors.New("forbidden")
	}
	return c.objects[r.Coordinates()], nil
}

// refOf parses `kind[.group] [namespace/]name`; the UID is `u-<name>`.
func refOf(name string) object.Ref {
	kind, rest, _ := strings.Cut(name, " ")
	kind, group, grouped := strings.Cut(kind, ".")
	r := object.Ref{APIVersion: "v1", Kind: kind, Namespace: "shop", Name: rest}
	if grouped {
		r.APIVersion = group + "/v1"
	}
	if namespace, inside, ok := strings.Cut(rest, "/"); ok {
		r.Namespace, r.Name = namespace, inside
	}
	if clusterScoped[kind] {
		r.Namespace = ""
	}
	r.UID = types.UID("u-" + r.Name)
	return r
}

func ownerOf(r object.Ref) object.OwnerReference {
	return object.OwnerReference{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: r.UID}
}

func controllerOf(r object.Ref) object.OwnerReference {
	ref := ownerOf(r)
	ref.Controller = object.True
	return ref
}

// saved returns an object with owners and further fields in JSON.
func saved(name, fields string, owners ...object.OwnerReference) Saved {
	return savedAs(refOf(name), fields, owners...)
}

func savedAs(r object.Ref, fields string, owners ...object.OwnerReference) Saved {
	content := map[string]any{}
	if fields != "" {
		if err := json.Unmarshal([]byte(fields), &content); err != nil {
			panic(err)
		}
	}
	metadata, _ := content["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["name"], metadata["uid"], metadata["resourceVersion"] = r.Name, r.UID, "7"
	if r.Namespace != "" {
		metadata["namespace"] = r.Namespace
	}
	if len(owners) > 0 {
		metadata["ownerReferences"] = ownerBodies(owners)
	}
	content["apiVersion"], content["kind"], content["metadata"] = r.APIVersion, r.Kind, metadata
	raw, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	return Saved{Object: r, Raw: raw}
}

func live(name string, owners ...object.OwnerReference) *object.Object {
	return &object.Object{Ref: refOf(name), ResourceVersion: "40", Owners: owners}
}

func going(name string) *object.Object {
	o := live(name)
	o.Edit().DeletionTimestamp = 1
	return o
}

func another(name string, owners ...object.OwnerReference) *object.Object {
	o := live(name, owners...)
	o.UID = "another"
	return o
}

// lines returns a plan as text.
func lines(p *Plan) []string {
	var all []string
	for _, s := range p.Steps {
		line := fmt.Sprintf("%d %s %s", s.N, s.Verb, s.Object)
		for _, r := range s.References {
			line += fmt.Sprintf(" +%s", r.Name)
			if r.Made {
				line += "(new)"
			}
		}
		all = append(all, line+droppedText(s.Dropped)+joined(" -", fieldsOf(s.Stripped))+joined(" !", s.Notes))
	}
	for _, s := range p.Skipped {
		all = append(all, fmt.Sprintf("%s %s %s", s.Reason, s.Object, s.Live)+droppedText(s.Dropped))
	}
	return all
}

func droppedText(list []Dropped) string {
	text := ""
	for _, d := range list {
		text += fmt.Sprintf(" %s:%s", d.Reason, d.Reference.Name)
	}
	return text
}

func joined[T ~string](before string, list []T) string {
	text := ""
	for _, s := range list {
		text += before + string(s)
	}
	return text
}

func want(t *testing.T, c *cluster, list []Saved, want ...string) *Plan {
	t.Helper()
	p := Make(list, c.lookup)
	if diff := cmp.Diff(want, lines(p)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	return p
}

// TestWhatIsThere (N33): existing objects are not overwritten, and no object is created if the
// state of its coordinates is unknown.
func TestWhatIsThere(t *testing.T) {
	c := clusterOf(live("ConfigMap alive"), going("ConfigMap going"), another("ConfigMap taken"))
	c.closed[refOf("ConfigMap hidden").Coordinates()] = true
	notSaved := Saved{Object: refOf("Secret none")}
	twice := refOf("ConfigMap gone")
	twice.UID = "z"
	broken, other := saved("ConfigMap broken", ""), saved("ConfigMap other", "")
	broken.Raw, other.Raw = []byte(`{"metadata":`), saved("ConfigMap gone", "").Raw
	p := want(t, c, []Saved{
		saved("ConfigMap alive", ""), saved("ConfigMap going", ""), saved("ConfigMap taken", ""), saved("ConfigMap hidden", ""),
		notSaved, savedAs(twice, ""), savedAs(twice, ""), saved("ConfigMap gone", ""), broken, other,
	},
		"1 Create v1 ConfigMap shop/gone",
		"StillAlive v1 ConfigMap shop/alive u-alive",
		"Unreadable v1 ConfigMap shop/broken ",
		"StillTerminating v1 ConfigMap shop/going u-going",
		"ListedTwice v1 ConfigMap shop/gone ",
		"ListedTwice v1 ConfigMap shop/gone ",
		"CannotTell v1 ConfigMap shop/hidden ",
		"Unreadable v1 ConfigMap shop/other ",
		"TakenByAnother v1 ConfigMap shop/taken another",
		"NotSaved v1 Secret shop/none ",
	)
	if d := p.Skipped[5].Detail; d != "forbidden" {
		t.Errorf("CannotTell says %q", d)
	}
}

// TestReferences (N32, W16): a reference is written only to an owner that exists or that the plan
// creates.
func TestReferences(t *testing.T) {
	c := clusterOf(live("ConfigMap out"), going("ConfigMap out-going"), another("ConfigMap out-other"),
		another("ConfigMap taken"), going("ConfigMap going"), live("ConfigMap alive"), live("ClusterRole role"))
	c.closed[refOf("ConfigMap out-hidden").Coordinates()] = true
	c.closed[refOf("ConfigMap hidden").Coordinates()] = true
	twin, elsewhere := refOf("Secret twin"), refOf("ConfigMap pay/far")
	twin.UID = "u-double"
	var owners []object.OwnerReference
	for _, name := range []string{"ConfigMap out", "ConfigMap out-gone", "ConfigMap out-going", "ConfigMap out-other", "ConfigMap out-hidden",
		"ConfigMap taken", "ConfigMap going", "ConfigMap hidden", "ConfigMap alive", "ConfigMap unsaved", "ConfigMap new",
		"ConfigMap double", "Secret new", "Pod self", "ConfigMap far", "ClusterRole role"} {
		owners = append(owners, ownerOf(refOf(name)))
	}
	// A cluster-scoped object cannot be owned by a namespaced one, saved or not.
	node := saved("Node n", "", ownerOf(refOf("ConfigMap new")), ownerOf(refOf("ConfigMap out")))
	p := want(t, c, []Saved{
		saved("Pod self", "", owners...), node, saved("ConfigMap taken", ""), saved("ConfigMap going", ""), saved("ConfigMap hidden", ""),
		saved("ConfigMap alive", ""), {Object: refOf("ConfigMap unsaved")}, saved("ConfigMap new", ""),
		saved("ConfigMap double", ""), savedAs(twin, ""), savedAs(elsewhere, ""),
	},
		"1 Create v1 Node n OwnerElsewhere:new OwnerElsewhere:out",
		"2 Create v1 ConfigMap pay/far",
		"3 Create v1 ConfigMap shop/double",
		"4 Create v1 ConfigMap shop/new",
		"5 Create v1 Secret shop/twin",
		"6 Create v1 Pod shop/self +out +alive +new(new) +role OwnerGone:out-gone OwnerBeingDeleted:out-going OwnerIsAnother:out-other"+
			" OwnerUnknown:out-hidden OwnerIsAnother:taken OwnerBeingDeleted:going OwnerUnknown:hidden OwnerNotRestored:unsaved"+
			" OwnerAmbiguous:double OwnerElsewhere:new OwnerCycle:self OwnerElsewhere:far",
		"StillAlive v1 ConfigMap shop/alive u-alive",
		"StillTerminating v1 ConfigMap shop/going u-going",
		"CannotTell v1 ConfigMap shop/hidden ",
		"TakenByAnother v1 ConfigMap shop/taken another",
		"NotSaved v1 ConfigMap shop/unsaved ",
	)
	// The sent body is the planned one.
	var m Mapping
	if _, _, err := p.Steps[5].Body(&m); err == nil {
		t.Error("a dependent may be made before its owner")
	}
	m.Made(&p.Steps[3], "fresh")
	if got, dropped := sent(t, &p.Steps[5], &m); got != "u-out u-alive fresh u-role" || len(dropped) != 0 {
		t.Errorf("references to %s, dropped %v", got, dropped)
	}
	m.Failed(&p.Steps[3])
	if got, dropped := sent(t, &p.Steps[5], &m); got != "u-out u-alive u-role" || droppedText(dropped) != " OwnerNotRestored:new" {
		t.Errorf("references to %s, dropped %v", got, dropped)
	}
}

// sent returns the UIDs of the references in the body of a step.
func sent(t *testing.T, s *Step, m *Mapping) (string, []Dropped) {
	t.Helper()
	body, dropped, err := s.Body(m)
	if err != nil {
		t.Fatal(err)
	}
	var o struct {
		Metadata struct {
			OwnerReferences []struct{ UID string }
		}
	}
	if err := json.Unmarshal(body, &o); err != nil {
		t.Fatal(err)
	}
	var uids []string
	for _, r := range o.Metadata.OwnerReferences {
		uids = append(uids, r.UID)
	}
	return strings.Join(uids, " "), dropped
}

// TestOrder: owners, namespaces, CRDs and what the admission of pods requires come first, whatever
// their names, and workloads after the objects that they use.
func TestOrder(t *testing.T) {
	crd := saved("CustomResourceDefinition.apiextensions.k8s.io carts.example.com", `{"spec":{"group":"example.com","names":{"kind":"Cart"}}}`)
	pod := saved("Pod a/p", `{"spec":{"serviceAccountName":"runner","priorityClassName":"high"}}`)
	want(t, clusterOf(), []Saved{
		saved("Cart.example.com a/c", "", ownerOf(refOf("Secret a/z"))), saved("Secret a/z", ""), crd, pod,
		saved("Secret a/token", `{"type":"kubernetes.io/service-account-token","metadata":{"annotations":{"kubernetes.io/service-account.name":"runner"}}}`),
		saved("ServiceAccount a/runner", ""), saved("ServiceAccount b/runner", ""), saved("Namespace a", ""),
		saved("PriorityClass.scheduling.k8s.io high", ""), saved("ConfigMap b/a", ""),
	},
		"1 Create apiextensions.k8s.io/v1 CustomResourceDefinition carts.example.com",
		"2 Create scheduling.k8s.io/v1 PriorityClass high",
		"3 Create v1 Namespace a",
		"4 Create v1 ServiceAccount a/runner",
		"5 Create v1 ServiceAccount b/runner",
		"6 Create v1 ConfigMap b/a",
		"7 Create v1 Secret a/token",
		"8 Create v1 Secret a/z",
		"9 Create example.com/v1 Cart a/c +z(new)",
		"10 Create v1 Pod a/p",
	)
}

// TestCycles: one reference of each cycle is added later, that of the smallest object. Dependents
// of the cycle are created with theirs.
func TestCycles(t *testing.T) {
	ring := func(name, owner string) Saved {
		return saved("ConfigMap "+name, "", ownerOf(refOf("ConfigMap "+owner)))
	}
	want(t, clusterOf(), []Saved{ring("a", "d"), ring("b", "c"), ring("c", "d"), ring("d", "b"), ring("x", "y"), ring("y", "x")},
		"1 Create v1 ConfigMap shop/b",
		"2 Create v1 ConfigMap shop/d +b(new)",
		"3 Create v1 ConfigMap shop/a +d(new)",
		"4 Create v1 ConfigMap shop/c +d(new)",
		"5 Restore v1 ConfigMap shop/b +c(new)",
		"6 Create v1 ConfigMap shop/x",
		"7 Create v1 ConfigMap shop/y +x(new)",
		"8 Restore v1 ConfigMap shop/x +y(new)",
	)
	// Requirements of the server are never postponed, but the reference of the ServiceAccount is.
	pod := saved("Pod p", `{"spec":{"serviceAccountName":"sa"}}`, ownerOf(refOf("ServiceAccount sa")))
	want(t, clusterOf(), []Saved{pod, saved("ServiceAccount sa", "", ownerOf(refOf("Pod p")))},
		"1 Create v1 ServiceAccount shop/sa",
		"2 Create v1 Pod shop/p +sa(new)",
		"3 Restore v1 ServiceAccount shop/sa +p(new)",
	)
}

// TestByItself: finished work is not run again, and objects that controllers create are left to
// them.
func TestByItself(t *testing.T) {
	rs, job, out := refOf("ReplicaSet.apps rs"), refOf("Job.batch job"), refOf("ReplicaSet.apps out")
	c := clusterOf(live("ReplicaSet.apps out"))
	want(t, c, []Saved{
		saved("ReplicaSet.apps rs", ""), saved("Pod of-rs", "", controllerOf(rs)), saved("Pod owned", "", ownerOf(rs)),
		saved("Pod of-out", "", controllerOf(out)), saved("Pod of-none", "", controllerOf(refOf("ReplicaSet.apps none"))),
		saved("Job.batch job", `{"status":{"conditions":[{"type":"Complete","status":"True"}]}}`),
		saved("Job.batch failed", `{"status":{"conditions":[{"type":"Failed","status":"True"}]}}`),
		saved("Job.batch runs", `{"status":{"conditions":[{"type":"Complete","status":"False"}]}}`),
		saved("Pod done", `{"status":{"phase":"Succeeded"}}`, controllerOf(job)), saved("Pod runs", `{"status":{"phase":"Running"}}`),
		saved("Pod mirror", `{"metadata":{"annotations":{"kubernetes.io/config.mirror":"x"}}}`),
		saved("EndpointSlice.discovery.k8s.io own", "", controllerOf(refOf("Service lone"))), saved("Service lone", ""), saved("Service s", `{"spec":{"selector":{"a":"b"}}}`),
		saved("EndpointSlice.discovery.k8s.io es", `{"metadata":{"labels":{"endpointslice.kubernetes.io/managed-by":"endpointslice-controller.k8s.io"}}}`),
		saved("Service own", ""), saved("Endpoints s", ""), saved("Endpoints own", ""),
		saved("IPAddress.networking.k8s.io ip", `{"metadata":{"labels":{"ipaddress.kubernetes.io/managed-by":"ipallocator.k8s.io"}}}`),
		saved("IPAddress.networking.k8s.io own", ""), saved("Event e", ""), saved("Event.events.k8s.io e", ""), saved("Event.example.com e", ""),
		saved("Lease.coordination.k8s.io l", ""), saved("ConfigMap kube-root-ca.crt", ""),
		saved("ConfigMap lock", `{"metadata":{"annotations":{"control-plane.alpha.kubernetes.io/leader":"{}"}}}`),
		saved("APIService.apiregistration.k8s.io v1.example.com", `{"metadata":{"labels":{"kube-aggregator.kubernetes.io/automanaged":"true"}}}`),
		saved("PersistentVolumeClaim scratch", "", controllerOf(refOf("Pod of-rs"))), saved("PersistentVolumeClaim of-runs", "", controllerOf(refOf("Pod solo"))), saved("Pod solo", ""),
		saved("CertificateSigningRequest.certificates.k8s.io c", `{"status":{"conditions":[{"type":"Approved","status":"True"}]}}`),
	},
		"1 Create networking.k8s.io/v1 IPAddress shop/own",
		"2 Create v1 Endpoints shop/own",
		"3 Create v1 PersistentVolumeClaim shop/of-runs",
		"4 Create v1 Service shop/lone",
		"5 Create discovery.k8s.io/v1 EndpointSlice shop/own +lone(new)",
		"6 Create v1 Service shop/own",
		"7 Create v1 Service shop/s",
		"8 Create apps/v1 ReplicaSet shop/rs",
		"9 Create batch/v1 Job shop/runs -status !StartsOver",
		"10 Create example.com/v1 Event shop/e",
		"11 Create v1 Pod shop/of-none OwnerGone:none",
		"12 Create v1 Pod shop/owned +rs(new)",
		"13 Create v1 Pod shop/runs -status !StatusComputed",
		"14 Create v1 Pod shop/solo",
		"15 Restore v1 PersistentVolumeClaim shop/of-runs +solo(new)",
		"ControllerMakesIt apiregistration.k8s.io/v1 APIService shop/v1.example.com ",
		"WouldRunAgain batch/v1 Job shop/failed ",
		"WouldRunAgain batch/v1 Job shop/job ",
		"WouldRunAgain certificates.k8s.io/v1 CertificateSigningRequest shop/c ",
		"HolderMakesIt coordination.k8s.io/v1 Lease shop/l ",
		"ControllerMakesIt discovery.k8s.io/v1 EndpointSlice shop/es ",
		"PastEvent events.k8s.io/v1 Event shop/e ",
		"ControllerMakesIt networking.k8s.io/v1 IPAddress shop/ip ",
		"ControllerMakesIt v1 ConfigMap shop/kube-root-ca.crt ",
		"HolderMakesIt v1 ConfigMap shop/lock ",
		"ControllerMakesIt v1 Endpoints shop/s ",
		"PastEvent v1 Event shop/e ",
		"ControllerMakesIt v1 PersistentVolumeClaim shop/scratch ",
		"WouldRunAgain v1 Pod shop/done ",
		"ControllerMakesIt v1 Pod shop/mirror ",
		"ControllerMakesIt v1 Pod shop/of-out ",
		"ControllerMakesIt v1 Pod shop/of-rs ",
	)
}

// TestBeforeItsOwner: a dependent that the owner would create with other content is created before
// it, and gets the reference afterwards. An operator may create any dependent of its resource.
func TestBeforeItsOwner(t *testing.T) {
	set, cart := refOf("StatefulSet.apps db"), refOf("Cart.example.com c")
	want(t, clusterOf(), []Saved{
		saved("StatefulSet.apps db", ""), saved("PersistentVolumeClaim data-db-0", "", controllerOf(set)), saved("ConfigMap of-db", "", controllerOf(set)),
		saved("Cart.example.com c", ""), saved("Secret of-c", "", controllerOf(cart)), saved("Service of-c", "", controllerOf(cart)),
		saved("PersistentVolumeClaim of-both", "", ownerOf(set), controllerOf(cart)), saved("PersistentVolumeClaim none", ""),
	},
		"1 Create v1 PersistentVolumeClaim shop/data-db-0",
		"2 Create v1 PersistentVolumeClaim shop/none",
		"3 Create v1 PersistentVolumeClaim shop/of-both",
		"4 Create v1 Secret shop/of-c",
		"5 Create v1 Service shop/of-c",
		"6 Create apps/v1 StatefulSet shop/db",
		"7 Restore v1 PersistentVolumeClaim shop/data-db-0 +db(new)",
		"8 Create v1 ConfigMap shop/of-db +db(new)",
		"9 Create example.com/v1 Cart shop/c",
		"10 Restore v1 PersistentVolumeClaim shop/of-both +db(new) +c(new)",
		"11 Restore v1 Secret shop/of-c +c(new)",
		"12 Restore v1 Service shop/of-c +c(new)",
	)
}

// TestKindIsGone: without its CRD, a kind and all its instances are gone. If the CRD is not in the
// backup, their state is unknown.
func TestKindIsGone(t *testing.T) {
	c := clusterOf()
	unserved := func(r object.Ref) (*object.Object, error) {
		if r.Group() == "example.com" {
			return nil, fmt.Errorf("looking: %w", &object.UnknownKindError{APIVersion: r.APIVersion, Kind: r.Kind})
		}
		return c.lookup(r)
	}
	const lamps = `{"spec":{"group":"example.com","names":{"kind":"Lamp"},"versions":[{"name":"v2"},{"name":"v1"}]}}`
	const carts = `{"spec":{"group":"example.com","names":{"kind":"Cart"},"versions":[{"name":"v1","subresources":{"status":{}}}]}}`
	const status = `{"status":{"n":1}}`
	list := []Saved{
		saved("CustomResourceDefinition.apiextensions.k8s.io carts.example.com", carts), saved("CustomResourceDefinition.apiextensions.k8s.io lamps.example.com", lamps),
		saved("Cart.example.com c", status, ownerOf(refOf("Lamp.example.com l"))), saved("Lamp.example.com l", status), saved("Wheel.example.com w", status),
	}
	if diff := cmp.Diff([]string{
		"1 Create apiextensions.k8s.io/v1 CustomResourceDefinition carts.example.com",
		"2 Create apiextensions.k8s.io/v1 CustomResourceDefinition lamps.example.com",
		"3 Create example.com/v1 Cart shop/c",
		"4 Status example.com/v1 Cart shop/c",
		"5 Create example.com/v1 Lamp shop/l",
		"6 Restore example.com/v1 Cart shop/c +l(new)",
		"CannotTell example.com/v1 Wheel shop/w ",
	}, lines(Make(list, unserved))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	body, _, err := Make(list, unserved).Steps[4].Body(&Mapping{})
	if err != nil || !strings.Contains(string(body), `"status":{"n":1}`) {
		t.Errorf("the status that is a part of the object is not sent: %s %v", body, err)
	}
}

// TestStillTerminating: an object whose deletion has not ended is not restored, unless its controller
// makes it again, or it had finished.
func TestStillTerminating(t *testing.T) {
	set := controllerOf(refOf("ReplicaSet.apps web-1"))
	done := saved("Job.batch backup", `{"status":{"conditions":[{"type":"Complete","status":"True"}]}}`)
	c := clusterOf(going("ConfigMap a"), going("Pod web-1-x"), going("Job.batch backup"))
	plan := Resume([]Saved{saved("ConfigMap a", ""), saved("ReplicaSet.apps web-1", ""), saved("Pod web-1-x", "", set), done}, Cluster{Lookup: c.lookup}, nil)
	want := map[string]reason.Code{"a": reason.StillTerminating, "web-1-x": reason.ControllerMakesIt, "backup": reason.WouldRunAgain}
	got := map[string]reason.Code{}
	for _, s := range plan.Skipped {
		got[s.Object.Name] = s.Reason
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRefersToTheNewOwner: an object that refers to the recreated owner has lost nothing.
func TestRefersToTheNewOwner(t *testing.T) {
	owner := another("Deployment.apps web")
	set := live("ReplicaSet.apps web-1", controllerOf(owner.Ref))
	c := clusterOf(owner, set)
	plan := Resume([]Saved{saved("Deployment.apps web", ""), saved("ReplicaSet.apps web-1", "", controllerOf(refOf("Deployment.apps web")))},
		Cluster{Lookup: c.lookup, AcceptRecreatedOwners: true}, nil)
	for _, s := range plan.Skipped {
		if s.Object.Kind == "ReplicaSet" && (s.Reason != reason.StillAlive || len(s.Dropped) > 0) {
			t.Errorf("%+v", s)
		}
	}
	if len(plan.Steps) > 0 {
		t.Errorf("%+v", plan.Steps)
	}
}

// TestObjects: the volume that a claim names is looked up with it.
func TestObjects(t *testing.T) {
	got := Objects([]Saved{saved("PersistentVolumeClaim data", `{"spec":{"volumeName":"disk"}}`), saved("PersistentVolumeClaim pending", ""), {Object: refOf("PersistentVolumeClaim unsaved")}})
	want := []object.Ref{refOf("PersistentVolumeClaim data"), object.PV.Ref("", "disk"), refOf("PersistentVolumeClaim pending"), refOf("PersistentVolumeClaim unsaved")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
