package evidence

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Attachment is a VolumeAttachment: a volume that is attached to a node, or is to be.
type Attachment struct {
	Ref object.Ref `json:"-"`
	// Node and Volume are the names of a Node and of a PersistentVolume. Volume is empty where
	// the volume stands in the pod itself.
	Node     string `json:"node"`
	Volume   string `json:"volume,omitzero"`
	Attached bool   `json:"attached,omitzero"`
	// AttachError and DetachError are what the CSI driver said last; empty if nothing failed.
	AttachError string `json:"attachError,omitzero"`
	DetachError string `json:"detachError,omitzero"`
}

// Text says how an attachment is, with what went wrong last.
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

// attachmentBody is what is read of a VolumeAttachment.
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

// text is what an error says; one without a message is an error all the same.
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

// attachments are found by what they attach.
type attachments struct {
	byName, byNode, byVolume map[string][]*Attachment
	byClaim                  map[[2]string][]*Attachment
}

// attachmentsOf indexes the attachments of a world, those that fail first.
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

// AttachmentsOf returns the attachments that an object has to do with: of a volume, of the volume of a
// claim, of the volumes that a pod uses on its node, and of a node; of an attachment itself. Those that
// fail come first.
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
