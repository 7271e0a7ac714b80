package impact

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// holders returns the objects that may keep a claim, a volume or a range of addresses by using it,
// and the objects that show whether it is used. Pods with unknown volumes may use any claim of their
// namespace. They are listed only for the first claim of it, which told records. (spec §7.1)
func (m *Map) holders(o *object.Object, told map[string]bool) []*object.Object {
	switch {
	case o.Is(object.PVC):
		if told[o.Namespace] {
			return m.users()[place{o.Namespace, o.Name}]
		}
		told[o.Namespace] = true
		return slices.Concat(m.users()[place{o.Namespace, o.Name}], m.users()[hidden(o.Namespace)])
	case o.Volume() != nil:
		return m.claimOf(o)
	case o.ResourceClaim() != nil:
		var pods []*object.Object
		for _, r := range o.ResourceClaim().Reserved {
			pods = append(pods, m.find(object.Pod, o.Namespace, r.Name)...)
		}
		return pods
	case o.Is(object.ServiceCIDR):
		return slices.Concat(m.uses().ranges, m.uses().addresses, m.uses().owed)
	}
	return nil
}

// held returns the claims, volumes and ranges that an object may keep by using them. A pod with
// unknown volumes may use every claim of its namespace. These are listed only for the first such pod,
// which asked records, so that many pods do not list many claims each.
func (m *Map) held(o *object.Object, asked map[string]bool) []*object.Object {
	switch {
	case o.Is(object.Pod):
		if hides(o) {
			if asked[o.Namespace] {
				return m.uses().reserved[place{o.Namespace, o.Name}]
			}
			asked[o.Namespace] = true
		}
		return append(m.claimsOf(o), m.uses().reserved[place{o.Namespace, o.Name}]...)
	case o.Is(object.PVC):
		return m.uses().volumes[place{o.Namespace, o.Name}]
	case o.Is(object.ServiceCIDR), isAddress(o), o.Is(object.Service) && len(m.uses().owed) > 0:
		return m.uses().ranges
	}
	return nil
}

// hides reports whether the volumes of a pod are unknown.
func hides(pod *object.Object) bool {
	facts := pod.Pod()
	return facts == nil || !facts.VolumesKnown
}

// claimsOf returns the claims that a pod may use.
func (m *Map) claimsOf(pod *object.Object) []*object.Object {
	if hides(pod) {
		return slices.Clip(m.uses().claims[pod.Namespace])
	}
	var found []*object.Object
	for _, c := range pod.Pod().Claims {
		found = append(found, m.claim(pod.Namespace, c.Name)...)
	}
	return found
}

// claimOf returns the claim of a volume, as a slice of zero or one element.
func (m *Map) claimOf(volume *object.Object) []*object.Object {
	facts := volume.Volume()
	if facts.ClaimName == "" {
		return nil
	}
	return m.claim(facts.ClaimNamespace, facts.ClaimName)
}

// claim returns the claim with this name, as a slice of zero or one element.
func (m *Map) claim(namespace, name string) []*object.Object {
	if o := m.uses().named[place{namespace, name}]; o != nil {
		return []*object.Object{o}
	}
	return nil
}
