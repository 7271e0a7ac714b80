package plan

import (
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/uses"
)

// permissions adds the ServiceAccounts that stay and lose a role, because its binding goes, and the roles that users
// and groups lose, which are no objects.
func (b *breakages) permissions() {
	if !b.anyGoes(object.RoleBinding.GroupKind) && !b.anyGoes(object.ClusterRoleBinding.GroupKind) {
		return
	}
	// grant is what an account gets of a binding in a namespace; empty for all.
	type grant struct {
		roleKind, roleName, namespace string
		account                       health.Subject
	}
	bindings, stays := b.health.Evidence().Bindings, map[grant]bool{}
	for n := range bindings {
		if x := &bindings[n]; b.goes.at(x.Ref.Coordinates()) == nil {
			for _, s := range x.Subjects {
				stays[grant{x.RoleKind, x.RoleName, x.Ref.Namespace, s}] = true
			}
		}
	}
	granted := func(x *health.Binding, account health.Subject) bool {
		g := grant{x.RoleKind, x.RoleName, "", account}
		everywhere := stays[g]
		g.namespace = x.Ref.Namespace
		return everywhere || stays[g]
	}
	for n := range bindings {
		x := &bindings[n]
		target, certainty, ok := b.lost(x.Ref.Coordinates())
		if !ok {
			continue
		}
		var people []string
		for _, s := range x.Subjects {
			if s.Kind != object.ServiceAccount.Kind && !granted(x, s) {
				people = append(people, strings.ToLower(s.Kind)+" "+s.Name)
			}
			o := b.snap.FindKind(object.ServiceAccount, s.Namespace, s.Name)
			if s.Kind != object.ServiceAccount.Kind || o == nil || granted(x, s) {
				continue
			}
			b.add(report.Breakage{
				Object: o.Ref, Field: "subjects[]", Label: "subjects", Reference: target, Certainty: certainty, When: report.BreaksNow,
				Message: "it loses the permissions of " + strings.ToLower(x.RoleKind) + "/" + x.RoleName,
			})
		}
		if more := len(people) - 3; more > 0 {
			people = append(people[:3], strconv.Itoa(more)+" more")
		}
		role := b.snap.FindKind(object.Role, x.Ref.Namespace, x.RoleName)
		if x.RoleKind == object.ClusterRole.Kind {
			role = b.snap.FindKind(object.ClusterRole, "", x.RoleName)
		}
		if len(people) > 0 && role != nil && b.goes.at(object.Namespace.Ref("", x.Ref.Namespace).Coordinates()) == nil {
			b.add(report.Breakage{
				Object: role.Ref, Field: "subjects[]", Label: "subjects", Reference: target, Certainty: certainty, When: report.BreaksNow,
				Message: "it is taken from " + strings.Join(people, ", "),
			})
		}
	}
}

// grants adds the references to another namespace that lose the last ReferenceGrant that allows them.
//
// Source: gateway-api.sigs.k8s.io/reference/spec: ReferenceGrant: implementations revoke the access that a
// removed grant allowed.
func (b *breakages) grants() {
	if !b.anyGoes(uses.ReferenceGrant.GroupKind) {
		return
	}
	all := object.Filtered(b.health.Referrers(), func(x health.Referrer) bool {
		return x.Ref.Is(uses.ReferenceGrant)
	})
	for _, user := range b.health.Referrers() {
		for i := range user.References {
			r := &user.References[i]
			rule := r.Rule(user.Ref.GroupKind())
			if !rule.Granted || r.Selector != nil || r.Namespace == user.Ref.Namespace || b.goes.at(r.Target()) != nil || b.snap.ObjectAt(r.Target()) == nil {
				continue
			}
			var one report.Breakage
			left := false
			for _, x := range all {
				if !allows(&x, user.Ref, r) {
					continue
				}
				target, certainty, goes := b.lost(x.Ref.Coordinates())
				left = left || !goes
				if one.Certainty == "" || certainty != report.Sure {
					one.Reference, one.Certainty = target, certainty
				}
			}
			if left || one.Certainty == "" {
				continue
			}
			one.Object, one.Field, one.Label, one.When = user.Ref, r.Field, rule.Label, report.BreaksNextReconcile
			one.Message = "references to namespace " + r.Namespace + " that it allowed are refused"
			b.add(one)
		}
	}
}

// allows reports whether a ReferenceGrant allows a reference of an object in another namespace.
func allows(grant *health.Referrer, user object.Ref, r *uses.Reference) bool {
	from, to := false, false
	for _, x := range grant.References {
		switch kind := user.GroupKind(); x.Field {
		case "spec.from[]":
			from = from || x.Group == kind.Group && x.Kind == kind.Kind && x.Namespace == user.Namespace
		case "spec.to[]":
			to = to || x.Group == r.Group && x.Kind == r.Kind && x.Namespace == r.Namespace && (x.Selector != nil || x.Name == r.Name)
		}
	}
	return from && to
}
