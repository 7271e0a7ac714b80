package diagnose

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"k8s.io/apimachinery/pkg/types"
)

// reference adds a finding for what the engine found out about one owner reference.
//
// It covers every check of kubectl-check-ownerreferences: the owner exists by
// uid, kind, group and name match, the namespace is legal, the apiVersion
// resolves, and no cluster-scoped object has a namespaced owner.
func (c *checker) reference(o *object.Object, f *engine.OwnerFact) {
	switch f.Evidence {
	case engine.Found, engine.FoundWaiting, engine.FoundHeld:
		c.exposed(o, f)
	case engine.Absent, engine.NotServed, engine.OtherUID, engine.Remembered:
		c.absent(o, f)
	case engine.NeedsNamespace:
		c.add(reason.OwnerNamespaced, o, f.Ref, "a cluster-scoped object cannot have a namespaced owner", "")
	case engine.KindNotServed:
		c.unresolved(o, f)
	default:
		c.unknown(o)
		c.add(reason.OwnerNotCovered, o, f.Ref, "unknown whether the owner exists", object.WhyUncovered(f.Err))
	}
}

// exposed handles owners that exist. Nothing is wrong with them today.
func (c *checker) exposed(o *object.Object, f *engine.OwnerFact) {
	r, err := c.world.Resource(f.Reference.APIVersion, f.Reference.Kind)
	if err != nil {
		return
	}
	if r.Kind != f.Reference.Kind {
		c.add(reason.OwnerKindCase, o, f.Ref, fmt.Sprintf("the kind is %q, written as %q", r.Kind, f.Reference.Kind), "")
	}
	if p, ok := c.Snapshot.Resources.Preferred(r.GroupResource()); ok && p.Version != r.Version && f.Reference.APIVersion != "" {
		c.add(reason.OwnerVersionNotPreferred, o, f.Ref, fmt.Sprintf("the reference names %s, the preferred version is %s", r.APIVersion(), p.APIVersion()), "")
	}
}

// absent handles owners that the collector takes for absent. If the uid exists under other
// coordinates, the reference is wrong and the owner is not gone.
func (c *checker) absent(o *object.Object, f *engine.OwnerFact) {
	ref := f.Reference
	if f.Evidence == engine.NotServed {
		c.add(reason.OwnerKindNotServed, o, f.Ref, fmt.Sprintf("nothing serves the kind %q", ref.Kind), "")
		return
	}
	if actual, ok := c.observed(ref.UID); ok {
		c.elsewhere(o, f, actual)
		return
	}
	if f.Evidence == engine.OtherUID {
		c.add(reason.OwnerUIDMismatch, o, f.Ref, fmt.Sprintf("%s exists with another uid, %s", f.Ref.ShortName(), f.Live.UID), "")
		return
	}
	c.add(reason.OwnerNotFound, o, f.Ref, f.Ref.ShortName()+" does not exist", "")
}

func (c *checker) elsewhere(o *object.Object, f *engine.OwnerFact, actual object.Ref) {
	ref := f.Reference
	evidence := "the uid belongs to " + actual.FullName()
	switch {
	case !strings.EqualFold(ref.Kind, actual.Kind) || object.GroupOf(ref.APIVersion) != actual.Group():
		c.add(reason.OwnerKindMismatch, o, f.Ref, fmt.Sprintf("the uid belongs to a %s, not a %s", actual.Kind, ref.Kind), evidence)
	case ref.Name != actual.Name:
		c.add(reason.OwnerNameMismatch, o, f.Ref, fmt.Sprintf("the uid belongs to %q, not %q", actual.Name, ref.Name), evidence)
	case actual.Namespace != f.Ref.Namespace:
		c.add(reason.OwnerNamespaceMismatch, o, f.Ref, fmt.Sprintf("the owner is in namespace %q, not %q", actual.Namespace, f.Ref.Namespace), evidence)
	default:
		c.add(reason.OwnerUIDMismatch, o, f.Ref, f.Ref.ShortName()+" exists with another uid", evidence)
	}
}

// unresolved handles kinds that do not map: the collector keeps the object forever. If the uid is
// known, the owner has another version, group or kind.
func (c *checker) unresolved(o *object.Object, f *engine.OwnerFact) {
	ref := f.Reference
	if !c.Snapshot.Unserves(ref.APIVersion, ref.Kind) {
		c.kindNotCovered(o, f)
		return
	}
	if actual, ok := c.observed(ref.UID); ok {
		evidence := "the uid belongs to " + actual.FullName()
		if ref.Kind == actual.Kind {
			c.add(reason.OwnerVersionNotServed, o, f.Ref, fmt.Sprintf("%s is not served, the owner is %s", ref.APIVersion, actual.APIVersion), "")
			return
		}
		c.add(reason.OwnerKindUnknown, o, f.Ref, fmt.Sprintf("no resource is served for %s %s; the uid belongs to a %s", ref.APIVersion, ref.Kind, actual.Kind), evidence)
		return
	}
	for _, r := range c.Snapshot.Resources.All() {
		if r.Group == object.GroupOf(ref.APIVersion) && r.Kind == ref.Kind {
			c.add(reason.OwnerVersionNotServed, o, f.Ref, fmt.Sprintf("%s is not served; %s is", ref.APIVersion, r.APIVersion()), "")
			return
		}
	}
	c.add(reason.OwnerKindUnknown, o, f.Ref, fmt.Sprintf("no resource is served for %s %s", ref.APIVersion, ref.Kind), "")
}

// kindNotCovered handles a kind that does not map in a snapshot with unknown kinds: the cluster may
// serve it.
func (c *checker) kindNotCovered(o *object.Object, f *engine.OwnerFact) {
	evidence := ""
	if actual, ok := c.observed(f.Reference.UID); ok {
		evidence = "the uid belongs to " + actual.FullName()
	}
	c.unknown(o)
	c.add(reason.OwnerNotCovered, o, f.Ref,
		fmt.Sprintf("unknown whether %s %s is served", f.Reference.APIVersion, f.Reference.Kind), evidence)
}

// observed returns the object with a uid; false if there is none.
func (c *checker) observed(uid types.UID) (object.Ref, bool) {
	g := c.collector.Graph()
	id, ok := g.Find(uid)
	if !ok || g.Virtual(id) {
		return object.Ref{}, false
	}
	return g.Identity(id), true
}

// unknown records that an owner of an object was not seen and may exist.
func (c *checker) unknown(o *object.Object) {
	c.Unseen.Owners(c.Snapshot, o)
	c.Unseen.Doubt()
}
