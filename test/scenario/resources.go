package scenario

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// served is the table of resources that every scenario starts with:
// apiVersion, kind, plural, and what is special. Versions stand in their order
// of preference.
const served = `
v1 ConfigMap configmaps
v1 Endpoints endpoints
v1 Event events
v1 Namespace namespaces cluster nocollection
v1 Node nodes cluster
v1 PersistentVolume persistentvolumes cluster
v1 PersistentVolumeClaim persistentvolumeclaims
v1 Pod pods
v1 PodTemplate podtemplates
v1 ReplicationController replicationcontrollers
v1 ResourceQuota resourcequotas
v1 Secret secrets
v1 Service services
v1 ServiceAccount serviceaccounts
v1 Binding bindings createonly
apps/v1 ControllerRevision controllerrevisions
apps/v1 DaemonSet daemonsets
apps/v1 Deployment deployments
apps/v1 ReplicaSet replicasets
apps/v1 StatefulSet statefulsets
batch/v1 CronJob cronjobs
batch/v1 Job jobs
autoscaling/v2 HorizontalPodAutoscaler horizontalpodautoscalers
autoscaling/v1 HorizontalPodAutoscaler horizontalpodautoscalers
rbac.authorization.k8s.io/v1 ClusterRole clusterroles cluster
rbac.authorization.k8s.io/v1 ClusterRoleBinding clusterrolebindings cluster
rbac.authorization.k8s.io/v1 Role roles
rbac.authorization.k8s.io/v1 RoleBinding rolebindings
rbac.authorization.k8s.io/v1beta1 ClusterRole clusterroles cluster
rbac.authorization.k8s.io/v1beta1 Role roles
coordination.k8s.io/v1 Lease leases
discovery.k8s.io/v1 EndpointSlice endpointslices
events.k8s.io/v1 Event events
networking.k8s.io/v1 IPAddress ipaddresses cluster
networking.k8s.io/v1 ServiceCIDR servicecidrs cluster
policy/v1 PodDisruptionBudget poddisruptionbudgets
resource.k8s.io/v1 ResourceClaim resourceclaims
scheduling.k8s.io/v1 PriorityClass priorityclasses cluster
storage.k8s.io/v1 CSINode csinodes cluster
apiextensions.k8s.io/v1 CustomResourceDefinition customresourcedefinitions cluster
apiregistration.k8s.io/v1 APIService apiservices cluster
example.com/v1 Widget widgets custom
example.com/v1 Gadget gadgets custom cluster
argoproj.io/v1alpha1 Application applications custom
kustomize.toolkit.fluxcd.io/v1 Kustomization kustomizations custom
snapshot.storage.k8s.io/v1 VolumeSnapshot volumesnapshots custom
snapshot.storage.k8s.io/v1 VolumeSnapshotContent volumesnapshotcontents custom cluster
`

// Resources returns the resources that every scenario starts with.
func Resources() *object.Resources {
	rs := &object.Resources{}
	for line := range strings.Lines(served) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		r, err := parseResource(strings.Fields(line))
		if err != nil {
			panic("scenario: the table of served resources: " + err.Error())
		}
		rs.Add(r)
	}
	return rs
}

// parseResource reads apiVersion, kind, plural and what is special about them.
func parseResource(words []string) (object.Resource, error) {
	if len(words) < 3 {
		return object.Resource{}, fmt.Errorf("resource %q: want apiVersion, kind and plural", strings.Join(words, ":"))
	}
	group, version := object.SplitAPIVersion(words[0])
	r := object.Resource{Group: group, Version: version, Kind: words[1], Name: words[2], Namespaced: true, Verbs: object.AllVerbs}
	for _, word := range words[3:] {
		switch word {
		case "cluster":
			r.Namespaced = false
		case "custom":
			r.Custom = true
		case "nocollection":
			r.Verbs &^= object.DeleteCollection
		case "nowatch":
			r.Verbs &^= object.Watch
		case "nodelete":
			r.Verbs &^= object.Delete | object.DeleteCollection
		case "terminating": // what discovery says of instances whose definition is being deleted
			r.Verbs &^= object.Create | object.PatchVerb | object.Update
		case "createonly":
			r.Verbs = object.Create
		case "guessed":
			r.Guessed = true
		default:
			return object.Resource{}, fmt.Errorf("resource %s: there is no property %q", words[2], word)
		}
	}
	return r, nil
}
