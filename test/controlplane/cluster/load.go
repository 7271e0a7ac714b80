package cluster

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// An application of the load is a deployment with its replica set and pods, a service with its
// slice, config maps and secrets: of one to four kilobytes each.
const (
	PerApplication = 2 + PodsOfOne + 2 + configsOfOne + secretsOfOne

	PodsOfOne    = 6
	configsOfOne = 6
	secretsOfOne = 5
)

// Load fills a cluster with objects that are put into storage as the API server would have.
type Load struct {
	Cluster *Cluster
	// Objects is how many there are.
	Objects int
	pending []Stored
}

// LoadNamespace is the name of a namespace of [Load.Fill].
func LoadNamespace(i int) string { return fmt.Sprintf("load-%02d", i) }

// Fill makes namespaces of some 2,000 objects until there are so many.
func (l *Load) Fill(objects int) error {
	for i := 0; l.Objects < objects; i++ {
		if err := l.Namespace(LoadNamespace(i), min(2000, objects-l.Objects)/PerApplication+1); err != nil {
			return err
		}
	}
	return nil
}

// Namespace makes a namespace with so many applications.
func (l *Load) Namespace(name string, applications int) error {
	l.add("namespaces/"+name, "v1", "Namespace", "", name, "", `"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}`)
	for i := range applications {
		l.application(name, fmt.Sprintf("app-%03d", i))
		if err := l.flush(500); err != nil {
			return err
		}
	}
	return l.flush(1)
}

func (l *Load) application(ns, app string) {
	const template = `"template":{"metadata":{"labels":{"app":"%[1]s"}},"spec":{"containers":[%[2]s]}}`
	container := fmt.Sprintf(`{"name":"web","image":"registry.example.com/shop/web:1.2.3","env":[%s],"resources":{"limits":{"cpu":"1","memory":"1Gi"}}}`, pairs(12))
	spec := fmt.Sprintf(`"spec":{"replicas":%[3]d,"selector":{"matchLabels":{"app":"%[1]s"}},`+template+`}`, app, container, PodsOfOne)
	deployment := l.add("deployments/"+ns+"/"+app, "apps/v1", "Deployment", ns, app, "", spec)
	set := l.add("replicasets/"+ns+"/"+app+"-1", "apps/v1", "ReplicaSet", ns, app+"-1", deployment, spec)
	for i := range PodsOfOne {
		name := fmt.Sprintf("%s-1-%d", app, i)
		l.add("pods/"+ns+"/"+name, "v1", "Pod", ns, name, set,
			`"spec":{"terminationGracePeriodSeconds":0,"containers":[`+container+`]},"status":{"phase":"Pending","message":"`+strings.Repeat("s", 900)+`"}`)
	}
	service := l.add("services/specs/"+ns+"/"+app, "v1", "Service", ns, app, "", `"spec":{"clusterIP":"None","ports":[{"port":80}],"selector":{"app":"`+app+`"}}`)
	l.add("endpointslices/"+ns+"/"+app+"-s", "discovery.k8s.io/v1", "EndpointSlice", ns, app+"-s", service, `"addressType":"IPv4","endpoints":[],"ports":[{"port":80}]`)
	for i := range configsOfOne {
		name := fmt.Sprintf("%s-config-%d", app, i)
		l.add("configmaps/"+ns+"/"+name, "v1", "ConfigMap", ns, name, "", `"data":{"settings.yaml":"`+strings.Repeat("d", 500+500*i)+`"}`)
	}
	for i := range secretsOfOne {
		name := fmt.Sprintf("%s-secret-%d", app, i)
		l.add("secrets/"+ns+"/"+name, "v1", "Secret", ns, name, "", `"type":"Opaque","data":{"password":"`+strings.Repeat("c2Vj", 100+200*i)+`"}`)
	}
}

// pairs are environment variables.
func pairs(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"name":"SETTING_%d","value":%q}`, i, strings.Repeat("v", 40))
	}
	return strings.Join(list, ",")
}

// add makes an object and returns the reference to it.
func (l *Load) add(key, apiVersion, kind, ns, name, owner, rest string) string {
	l.Objects++
	sum := sha256.Sum256([]byte(key)) // as uids are: what counts up could be compressed
	uid := fmt.Sprintf("%x-%x-4%x-8%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	meta := fmt.Sprintf(`"name":%q,"uid":%q,"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":%q,"app.kubernetes.io/managed-by":"Helm","kubernetes.io/metadata.name":%[1]q},`+
		`"annotations":{"example.com/digest":%[4]q},"managedFields":[{"manager":"helm","operation":"Update","apiVersion":%[5]q,"time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:%[6]s":{}}}}]`,
		name, uid, strings.Join(strings.Split(name, "-")[:min(2, strings.Count(name, "-")+1)], "-"), strings.Repeat("d", 64), apiVersion, strings.Repeat("k", 500))
	if ns != "" {
		meta += fmt.Sprintf(`,"namespace":%q`, ns)
	}
	if owner != "" {
		meta += `,"ownerReferences":[` + owner + `]`
	}
	l.pending = append(l.pending, Stored{
		Key: key, Manifest: fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{%s},%s}`, apiVersion, kind, meta, rest),
	})
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q,"controller":true,"blockOwnerDeletion":true}`, apiVersion, kind, name, uid)
}

// flush stores what is pending, if it is at least so much.
func (l *Load) flush(least int) error {
	if len(l.pending) < least {
		return nil
	}
	err := l.Cluster.Store(l.pending)
	l.pending = l.pending[:0]
	return err
}
