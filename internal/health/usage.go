package health

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/uses"
)

// Use says what uses an object that a finalizer protects.
type Use struct {
	// Users are known to use it. Possible are objects of a kind that may use it.
	Users, Possible []object.Ref
	// Counted is the number of further users according to the status of the object; 0 if all users
	// were read.
	Counted int
	// Unseen is true if there may be more users: the kinds of users are unknown, or lists are
	// incomplete.
	Unseen bool
	// UntilDeletion is true if a user no longer counts once it is being deleted.
	UntilDeletion bool
}

// UseOf returns what uses an object that a finalizer protects while it is in use. It returns false
// for other finalizers, and for those of Kubernetes, because their controllers are simulated.
func (s *Assessment) UseOf(o *object.Object, name string) (Use, bool) {
	usage, applies := s.boundObjects().UsageOf(o, name)
	if !applies || OfManager(name) {
		return Use{}, false
	}
	return s.useOf(o, usage), true
}

// useOf returns what uses an object, by what counts as use.
func (s *Assessment) useOf(o *object.Object, usage finalizer.Usage) Use {
	u := Use{Unseen: len(usage.Kinds) == 0 || usage.MayHideMore, UntilDeletion: usage.UntilDeletion}
	for _, kind := range usage.Kinds {
		for _, r := range s.snap.Resources.All() {
			u.Unseen = u.Unseen || r.Group == kind.Group && r.Kind == kind.Kind && !s.snap.Covers(r, "")
		}
		if usage.Bound {
			continue
		}
		for _, user := range s.usersOf(kind, o) {
			uses, known := s.uses(user, o)
			if usage.Referring {
				uses, known = s.refersTo(user, o)
			}
			switch {
			case known && uses, usage.By != nil && usage.By(o, user):
				u.Users = append(u.Users, user.Ref)
			case !known && usage.By == nil:
				u.Possible = append(u.Possible, user.Ref)
			}
		}
	}
	u.Users = append(u.Users, object.Mapped(usage.Users, func(user *object.Object) object.Ref { return user.Ref })...)
	if shown := s.Shown(o); shown != nil && u.Unseen {
		u.Counted = max(0, shown.Users-len(u.Users))
	}
	return u
}

// PauseOf returns why the controller of a finalizer leaves it on an object, as far as that is known. See
// finalizer.PauseOf.
func (s *Assessment) PauseOf(o *object.Object, facts *object.OutsideFacts, name string) finalizer.Pause {
	if p := s.boundObjects().PauseOf(o, facts, name); p.Why != "" {
		return p
	}
	if p := s.hookOf(o, name); p.Why != "" {
		return p
	}
	return s.drainOf(o, name)
}

func (s *Assessment) boundObjects() *finalizer.Bindings {
	if s.bindings == nil {
		s.bindings = finalizer.NewBindings(s.snap)
	}
	return s.bindings
}

// usersOf returns the objects of a kind that may use an object. A PVC that has a volume needs its source no longer.
func (s *Assessment) usersOf(kind schema.GroupKind, o *object.Object) []*object.Object {
	if kind != object.PVC.GroupKind {
		return s.objectsOf(kind)
	}
	if s.unboundClaims == nil {
		s.unboundClaims = map[string][]*object.Object{}
		bound := map[types.UID]bool{}
		for _, volume := range s.objectsOf(object.PV.GroupKind) {
			if v := volume.Volume(); v != nil {
				bound[v.ClaimUID] = true
			}
		}
		for _, claim := range s.objectsOf(kind) {
			if !bound[claim.UID] {
				s.unboundClaims[claim.Namespace] = append(s.unboundClaims[claim.Namespace], claim)
			}
		}
	}
	return s.unboundClaims[o.Namespace]
}

// objectsOf returns the objects of a kind.
func (s *Assessment) objectsOf(kind schema.GroupKind) []*object.Object {
	if s.objectsByKind == nil {
		s.objectsByKind = map[schema.GroupKind][]*object.Object{}
		for _, o := range s.snap.Objects {
			k := o.GroupKind()
			s.objectsByKind[k] = append(s.objectsByKind[k], o)
		}
	}
	return s.objectsByKind[kind]
}

// The kinds of objects that name, in their spec, objects that a finalizer protects while in use.
var (
	gateway      = object.Resource{Group: "gateway.networking.k8s.io", Version: "v1", Name: "gateways", Kind: "Gateway", Namespaced: true}
	clusterQueue = object.Resource{Group: "kueue.x-k8s.io", Version: "v1beta1", Name: "clusterqueues", Kind: "ClusterQueue"}
	nodeClaim    = object.Resource{Group: "karpenter.sh", Version: "v1", Name: "nodeclaims", Kind: "NodeClaim"}
)

// Consumer is an object that uses others by their names: a Gateway its class, a ClusterQueue its flavors,
// an Application its project, a NodeClaim its node class.
type Consumer struct {
	Ref object.Ref `json:"-"`
	// Kind is the kind of the used objects, and Group their API group if it is not that of the
	// consumer. Uses are their names, sorted.
	Kind  string   `json:"kind"`
	Group string   `json:"group,omitzero"`
	Uses  []string `json:"uses,omitempty"`
	// Bounded is true for a NodeClaim whose drain ends after its spec.terminationGracePeriod.
	Bounded bool `json:"bounded,omitzero"`
}

// gatewayBody has the fields that are read from a Gateway.
type gatewayBody struct {
	Spec struct {
		Class string `json:"gatewayClassName"`
	} `json:"spec"`
}

func (s *Shown) takeGateway(b *body, d *gatewayBody) {
	if d.Spec.Class != "" { // the field is required: if it is missing, only metadata was read
		s.Consumers = append(s.Consumers, Consumer{Ref: b.ref(), Kind: "GatewayClass", Uses: []string{d.Spec.Class}})
	}
}

// queueBody has the fields that are read from a ClusterQueue.
type queueBody struct {
	Spec struct {
		Groups []struct {
			Flavors []struct {
				Name string `json:"name"`
			} `json:"flavors"`
		} `json:"resourceGroups"`
	} `json:"spec"`
}

func (s *Shown) takeQueue(b *body, d *queueBody) {
	c := Consumer{Ref: b.ref(), Kind: "ResourceFlavor"}
	for _, g := range d.Spec.Groups {
		for _, f := range g.Flavors {
			c.Uses = append(c.Uses, f.Name)
		}
	}
	c.Uses = sortedUnique(c.Uses)
	s.Consumers = append(s.Consumers, c)
}

// applicationBody has the fields that are read from an Application of Argo CD.
type applicationBody struct {
	Spec *struct {
		Project string `json:"project"`
	} `json:"spec"`
}

// takeApplication adds the project of an Application.
//
// Source: argo-cd, pkg/apis/application/v1alpha1/types.go ApplicationSpec.GetProject.
func (s *Shown) takeApplication(b *body, d *applicationBody) {
	if d.Spec != nil { // otherwise only metadata was read
		s.Consumers = append(s.Consumers, Consumer{Ref: b.ref(), Kind: "AppProject", Uses: []string{cmp.Or(d.Spec.Project, "default")}})
	}
}

// nodeClaimBody has the fields that are read from a NodeClaim of Karpenter.
type nodeClaimBody struct {
	Spec struct {
		Class struct {
			Group string `json:"group"`
			Kind  string `json:"kind"`
			Name  string `json:"name"`
		} `json:"nodeClassRef"`
		GracePeriod string `json:"terminationGracePeriod"`
	} `json:"spec"`
}

// takeNodeClaim adds the node class of a NodeClaim. Karpenter looks only at its name, which is required.
//
// Source: karpenter-provider-aws, pkg/controllers/nodeclass/controller.go Finalize.
func (s *Shown) takeNodeClaim(b *body, d *nodeClaimBody) {
	if c := d.Spec.Class; c.Name != "" {
		s.Consumers = append(s.Consumers, Consumer{Ref: b.ref(), Kind: c.Kind, Group: c.Group, Uses: []string{c.Name}, Bounded: d.Spec.GracePeriod != ""})
	}
}

// uses reports whether an object uses another one. known is false if that was not read.
func (s *Assessment) uses(user, o *object.Object) (yes, known bool) {
	c := s.consumers[user.Ref]
	if c == nil || c.Kind != o.Kind || cmp.Or(c.Group, user.Group()) != o.Group() {
		return false, false
	}
	return slices.Contains(c.Uses, o.Name), true
}

// refersTo reports whether a field of an object refers to another one, by the table of package uses. known is
// false if that has no such field, or if it was not read.
func (s *Assessment) refersTo(user, o *object.Object) (yes, known bool) {
	list := s.Referrers()
	at, found := slices.BinarySearchFunc(list, user.Ref, func(r Referrer, ref object.Ref) int { return object.Compare(r.Ref, ref) })
	if found && slices.ContainsFunc(list[at].References, func(r uses.Reference) bool { return r.Target() == o.Coordinates() }) {
		return true, true
	}
	rules := uses.Users(o.GroupKind())
	i := slices.IndexFunc(rules, func(r *uses.Rule) bool { return r.User.GroupKind == user.GroupKind() })
	if i < 0 || s.evidence.withoutReferences[PartOfKind(rules[i].User)] {
		return false, false
	}
	return false, s.evidence.CompletenessOf(PartOfKind(rules[i].User), user.Namespace).Whole
}
