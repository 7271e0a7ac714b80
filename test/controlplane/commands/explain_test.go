package commands

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// explained is what explain says of a ConfigMap of the namespace.
func (s *stage) explained(name string) *report.Explanation {
	s.t.Helper()
	a := s.gc(s.ctx, "explain", "configmap/"+name, "-n", s.namespace, "-o", "json").want(s.t, 0)
	var e report.Explanation
	if err := json.Unmarshal([]byte(a.stdout), &e); err != nil {
		s.t.Fatalf("%v\n%s", err, a.stdout)
	}
	return &e
}

// TestTakers: the deletes that are said to take an object do, and one that is not said to
// does not; events about it are shown; and risk counts what really goes.
func TestTakers(t *testing.T) {
	s := enter(t, collector)
	root := s.configMap("root", "", "")
	middle := s.configMap("middle", "root", root)
	leaf := s.configMap("leaf", "middle", middle)
	s.post("/api/v1/namespaces/"+s.namespace+"/events", body{
		"metadata": body{"name": "about-leaf"}, "type": "Warning", "reason": "Withered", "message": "it is autumn",
		"involvedObject": body{"apiVersion": "v1", "kind": "ConfigMap", "namespace": s.namespace, "name": "leaf", "uid": leaf},
	})
	e := s.explained("leaf")
	var takers []string
	for _, taker := range e.TakenBy {
		takers = append(takers, taker.Object.Name+" "+taker.Policy)
	}
	if want := []string{"middle Background", s.namespace + " Background", "root Background"}; !slices.Equal(takers, want) {
		t.Errorf("taken by %q, want %q", takers, want)
	}
	if len(e.Events) != 1 || e.Events[0].Reason != "Withered" || e.Events[0].Type != "Warning" || e.EventsUnknown != "" {
		t.Errorf("events %+v, %s", e.Events, e.EventsUnknown)
	}
	a := s.gc(s.ctx, "risk", "-n", s.namespace, "-o", "jsonpath={range .items[*]}{.object.name}:{.takes.objects} {end}").want(t, 0)
	if !strings.Contains(a.stdout, "root:3 middle:2") {
		t.Errorf("risk says %q", a.stdout)
	}
	s.kubectl(nil, "delete", "configmap", "root", "-n", s.namespace, "--wait=false")
	s.until("all three are gone", func() bool { return len(s.names("ConfigMap")) == 0 })
}

// TestDeadlock: a foreground deletion that never ends is named, and the second delete that
// is offered ends it and costs what it says. (Q3, S028)
func TestDeadlock(t *testing.T) {
	s := enter(t, collector)
	top := s.configMap("top", "", "")
	s.configMap("below", "top", top)
	role := s.namespace + "-role"
	s.post("/apis/rbac.authorization.k8s.io/v1/clusterroles", body{"metadata": body{"name": role, "ownerReferences": []body{
		{"apiVersion": "v1", "kind": "ConfigMap", "name": "top", "uid": top, "blockOwnerDeletion": true},
	}}})
	t.Cleanup(func() {
		_, _ = plane.Do(s.ctx, http.MethodDelete, "/apis/rbac.authorization.k8s.io/v1/clusterroles/"+role, "", nil)
	})
	s.kubectl(nil, "delete", "configmap", "top", "-n", s.namespace, "--cascade=foreground", "--wait=false")
	s.until("the other dependent is gone", func() bool { return slices.Equal(s.names("ConfigMap"), []string{"top"}) })
	e := s.explained("top")
	if e.Verdict != report.WaitingForDependents || e.Deadlock == nil || e.Deadlock.Reason != "OwnerRefInvalidNamespace" || len(e.Deadlock.Path) != 2 {
		t.Fatalf("%s, deadlock %+v", e.Verdict, e.Deadlock)
	}
	if len(e.TakenBy) == 0 || e.TakenBy[0].Object.Name != role {
		t.Errorf("taken by %+v", e.TakenBy)
	}
	i := slices.IndexFunc(e.Remedies, func(r report.Remedy) bool { return strings.Contains(r.Command, " --cascade=background") })
	if i < 0 || strings.Contains(e.Remedies[i].Effect, "these go, too") {
		t.Fatalf("remedies %+v", e.Remedies)
	}
	s.kubectl(nil, append(strings.Fields(e.Remedies[i].Command)[1:], "--wait=false")...)
	s.until("it is gone", func() bool { return len(s.names("ConfigMap")) == 0 })
	if left := s.names("ClusterRole"); !slices.Equal(left, []string{role}) {
		t.Errorf("left are %v", left)
	}
}
