package stuck

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	rbac "k8s.io/api/rbac/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// reading is a user with the rights that are printed for stuck, or fewer.
type reading struct {
	*stage
	admin, user *kube.Client
	discovery   *kube.Discovery
	about       []*object.Object
}

const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"

// The rights that are printed are enough to read everything, and without any one of
// them something is not read, which is said.
func TestRights(t *testing.T) {
	s := &stage{T: t, ctx: context.WithoutCancel(t.Context())}
	r := s.reading()
	all := r.printed()
	r.allow(all, "", "")
	if w := r.evidence(); w.Terminating[0].Unread != "" || len(w.Terminating[0].Writers) == 0 {
		t.Errorf("with all permissions: %+v", w.Terminating)
	}
	if gaps := r.gaps(); len(gaps) != 0 {
		t.Errorf("with all permissions: gaps %v", gaps)
	}
	for _, p := range health.Parts() {
		if p == health.Endpoints || health.ReferencesOnly(p) {
			continue // nobody reads them where there are slices, nor references for an object that is stuck
		}
		if of := health.ResourceOf(p); !slices.ContainsFunc(r.discovery.Resources.Sorted(), func(x object.Resource) bool { return x.GroupResource() == of.GroupResource() }) {
			continue // this server has no Crossplane
		}
		without, namespace := health.ResourceOf(p).GroupResource().String(), ""
		if p == health.Services || p == health.Slices || p == health.Events {
			namespace = "rights"
		}
		if p != health.Events && !r.evidenceWhole(p, namespace) {
			t.Errorf("%s: not whole, with all permissions", p)
		}
		r.allow(all, without, "list")
		if got := r.evidence().CompletenessOf(p, namespace); got.Whole || !strings.Contains(got.Why, "forbidden") {
			t.Errorf("without list of %s: %+v", without, got)
		}
		r.allow(all, "", "")
	}
	r.allow(all, "widgets.rights.example.com", "get")
	if w := r.evidence(); len(w.Terminating) == 0 || !slices.ContainsFunc(w.Terminating, func(o health.Terminating) bool {
		return o.Ref.Kind == "Widget" && strings.Contains(o.Unread, "forbidden")
	}) {
		t.Errorf("without get: %+v", w.Terminating)
	}
	r.allow(nil, "", "")
	gaps := r.gaps()
	for _, one := range r.discovery.Resources.Sorted() {
		name := one.GroupResource().String()
		if name == "events" {
			continue // no owner is one; of those that matter the evidence says it, see above
		}
		if listed := one.Verbs.Has(object.List | object.Delete); listed && object.Storage(one.GroupResource()) == one.GroupResource() && !slices.Contains(gaps, name) {
			t.Errorf("without permissions %s is no gap", name)
		}
	}
}

// reading makes something for which every part is read.
func (s *stage) reading() *reading {
	s.Helper()
	one := &situation{Name: "rights", places: map[string]string{}, uids: map[string]string{}}
	one.Made = []step{
		{Create: body{"apiVersion": "v1", "kind": "Namespace", "metadata": body{"name": "rights"}}},
		{Define: "widgets.rights.example.com"},
		{Create: body{"apiVersion": "v1", "kind": "Pod", "metadata": body{"name": "p", "finalizers": []any{"example.com/x"}},
			"spec": body{"containers": []any{body{"name": "c", "image": "i"}}}}},
		{Delete: "Pod/p"},
		{Create: body{"apiVersion": "v1", "kind": "Service", "metadata": body{"name": "hook"}, "spec": body{"ports": []any{body{"port": 443}}}}},
		{Create: body{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": body{"name": "rights"}, "webhooks": []any{body{
			"name": "rights.example.com", "admissionReviewVersions": []any{"v1"}, "sideEffects": "None",
			"clientConfig": body{"service": body{"namespace": "rights", "name": "hook"}},
			"rules":        []any{body{"apiGroups": []any{"nobody.example.com"}, "apiVersions": []any{"v1"}, "operations": []any{"CREATE"}, "resources": []any{"*"}}},
		}}}},
	}
	if _, err := one.define(s.ctx); err != nil {
		s.Fatal(err)
	}
	if err := plane.Serves(s.ctx, "rights.example.com", "widgets", "v1"); err != nil {
		s.Fatal(err)
	}
	last := []step{
		{Create: body{"apiVersion": "rights.example.com/v1", "kind": "Widget", "metadata": body{"name": "w", "finalizers": []any{"example.com/x"}}}},
		{Delete: "Widget/w"},
		{Create: body{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": body{"name": "rights"}}},
		{Create: body{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": body{"name": "rights"},
			"roleRef":  body{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "rights"},
			"subjects": []any{body{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "rights"}}}},
	}
	if err := one.do(s.ctx, append(one.Made, last...)); err != nil {
		s.Fatal(err)
	}
	r := &reading{stage: s}
	var err error
	if r.admin, err = plane.Connect(kube.Options{}); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(r.admin.Close)
	flags := plane.Flags()
	flags.Impersonate = new("rights")
	if r.user, err = command.Connect(flags, kube.Options{}); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(r.user.Close)
	if r.discovery, err = r.admin.Discover(s.ctx); err != nil {
		s.Fatal(err)
	}
	if _, err = r.user.Discover(s.ctx); err != nil {
		s.Fatal(err)
	}
	for _, ref := range []object.Ref{{APIVersion: "v1", Kind: "Pod", Name: "p"}, {APIVersion: "rights.example.com/v1", Kind: "Widget", Name: "w"}} {
		ref.Namespace = "rights"
		o, err := r.admin.Get(s.ctx, ref)
		if err != nil {
			s.Fatal(err)
		}
		r.about = append(r.about, o)
	}
	// Of a node that has gone by now the attachments and budgets are asked for as well.
	node := &object.Object{Ref: object.Node.Ref("", "rights")}
	node.Edit().DeletionTimestamp = 1
	r.about = append(r.about, node)
	return r
}

// printed returns the rights that the command rbac prints for stuck.
func (r *reading) printed() []rbac.PolicyRule {
	r.Helper()
	var role rbac.ClusterRole
	var out, errOut bytes.Buffer
	args := []string{"kubectl-gc", "rbac", "--for=stuck", "--kinds", "-o=json", "--kubeconfig=" + plane.Kubeconfig}
	code := cli.Main(r.ctx, args, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut})
	if err := json.Unmarshal(out.Bytes(), &role); err != nil || code != 0 {
		r.Fatal(code, err, errOut.String())
	}
	return role.Rules
}

// allow gives the user the rights but for a verb on a resource, and returns when that
// is in force.
func (r *reading) allow(rules []rbac.PolicyRule, without, verb string) {
	r.Helper()
	resource, group, _ := strings.Cut(without, ".")
	var given []rbac.PolicyRule
	for _, rule := range rules {
		if !slices.Contains(rule.APIGroups, group) || !slices.Contains(rule.Resources, resource) {
			given = append(given, rule)
			continue
		}
		others, less := *rule.DeepCopy(), *rule.DeepCopy()
		others.Resources = slices.DeleteFunc(others.Resources, func(name string) bool { return name == resource })
		less.Resources, less.Verbs = []string{resource}, slices.DeleteFunc(less.Verbs, func(v string) bool { return v == verb })
		if len(others.Resources) > 0 {
			given = append(given, others)
		}
		given = append(given, less)
	}
	if given == nil {
		given = []rbac.PolicyRule{}
	}
	text, err := json.Marshal(body{"rules": given})
	if err == nil {
		_, err = plane.Do(r.ctx, http.MethodPatch, roles+"/rights", "application/merge-patch+json", text)
	}
	if err != nil {
		r.Fatal(err)
	}
	asked, want := object.Resource{Version: "v1", Name: "pods"}, len(rules) > 0
	if without != "" {
		asked, want = object.Resource{Group: group, Version: "v1", Name: resource}, false
	} else {
		verb = "list"
	}
	cluster.Until(r.T, "the permissions are in force", func() bool {
		access, err := r.user.MayI(r.ctx, verb, asked, "")
		if err != nil {
			r.Fatal(err)
		}
		return access.Allowed == want
	})
}

func (r *reading) evidence() *health.Evidence {
	r.Helper()
	w, err := r.user.Evidence(r.ctx, r.about, r.about, false)
	if err != nil {
		r.Fatal(err)
	}
	return w
}

func (r *reading) evidenceWhole(p health.Part, namespace string) bool {
	r.Helper()
	return r.evidence().CompletenessOf(p, namespace).Whole
}

// gaps are the resources that a snapshot of the user does not show.
func (r *reading) gaps() []string {
	r.Helper()
	snap, err := r.user.Snapshot(r.ctx, kube.Scope{}, nil)
	if err != nil {
		r.Fatal(err)
	}
	var names []string
	for _, g := range snap.Gaps {
		names = append(names, strings.TrimSuffix(strings.ToLower(g.Resource)+"."+object.GroupOf(g.APIVersion), "."))
	}
	return names
}
