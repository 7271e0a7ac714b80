package snapshot

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// take fills s with an object as it stands in a file, reusing the list of owners.
func (s *storedObject) take(o *object.Object, typeIndex int) {
	owners := s.Owners[:0]
	for _, owner := range o.Owners {
		owners = append(owners, storedOwner(owner))
	}
	*s = storedObject{
		Type: typeIndex, Namespace: o.Namespace, Name: o.Name, UID: o.UID,
		ResourceVersion: o.ResourceVersion, Owners: owners, Labels: o.Labels, Created: o.Created, Generation: o.Generation,
		Finalizers: o.Finalizers(), DeletionTimestamp: o.DeletionTimestamp(), GracePeriod: o.GracePeriod(),
		Protection: o.Protection(), Revision: o.Revision(),
	}
	if p := o.Pod(); p != nil {
		s.Pod = storedPodOf(p)
	}
	if n := o.NamespaceFacts(); n != nil {
		namespace := storedNamespace(*n)
		s.NamespaceFacts = &namespace
	}
	if d := o.Definition(); d != nil {
		s.Definition = storedDefinitionOf(d)
	}
	if j := o.Job(); j != nil {
		job := storedJob(*j)
		s.Job = &job
	}
	if v := o.Volume(); v != nil {
		volume := storedVolume(*v)
		s.Volume = &volume
	}
	if c := o.ResourceClaim(); c != nil {
		s.ResourceClaim = &storedResourceClaim{}
		for _, r := range c.Reserved {
			s.ResourceClaim.Reserved = append(s.ResourceClaim.Reserved, storedReservation(r))
		}
	}
	if c := o.ServiceCIDR(); c != nil {
		s.ServiceCIDR = &storedServiceCIDR{CIDRs: c.CIDRs}
	}
	if a := o.IPAddress(); a != nil {
		address := storedIPAddress(*a)
		s.IPAddress = &address
	}
	if x := o.Token(); x != nil {
		token := storedToken(*x)
		s.Token = &token
	}
	if x := o.StatefulSet(); x != nil {
		s.StatefulSet = &storedStatefulSet{ClaimTemplates: x.ClaimTemplates}
	}
}

func storedPodOf(p *object.PodFacts) *storedPod {
	s := &storedPod{
		NodeName: p.NodeName, Phase: p.Phase, TerminationGracePeriod: p.TerminationGracePeriod, Mirror: p.Mirror,
		VolumesKnown: p.VolumesKnown,
	}
	for _, c := range p.Claims {
		s.Claims = append(s.Claims, storedClaim(c))
	}
	return s
}

// pod is the facts that were stored, their repeated strings shared.
func (s *storedPod) pod(intern *manifest.Interner) *object.PodFacts {
	p := &object.PodFacts{
		NodeName: intern.String(s.NodeName), Phase: intern.String(s.Phase),
		TerminationGracePeriod: s.TerminationGracePeriod, Mirror: s.Mirror, VolumesKnown: s.VolumesKnown,
	}
	for _, c := range s.Claims {
		p.Claims = append(p.Claims, object.Claim(c))
	}
	return p
}

func storedDefinitionOf(d *object.CRDFacts) *storedDefinition {
	s := &storedDefinition{
		Group: d.Group, Kind: d.Kind, Plural: d.Plural, Singular: d.Singular,
		ShortNames: d.ShortNames, Categories: d.Categories, Namespaced: d.Namespaced,
		Established: d.Established, Terminating: d.Terminating, Stored: d.Stored,
	}
	for _, v := range d.Versions {
		s.Versions = append(s.Versions, storedDefinitionVersion(v))
	}
	return s
}

// object is the object that was stored, its repeated strings shared.
func (s *storedObject) object(t typeName, intern *manifest.Interner) *object.Object {
	o := &object.Object{
		Ref: object.Ref{APIVersion: t.apiVersion, Kind: t.kind,
			Namespace: intern.String(s.Namespace), Name: s.Name, UID: s.UID},
		ResourceVersion: s.ResourceVersion,
		Labels:          object.Labels(intern.String(string(s.Labels))),
		Created:         s.Created, Generation: s.Generation,
	}
	if len(s.Owners) > 0 {
		o.Owners = make([]object.OwnerReference, len(s.Owners))
	}
	for i, owner := range s.Owners {
		owner.APIVersion, owner.Kind = intern.String(owner.APIVersion), intern.String(owner.Kind)
		owner.Name, owner.UID = intern.String(owner.Name), types.UID(intern.String(string(owner.UID)))
		o.Owners[i] = object.OwnerReference(owner)
	}
	o.Rare = s.rare(intern)
	return o
}

func (s *storedObject) rare(intern *manifest.Interner) *object.Rare {
	if len(s.Finalizers) == 0 && s.DeletionTimestamp == 0 && s.GracePeriod == nil && s.Protection == 0 &&
		s.Revision == 0 && s.Pod == nil && s.NamespaceFacts == nil && s.Definition == nil && s.Job == nil && s.Volume == nil &&
		s.ResourceClaim == nil && s.ServiceCIDR == nil && s.IPAddress == nil && s.Token == nil && s.StatefulSet == nil {
		return nil
	}
	rare := &object.Rare{
		DeletionTimestamp: s.DeletionTimestamp, GracePeriod: s.GracePeriod, Finalizers: s.Finalizers, Protection: s.Protection,
		Revision: s.Revision, Seldom: s.seldom(intern),
	}
	for i, f := range rare.Finalizers {
		rare.Finalizers[i] = intern.String(f)
	}
	if s.Pod != nil {
		rare.Pod = s.Pod.pod(intern)
	}
	if s.Job != nil {
		job := object.JobFacts(*s.Job)
		rare.Job = &job
	}
	if s.Volume != nil {
		volume := object.PVFacts(*s.Volume)
		rare.Volume = &volume
	}
	if s.NamespaceFacts != nil {
		namespace := object.NamespaceFacts(*s.NamespaceFacts)
		rare.Namespace = &namespace
	}
	if d := s.Definition; d != nil {
		rare.Definition = &object.CRDFacts{
			Group: d.Group, Kind: d.Kind, Plural: d.Plural, Singular: d.Singular,
			ShortNames: d.ShortNames, Categories: d.Categories, Namespaced: d.Namespaced,
			Established: d.Established, Terminating: d.Terminating, Stored: d.Stored,
		}
		for _, v := range d.Versions {
			rare.Definition.Versions = append(rare.Definition.Versions, object.CRDVersion(v))
		}
	}
	return rare
}

func (s *storedObject) seldom(intern *manifest.Interner) *object.Seldom {
	switch {
	case s.ResourceClaim != nil:
		claim := &object.ResourceClaimFacts{}
		for _, r := range s.ResourceClaim.Reserved {
			r.Group, r.Resource = intern.String(r.Group), intern.String(r.Resource)
			claim.Reserved = append(claim.Reserved, object.Reservation(r))
		}
		return &object.Seldom{ResourceClaim: claim}
	case s.ServiceCIDR != nil:
		return &object.Seldom{ServiceCIDR: &object.ServiceCIDRFacts{CIDRs: s.ServiceCIDR.CIDRs}}
	case s.IPAddress != nil:
		a := *s.IPAddress
		a.Group, a.Resource, a.Namespace = intern.String(a.Group), intern.String(a.Resource), intern.String(a.Namespace)
		address := object.IPAddressFacts(a)
		return &object.Seldom{IPAddress: &address}
	case s.Token != nil:
		token := object.Token(*s.Token)
		return &object.Seldom{Token: &token}
	case s.StatefulSet != nil:
		set := &object.StatefulSetFacts{}
		for _, name := range s.StatefulSet.ClaimTemplates {
			set.ClaimTemplates = append(set.ClaimTemplates, intern.String(name))
		}
		return &object.Seldom{StatefulSet: set}
	default:
		return nil
	}
}
