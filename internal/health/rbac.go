package health

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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

func (s *Shown) takeRole(b *body, d *roleBody) {
	rules := object.Filtered(d.Rules, func(rule Rule) bool { return len(rule.Resources) > 0 })
	s.Roles = append(s.Roles, Role{Ref: b.ref(), Rules: rules})
}

// bindingBody has the fields that are read from a RoleBinding or ClusterRoleBinding.
type bindingBody struct {
	RoleRef struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	} `json:"roleRef"`
	Subjects []Subject `json:"subjects"`
}

func (s *Shown) takeBinding(b *body, d *bindingBody) {
	s.Bindings = append(s.Bindings, Binding{Ref: b.ref(), RoleKind: d.RoleRef.Kind, RoleName: d.RoleRef.Name, Subjects: d.Subjects})
}

// rights finds the accounts that have a permission.
type rights struct {
	seen *Evidence
	// cluster and local have the rules by role name. The keys of local have the namespace before
	// the name.
	cluster, local map[string][]Rule
	// namesSingleObjects reports whether some rule for a resource names single objects.
	namesSingleObjects func(object.Resource) bool
	writersCache       map[writersKey]*mayWrite
	// groups has the API groups that an account manages, see managedGroups.
	groups map[Account]managedGroups
}

// writersKey is the cache key of writersCache. name is set only if some rule names single objects.
type writersKey struct{ group, resource, namespace, name string }

// mayWrite has the accounts, pods and workloads that may write an object.
type mayWrite struct {
	// accounts have rights that name the API group of the resource; powerful ones have rights
	// for all groups.
	accounts, powerful map[Account]bool
	// outside are the users and groups with such rights that are not service accounts.
	outside []string
	// everyone is true if a group of service accounts has the right. Then all of them count.
	everyone bool

	// pods are the unfinished pods under accounts with the right, workloads use such accounts.
	pods      []*Pod
	workloads []*Workload
}

// includes reports whether an account may write the object.
func (w *mayWrite) includes(a Account) bool { return w.everyone || w.accounts[a] || w.powerful[a] }

func newRights(seen *Evidence) *rights {
	r := &rights{seen: seen, cluster: map[string][]Rule{}, local: map[string][]Rule{}, writersCache: map[writersKey]*mayWrite{}}
	if seen == nil {
		return r
	}
	for _, role := range seen.Roles {
		if role.Ref.Kind == "ClusterRole" {
			r.cluster[role.Ref.Name] = role.Rules
		} else {
			r.local[role.Ref.Namespace+"/"+role.Ref.Name] = role.Rules
		}
	}
	r.namesSingleObjects = singleObjectRules(seen.Roles)
	return r
}

// singleObjectRules returns a function that reports whether rules name single objects of a
// resource.
func singleObjectRules(roles []Role) func(object.Resource) bool {
	named := map[[2]string]bool{}
	for _, role := range roles {
		for _, rule := range role.Rules {
			if len(rule.Names) == 0 {
				continue
			}
			for _, group := range rule.Groups {
				for _, x := range rule.Resources {
					kind, _, _ := strings.Cut(x, "/")
					named[[2]string{group, kind}] = true
				}
			}
		}
	}
	return func(r object.Resource) bool {
		return named[[2]string{r.Group, r.Name}] || named[[2]string{r.Group, "*"}] || named[[2]string{"*", r.Name}] || named[[2]string{"*", "*"}]
	}
}

// writersOf returns what may update or patch the object or a part of it.
func (r *rights) writersOf(o *object.Object, resource object.Resource) *mayWrite {
	key := writersKey{group: resource.Group, resource: resource.Name, namespace: o.Namespace}
	if r.seen != nil && r.namesSingleObjects(resource) {
		key.name = o.Name
	}
	if w, ok := r.writersCache[key]; ok {
		return w
	}
	w := r.accountsFor(o, resource)
	r.writersCache[key] = w
	if r.seen != nil {
		w.outside = sortedUnique(w.outside)
		w.findPods(r.seen)
	}
	return w
}

// accountsFor returns the accounts that may update or patch the object or a part of it, without their pods.
func (r *rights) accountsFor(o *object.Object, resource object.Resource) *mayWrite {
	w := &mayWrite{accounts: map[Account]bool{}, powerful: map[Account]bool{}}
	if r.seen == nil {
		return w
	}
	for n := range r.seen.Bindings {
		b := &r.seen.Bindings[n]
		if b.Ref.Kind == "RoleBinding" && b.Ref.Namespace != o.Namespace {
			continue
		}
		if named, powerful := allows(r.rulesOf(b), resource, o.Name); named || powerful {
			w.grant(b, named)
		}
	}
	return w
}

// MayWrite reports whether one of the accounts may update or patch an object or a part of it, so that a pod
// of it may be the controller of a finalizer.
func (s *Assessment) MayWrite(o *object.Object, accounts []Account) bool {
	r, err := s.snap.Resources.For(o.APIVersion, o.Kind)
	if err != nil || len(accounts) == 0 {
		return false
	}
	return slices.ContainsFunc(accounts, s.rights.accountsFor(o, r).includes)
}

// findPods finds the pods and workloads of the accounts.
func (w *mayWrite) findPods(seen *Evidence) {
	for n := range seen.Pods {
		p := &seen.Pods[n]
		if !finished(p) && w.includes(Account{p.Ref.Namespace, p.ServiceAccount}) {
			w.pods = append(w.pods, p)
		}
	}
	for n := range seen.Workloads {
		if x := &seen.Workloads[n]; w.includes(Account{x.Ref.Namespace, x.ServiceAccount}) {
			w.workloads = append(w.workloads, x)
		}
	}
}

func finished(p *Pod) bool { return p.Phase == "Succeeded" || p.Phase == "Failed" }

// managedGroups returns the API groups that an account manages, according to the rules that name
// them.
func (r *rights) managedGroups(a Account) managedGroups {
	if r.groups != nil {
		return r.groups[a]
	}
	r.groups = map[Account]managedGroups{}
	if r.seen == nil {
		return managedGroups{}
	}
	for n := range r.seen.Bindings {
		b := &r.seen.Bindings[n]
		if isForPeople(b.RoleName) {
			continue
		}
		c := groupsManagedBy(r.rulesOf(b))
		for _, s := range b.Subjects {
			if namespace, name, ok := accountOf(s, b.Ref.Namespace); ok && len(c.watched) > 0 {
				account := Account{namespace, name}
				have := r.groups[account]
				r.groups[account] = managedGroups{append(slices.Clip(have.controlled), c.controlled...), append(slices.Clip(have.watched), c.watched...)}
			}
		}
	}
	for a, c := range r.groups {
		r.groups[a] = managedGroups{sortedUnique(c.controlled), sortedUnique(c.watched)}
	}
	return r.groups[a]
}

// managedGroups are the API groups that an account manages, sorted, without those of Kubernetes
// itself.
type managedGroups struct {
	// controlled are the groups where the account may write the status or the finalizers of some
	// kind. Only controllers need that.
	controlled []string
	// watched are those, and the groups where it may watch and write some kind.
	watched []string
}

// groupsManagedBy returns the API groups that rules name.
func groupsManagedBy(rules []Rule) managedGroups {
	var c managedGroups
	for _, rule := range rules {
		if !containsAny(rule.Verbs, "*", "update", "patch") {
			continue
		}
		controls := slices.ContainsFunc(rule.Resources, func(x string) bool {
			_, sub, _ := strings.Cut(x, "/")
			return x == "*" || sub == "*" || sub == "finalizers" || sub == "status"
		})
		for _, group := range rule.Groups {
			if !strings.Contains(group, ".") || !object.MayBeCustom(group) {
				continue
			}
			if controls {
				c.controlled = append(c.controlled, group)
			}
			if controls || containsAny(rule.Verbs, "*", "watch") {
				c.watched = append(c.watched, group)
			}
		}
	}
	return c
}

// isForPeople reports whether a role is usually given to people and to programs that act for them.
// Such a role does not show that its account manages the objects.
func isForPeople(role string) bool {
	return slices.ContainsFunc([]string{"admin", "edit", "view", "editor", "viewer"}, func(word string) bool {
		name := strings.TrimSuffix(role, "-role")
		return name == word || strings.HasSuffix(name, "-"+word)
	})
}

func sortedUnique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// isRBACInUse reports whether RBAC is known to be in use: an API server with RBAC creates the role
// cluster-admin itself.
//
// Upstream: plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go ClusterRoles.
func (r *rights) isRBACInUse() bool {
	_, ok := r.cluster["cluster-admin"]
	return ok
}

func (r *rights) rulesOf(b *Binding) []Rule {
	if b.RoleKind == "ClusterRole" {
		return r.cluster[b.RoleName]
	}
	return r.local[b.Ref.Namespace+"/"+b.RoleName]
}

// allows returns powerful if some rule allows writes of an object, and named if such a rule names
// its API group instead of all groups. Rules for a subresource count, because the status of some
// kinds can change finalizers.
//
// Upstream: pkg/apis/rbac/v1/evaluation_helpers.go VerbMatches, APIGroupMatches, ResourceMatches.
func allows(rules []Rule, resource object.Resource, name string) (named, powerful bool) {
	for _, rule := range rules {
		if !containsAny(rule.Verbs, "*", "update", "patch") || !containsAny(rule.Groups, "*", resource.Group) ||
			len(rule.Names) > 0 && !slices.Contains(rule.Names, name) {
			continue
		}
		for _, x := range rule.Resources {
			kind, sub, _ := strings.Cut(x, "/")
			if kind != resource.Name && (kind != "*" || sub != "" && sub != "*" && sub != "finalizers" && sub != "status") {
				continue
			}
			named = named || slices.Contains(rule.Groups, resource.Group)
			powerful = true
		}
	}
	return named, powerful
}

func containsAny(list []string, wanted ...string) bool {
	return slices.ContainsFunc(wanted, func(w string) bool { return slices.Contains(list, w) })
}

// grant adds the subjects of a binding to w. System users and groups with rights for all API groups
// are skipped: they remove only finalizers of Kubernetes.
func (w *mayWrite) grant(b *Binding, named bool) {
	for _, s := range b.Subjects {
		namespace, name, isAccount := accountOf(s, b.Ref.Namespace)
		system := strings.HasPrefix(s.Name, "system:") || s.Name == "kubeadm:cluster-admins"
		switch {
		case isAccount && named:
			w.accounts[Account{namespace, name}] = true
		case isAccount:
			w.powerful[Account{namespace, name}] = true
		case s.Kind == "Group" && (s.Name == "system:serviceaccounts" || s.Name == "system:authenticated" || strings.HasPrefix(s.Name, "system:serviceaccounts:")):
			w.everyone = true
		case named || !system:
			w.outside = append(w.outside, strings.ToLower(s.Kind)+" "+s.Name)
		}
	}
}

// accountOf returns the service account of a subject in either form: a ServiceAccount, or a User
// `system:serviceaccount:NAMESPACE:NAME`.
func accountOf(s Subject, namespace string) (in, name string, ok bool) {
	if s.Kind == "ServiceAccount" {
		return cmp.Or(s.Namespace, namespace), s.Name, true
	}
	rest, ok := strings.CutPrefix(s.Name, "system:serviceaccount:")
	if s.Kind != "User" || !ok {
		return "", "", false
	}
	in, name, ok = strings.Cut(rest, ":")
	return in, name, ok
}
