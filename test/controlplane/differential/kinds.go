package differential

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

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
