package stuck

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// manyAttachments is the maximum number of attachments that are named.
const manyAttachments = 3

// proveAttachments adds the attachments of the volumes in a chain. Only the VolumeAttachment shows
// the CSI driver's reason why a volume cannot be detached.
func (i *inquiry) proveAttachments(e *end) {
	said := map[string]bool{}
	for _, link := range e.chain {
		o := i.at(object.Ref(link.Ref))
		if o == nil || o.Is(object.PV) && e.finalizer != "" && !strings.HasPrefix(e.finalizer, "external-attacher/") {
			continue
		}
		for _, a := range i.around.AttachmentsOf(o) {
			failed := a.AttachError+a.DetachError != ""
			if said[a.Ref.Name] || len(said) == manyAttachments || !failed && !o.Is(object.PV) && !o.Is(object.VolumeAttachment) {
				continue
			}
			said[a.Ref.Name] = true
			ref := report.RefOf(i.around.Known(a.Ref))
			e.prove(reason.AttachmentSays, &ref, ref.ShortName()+" "+i.attachmentText(a))
			if failed {
				e.remedy(report.Act{Action: report.Describe, Target: ref}, "shows what the CSI driver says about it", "")
			}
		}
	}
}

// attachmentText describes an attachment, and whether its node is missing.
func (i *inquiry) attachmentText(a *evidence.Attachment) string {
	text := a.Text()
	if state, _ := i.around.Node(a.Node); state == evidence.NodeAbsent {
		text += " (node " + a.Node + " does not exist)"
	}
	return text
}

// proveEvictions adds the PodDisruptionBudgets that a drain waits for.
func (i *inquiry) proveEvictions(e *end) {
	for _, link := range e.chain {
		o := i.at(object.Ref(link.Ref))
		if o == nil {
			continue
		}
		node := i.around.DrainedNode(o)
		for _, x := range i.around.Evictions(node) {
			known := i.around.Known(x.Budget.Ref)
			ref := report.RefOf(known)
			e.prove(reason.BudgetSays, &ref, x.Text(known))
			e.remedy(report.Act{Action: report.Describe, Target: ref}, "shows which pods it counts, and which of them are not ready", "")
		}
	}
}
