package replay

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

const podTemplate = `"template":{"metadata":{"labels":{"from":"template"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`

const jobTemplate = `"template":{"metadata":{"labels":{"from":"template"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`

// tolerations are what admission gives every pod: in storage they are there.
const tolerations = `"tolerations":[` +
	`{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},` +
	`{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]`

// bodies are the fields beside metadata that make an object of a kind valid. A
// kind that is missing needs none.
var bodies = map[string]string{
	"Secret":                  `"type":"Opaque"`,
	"Deployment":              `"spec":{"replicas":0,"selector":{"matchLabels":{"from":"template"}},` + podTemplate + `}`,
	"ReplicationController":   `"spec":{"replicas":0,"selector":{"from":"template"},` + podTemplate + `}`,
	"Job":                     `"spec":{"manualSelector":true,"selector":{"matchLabels":{"from":"template"}},` + jobTemplate + `}`,
	"CronJob":                 `"spec":{"schedule":"0 0 1 1 *","jobTemplate":{"spec":{` + jobTemplate + `}}}`,
	"HorizontalPodAutoscaler": `"spec":{"maxReplicas":1,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"x"}}`,
	"PersistentVolumeClaim":   `"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}`,
	"ClusterRole":             `"rules":[]`,
	"PriorityClass":           `"value":1`,
	"ReplicaSet":              `"spec":{"replicas":0,"selector":{"matchLabels":{"from":"template"}},` + podTemplate + `}`,
	"DaemonSet":               `"spec":{"selector":{"matchLabels":{"from":"template"}},` + podTemplate + `}`,
	"StatefulSet":             `"spec":{"replicas":0,"serviceName":"s","selector":{"matchLabels":{"from":"template"}},` + podTemplate + `}`,
	"Service":                 `"spec":{"clusterIP":"None","clusterIPs":["None"],"type":"ClusterIP"}`,
	"Role":                    `"rules":[]`,
	"EndpointSlice":           `"addressType":"IPv4","endpoints":[]`,
	"ControllerRevision":      `"revision":1`,
}

// bodyOf are the fields beside metadata, facts included.
func bodyOf(o *object.Object) string {
	switch o.Kind {
	case "Pod":
		return podBody(o.Pod())
	case "Namespace":
		return namespaceBody(o.NamespaceFacts())
	case "CustomResourceDefinition":
		return definitionBody(o)
	case "PersistentVolume":
		return volumeBody(o.Volume())
	case "Secret":
		if o.Token() != nil {
			return fmt.Sprintf(`"type":%q`, object.TokenType)
		}
		return bodies[o.Kind]
	case "Event":
		return fmt.Sprintf(`"involvedObject":{"namespace":%q},"reason":"r"`, o.Namespace)
	default:
		return bodies[o.Kind]
	}
}

// podBody makes a pod of which nothing is known one that runs: that is what it is
// taken for.
func podBody(p *object.PodFacts) string {
	if p == nil {
		p = &object.PodFacts{NodeName: "n1", Phase: "Running"}
	}
	spec := `"containers":[{"name":"c","image":"i"}],` + tolerations
	if p.NodeName != "" {
		spec += fmt.Sprintf(`,"nodeName":%q`, p.NodeName)
	}
	if p.TerminationGracePeriod != nil {
		spec += fmt.Sprintf(`,"terminationGracePeriodSeconds":%d`, *p.TerminationGracePeriod)
	}
	var volumes []string
	for _, c := range p.Claims {
		source := fmt.Sprintf(`"persistentVolumeClaim":{"claimName":%q}`, c.Name)
		name := c.Name
		if c.Ephemeral {
			source = `"ephemeral":{"volumeClaimTemplate":{` + bodies["PersistentVolumeClaim"] + `}}`
			name = c.Name[strings.LastIndex(c.Name, "-")+1:]
		}
		volumes = append(volumes, fmt.Sprintf(`{"name":%q,%s}`, name, source))
	}
	return fmt.Sprintf(`"spec":{%s,"volumes":[%s]},"status":{"phase":%q}`, spec, strings.Join(volumes, ","), p.Phase)
}

func volumeBody(v *object.PVFacts) string {
	claim, phase := "", "Available"
	if v != nil && v.ClaimName != "" {
		claim = fmt.Sprintf(`,"claimRef":{"kind":"PersistentVolumeClaim","namespace":%q,"name":%q,"uid":%q}`, v.ClaimNamespace, v.ClaimName, v.ClaimUID)
	}
	if v != nil && v.Phase != "" {
		phase = v.Phase
	}
	return fmt.Sprintf(`"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"}%s},"status":{"phase":%q}`, claim, phase)
}

func namespaceBody(n *object.NamespaceFacts) string {
	if n == nil {
		n = &object.NamespaceFacts{Phase: "Active", Finalizers: []string{"kubernetes"}}
	}
	finalizers, _ := json.Marshal(append([]string{}, n.Finalizers...)) // strings marshal
	return fmt.Sprintf(`"spec":{"finalizers":%s},"status":{"phase":%q}`, finalizers, n.Phase)
}

// definitionBody is a definition as the API server's own controllers leave it, so
// that they have nothing to add.
func definitionBody(o *object.Object) string {
	plural, group, _ := strings.Cut(o.Name, ".")
	kind, scope := strings.ToUpper(plural[:1])+strings.TrimSuffix(plural[1:], "s"), "Namespaced"
	if plural == "gadgets" {
		scope = "Cluster"
	}
	names := fmt.Sprintf(`{"plural":%q,"singular":%q,"kind":%q,"listKind":"%sList"}`, plural, strings.ToLower(kind), kind, kind)
	var conditions []string
	condition := func(name string) {
		conditions = append(conditions, fmt.Sprintf(`{"type":%q,"status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"r","message":"m"}`, name))
	}
	condition("NamesAccepted")
	condition("Established")
	if d := o.Definition(); d != nil && d.Terminating {
		condition("Terminating")
	}
	return fmt.Sprintf(`"spec":{"group":%q,"scope":%q,"conversion":{"strategy":"None"},"names":%s,"versions":[{"name":"v1","served":true,"storage":true,`+
		`"schema":{"openAPIV3Schema":{"type":"object"}}}]},"status":{"acceptedNames":%s,"conditions":[%s],"storedVersions":["v1"]}`,
		group, scope, names, names, strings.Join(conditions, ","))
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
	UID                        string            `json:"uid,omitempty"`
	ResourceVersion            string            `json:"resourceVersion,omitempty"`
	Generation                 int64             `json:"generation,omitempty"`
	CreationTimestamp          string            `json:"creationTimestamp,omitempty"`
	DeletionTimestamp          string            `json:"deletionTimestamp,omitempty"`
	DeletionGracePeriodSeconds *int64            `json:"deletionGracePeriodSeconds,omitempty"`
	Labels                     map[string]string `json:"labels,omitempty"`
	Annotations                map[string]string `json:"annotations,omitempty"`
	Finalizers                 []string          `json:"finalizers,omitempty"`
	OwnerReferences            []ownerManifest   `json:"ownerReferences,omitempty"`
}

// metadataOf is the metadata of an object as it stands in a manifest; the object
// has the UIDs and times of the real server.
func metadataOf(o *object.Object) metadata {
	m := metadata{
		Name: o.Name, Namespace: o.Namespace, UID: string(o.UID), ResourceVersion: o.ResourceVersion,
		Generation: o.Generation, DeletionGracePeriodSeconds: o.GracePeriod(), Finalizers: o.Finalizers(),
	}
	if o.BeingDeleted() {
		m.DeletionTimestamp = time.Unix(o.DeletionTimestamp(), 0).UTC().Format(time.RFC3339)
	}
	for k, v := range o.Labels.All {
		if m.Labels == nil {
			m.Labels = map[string]string{}
		}
		m.Labels[k] = v
	}
	if t := o.Token(); t != nil {
		m.Annotations = map[string]string{object.AccountNameAnnotation: t.Account}
		if t.AccountUID != "" {
			m.Annotations[object.AccountUIDAnnotation] = string(t.AccountUID)
		}
	}
	for _, r := range o.Owners {
		m.OwnerReferences = append(m.OwnerReferences, ownerManifest{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: string(r.UID),
			Controller: r.Controller.Bool(), BlockOwnerDeletion: r.BlockOwnerDeletion.Bool(),
		})
	}
	return m
}

// manifestOf is the whole object in JSON, on one line.
func manifestOf(o *object.Object, m metadata) ([]byte, error) {
	meta, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	body := bodyOf(o)
	if body != "" {
		body = "," + body
	}
	apiVersion := o.APIVersion
	if o.Kind == "Event" {
		apiVersion = "v1" // both kinds of events are one resource
	}
	return fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":%s%s}`, apiVersion, o.Kind, meta, body), nil
}

// placeOf is where the API server stores objects of a resource.
func placeOf(r object.Resource) string {
	switch {
	case r.Name == "replicationcontrollers":
		return "controllers"
	case r.Name == "nodes":
		return "minions"
	case r.Name == "services":
		return "services/specs"
	case r.Name == "endpoints":
		return "services/endpoints"
	case r.Custom, r.Name == "customresourcedefinitions", r.Name == "apiservices":
		return r.Group + "/" + r.Name
	default:
		return r.Name
	}
}

func keyOf(r object.Resource, ref object.Ref) string {
	return placeOf(r) + "/" + strings.TrimPrefix(ref.Namespace+"/"+ref.Name, "/")
}

// stored is an object in the form in which it goes into storage.
func stored(r object.Resource, o *object.Object) (cluster.Stored, error) {
	m := metadataOf(o)
	m.ResourceVersion, m.CreationTimestamp = "", "2026-01-01T00:00:00Z"
	if o.Kind == "Namespace" {
		if m.Labels == nil {
			m.Labels = map[string]string{}
		}
		m.Labels[nameLabel] = o.Name
	}
	if m.Generation == 0 && generations[o.Kind] {
		m.Generation = 1
	}
	text, err := manifestOf(o, m)
	return cluster.Stored{Key: keyOf(r, o.Ref), Manifest: text}, err
}

// nameLabel is what the server puts on every namespace.
const nameLabel = "kubernetes.io/metadata.name"

// generations are the kinds that have one from their creation on.
var generations = map[string]bool{
	"Pod": true, "Deployment": true, "ReplicationController": true, "Job": true, "CronJob": true,
	"Widget": true, "Gadget": true, "CustomResourceDefinition": true, "ValidatingWebhookConfiguration": true,
	"PriorityClass": true,
}

// unfit are the files that no real control plane can be asked, each with the reason.
var unfit = map[string]string{
	"garbage_collection_off.txt":            "the server runs with garbage collection",
	"s043_collections_refused.txt":          "needs an object that goes between two requests of the server itself",
	"s193_definition_being_deleted.txt":     "the server itself empties a CRD that is being deleted; the controllers' files show it with that",
	"namespace_emptied_in_any_order.txt":    "which of its worlds comes about is random; cell F of the differential meets both",
	"s193_discovered_while_terminating.txt": "the server itself finishes a CRD that has its clean-up finalizer; cell F of the differential shows it",
	"s194_definition_marked.txt":            "the server itself finishes a CRD that has its clean-up finalizer",
	"s064_node_deleted.txt":                 "the pod collector waits 40 s for a node to stay away",
	"s233_bound_volume.txt":                 "needs the binder of volumes, which says that one is released",
	"reclaim_policies.txt":                  "needs the binder of volumes and the drivers behind them; a test that lives through it shows it",
	"volume_claimed_again.txt":              "needs the binder of volumes and a driver",
	"load_balancer_taken_down.txt":          "needs a cloud",
	"s249_mirrored_slices.txt":              "needs the controller that mirrors Endpoints, which makes slices of its own; a test that lives through it shows it",
	"release_endpoints.txt":                 "needs the Endpoints controller; a test that lives through it shows it",
	"service_with_endpoints.txt":            "needs addresses that a server gives itself, and the Endpoints controller",
	"s240_resource_claims.txt":              "needs the ResourceClaim controller and a scheduler; a test that lives through it shows it",
	"s138_orphan_finalizer_by_hand.txt":     "a collector that runs is faster than the hand",
	"s196_definition_never_established.txt": "an instance of a kind that never came into force cannot be read",
	"s210_pods_first.txt":                   "the pod collector says Failed of a pod, at a time of its own",
}

// apart are objects of files that the real server does not get, each with the
// reason.
var apart = map[string]map[string]string{
	"s006_versions_and_defaults.txt": {
		"batch/v1 Job shop/a":          beta,
		"batch/v1beta1 Job shop/a":     beta,
		"batch/v1 CronJob shop/e":      beta,
		"batch/v1beta1 CronJob shop/e": beta,
	},
	"get.txt": {
		"rbac.authorization.k8s.io/v1beta1 ClusterRole admin": beta,
	},
	"s068_negative_grace.txt": {
		"v1 Pod shop/spec": "a server turns a negative period into one second when it reads it from storage",
	},
	"update_keeps.txt": {
		"v1 Namespace m": "a real server knows the spec of every namespace",
	},
}

const beta = "no server of this version serves the beta version"
