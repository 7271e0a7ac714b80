package evidence

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Attachment is a VolumeAttachment: a volume that is attached to a node, or is to be.
type Attachment struct {
	Ref object.Ref `json:"-"`
	// Node and Volume are the names of a Node and of a PersistentVolume. Volume is empty if the
	// attachment has an inline volume.
	Node     string `json:"node"`
	Volume   string `json:"volume,omitzero"`
	Attached bool   `json:"attached,omitzero"`
	// AttachError and DetachError are the last errors of the CSI driver. They are empty if nothing
	// failed.
	AttachError string `json:"attachError,omitzero"`
	DetachError string `json:"detachError,omitzero"`
}

// Text describes the state of the attachment with its last error.
func (a *Attachment) Text() string {
	text := "is to be attached to node " + a.Node
	if a.Attached {
		text = "is attached to node " + a.Node
	}
	switch {
	case a.DetachError != "":
		return text + ", and detaching it fails: " + a.DetachError
	case a.AttachError != "":
		return text + ", and attaching it fails: " + a.AttachError
	}
	return text
}

// attachmentBody has the fields that are read from a VolumeAttachment.
type attachmentBody struct {
	Spec struct {
		Node   string `json:"nodeName"`
		Source struct {
			Volume string `json:"persistentVolumeName"`
		} `json:"source"`
	} `json:"spec"`
	Status struct {
		Attached    bool         `json:"attached"`
		AttachError *volumeError `json:"attachError"`
		DetachError *volumeError `json:"detachError"`
	} `json:"status"`
}

type volumeError struct {
	Message string `json:"message"`
}

// text returns the message of an error, or "no reason is given" if the message is empty. It returns
// "" for nil.
func (e *volumeError) text() string {
	if e == nil {
		return ""
	}
	return cmp.Or(e.Message, "no reason is given")
}

func (s *Shown) takeAttachment(b *body, raw []byte) error {
	var d attachmentBody
	if err := decode(raw, &d); err != nil {
		return err
	}
	s.Attachments = append(s.Attachments, Attachment{
		Ref: b.ref(), Node: d.Spec.Node, Volume: d.Spec.Source.Volume, Attached: d.Status.Attached,
		AttachError: d.Status.AttachError.text(), DetachError: d.Status.DetachError.text(),
	})
	return nil
}

// attachments indexes the attachments by name, node, volume and claim.
type attachments struct {
	byName, byNode, byVolume map[string][]*Attachment
	byClaim                  map[[2]string][]*Attachment
}

// attachmentsOf indexes the attachments of a world. Those with an error come first.
func (s *Surroundings) attachmentsOf(seen *World) *attachments {
	x := &attachments{map[string][]*Attachment{}, map[string][]*Attachment{}, map[string][]*Attachment{}, map[[2]string][]*Attachment{}}
	for _, failing := range []bool{true, false} {
		for n := range seen.Attachments {
			a := &seen.Attachments[n]
			if a.Node == "" || (a.DetachError+a.AttachError != "") != failing {
				continue
			}
			x.byName[a.Ref.Name] = append(x.byName[a.Ref.Name], a)
			x.byNode[a.Node] = append(x.byNode[a.Node], a)
			x.byVolume[a.Volume] = append(x.byVolume[a.Volume], a)
			if pv := s.snap.FindKind(object.PV, "", a.Volume); pv != nil && pv.Volume() != nil {
				claim := [2]string{pv.Volume().ClaimNamespace, pv.Volume().ClaimName}
				x.byClaim[claim] = append(x.byClaim[claim], a)
			}
		}
	}
	return x
}

// AttachmentsOf returns the attachments that affect an object: those of a volume, of the volume of
// a claim, of the volumes that a pod uses on its node, of a node, or the attachment itself. Those
// with an error come first.
func (s *Surroundings) AttachmentsOf(o *object.Object) []*Attachment {
	if s.attached == nil {
		return nil
	}
	switch {
	case o.Is(object.VolumeAttachment):
		return s.attached.byName[o.Name]
	case o.Is(object.Node):
		return s.attached.byNode[o.Name]
	case o.Is(object.PV):
		return s.attached.byVolume[o.Name]
	case o.Is(object.PVC):
		return slices.DeleteFunc(slices.Clone(s.attached.byClaim[[2]string{o.Namespace, o.Name}]), func(a *Attachment) bool {
			of := s.snap.FindKind(object.PV, "", a.Volume).Volume().ClaimUID
			return of != "" && o.UID != "" && of != o.UID
		})
	}
	var list []*Attachment
	if pod := o.Pod(); pod != nil {
		for _, c := range pod.Claims {
			for _, a := range s.attached.byClaim[[2]string{o.Namespace, c.Name}] {
				if a.Node == pod.NodeName {
					list = append(list, a)
				}
			}
		}
	}
	return list
}
