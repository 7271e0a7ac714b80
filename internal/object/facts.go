package object

// Facts are the fields of a kind, besides metadata, that the deletion of its objects depends on.
// Their JSON is that of a stored snapshot.
type Facts interface {
	// Share replaces strings that repeat over many objects by text(s), for interning.
	Share(text func(string) string)
	// equal treats nil and empty lists as equal.
	equal(Facts) bool
	store(*StoredFacts)
}

// StoredFacts are the facts of an object in a file. At most one field is set.
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

// StoredFactsOf returns the facts of an object as stored in a file.
func StoredFactsOf(o *Object) StoredFacts {
	var s StoredFacts
	if f := o.Facts(); f != nil {
		f.store(&s)
	}
	return s
}

// Facts returns the stored facts, nil if there are none.
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

// Facts returns the facts of the object; nil for a kind without facts, or if the dump lacks them.
func (o *Object) Facts() Facts { return o.lifecycle().Facts }

func equalFacts(a, b Facts) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.equal(b)
}
