package report

// Data says what data the objects of a kind hold.
type Data string

// The kinds of data.
const (
	// VolumeData: claims and volumes, with the storage behind them.
	VolumeData Data = "Volume"
	// SecretData: Secrets.
	SecretData Data = "Secret"
	// CustomData: custom resources, which stand for whatever their operator makes of
	// them.
	CustomData Data = "CustomResource"
)

// Storage is what becomes of the storage behind a claim or a volume that goes, or
// that may go, and behind a claim that a StatefulSet which goes leaves.
type Storage struct {
	// Claim is the claim that goes, Volume the one that is bound to it, or that goes
	// without a claim.
	Claim  *Ref `json:"claim,omitempty"`
	Volume *Ref `json:"volume,omitempty"`
	// ReclaimPolicy is the volume's: Delete, Retain or Recycle. Empty, it is not known.
	ReclaimPolicy string `json:"reclaimPolicy,omitempty"`
	// Outcome is Deleted, Kept or Unknown: what the reclaim policy makes of the storage
	// once claim and volume are gone.
	Outcome Outcome `json:"outcome"`
	Message string  `json:"message"`
}

// Of is the object that goes: the claim, or else the volume.
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
