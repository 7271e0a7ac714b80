package impact

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// uses are who uses what.
type uses struct {
	// claims are those of a namespace, and named each by its place; volumes are those of a claim.
	claims  map[string][]*object.Object
	named   map[place]*object.Object
	volumes map[place][]*object.Object
	// reserved are the claims of devices by the pods that reserve them. ranges are the
	// ServiceCIDRs, addresses those of Services; owed are the Services, where one of
	// them may have an address that does not say so.
	reserved                map[place][]*object.Object
	ranges, addresses, owed []*object.Object
}

// podUses are what pods use: pods are those on a node, users those that use a claim.
type podUses struct {
	pods  map[string][]*object.Object
	users map[place][]*object.Object
}

// place is where an object is, among those of its kind.
type place struct{ namespace, name string }

// hidden is the claim of the pods of which it is not known what they use. No claim has
// an empty name.
func hidden(namespace string) place { return place{namespace, ""} }

// uses of the snapshot: a delete that comes to no pod, claim, volume or address asks for none.
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
		u.owed = services // with each that goes one of the addresses may
	}
	return u
}

// podUses of the snapshot: there are many pods, and who does not come to what they use from the
// other side asks for none.
func (m *Map) podUses() *podUses {
	if m.usageOfPods != nil {
		return m.usageOfPods
	}
	u := &podUses{pods: map[string][]*object.Object{}, users: map[place][]*object.Object{}}
	m.usageOfPods = u
	for same := range m.snap.ByKind() {
		if same[0].Is(object.Pod) {
			u.enter(same)
		}
	}
	return u
}

func (u *podUses) enter(pods []*object.Object) {
	for _, o := range pods {
		facts := o.Pod()
		if hides(o) {
			u.users[hidden(o.Namespace)] = append(u.users[hidden(o.Namespace)], o)
		}
		if facts == nil {
			continue
		}
		if facts.NodeName != "" {
			u.pods[facts.NodeName] = append(u.pods[facts.NodeName], o)
		}
		for _, c := range facts.Claims {
			claim := place{o.Namespace, c.Name}
			u.users[claim] = append(u.users[claim], o)
		}
	}
}

// enter notes a volume of a claim, and what keeps claims of devices and ranges of addresses.
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
