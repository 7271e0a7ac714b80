package object

// Facts are what a kind adds to the metadata: what the deletion of its objects depends
// on, in the words of a stored snapshot. Those of each kind are in a file of their own.
type Facts interface {
	// Share replaces strings that repeat over many objects by what text returns for them.
	Share(text func(string) string)
	// equal takes nil and empty lists for the same.
	equal(Facts) bool
	store(*StoredFacts)
}

// StoredFacts are the facts of an object as a file has them: one of them, or none.
type StoredFacts struct {
	Pod            *PodFacts            `json:"pod,omitzero"`
	Namespace      *NamespaceFacts      `json:"ns,omitzero"`
	CRD            *CRDFacts            `json:"crd,omitzero"`
	Job            *JobFacts            `json:"job,omitzero"`
	PV             *PVFacts             `json:"pv,omitzero"`
	ResourceClaim  *ResourceClaimFacts  `json:"rc,omitzero"`
	ServiceCIDR    *ServiceCIDRFacts    `json:"cidr,omitzero"`
	IPAddress      *IPAddressFacts      `json:"ip,omitzero"`
	Token          *Token               `json:"token,omitzero"`
	StatefulSet    *StatefulSetFacts    `json:"sts,omitzero"`
	ServiceAccount *ServiceAccountFacts `json:"sa,omitzero"`
	ClusterRole    *ClusterRoleFacts    `json:"role,omitzero"`
}

// StoredFactsOf are the facts of an object as a file has them.
func StoredFactsOf(o *Object) StoredFacts {
	var s StoredFacts
	if f := o.Facts(); f != nil {
		f.store(&s)
	}
	return s
}

// Facts are those that were stored; nil for none.
func (s *StoredFacts) Facts() Facts {
	switch {
	case s.Pod != nil:
		return s.Pod
	case s.Namespace != nil:
		return s.Namespace
	case s.CRD != nil:
		return s.CRD
	case s.Job != nil:
		return s.Job
	case s.PV != nil:
		return s.PV
	case s.ResourceClaim != nil:
		return s.ResourceClaim
	case s.ServiceCIDR != nil:
		return s.ServiceCIDR
	case s.IPAddress != nil:
		return s.IPAddress
	case s.Token != nil:
		return s.Token
	case s.StatefulSet != nil:
		return s.StatefulSet
	case s.ServiceAccount != nil:
		return s.ServiceAccount
	case s.ClusterRole != nil:
		return s.ClusterRole
	}
	return nil
}

// Facts are what the kind of the object adds; nil for a kind that adds nothing, and where
// the dump did not show it.
func (o *Object) Facts() Facts { return o.lifecycle().Facts }

func equalFacts(a, b Facts) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.equal(b)
}
