package oracle

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// judgeUndo looks whether everything that the run took is there again.
func (t *trial) judgeUndo() {
	last := t.undoSaid[len(t.undoSaid)-1]
	between := slices.ContainsFunc(t.deeds, func(d *deedDone) bool { return d.when == atUndo })
	differs := t.undone != nil && t.undone.Summary.Differs > 0 && slices.ContainsFunc(t.deeds, func(d *deedDone) bool { return d.do == replaces || d.do == renews })
	incomplete := t.undone != nil && t.undone.Summary.NotRestored > 0
	if last.code != 0 && !t.held() && !between && !differs && !incomplete {
		t.violate(undoFailed, key{}, "exit code %d: %s", last.code, t.why(last))
	}
	if last.code == 0 && incomplete {
		t.violate(undoFailed, key{}, "exit code 0, and %d objects are not restored", t.undone.Summary.NotRestored)
	}
	if t.undone == nil || t.restored == nil {
		return
	}
	steps, skips := map[key]*report.UndoStep{}, map[key]*report.UndoSkip{}
	for i := range t.undone.Steps {
		s := &t.undone.Steps[i]
		k := key{s.Object.Kind, s.Object.Namespace, s.Object.Name}
		steps[k] = together(steps[k], s)
	}
	for i := range t.undone.Skipped {
		s := &t.undone.Skipped[i]
		skips[key{s.Object.Kind, s.Object.Namespace, s.Object.Name}] = s
	}
	copied, err := t.copied()
	if err != nil {
		return // said before
	}
	for _, c := range t.changes() {
		if !copied[c.key] || t.meddledWith(c.key) {
			continue
		}
		step := steps[c.key]
		now := t.restored[c.key]
		switch {
		case now != nil && now.GetAnnotations()[theirs] != "": // judged below
		case skips[c.key] != nil && skips[c.key].Reason == string(reason.StillTerminating) && !deleting(now) && !deleting(t.after[c.key]):
			t.violate(notRestored, c.key, "it is said to be deleted still, and is not")
		case skips[c.key] != nil && skips[c.key].Reason == string(reason.NotSaved) && c.key.kind != "Secret":
			t.violate(notRestored, c.key, "it is in the backup, and is said not to be")
		case skips[c.key] != nil:
		case step == nil:
			t.violate(notRestored, c.key, "%s, and the undo does not speak of it", c.text)
		case step.State != report.StepMade && step.State != report.StepRestored:
			// The end says so.
		case now == nil:
			t.violate(notRestored, c.key, "it was made, and is gone again")
		default:
			if d := t.unlike(t.before[c.key], now, step); len(d) > 0 {
				t.violate(notRestored, c.key, "not as it was: %s; stripped %v, dropped %v, notes %v", strings.Join(d, "; "), step.Stripped, step.Dropped, step.Notes)
			}
		}
	}
	t.judgeSpared(steps)
}

// deleting reports whether an object is there and being deleted.
func deleting(o *unstructured.Unstructured) bool { return o != nil && o.GetDeletionTimestamp() != nil }

// together is one step for all that an undo does for an object: it makes it, and gives it
// references and a status in steps of their own.
func together(first, next *report.UndoStep) *report.UndoStep {
	if first == nil {
		return next
	}
	both := *first
	both.Stripped = slices.Concat(first.Stripped, next.Stripped)
	both.Dropped = slices.Concat(first.Dropped, next.Dropped)
	both.Notes = slices.Concat(first.Notes, next.Notes)
	if first.State == report.StepMade || first.State == report.StepRestored {
		both.State = next.State
	}
	return &both
}

// held reports whether a namespace of the world is still on its way: nothing can be made
// in it, and an undo says so.
func (t *trial) held() bool {
	for k, o := range t.after {
		if k.kind == "Namespace" && o.GetDeletionTimestamp() != nil {
			return true
		}
	}
	return false
}

// why is what an undo says of its failure.
func (t *trial) why(last said) string {
	if t.undone == nil {
		return last.errs
	}
	text := t.undone.Message
	for _, s := range t.undone.Steps {
		if s.State != report.StepMade && s.State != report.StepRestored && s.State != report.StepPlanned {
			text += fmt.Sprintf("; %s %s: %s", s.Object.KubectlName(), s.State, s.Message)
		}
	}
	return text + " " + last.errs
}

// judgeSpared looks whether the undo has left alone what was there.
func (t *trial) judgeSpared(steps map[key]*report.UndoStep) {
	for _, d := range t.deeds {
		if d.do != replaces && d.do != renews || d.code != 0 {
			continue
		}
		if was := t.after[d.key]; was == nil || was.GetDeletionTimestamp() != nil || t.garbage(was) || t.deletedBeforeUndo(d.key) {
			continue // the collector or somebody took it: it was not there for the undo to spare
		}
		if now := t.restored[d.key]; now == nil || now.GetAnnotations()[theirs] == "" || now.GetAnnotations()[restoredFrom] != "" {
			t.violate(undoOverwrote, d.key, "somebody had made it")
		}
	}
	for _, k := range keysOf(t.after) {
		if t.meddledWith(k) {
			continue
		}
		was, now := t.after[k], t.restored[k]
		if in := t.after[key{"Namespace", "", k.namespace}]; in != nil && in.GetDeletionTimestamp() != nil {
			continue // it is on its way with its namespace
		}
		if was.GetDeletionTimestamp() != nil || steps[k] != nil || t.garbage(was) {
			continue
		}
		if now != nil && t.onlyDangling(was, now) {
			was = was.DeepCopy()
			was.SetOwnerReferences(now.GetOwnerReferences())
		}
		if now == nil {
			t.violate(undoOverwrote, k, "it was there, and is gone")
		} else if d := differences(t.ours, was, t.ours, now); len(d) > 0 && now.GetUID() == was.GetUID() && !adopted(now, steps) {
			t.violate(undoOverwrote, k, "other %s", strings.Join(d, ", "))
		}
	}
	for _, w := range t.undoing {
		if w.rehearsed() || !w.done() {
			continue
		}
		if w.Verb != "create" && (w.Verb != "patch" && w.Verb != "update" || steps[w.key()] == nil) {
			t.violate(undoOverwrote, w.key(), "%s", w)
		}
	}
}

// garbage reports whether each owner of an object was gone, being deleted, or garbage itself when the undo
// began: the collector deletes the object, which takes longer on a busy machine.
func (t *trial) garbage(o *unstructured.Unstructured) bool { return t.garbageBut(o, nil) }

// garbageBut is garbage for an object below others, which the search does not come back to.
func (t *trial) garbageBut(o *unstructured.Unstructured, below []types.UID) bool {
	owned := func(r metav1.OwnerReference) bool {
		owner := t.standing(o, r)
		return owner != nil && (slices.Contains(below, owner.GetUID()) || !t.garbageBut(owner, append(below, o.GetUID())))
	}
	return len(o.GetOwnerReferences()) > 0 && !slices.ContainsFunc(o.GetOwnerReferences(), owned)
}

// standing returns an owner of an object that was there, and not being deleted, when the undo began.
func (t *trial) standing(o *unstructured.Unstructured, r metav1.OwnerReference) *unstructured.Unstructured {
	at := key{r.Kind, o.GetNamespace(), r.Name}
	if !kindNamed(r.Kind).namespaced {
		at.namespace = ""
	}
	owner := t.after[at]
	if owner == nil || owner.GetUID() != r.UID || owner.GetDeletionTimestamp() != nil {
		return nil
	}
	return owner
}

// onlyDangling reports whether an object has lost only references to owners that did not stand when
// the undo began: the collector removes these, which takes longer on a busy machine.
func (t *trial) onlyDangling(was, now *unstructured.Unstructured) bool {
	left := now.GetOwnerReferences()
	holds := func(list []metav1.OwnerReference, uid types.UID) bool {
		return slices.ContainsFunc(list, func(r metav1.OwnerReference) bool { return r.UID == uid })
	}
	for _, r := range was.GetOwnerReferences() {
		if !holds(left, r.UID) && t.standing(was, r) != nil {
			return false
		}
	}
	return !slices.ContainsFunc(left, func(r metav1.OwnerReference) bool { return !holds(was.GetOwnerReferences(), r.UID) })
}

// deletedBeforeUndo reports whether somebody deleted an object after the world was looked at.
func (t *trial) deletedBeforeUndo(k key) bool {
	return slices.ContainsFunc(t.deeds, func(d *deedDone) bool { return d.key == k && d.when == atUndo && d.do == deletes && d.code == 0 })
}

// adopted reports whether the controller of an object is one that the undo has made again:
// those of workloads take to themselves what fits, and write on it.
func adopted(o *unstructured.Unstructured, steps map[key]*report.UndoStep) bool {
	for _, r := range o.GetOwnerReferences() {
		s := steps[key{r.Kind, o.GetNamespace(), r.Name}]
		if r.Controller != nil && *r.Controller && s != nil && s.State == report.StepMade {
			return true
		}
	}
	return false
}

// restoredFrom is the annotation that an undo writes.
const restoredFrom = "kubectl-gc.io/restored-from"

// revision is what the controller of a Deployment writes on one that it looks after.
const revision = "deployment.kubernetes.io/revision"

// unlike is in what an object is not as it was, and nobody has said so.
func (t *trial) unlike(was, now *unstructured.Unstructured, step *report.UndoStep) []string {
	a, b := plainOf(t.ours, was), plainOf(t.ours, now)
	a["ownerReferences"], b["ownerReferences"] = t.owners(was, step), t.owners(now, nil)
	switch was.GetKind() {
	case "Database", "Widget", "Gadget":
		a["status"], b["status"] = was.Object["status"], now.Object["status"]
	}
	if was.GetDeletionTimestamp() != nil { // the new one lives, so that it is protected again
		guards := func(f any) bool { return f == claims || f == volumes }
		for _, side := range []map[string]any{a, b} {
			if list, ok := side["finalizers"].([]any); ok {
				if list = slices.DeleteFunc(slices.Clone(list), guards); len(list) == 0 {
					delete(side, "finalizers")
				} else {
					side["finalizers"] = list
				}
			}
		}
	}
	delete(a, "deletion")
	delete(b, "deletion")
	// The controller of a Deployment writes its revision, and counts on if it makes a new ReplicaSet.
	_, hadRevision := was.GetAnnotations()[revision]
	for _, side := range []map[string]any{a, b} {
		if n, ok := side["annotations"].(map[string]any); ok {
			delete(n, restoredFrom)
			if was.GetKind() == "Deployment" || !hadRevision {
				delete(n, revision)
			}
			if len(n) == 0 {
				delete(side, "annotations")
			}
		}
	}
	var list []string
	for _, field := range sortedKeys(a, b) {
		if reflect.DeepEqual(a[field], b[field]) || t.excused(field, was, step) {
			continue
		}
		list = append(list, fmt.Sprintf("%s was %v, is %v", field, a[field], b[field]))
	}
	return list
}

// excused reports whether the undo has said that a field is not as it was.
func (t *trial) excused(field string, was *unstructured.Unstructured, step *report.UndoStep) bool {
	for _, s := range step.Stripped {
		if s == field || strings.HasPrefix(s, field+".") || strings.HasPrefix(s, "metadata."+field) {
			return true
		}
	}
	for _, n := range step.Notes {
		if n.Reason == "FinalizersNotRestored" && field == "finalizers" {
			return true
		}
	}
	return false
}

// owners are the owners of an object, those that are there and that the undo has not
// dropped, with the uids that they have now.
func (t *trial) owners(o *unstructured.Unstructured, step *report.UndoStep) []string {
	list := []string{}
	for _, r := range o.GetOwnerReferences() {
		dropped := false
		if step != nil {
			for _, d := range step.Dropped {
				dropped = dropped || d.Owner.Kind == r.Kind && d.Owner.Name == r.Name
			}
		}
		if dropped {
			continue
		}
		at := key{r.Kind, "", r.Name}
		if kindNamed(r.Kind).namespaced {
			at.namespace = o.GetNamespace()
		}
		uid := "nobody's"
		if owner := t.restored[at]; owner != nil && (step != nil || owner.GetUID() == r.UID) {
			uid = string(owner.GetUID())
		}
		list = append(list, fmt.Sprintf("%s %s %s controller=%t blocks=%t", r.Kind, r.Name, uid, r.Controller != nil && *r.Controller, r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion))
	}
	slices.Sort(list)
	return list
}
