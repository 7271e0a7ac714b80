package commands

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reader is somebody with few rights.
type reader struct {
	name string
	// everywhere are the rules in all namespaces, inside those in the namespace.
	everywhere, inside string
	// sees tells what he may list of the ConfigMaps of the namespace.
	sees bool
}

const readAll = `[{apiGroups: ["*"], resources: ["*"], verbs: [get, list]}]`

var readers = []reader{
	{name: "everything", everywhere: readAll, sees: true},
	{name: "no-secrets", everywhere: `[{apiGroups: [""], resources: [configmaps, pods, namespaces, serviceaccounts, nodes], verbs: [get, list]}, {apiGroups: [apps, rbac.authorization.k8s.io], resources: ["*"], verbs: [get, list]}]`, sees: true},
	{name: "cluster", everywhere: `[{apiGroups: [""], resources: [namespaces, nodes], verbs: [get, list]}]`},
	{name: "inside", inside: readAll, sees: true},
	{name: "configmaps", inside: `[{apiGroups: [""], resources: [configmaps], verbs: [get, list]}]`, sees: true},
	{name: "get", inside: `[{apiGroups: ["*"], resources: ["*"], verbs: [get]}]`},
	{name: "none"},
}

// user is what the server calls him: a ServiceAccount of the namespace.
func (r reader) user(s *stage) string {
	return "system:serviceaccount:" + s.namespace + ":" + r.name
}

// admit gives a reader his rights, and waits until they are in force.
func (s *stage) admit(r reader) {
	s.t.Helper()
	name := s.namespace + "-" + r.name
	for kind, rules := range map[string]string{"ClusterRole": r.everywhere, "Role": r.inside} {
		if rules == "" {
			continue
		}
		s.create(fmt.Sprintf(`{apiVersion: rbac.authorization.k8s.io/v1, kind: %s, metadata: {name: %s}, rules: %s}`, kind, name, rules))
		s.create(fmt.Sprintf(`{apiVersion: rbac.authorization.k8s.io/v1, kind: %sBinding, metadata: {name: %s}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %s, name: %s}, `+
			`subjects: [{kind: ServiceAccount, namespace: %s, name: %s}]}`, kind, name, kind, name, s.namespace, r.name))
		if kind == "ClusterRole" {
			s.t.Cleanup(func() { s.kubectl(nil, "delete", "clusterrole,clusterrolebinding", name) })
		}
		verb, what := "list", "configmaps"
		switch r.name {
		case "get":
			verb = "get"
		case "cluster":
			what = "nodes"
		}
		args := []string{"auth", "can-i", verb, what, "--as=" + r.user(s)}
		if kind == "Role" {
			args = append(args, "-n", s.namespace)
		} else {
			args = append(args, "-A")
		}
		s.until("the permissions of "+r.name+" are in force", func() bool {
			_, err := plane.Kubectl(s.ctx, nil, args...)
			return err == nil
		})
	}
}

// troubled makes objects of all sorts: living ones, garbage, one that a finalizer holds,
// and one that waits for itself.
func (s *stage) troubled() {
	s.t.Helper()
	s.configMap("below", "owner", s.configMap("owner", "", ""))
	s.configMap("garbage", "gone", "gone")
	s.configMap("held", "", "")
	s.kubectl(nil, "patch", "configmap", "held", "-n", s.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	s.kubectl(nil, "delete", "configmap", "held", "-n", s.namespace, "--wait=false")
	s.kubectl(nil, "patch", "configmap", "self", "-n", s.namespace, "--type=merge", "-p",
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"self","uid":"`+s.configMap("self", "", "")+`","blockOwnerDeletion":true}]}}`)
	s.kubectl(nil, "delete", "configmap", "self", "-n", s.namespace, "--wait=false", "--cascade=foreground")
	s.t.Cleanup(func() {
		for _, name := range []string{"held", "self"} {
			s.kubectl(nil, "patch", "configmap", name, "-n", s.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		}
		s.kubectl(nil, "delete", "configmap", "garbage", "-n", s.namespace)
	})
}

// reply is what all documents have in common, and what one who may read everything is
// told as well. Messages may differ: they name what was seen of others.
type reply struct {
	Complete *bool
	said
}

type said struct {
	Verdict  string
	Findings []struct {
		Code     string
		Severity string
		Object   struct{ Kind, Name string }
	}
	Effects []struct {
		Outcome, Reason  string
		AlreadyHappening bool
		Object           struct{ Kind, Name string }
	}
	Items []struct {
		Object struct{ Kind, Name string }
	}
	Nodes []struct{ State string }
}

// TestRightsAndAnswers asks every command that answers, as users with more and less
// rights. Whoever may not read enough is told so by the document and by the exit code; an
// answer that calls itself complete is that of somebody who may read everything; and
// whoever may read nothing that the question is about gets no answer.
func TestRightsAndAnswers(t *testing.T) {
	s := enter(t)
	s.troubled()
	for _, r := range readers {
		s.admit(r)
	}
	in := []string{"-n", s.namespace}
	met := map[string]int{}
	for _, x := range []struct {
		args []string
		// inside tells that the question is about the namespace alone.
		inside bool
	}{
		{append([]string{"stuck"}, in...), true},
		{append([]string{"stuck", "configmap/held"}, in...), true},
		{append([]string{"stuck", "configmap/self"}, in...), true},
		{[]string{"stuck"}, false},
		{append([]string{"check"}, in...), true},
		{[]string{"check"}, false},
		{append([]string{"risk"}, in...), true},
		{[]string{"risk"}, false},
		{[]string{"doctor"}, false},
		{append([]string{"explain", "configmap/held"}, in...), true},
		{append([]string{"explain", "configmap/below"}, in...), true},
		{append([]string{"graph", "configmap/owner"}, in...), true},
		{append([]string{"collect", "--dry-run"}, in...), true},
		{[]string{"collect", "-A", "--dry-run"}, false},
		{append([]string{"dry-run", "delete", "configmap/owner"}, in...), true},
		{append([]string{"dry-run", "delete", "configmap/held"}, in...), true},
		{append([]string{"dry-run", "delete", "configmaps", "--all", "--cascade=foreground"}, in...), true},
	} {
		var whole said
		for _, r := range readers {
			t.Run(strings.ReplaceAll(strings.Join(x.args, " "), s.namespace, "NS")+" as "+r.name, func(t *testing.T) {
				args := append(slices.Clone(x.args), "-o", "json", "--as="+r.user(s))
				a, strict := s.gc(s.ctx, args...), s.gc(s.ctx, append(args, "--require-complete")...)
				if refused := a.code == 1; refused != (x.inside && !r.sees || !x.inside && r.everywhere == "") {
					t.Fatalf("exit code %d\n%s%s", a.code, a.stdout, a.stderr)
				} else if refused {
					met["refused"]++
					if a.stdout != "" || strict.code != 1 || !strings.Contains(a.stderr, "forbidden") || !strings.Contains(a.stderr, r.user(s)) {
						t.Errorf("exit codes %d and, with --require-complete, %d:\n%s%s", a.code, strict.code, a.stdout, a.stderr)
					}
					return
				}
				var d reply
				if err := json.Unmarshal([]byte(a.stdout), &d); err != nil || d.Complete == nil {
					t.Fatalf("%v, %+v:\n%s%s", err, d, a.stdout, a.stderr)
				}
				if r.name == "everything" {
					whole = d.said
				}
				want := 0
				switch {
				case a.code == 3:
					want = 3
				case !*d.Complete:
					want = 4
				}
				if a.code != 0 && a.code != 3 || strict.code != want {
					t.Errorf("complete is %t, exit codes %d and, with --require-complete, %d:\n%s%s", *d.Complete, a.code, strict.code, a.stdout, a.stderr)
				}
				met[fmt.Sprintf("exit code %d, complete %t", strict.code, *d.Complete)]++
				if diff := cmp.Diff(whole, d.said); *d.Complete && diff != "" {
					t.Errorf("complete, and not what one is told who may read everything (-all +some):\n%s", diff)
				}
				if x.args[0] == "stuck" && r.sees && len(d.Findings) == 0 {
					t.Errorf("what is stuck is not told:\n%s", a.stdout)
				}
			})
		}
	}
	for _, way := range []string{"refused", "exit code 0, complete true", "exit code 4, complete false", "exit code 3, complete true", "exit code 3, complete false"} {
		if met[way] == 0 {
			t.Errorf("%s: never met", way)
		}
	}
	t.Log(met)
}

// TestRightsOverNamespace is about a namespace that is being deleted and may not be listed
// with the others: it is looked at by its name. Whoever may not even do that is told.
func TestRightsOverNamespace(t *testing.T) {
	s := enter(t)
	s.configMap("left", "", "")
	for _, r := range readers {
		s.admit(r)
	}
	s.kubectl(nil, "delete", "namespace", s.namespace, "--wait=false")
	t.Cleanup(func() {
		if err := plane.Controllers("namespace-controller"); err != nil {
			t.Error(err)
		}
		s.until("the namespace is gone", func() bool {
			_, err := plane.Kubectl(s.ctx, nil, "get", "namespace", s.namespace)
			return err != nil
		})
	})
	for _, r := range readers {
		if !r.sees {
			continue
		}
		var d reply
		a := s.gc(s.ctx, "stuck", "-n", s.namespace, "-o", "json", "--as="+r.user(s))
		if err := json.Unmarshal([]byte(a.stdout), &d); err != nil {
			t.Fatalf("%s: %v\n%s%s", r.name, err, a.stdout, a.stderr)
		}
		told := len(d.Findings) > 0 && d.Findings[0].Object.Kind == "Namespace"
		if told != (r.name != "configmaps") || !told && *d.Complete {
			t.Errorf("%s: complete %t:\n%s%s", r.name, *d.Complete, a.stdout, a.stderr)
		}
	}
}
