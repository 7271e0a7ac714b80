package reach

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// uses indexes which objects use which.
type uses struct {
	// volumes has the volumes of a claim.
	volumes map[namespacedName][]*object.Object
	// reserved has the device claims that each pod reserves. addresses has the
	// addresses of Services. anyService has all Services if an address does not show its Service.
	reserved                            map[namespacedName][]*object.Object
	serviceCIDRs, addresses, anyService []*object.Object
}

// namespacedName is the namespace and name of an object, among those of its kind.
type namespacedName struct{ namespace, name string }

// unknownVolumesKey is the key in claimUsers for the pods of a namespace with unknown volumes. No
// claim has an empty name.
func unknownVolumesKey(namespace string) namespacedName { return namespacedName{namespace, ""} }

// uses returns the index of the snapshot, computed on first use: only deletes that reach a pod,
// claim, volume or address need it.
func (m *Map) uses() *uses {
	if m.usageIndex != nil {
		return m.usageIndex
	}
	u := &uses{volumes: map[namespacedName][]*object.Object{}, reserved: map[namespacedName][]*object.Object{}}
	m.usageIndex = u
	for _, kind := range []object.Kind{object.PV, object.ResourceClaim, object.ServiceCIDR, object.IPAddress} {
		for _, o := range m.snap.All(kind.GroupResource()) {
			u.add(o)
		}
	}
	unclaimed := func(o *object.Object) bool { return o.IPAddress() == nil }
	if len(u.serviceCIDRs) > 0 && slices.ContainsFunc(u.addresses, unclaimed) {
		u.anyService = m.snap.All(object.Service.GroupResource()) // the address may be deleted with any of them
	}
	return u
}

// claimUsers returns the pods that use a claim, by its name. It is separate from uses because there
// are many pods.
func (m *Map) claimUsers() map[namespacedName][]*object.Object {
	if m.usersOfClaims != nil {
		return m.usersOfClaims
	}
	m.usersOfClaims = map[namespacedName][]*object.Object{}
	for _, o := range m.snap.All(object.Pod.GroupResource()) {
		if hasUnknownVolumes(o) {
			m.usersOfClaims[unknownVolumesKey(o.Namespace)] = append(m.usersOfClaims[unknownVolumesKey(o.Namespace)], o)
		}
		if facts := o.Pod(); facts != nil {
			for _, c := range facts.Claims {
				claim := namespacedName{o.Namespace, c.Name}
				m.usersOfClaims[claim] = append(m.usersOfClaims[claim], o)
			}
		}
	}
	return m.usersOfClaims
}

// podsOn returns the pods on a node. The index is computed on first use.
func (m *Map) podsOn(node string) []*object.Object {
	if m.podsOnNodes == nil {
		m.podsOnNodes = map[string][]*object.Object{}
		for _, o := range m.snap.All(object.Pod.GroupResource()) {
			if facts := o.Pod(); facts != nil && facts.NodeName != "" {
				m.podsOnNodes[facts.NodeName] = append(m.podsOnNodes[facts.NodeName], o)
			}
		}
	}
	return m.podsOnNodes[node]
}

// add indexes a volume, a device claim, a ServiceCIDR or an address.
func (u *uses) add(o *object.Object) {
	switch {
	case o.Volume() != nil && o.Volume().ClaimName != "":
		claim := namespacedName{o.Volume().ClaimNamespace, o.Volume().ClaimName}
		u.volumes[claim] = append(u.volumes[claim], o)
	case o.ResourceClaim() != nil:
		for _, r := range o.ResourceClaim().Reserved {
			pod := namespacedName{o.Namespace, r.Name}
			u.reserved[pod] = append(u.reserved[pod], o)
		}
	case o.Is(object.ServiceCIDR):
		u.serviceCIDRs = append(u.serviceCIDRs, o)
	case o.IsServiceAddress():
		u.addresses = append(u.addresses, o)
	}
}

// holdersOf returns the objects that may keep a claim, a volume or a range of addresses by using
// it, and the objects that show whether it is used. Pods with unknown volumes may use any claim of
// their namespace. They are listed only for the first claim of it, which told records. (spec §7.1)
func (m *Map) holdersOf(o *object.Object, told map[string]bool) []*object.Object {
	switch {
	case o.Is(object.PVC):
		if told[o.Namespace] {
			return m.claimUsers()[namespacedName{o.Namespace, o.Name}]
		}
		told[o.Namespace] = true
		return slices.Concat(m.claimUsers()[namespacedName{o.Namespace, o.Name}], m.claimUsers()[unknownVolumesKey(o.Namespace)])
	case o.Volume() != nil:
		return m.claimOf(o)
	case o.ResourceClaim() != nil:
		var pods []*object.Object
		for _, r := range o.ResourceClaim().Reserved {
			pods = append(pods, m.find(object.Pod, o.Namespace, r.Name)...)
		}
		return pods
	case o.Is(object.ServiceCIDR):
		return slices.Concat(m.uses().serviceCIDRs, m.uses().addresses, m.uses().anyService)
	}
	return nil
}

// heldBy returns the claims, volumes and ranges that an object may keep by using them. A pod with
// unknown volumes may use every claim of its namespace. These are listed only for the first such
// pod, which asked records, so that many pods do not list many claims each.
func (m *Map) heldBy(o *object.Object, asked map[string]bool) []*object.Object {
	switch {
	case o.Is(object.Pod):
		if hasUnknownVolumes(o) {
			if asked[o.Namespace] {
				return m.uses().reserved[namespacedName{o.Namespace, o.Name}]
			}
			asked[o.Namespace] = true
		}
		return append(m.claimsOf(o), m.uses().reserved[namespacedName{o.Namespace, o.Name}]...)
	case o.Is(object.PVC):
		return m.uses().volumes[namespacedName{o.Namespace, o.Name}]
	case o.Is(object.ServiceCIDR), o.IsServiceAddress(), o.Is(object.Service) && len(m.uses().anyService) > 0:
		return m.uses().serviceCIDRs
	}
	return nil
}

// hasUnknownVolumes reports whether the volumes of a pod are unknown.
func hasUnknownVolumes(pod *object.Object) bool {
	facts := pod.Pod()
	return facts == nil || !facts.VolumesKnown
}

// claimsOf returns the claims that a pod may use.
func (m *Map) claimsOf(pod *object.Object) []*object.Object {
	if hasUnknownVolumes(pod) {
		return slices.Clip(m.snap.In(object.PVC.GroupResource(), pod.Namespace))
	}
	var found []*object.Object
	for _, c := range pod.Pod().Claims {
		found = append(found, m.find(object.PVC, pod.Namespace, c.Name)...)
	}
	return found
}

// claimOf returns the claim of a volume, as a slice of zero or one element.
func (m *Map) claimOf(volume *object.Object) []*object.Object {
	facts := volume.Volume()
	if facts.ClaimName == "" {
		return nil
	}
	return m.find(object.PVC, facts.ClaimNamespace, facts.ClaimName)
}
