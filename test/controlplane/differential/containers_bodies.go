package differential

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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
