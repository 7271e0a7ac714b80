package lost

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// An application of the load is a deployment with its replica set and pods, a service with its
// slice, config maps and secrets: of one to four kilobytes each.
const (
	perApplication = 2 + podsOfOne + 2 + configsOfOne + secretsOfOne

	podsOfOne    = 6
	configsOfOne = 6
	secretsOfOne = 5
)

// load is a cluster full of objects that were put into storage as the API server would have.
type load struct {
	serial  int
	pending []cluster.Stored
}

// namespace makes a namespace with so many applications.
func (l *load) namespace(name string, applications int) error {
	l.add("namespaces/"+name, "v1", "Namespace", "", name, "", `"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}`)
	for i := range applications {
		l.application(name, fmt.Sprintf("app-%03d", i))
		if err := l.flush(500); err != nil {
			return err
		}
	}
	return l.flush(1)
}

func (l *load) application(ns, app string) {
	const template = `"template":{"metadata":{"labels":{"app":"%[1]s"}},"spec":{"containers":[%[2]s]}}`
	container := fmt.Sprintf(`{"name":"web","image":"registry.example.com/shop/web:1.2.3","env":[%s],"resources":{"limits":{"cpu":"1","memory":"1Gi"}}}`, pairs(12))
	spec := fmt.Sprintf(`"spec":{"replicas":%[3]d,"selector":{"matchLabels":{"app":"%[1]s"}},`+template+`}`, app, container, podsOfOne)
	deployment := l.add("deployments/"+ns+"/"+app, "apps/v1", "Deployment", ns, app, "", spec)
	set := l.add("replicasets/"+ns+"/"+app+"-1", "apps/v1", "ReplicaSet", ns, app+"-1", deployment, spec)
	for i := range podsOfOne {
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
func (l *load) add(key, apiVersion, kind, ns, name, owner, rest string) string {
	l.serial++
	uid := fmt.Sprintf("00000000-0000-4000-8000-%012d", l.serial)
	meta := fmt.Sprintf(`"name":%q,"uid":%q,"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":%q,"app.kubernetes.io/managed-by":"Helm","kubernetes.io/metadata.name":%[1]q},`+
		`"annotations":{"example.com/digest":%[4]q},"managedFields":[{"manager":"helm","operation":"Update","apiVersion":%[5]q,"time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:%[6]s":{}}}}]`,
		name, uid, strings.Join(strings.Split(name, "-")[:min(2, strings.Count(name, "-")+1)], "-"), strings.Repeat("d", 64), apiVersion, strings.Repeat("k", 500))
	if ns != "" {
		meta += fmt.Sprintf(`,"namespace":%q`, ns)
	}
	if owner != "" {
		meta += `,"ownerReferences":[` + owner + `]`
	}
	l.pending = append(l.pending, cluster.Stored{
		Key: key, Manifest: fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{%s},%s}`, apiVersion, kind, meta, rest),
	})
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q,"controller":true,"blockOwnerDeletion":true}`, apiVersion, kind, name, uid)
}

// flush stores what is pending, if it is at least so much.
func (l *load) flush(least int) error {
	if len(l.pending) < least {
		return nil
	}
	err := plane.Store(l.pending)
	l.pending = l.pending[:0]
	return err
}

// populate makes so many objects, in namespaces of some 2,000, and those that are deleted whole: one for
// each round.
func populate(b *testing.B, objects, rounds int) {
	b.Helper()
	l := &load{}
	for i := range rounds {
		if err := l.namespace(doomed(i), 3000/perApplication); err != nil {
			b.Fatal(err)
		}
	}
	for i := 0; l.serial < objects; i++ {
		if err := l.namespace(full(i), min(2000, objects-l.serial)/perApplication+1); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%d objects", l.serial)
}

func doomed(i int) string { return fmt.Sprintf("doomed-%d", i) }
func full(i int) string   { return fmt.Sprintf("load-%02d", i) }

// accident deletes a namespace of 3,000 objects, and in others some 2,000 with deployments and by
// collections; it returns when all that has gone.
func accident(ctx context.Context, round int) error {
	first := 5 * round // of the namespaces that lose something
	requests := []string{"/api/v1/namespaces/" + doomed(round)}
	for n := range 5 {
		for i := range 30 {
			requests = append(requests, fmt.Sprintf("/apis/apps/v1/namespaces/%s/deployments/app-%03d", full(first+n), i))
		}
	}
	requests = append(requests, "/api/v1/namespaces/"+full(first)+"/configmaps", "/api/v1/namespaces/"+full(first+1)+"/secrets")
	for _, path := range requests {
		got, err := send(ctx, "", http.MethodDelete, path, object{"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"})
		if err != nil {
			return err
		}
		if got.code >= http.StatusBadRequest {
			return fmt.Errorf("DELETE %s: %d", path, got.code)
		}
	}
	return cluster.Await(ctx, "all is collected", func(ctx context.Context) (bool, error) {
		got, err := send(ctx, "", http.MethodGet, requests[0], nil)
		if err != nil || got.code != http.StatusNotFound {
			return false, err
		}
		last, err := plane.Do(ctx, http.MethodGet, "/api/v1/namespaces/"+full(first+4)+"/pods?labelSelector=app%3Dapp-029", "", nil)
		return err == nil && !strings.Contains(string(last), `"name":"app-029`), err
	})
}

// chat writes to a pod, as nodes do of a cluster that is alive.
func chat(ctx context.Context, n int) {
	path := fmt.Sprintf("/api/v1/namespaces/%s/pods/app-%03d-1-%d/status", full(20+n%20), n%90, n%podsOfOne)
	_, _ = send(ctx, "", http.MethodPatch, path, object{"status": object{"message": fmt.Sprint(n)}})
}
