package report

// Data says what data the objects of a kind hold.
type Data string

// The kinds of data.
const (
	// VolumeData: claims and volumes, with the storage behind them.
	VolumeData Data = "Volume"
	// SecretData: Secrets.
	SecretData Data = "Secret"
	// CustomData: custom resources. Their operator may keep data for them.
	CustomData Data = "CustomResource"
)

// Storage is the outcome of the storage behind a PVC or volume that is deleted or may be, or behind
// a PVC that a deleted StatefulSet leaves.
type Storage struct {
	// Claim is the PVC. Volume is the volume that is bound to it, or a volume without a PVC.
	Claim  *Ref `json:"claim,omitempty"`
	Volume *Ref `json:"volume,omitempty"`
	// ReclaimPolicy is that of the volume: Delete, Retain or Recycle. It is empty if it is unknown.
	ReclaimPolicy string `json:"reclaimPolicy,omitempty"`
	// Outcome is the outcome of the storage by the reclaim policy once PVC and volume are gone:
	// Deleted, Kept or Unknown.
	Outcome Outcome `json:"outcome"`
	Message string  `json:"message"`
}

// Of returns the PVC, or the volume if there is none.
func (s Storage) Of() Ref {
	switch {
	case s.Claim != nil:
		return *s.Claim
	case s.Volume != nil:
		return *s.Volume
	default:
		return Ref{}
	}
}
