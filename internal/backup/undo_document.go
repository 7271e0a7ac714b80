package backup

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// document converts a plan to its report.
func document(p *undo.Plan, values shownValues) *report.Undo {
	out := &report.Undo{
		APIVersion: report.APIVersion, Kind: "Undo",
		Steps: make([]report.UndoStep, len(p.Steps)), Skipped: make([]report.UndoSkip, len(p.Skipped)),
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		d := report.UndoStep{
			N: s.N, Verb: string(s.Verb), Object: report.RefOf(s.Object), State: report.StepPlanned,
			Dropped: dropped(s.Object, s.Dropped), Differences: values.of(s.Object, s.Differences),
		}
		for _, r := range s.References {
			d.References = append(d.References, ownerOf(s.Object, r.OwnerReference))
		}
		describe(s, &d)
		out.Steps[i] = d
	}
	for i := range p.Skipped {
		s := &p.Skipped[i]
		out.Skipped[i] = report.UndoSkip{
			Object: report.RefOf(s.Object), Reason: string(s.Reason), UID: s.Live, Dropped: dropped(s.Object, s.Dropped), Differences: values.of(s.Object, s.Differences), Message: reason.UndoSkip.Short(s.Reason),
		}
		if s.Detail != "" {
			out.Skipped[i].Message += ": " + s.Detail
		}
	}
	count(out)
	return out
}

// describe fills in the stripped fields and the notes of a step.
func describe(s *undo.Step, d *report.UndoStep) {
	d.Stripped, d.Notes = s.Stripped, nil
	for _, n := range s.Notes {
		note := report.UndoNote{Reason: string(n), Message: reason.UndoNote.Short(n)}
		if volume, ok := s.Volume(); ok && isOfVolume(n) {
			ref := report.RefOf(volume)
			note.Volume = &ref
			if n == reason.VolumeReleased {
				release := report.Act{
					Action: report.SendPatch, Target: ref,
					Patch: `[{"op":"test","path":"/spec/claimRef/uid","value":"` + string(s.Object.UID) + `"},{"op":"remove","path":"/spec/claimRef/uid"}]`,
				}.Remedy("lets the volume be bound to the new PVC")
				note.Release = &release
			}
		}
		if n == reason.SecretsAdded {
			note.Message += ": " + strings.Join(s.Secrets, ", ")
		}
		d.Notes = append(d.Notes, note)
	}
}

func isOfVolume(n reason.Code) bool {
	return n == reason.VolumeGone || n == reason.VolumeReleased || n == reason.VolumeTaken || n == reason.VolumeUnknown
}

func dropped(of object.Ref, list []undo.Dropped) []report.DroppedReference {
	var all []report.DroppedReference
	for _, d := range list {
		all = append(all, report.DroppedReference{Owner: ownerOf(of, d.Reference), Reason: string(d.Reason), Message: reason.UndoDrop.Short(d.Reason)})
	}
	return all
}

func ownerOf(of object.Ref, r object.OwnerReference) report.Ref {
	return report.RefOf(r.In(of.Namespace))
}

// count computes the summary.
func count(out *report.Undo) {
	sum := report.UndoSummary{Planned: len(out.Steps), Skipped: len(out.Skipped)}
	for i := range out.Steps {
		s := &out.Steps[i]
		sum.Dropped += len(s.Dropped)
		switch s.State {
		case report.StepMade:
			sum.Made++
		case report.StepRestored:
			sum.Restored++
		case report.StepTaken, report.StepRefused, report.StepContended:
			sum.Failed++
		case report.StepSuperseded:
			sum.Superseded++
		case report.StepUnknown:
			sum.Unknown++
		case report.StepNotDone:
			sum.NotDone++
		case report.StepDiffers:
			sum.Differs++
		case report.StepPlanned:
		}
	}
	for i := range out.Skipped {
		sum.Dropped += len(out.Skipped[i].Dropped)
		switch reason.Code(out.Skipped[i].Reason) {
		case reason.Forgotten:
			sum.Forgotten++
		case reason.Differs:
			sum.Differs++
		}
	}
	out.Summary = sum
}
