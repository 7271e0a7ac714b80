package reach

import (
	"iter"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// uses indexes which objects use which.
type uses struct {
	// claims has the claims of each namespace, and named each claim by its place. volumes has the
	// volumes of a claim.
	claims  map[string][]*object.Object
	named   map[place]*object.Object
	volumes map[place][]*object.Object
	// reserved has the device claims that each pod reserves. ranges has the ServiceCIDRs, addresses
	// the addresses of Services. owed has all Services if an address does not show its Service.
	reserved                map[place][]*object.Object
	ranges, addresses, owed []*object.Object
}

// place is the namespace and name of an object, among those of its kind.
type place struct{ namespace, name string }

// hidden is the key in users for the pods of a namespace with unknown volumes. No claim has an empty
// name.
func hidden(namespace string) place { return place{namespace, ""} }

// uses returns the index of the snapshot, computed on first use: only deletes that reach a pod,
// claim, volume or address need it.
func (m *Map) uses() *uses {
	if m.usage != nil {
		return m.usage
	}
	u := &uses{
		claims: map[string][]*object.Object{}, named: map[place]*object.Object{}, volumes: map[place][]*object.Object{}, reserved: map[place][]*object.Object{},
	}
	m.usage = u
	var services []*object.Object
	for same := range m.snap.ByKind() {
		switch of := same[0]; {
		case of.Is(object.Service):
			services = append(services, same...)
		case of.Is(object.PVC):
			for _, o := range same {
				u.claims[o.Namespace] = append(u.claims[o.Namespace], o)
				u.named[place{o.Namespace, o.Name}] = o
			}
		case of.Is(object.PV), of.Is(object.ResourceClaim), of.Is(object.ServiceCIDR), of.Is(object.IPAddress):
			for _, o := range same {
				u.enter(o)
			}
		}
	}
	unclaimed := func(o *object.Object) bool { return o.IPAddress() == nil }
	if len(u.ranges) > 0 && slices.ContainsFunc(u.addresses, unclaimed) {
		u.owed = services // the address may be deleted with any of them
	}
	return u
}

// users returns the pods that use a claim, by its place. It is separate from uses because there are
// many pods.
func (m *Map) users() map[place][]*object.Object {
	if m.usersOfClaims != nil {
		return m.usersOfClaims
	}
	m.usersOfClaims = map[place][]*object.Object{}
	for o := range m.pods() {
		if hides(o) {
			m.usersOfClaims[hidden(o.Namespace)] = append(m.usersOfClaims[hidden(o.Namespace)], o)
		}
		if facts := o.Pod(); facts != nil {
			for _, c := range facts.Claims {
				claim := place{o.Namespace, c.Name}
				m.usersOfClaims[claim] = append(m.usersOfClaims[claim], o)
			}
		}
	}
	return m.usersOfClaims
}

// on returns the pods on a node. The index is computed on first use.
func (m *Map) on(node string) []*object.Object {
	if m.podsOnNodes == nil {
		m.podsOnNodes = map[string][]*object.Object{}
		for o := range m.pods() {
			if facts := o.Pod(); facts != nil && facts.NodeName != "" {
				m.podsOnNodes[facts.NodeName] = append(m.podsOnNodes[facts.NodeName], o)
			}
		}
	}
	return m.podsOnNodes[node]
}

// pods iterates over the pods of the snapshot.
func (m *Map) pods() iter.Seq[*object.Object] {
	return func(yield func(*object.Object) bool) {
		for same := range m.snap.ByKind() {
			if !same[0].Is(object.Pod) {
				continue
			}
			for _, o := range same {
				if !yield(o) {
					return
				}
			}
		}
	}
}

// enter indexes a volume, a device claim, a ServiceCIDR or an address.
func (u *uses) enter(o *object.Object) {
	switch {
	case o.Volume() != nil && o.Volume().ClaimName != "":
		claim := place{o.Volume().ClaimNamespace, o.Volume().ClaimName}
		u.volumes[claim] = append(u.volumes[claim], o)
	case o.ResourceClaim() != nil:
		for _, r := range o.ResourceClaim().Reserved {
			pod := place{o.Namespace, r.Name}
			u.reserved[pod] = append(u.reserved[pod], o)
		}
	case o.Is(object.ServiceCIDR):
		u.ranges = append(u.ranges, o)
	case o.IsServiceAddress():
		u.addresses = append(u.addresses, o)
	}
}

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
	case o.Is(object.ServiceCIDR), o.IsServiceAddress(), o.Is(object.Service) && len(m.uses().owed) > 0:
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
