package impact

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
	case isAddress(o):
		u.addresses = append(u.addresses, o)
	}
}
