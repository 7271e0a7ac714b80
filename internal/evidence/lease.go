package evidence

// Lease is the leader election lock of a controller, or the heartbeat of a node.
type Lease struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Holder    string `json:"holder,omitzero"`
	// Renewed is the time of the last renewal, in seconds since 1970. 0 if unknown. The lease
	// expires Duration seconds later.
	Renewed  int64 `json:"renewed,omitzero"`
	Duration int64 `json:"duration,omitzero"`
}

// leaseBody has the fields that are read from a Lease.
type leaseBody struct {
	Spec struct {
		Holder   string `json:"holderIdentity"`
		Renewed  stamp  `json:"renewTime"`
		Duration int64  `json:"leaseDurationSeconds"`
	} `json:"spec"`
}

func (s *Shown) takeLease(b *body, raw []byte) error {
	var d leaseBody
	if err := decode(raw, &d); err != nil {
		return err
	}
	s.Leases = append(s.Leases, Lease{b.Metadata.Namespace, b.Metadata.Name, d.Spec.Holder, d.Spec.Renewed.seconds, d.Spec.Duration})
	return nil
}
