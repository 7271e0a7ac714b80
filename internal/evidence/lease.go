package evidence

// Lease is the lock by which the copies of a controller agree on who works, or by
// which a node says that it lives.
type Lease struct {
	Namespace, Name string
	Holder          string
	// Renewed is when the holder showed itself last, in seconds since 1970; 0 when not
	// shown. The lease ends Duration seconds later.
	Renewed, Duration int64
}

// leaseBody is what is read of a Lease.
type leaseBody struct {
	Spec struct {
		Holder   string `json:"holderIdentity"`
		Renewed  stamp  `json:"renewTime"`
		Duration int64  `json:"leaseDurationSeconds"`
	} `json:"spec"`
}

func (w *World) takeLease(b *body, raw []byte) error {
	var d leaseBody
	if err := decode(raw, &d); err != nil {
		return err
	}
	w.Leases = append(w.Leases, Lease{b.Metadata.Namespace, b.Metadata.Name, d.Spec.Holder, d.Spec.Renewed.seconds, d.Spec.Duration})
	return nil
}
