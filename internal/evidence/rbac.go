package evidence

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// Role is a Role or a ClusterRole.
type Role struct {
	Ref   object.Ref `json:"-"`
	Rules []Rule     `json:"rules,omitempty"`
}

// Rule grants verbs on resources. Rules for non-resource URLs are left out.
type Rule struct {
	Verbs     []string `json:"verbs"`
	Groups    []string `json:"apiGroups"`
	Resources []string `json:"resources"`
	// Names limits the rule to single objects. It is empty for all objects.
	Names []string `json:"resourceNames,omitempty"`
}

// Binding is a RoleBinding or a ClusterRoleBinding.
type Binding struct {
	Ref object.Ref `json:"-"`
	// RoleKind is Role or ClusterRole. A Role is in the namespace of the binding.
	RoleKind string    `json:"roleKind"`
	RoleName string    `json:"roleName"`
	Subjects []Subject `json:"subjects,omitempty"`
}

// Subject is the recipient of a role: a ServiceAccount, a User or a Group.
type Subject struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitzero"`
	Name      string `json:"name"`
}

// roleBody has the fields that are read from a Role or ClusterRole.
type roleBody struct {
	Rules []Rule `json:"rules"`
}

func (s *Shown) takeRole(b *body, raw []byte) error {
	var d roleBody
	if err := decode(raw, &d); err != nil {
		return err
	}
	r := Role{Ref: b.ref()}
	for _, rule := range d.Rules {
		if len(rule.Resources) > 0 {
			r.Rules = append(r.Rules, rule)
		}
	}
	s.Roles = append(s.Roles, r)
	return nil
}

// bindingBody has the fields that are read from a RoleBinding or ClusterRoleBinding.
type bindingBody struct {
	RoleRef struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	} `json:"roleRef"`
	Subjects []Subject `json:"subjects"`
}

func (s *Shown) takeBinding(b *body, raw []byte) error {
	var d bindingBody
	if err := decode(raw, &d); err != nil {
		return err
	}
	s.Bindings = append(s.Bindings, Binding{Ref: b.ref(), RoleKind: d.RoleRef.Kind, RoleName: d.RoleRef.Name, Subjects: d.Subjects})
	return nil
}
