package report

import "github.com/kubectl-gc/kubectl-gc/internal/object"

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
	Claim  *object.Ref `json:"claim,omitempty"`
	Volume *object.Ref `json:"volume,omitempty"`
	// ReclaimPolicy is that of the volume: Delete, Retain or Recycle. It is empty if it is unknown.
	ReclaimPolicy string `json:"reclaimPolicy,omitempty"`
	// Outcome is the outcome of the storage by the reclaim policy once PVC and volume are gone:
	// Deleted, Kept or Unknown.
	Outcome Outcome `json:"outcome"`
	Message string  `json:"message"`
}

// Of returns the PVC, or the volume if there is none.
func (s Storage) Of() object.Ref {
	switch {
	case s.Claim != nil:
		return *s.Claim
	case s.Volume != nil:
		return *s.Volume
	default:
		return object.Ref{}
	}
}

// Outside is the outside resource of an object that is deleted or may be: a load balancer, a machine or
// a bucket in a cloud that the object represents.
type Outside struct {
	Object object.Ref `json:"object"`
	// What names the outside resource.
	What string `json:"what"`
	// Data is true if it holds data.
	Data bool `json:"data,omitempty"`
	// Outcome is that of the outside resource: Deleted, Kept or Unknown.
	Outcome Outcome `json:"outcome"`
	// Finalizer is the one behind which the controller of the object deletes it; empty if there is
	// none.
	Finalizer string `json:"finalizer,omitempty"`
	// Field is the field of the object, or the annotation, that decides, and Value its value. Both are
	// empty if none decides. Default is true if the field is not set, and its controller assumes the
	// value.
	Field   string `json:"field,omitempty"`
	Value   string `json:"value,omitempty"`
	Default bool   `json:"default,omitempty"`
	// Why is what decides in addition to the field, or why the outcome is unknown.
	Why string `json:"why,omitempty"`
	// Source is the project and the function that decides.
	Source string `json:"source,omitempty"`
	// Message is the outcome, and why, for people.
	Message string `json:"message"`
}

// Decision returns the deciding field by the given name, with its value: "deletionPolicy: Delete, the
// default". Empty if no field decides.
func (o *Outside) Decision(name string) string {
	switch {
	case o.Field == "":
		return ""
	case o.Default:
		return name + ": " + o.Value + ", the default"
	default:
		return name + ": " + o.Value
	}
}

// LosesData reports whether data outside of the cluster is deleted, or may be.
func (o *Outside) LosesData() bool { return o.Data && o.Outcome != Kept }
