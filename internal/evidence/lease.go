package evidence

// Lease is the lock by which the copies of a controller agree on who works, or by
// which a node says that it lives.
type Lease struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Holder    string `json:"holder,omitzero"`
	// Renewed is when the holder showed itself last, in seconds since 1970; 0 when not
	// shown. The lease ends Duration seconds later.
	Renewed  int64 `json:"renewed,omitzero"`
	Duration int64 `json:"duration,omitzero"`
}

// leaseBody is what is read of a Lease.
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
