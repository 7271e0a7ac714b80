package differential

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// scenarios are the files of all packages.
const scenarios = "../../../internal/*/testdata/scenarios/*.txt"

// varieties are what worlds on a real server may contain. No two objects of a
// cluster have one UID, and Events are no kind of a drawn world here.
const varieties = scenario.Wild &^ (scenario.RepeatedUIDs | scenario.Unwatched)

// story is a world and what users do in it, phase by phase: the collector comes
// to rest between two phases.
type story struct {
	seed    uint64
	objects []*object.Object
	phases  [][]scenario.Act
}

// draw makes the story of a seed.
func draw(seed uint64) story {
	type drawn struct {
		world  scenario.World
		phases [][]scenario.Act
	}
	d := rapid.Custom(func(t *rapid.T) drawn {
		w := scenario.DrawWorld(t, varieties)
		acts := scenario.DrawDeletes(t, w, scenario.Policies)
		phases := [][]scenario.Act{acts}
		if rapid.Bool().Draw(t, "meddle") {
			phases = append(phases, []scenario.Act{scenario.DrawMeddling(t, w, acts)})
		}
		return drawn{w, phases}
	}).Example(int(seed))
	s := story{seed: seed, objects: d.world.Objects, phases: d.phases}
	random := rand.New(rand.NewPCG(seed, 0))
	s.vary(d.world.Variety, random)
	s.aim(random)
	return s
}

// aim has most deletes hit an object that others depend on or that has finalizers.
func (s *story) aim(random *rand.Rand) {
	var owners, held []object.Ref
	for _, o := range s.objects {
		if slices.ContainsFunc(s.objects, func(d *object.Object) bool { return d.UID != o.UID && d.RefersTo(o.UID) }) {
			owners = append(owners, o.Ref)
		}
		if len(o.Finalizers()) > 0 {
			held = append(held, o.Ref)
		}
	}
	for _, acts := range s.phases[:1] {
		for i := range acts {
			aims := owners
			switch random.IntN(4) {
			case 0:
				continue
			case 1:
				aims = held
			}
			if len(aims) > 0 {
				acts[i].Ref = aims[random.IntN(len(aims))]
			}
		}
	}
}

// vary puts in what the drawn worlds do not have: owners named through a served
// version that is not the preferred one, both finalizers of the collector, and pods
// on nodes.
func (s *story) vary(v scenario.Variety, random *rand.Rand) {
	for _, o := range s.objects {
		if o.Kind == "Pod" && random.IntN(2) == 0 {
			o.Edit().Facts = &object.PodFacts{
				NodeName: "node", TerminationGracePeriod: new(int64(random.IntN(3) * 10)),
				Phase: []string{"Running", "Running", "Succeeded"}[random.IntN(3)],
			}
			if o.BeingDeleted() && random.IntN(2) == 0 {
				o.Edit().GracePeriod = new(int64(30))
			}
		}
		if v.Has(scenario.Aliases) {
			o.Owners = slices.Clone(o.Owners)
			for i := range o.Owners {
				if o.Owners[i].APIVersion == "example.com/v1" && random.IntN(4) == 0 {
					o.Owners[i].APIVersion = "example.com/v1alpha1"
				}
			}
		}
		if o.BeingDeleted() && v.Has(scenario.CollectorFinalizers) && random.IntN(6) == 0 {
			both := []string{object.Orphan, object.Foreground}
			if random.IntN(2) == 0 {
				slices.Reverse(both)
			}
			o.Edit().Finalizers = append(both, slices.DeleteFunc(slices.Clone(o.Finalizers()),
				func(f string) bool { return f == object.Orphan || f == object.Foreground })...)
		}
	}
}

// place is where a world stands in the cluster: a prefix of all its names,
// namespaces and UIDs, so that many worlds share one cluster and do not meet.
type place string

func placeOf(slot int) place { return place(fmt.Sprintf("w%d-", slot)) }

func (p place) ref(r object.Ref) object.Ref {
	r.Name, r.UID = string(p)+r.Name, types.UID(string(p)+string(r.UID))
	if r.Namespace != "" {
		r.Namespace = string(p) + r.Namespace
	}
	return r
}

func (p place) put(o *object.Object) *object.Object {
	c := o.Clone()
	c.Ref = p.ref(o.Ref)
	c.Owners = slices.Clone(o.Owners)
	for i := range c.Owners {
		c.Owners[i].Name = string(p) + c.Owners[i].Name
		c.Owners[i].UID = types.UID(p) + c.Owners[i].UID
	}
	return c
}

// take is the reverse of put. The object may be changed.
func (p place) take(o *object.Object) *object.Object {
	o.Name, o.Namespace, o.UID = p.cut(o.Name), p.cut(o.Namespace), types.UID(p.cut(string(o.UID)))
	for i := range o.Owners {
		o.Owners[i].Name = p.cut(o.Owners[i].Name)
		o.Owners[i].UID = types.UID(p.cut(string(o.Owners[i].UID)))
	}
	return o
}

// cut is a name, namespace or UID as it was drawn.
func (p place) cut(s string) string { return strings.TrimPrefix(s, string(p)) }

// sortIn puts an object into the world that it is of, under the name that it was
// drawn with.
func sortIn(worlds [][]*object.Object, o *object.Object) {
	slot, ok := slotOf(o)
	if !ok || slot >= len(worlds) {
		return
	}
	c := o.Clone()
	c.Owners = slices.Clone(o.Owners)
	worlds[slot] = append(worlds[slot], placeOf(slot).take(c))
}

// slotOf finds out which world an object is of; false for what is none of ours.
func slotOf(o *object.Object) (int, bool) {
	slot, ok := slotIn(o.Name)
	return slot, ok && strings.HasPrefix(string(o.UID), string(placeOf(slot)))
}

// slotIn finds out of which world an object of a name is.
func slotIn(name string) (int, bool) {
	slot, _, ok := strings.Cut(name, "-")
	digits, w := strings.CutPrefix(slot, "w")
	n, err := strconv.Atoi(digits)
	return n, ok && w && err == nil && n >= 0
}

// deletedAt is when objects of a drawn world that are being deleted were deleted.
const deletedAt int64 = 1767225600

// text is a world as the input of a scenario, without what differs from run to
// run or is no part of a deletion: resourceVersions, times, labels and facts. Two worlds in the same state have
// the same text.
func text(objects []*object.Object) string {
	sorted := slices.Clone(objects)
	slices.SortFunc(sorted, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
	names := scenario.Names{}
	for _, o := range sorted {
		names.Learn(o)
	}
	var b strings.Builder
	for _, o := range sorted {
		c := o.Clone()
		c.Generation = 0
		c.Labels = ""
		c.Lifecycle = &object.Lifecycle{Finalizers: o.Finalizers()}
		if o.BeingDeleted() {
			c.Lifecycle.DeletionTimestamp = scenario.Start
		}
		line, _, _ := strings.Cut(scenario.Format(c, names), " rv=")
		b.WriteString(line + "\n")
	}
	return b.String()
}

// kind is one kind of a drawn world on the real server.
type kind struct {
	apiVersion, name string
	// path is where the API server serves it, key where it stores it.
	path, plural, key string
	namespaced        bool
	// body are the fields beside metadata that make an object valid.
	body string
}

const template = `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`

const jobTemplate = `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`

// tolerations are what admission gives every pod.
const tolerations = `"tolerations":[` +
	`{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},` +
	`{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]`

var kinds = []kind{
	{"v1", "ConfigMap", "/api/v1", "configmaps", "configmaps", true, ""},
	{"v1", "Secret", "/api/v1", "secrets", "secrets", true, `"type":"Opaque"`},
	{"v1", "Pod", "/api/v1", "pods", "pods", true,
		`"spec":{"containers":[{"name":"c","image":"i"}],` + tolerations + `}`},
	{"apps/v1", "ReplicaSet", "/apis/apps/v1", "replicasets", "replicasets", true,
		`"spec":{"replicas":0,"selector":{"matchLabels":{"a":"b"}},` + template + `}`},
	{"apps/v1", "Deployment", "/apis/apps/v1", "deployments", "deployments", true,
		`"spec":{"replicas":0,"selector":{"matchLabels":{"a":"b"}},` + template + `}`},
	{"v1", "ReplicationController", "/api/v1", "replicationcontrollers", "controllers", true,
		`"spec":{"replicas":0,"selector":{"a":"b"},` + template + `}`},
	{"batch/v1", "Job", "/apis/batch/v1", "jobs", "jobs", true,
		`"spec":{"manualSelector":true,"selector":{"matchLabels":{"a":"b"}},` + jobTemplate + `}`},
	{"batch/v1", "CronJob", "/apis/batch/v1", "cronjobs", "cronjobs", true,
		`"spec":{"schedule":"0 0 1 1 *","jobTemplate":{"spec":{` + jobTemplate + `}}}`},
	{"v1", "ServiceAccount", "/api/v1", "serviceaccounts", "serviceaccounts", true, ""},
	{"v1", "Endpoints", "/api/v1", "endpoints", "services/endpoints", true, ""},
	{"v1", "PersistentVolume", "/api/v1", "persistentvolumes", "persistentvolumes", false,
		`"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"}}`},
	{"v1", "Node", "/api/v1", "nodes", "minions", false, ""},
	{"rbac.authorization.k8s.io/v1", "Role", "/apis/rbac.authorization.k8s.io/v1", "roles", "roles", true, `"rules":[]`},
	{"rbac.authorization.k8s.io/v1", "ClusterRole", "/apis/rbac.authorization.k8s.io/v1", "clusterroles", "clusterroles", false, `"rules":[]`},
	{"example.com/v1", "Widget", "/apis/example.com/v1", "widgets", "example.com/widgets", true, ""},
	{"example.com/v1", "Gadget", "/apis/example.com/v1", "gadgets", "example.com/gadgets", false, ""},
}

func kindOf(r object.Ref) (kind, error) {
	for _, k := range kinds {
		if k.apiVersion == r.APIVersion && k.name == r.Kind {
			return k, nil
		}
	}
	return kind{}, fmt.Errorf("%s: no real server is asked for objects of this kind", r)
}

// pathOf is the address of an object.
func (k kind) pathOf(r object.Ref) string {
	if k.namespaced {
		return k.path + "/namespaces/" + r.Namespace + "/" + k.plural + "/" + r.Name
	}
	return k.path + "/" + k.plural + "/" + r.Name
}

// definition is a CustomResourceDefinition with a version that is served and
// preferred, and one that is only served.
func definition(plural, kind, scope string) string {
	const version = `{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object"}}}`
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%s.example.com"},
"spec":{"group":"example.com","scope":%q,"names":{"plural":%q,"singular":%q,"kind":%q,"listKind":"%sList"},"versions":[%s,%s]}}`,
		plural, scope, plural, strings.ToLower(kind), kind, kind,
		fmt.Sprintf(version, "v1", true), fmt.Sprintf(version, "v1alpha1", false))
}

// podBody is the body of a pod of which something is known.
func podBody(p *object.PodFacts) string {
	body := `"spec":{"containers":[{"name":"c","image":"i"}],` + tolerations
	if p.NodeName != "" {
		body += fmt.Sprintf(`,"nodeName":%q`, p.NodeName)
	}
	if p.TerminationGracePeriod != nil {
		body += fmt.Sprintf(`,"terminationGracePeriodSeconds":%d`, *p.TerminationGracePeriod)
	}
	return body + fmt.Sprintf(`},"status":{"phase":%q}`, p.Phase)
}

type ownerManifest struct {
	APIVersion         string `json:"apiVersion"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	UID                string `json:"uid"`
	Controller         *bool  `json:"controller,omitempty"`
	BlockOwnerDeletion *bool  `json:"blockOwnerDeletion,omitempty"`
}

type metadata struct {
	Name                       string            `json:"name"`
	Namespace                  string            `json:"namespace,omitempty"`
	UID                        string            `json:"uid"`
	ResourceVersion            string            `json:"resourceVersion,omitempty"`
	Generation                 int               `json:"generation,omitempty"`
	CreationTimestamp          string            `json:"creationTimestamp"`
	DeletionTimestamp          string            `json:"deletionTimestamp,omitempty"`
	DeletionGracePeriodSeconds *int64            `json:"deletionGracePeriodSeconds,omitempty"`
	Finalizers                 []string          `json:"finalizers,omitempty"`
	OwnerReferences            []ownerManifest   `json:"ownerReferences,omitempty"`
	Labels                     map[string]string `json:"labels,omitempty"`
	Annotations                map[string]string `json:"annotations,omitempty"`
}

// stored is an object in the form in which it goes into storage.
func stored(o *object.Object) (cluster.Stored, error) {
	k, err := kindOf(o.Ref)
	if err != nil {
		return cluster.Stored{}, err
	}
	m := metadata{
		Name: o.Name, Namespace: o.Namespace, UID: string(o.UID), Finalizers: o.Finalizers(),
		CreationTimestamp: "2026-01-01T00:00:00Z", DeletionGracePeriodSeconds: o.GracePeriod(), OwnerReferences: ownersOf(o),
	}
	if o.BeingDeleted() {
		m.DeletionTimestamp = time.Unix(deletedAt, 0).UTC().Format(time.RFC3339)
	}
	switch k.name {
	case "Widget", "Gadget", "ReplicaSet", "Deployment", "ReplicationController", "Pod", "Job", "CronJob":
		m.Generation = 1
	}
	meta, err := json.Marshal(m)
	if err != nil {
		return cluster.Stored{}, err
	}
	body := k.body
	if p := o.Pod(); p != nil {
		body = podBody(p)
	}
	if body != "" {
		body = "," + body
	}
	text := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":%s%s}`, k.apiVersion, k.name, meta, body)
	return cluster.Stored{Key: k.key + "/" + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"), Manifest: []byte(text)}, nil
}

func ownersOf(o *object.Object) []ownerManifest {
	var owners []ownerManifest
	for _, r := range o.Owners {
		owners = append(owners, ownerManifest{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: string(r.UID),
			Controller: r.Controller.Bool(), BlockOwnerDeletion: r.BlockOwnerDeletion.Bool(),
		})
	}
	return owners
}
