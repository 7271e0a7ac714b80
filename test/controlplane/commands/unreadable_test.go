package commands

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

const (
	roles    = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
)

// limit makes a user with all rights but one: that to a path, or to a resource. The rights that a cluster
// gives every user are taken away until the end of the test.
func (s *stage) limit(without string) (user string) {
	s.t.Helper()
	for _, name := range []string{"system:discovery", "system:public-info-viewer", "system:basic-user"} {
		var binding struct {
			Subjects json.RawMessage `json:"subjects"`
		}
		text, err := plane.Do(s.ctx, http.MethodGet, bindings+"/"+name, "", nil)
		if err == nil {
			err = json.Unmarshal(text, &binding)
		}
		if err != nil {
			s.t.Fatal(err)
		}
		bind := func(subjects []byte) {
			if _, err := plane.Do(context.WithoutCancel(s.ctx), http.MethodPatch, bindings+"/"+name, "application/merge-patch+json", []byte(`{"subjects":`+string(subjects)+`}`)); err != nil {
				s.t.Error(err)
			}
		}
		s.t.Cleanup(func() { bind(binding.Subjects) })
		bind([]byte("null"))
	}
	user = "limited-" + s.namespace
	paths := []string{"/api", "/api/*", "/apis", "/apis/*", "/version", "/openapi/*"}
	paths = slices.DeleteFunc(paths, func(p string) bool { return strings.TrimSuffix(p, "/*") == without })
	resources := map[string][]string{"": {"*/status", "*/finalizers", "namespaces/finalize"}}
	for _, r := range s.served() {
		if r.Name != without {
			resources[r.Group] = append(resources[r.Group], r.Name)
		}
	}
	rules := []body{{"nonResourceURLs": paths, "verbs": []string{"get"}}}
	for group, names := range resources {
		rules = append(rules, body{"apiGroups": []string{group}, "resources": names, "verbs": []string{"*"}})
	}
	s.post(roles, body{"metadata": body{"name": user}, "rules": rules})
	s.post(bindings, body{
		"metadata": body{"name": user}, "roleRef": body{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user},
		"subjects": []body{{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}},
	})
	s.t.Cleanup(func() { s.kubectl(nil, "delete", "clusterrole,clusterrolebinding", user) })
	s.until("the permissions are in force", func() bool {
		_, err := plane.Kubectl(s.ctx, nil, "get", "--raw=/api/v1/namespaces/"+s.namespace+"/configmaps", "--as="+user)
		return err == nil
	})
	if strings.HasPrefix(without, "/") {
		s.until("the path is refused", func() bool {
			_, err := plane.Kubectl(s.ctx, nil, "get", "--raw="+without, "--as="+user)
			return err != nil
		})
	}
	return user
}

// served are the resources of the server.
func (s *stage) served() []object.Resource {
	s.t.Helper()
	client, err := plane.Connect(kube.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer client.Close()
	d, err := client.Discover(s.ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	return d.Resources.Sorted()
}

// TestUnreadable takes from a user the right to one thing that commands read besides the objects that they
// are about. Every command works without it, or fails before it writes and names it.
func TestUnreadable(t *testing.T) {
	all := []string{"dry-run", "explain", "stuck", "check", "risk", "doctor", "graph", "collect", "snapshot", "delete", "lost", "undo"}
	for without, x := range map[string]struct {
		// fails are the commands that fail, says is what they say.
		fails []string
		says  string
	}{
		"/version":                        {},
		"/api":                            {all, `cannot get path "/api"` + "\nThe ClusterRole system:discovery permits it"},
		"/apis":                           {all, `cannot get path "/apis"` + "\nThe ClusterRole system:discovery permits it"},
		"/openapi":                        {},
		"selfsubjectreviews":              {},
		"selfsubjectaccessreviews":        {[]string{"delete"}, `whether we may delete configmaps in NAMESPACE: selfsubjectaccessreviews.authorization.k8s.io is forbidden`},
		"leases":                          {},
		"nodes":                           {},
		"namespaces":                      {[]string{"undo"}, "namespace kube-system could not be read when it was made, or cannot be read now"},
		"pods":                            {},
		"customresourcedefinitions":       {},
		"apiservices":                     {},
		"validatingwebhookconfigurations": {},
	} {
		t.Run(strings.Trim(strings.ReplaceAll(without, "/", "-"), "-"), func(t *testing.T) {
			s := enter(t, collector)
			s.configMap("below", "owner", s.configMap("owner", "", ""))
			as, in := "--as="+s.limit(without), "-n="+s.namespace
			says := strings.ReplaceAll(x.says, "NAMESPACE", s.namespace)
			for _, args := range [][]string{
				{"dry-run", "delete", "configmap/owner", in}, {"explain", "configmap/below", in}, {"stuck", in}, {"check", in}, {"risk", in}, {"doctor"},
				{"graph", "configmap/owner", in}, {"collect", "--dry-run", in}, {"snapshot", "--to=" + filepath.Join(t.TempDir(), "x")},
				{"delete", "configmap/owner", in}, {"lost", in}, {"undo", "latest"},
			} {
				before := s.world()
				a := s.gc(s.ctx, append(args, as)...)
				if found := digests.FindStringSubmatch(a.stderr); found != nil && a.code == 5 { // nobody is there to confirm it
					a = s.gc(s.ctx, append(args, as, "--confirm="+found[1])...)
				}
				fails := slices.Contains(x.fails, args[0])
				if failed := a.code != 0 && a.code != 3; failed != fails || fails && !strings.Contains(a.stderr, says) {
					t.Errorf("%v: exit code %d, want a failure: %t, %q\n%s%s", args, a.code, fails, says, a.stdout, a.stderr)
				}
				if diff := cmp.Diff(before, s.world()); fails && diff != "" {
					t.Errorf("%v has written:\n%s", args, diff)
				}
				if fails && args[0] == "delete" {
					s.confirmed("delete", "configmap/owner", in).want(t, 0)
				}
			}
			if !slices.Contains(x.fails, "undo") && len(s.names("ConfigMap")) != 2 {
				t.Errorf("after the undo: %v", s.names("ConfigMap"))
			}
		})
	}
}
