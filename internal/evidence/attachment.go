package evidence

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

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

// AttachmentsOf returns the attachments that an object has to do with: of a volume, of the volume of a
// claim, of the volumes that a pod uses on its node, and of a node; of an attachment itself. Those that
// fail come first.
func (s *Surroundings) AttachmentsOf(o *object.Object) []Attachment {
	if s.seen == nil || len(s.seen.Attachments) == 0 {
		return nil
	}
	list := slices.DeleteFunc(slices.Clone(s.seen.Attachments), func(a Attachment) bool { return a.Node == "" || !s.attaches(&a, o) })
	slices.SortStableFunc(list, func(a, b Attachment) int { return cmp.Compare(failures(&b), failures(&a)) })
	return list
}

func failures(a *Attachment) int {
	if a.DetachError+a.AttachError != "" {
		return 1
	}
	return 0
}

func (s *Surroundings) attaches(a *Attachment, o *object.Object) bool {
	switch {
	case o.Is(object.VolumeAttachment):
		return a.Ref.Name == o.Name
	case o.Is(object.Node):
		return a.Node == o.Name
	case o.Is(object.PV):
		return a.Volume == o.Name
	case o.Is(object.PVC):
		return s.claimed(a.Volume, o.Namespace, o.Name, o.UID)
	}
	pod := o.Pod()
	return pod != nil && a.Node == pod.NodeName && slices.ContainsFunc(pod.Claims, func(c object.Claim) bool {
		return s.claimed(a.Volume, o.Namespace, c.Name, "")
	})
}

// claimed reports whether a volume belongs to a claim; uid is empty where it is not known.
func (s *Surroundings) claimed(volume, namespace, name string, uid types.UID) bool {
	pv := s.snap.FindKind(object.PV, "", volume)
	if pv == nil || pv.Volume() == nil {
		return false
	}
	v := pv.Volume()
	return v.ClaimNamespace == namespace && v.ClaimName == name && (uid == "" || v.ClaimUID == "" || v.ClaimUID == uid)
}
