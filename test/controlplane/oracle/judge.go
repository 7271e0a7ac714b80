package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// rule is what a run must not break.
type rule string

const (
	wroteRefused   rule = "wrote although it says that it was refused"
	wroteUnasked   rule = "wrote although nobody agreed"
	sentTwice      rule = "sent something twice"
	unpinned       rule = "a delete does not name the uid"
	beside         rule = "a write of ours is not in the account"
	outside        rule = "changed by the run, and not in the account"
	uncopied       rule = "taken by the run, and not copied"
	unclaimed      rule = "in the account, and not copied"
	unprotected    rule = "taken by the run, and protected"
	protectedLater rule = "taken after somebody had protected it"
	tooMany        rule = "more is gone than is allowed"
	unshown        rule = "in the account, and not shown"
	misreported    rule = "the report is not what was written"
	crashed        rule = "the program did not end as it should"
	calledGone     rule = "the run says that all is as predicted, and it is still there"
	drifted        rule = "not as predicted, although nobody meddled"
	moved          rule = "the plan was another one a moment later, although nobody meddled"
	driftedFar     rule = "calls what happens elsewhere not as predicted"
	movedFar       rule = "the plan was another one a moment later, for what happens elsewhere"
	notRestored    rule = "not there again after the undo, nor named"
	undoFailed     rule = "the undo failed"
	undoOverwrote  rule = "the undo changed what was there"
)

// violation is a rule that was broken.
type violation struct {
	rule   rule
	object key
	text   string
}

func (t *trial) violate(r rule, k key, format string, args ...any) {
	t.wrong = append(t.wrong, violation{r, k, fmt.Sprintf(format, args...)})
}

// judge looks for what the run should not have done.
func (t *trial) judge() {
	t.wrong = nil
	t.judgeEnd()
	var a account
	if t.plan != nil {
		var err error
		if a, err = accountOf(t.raw); err != nil {
			t.violate(crashed, key{}, "%v", err)
			return
		}
	}
	t.judgeWrites(a)
	if !t.wrote() || t.plan == nil {
		return
	}
	copied, err := t.copied()
	if err != nil {
		t.violate(crashed, key{}, "the backup: %v", err)
		return
	}
	t.judgeChanges(a, copied)
	t.judgeAccount(a, copied)
	t.judgeGone(a)
	t.blindfold(a, copied)
}

// judgeGone judges a run that has waited, and says that everything went that was to go.
func (t *trial) judgeGone(a account) {
	if t.ran.code != 0 || t.freed || t.story.command.has("--wait=false") || t.story.command.verb != "delete" {
		return
	}
	for _, k := range keysOf(t.before) {
		e, now := a[k], t.after[k]
		if e != nil && e.expected && now != nil && now.GetUID() == t.before[k].GetUID() && !t.meddledWith(k) {
			t.violate(calledGone, k, "the account says %s", e.text)
		}
	}
}

// blindfold fails where this judge is blind: without any one of the changes in the
// account, or in the backup, it has to say so.
func (t *trial) blindfold(a account, copied map[key]bool) {
	wrong := t.wrong
	defer func() { t.wrong = wrong }()
	for _, c := range t.changes() {
		if t.meddledWith(c.key) || slices.ContainsFunc(wrong, func(v violation) bool { return v.object == c.key }) {
			continue
		}
		t.noticed++
		e := a[c.key]
		without := maps.Clone(copied)
		delete(without, c.key)
		delete(a, c.key)
		t.wrong = nil
		t.judgeChanges(a, without)
		a[c.key] = e
		for _, r := range []rule{outside, uncopied} {
			if !slices.ContainsFunc(t.wrong, func(v violation) bool { return v.rule == r && v.object == c.key }) {
				wrong = append(wrong, violation{crashed, c.key, "the judge does not see that it is " + string(r)})
			}
		}
	}
}

// done are the writes of ours that the server has done.
func (t *trial) done() []*write {
	return slices.DeleteFunc(slices.Clone(t.writes), func(w *write) bool { return w.rehearsed() || !w.done() })
}

func (t *trial) wrote() bool { return len(t.done()) > 0 }

// quiet reports whether nobody meddled, and nothing failed.
func (t *trial) quiet() bool { return len(t.deeds) == 0 && t.story.fault == noFault }

// judgeEnd judges what the program said, by what it has written.
func (t *trial) judgeEnd() {
	text := t.ran.out + t.ran.errs
	switch {
	case strings.Contains(text, "panic:") || strings.Contains(text, "goroutine "):
		t.violate(crashed, key{}, "it panicked")
	case !slices.Contains([]int{0, 1, 3, 4, 5, 6, 130, -1}, t.ran.code), t.ran.signalled && t.story.fault != killed:
		t.violate(crashed, key{}, "exit code %d", t.ran.code)
	case t.wrote() && t.ran.code == 1:
		t.violate(misreported, key{}, "exit code 1, and %s", t.done()[0])
	}
	if t.wrote() && t.ran.code == 5 {
		t.violate(wroteRefused, t.done()[0].key(), "exit code 5, and %s", t.done()[0])
	}
	if t.wrote() && (!t.story.answer.agreed() || t.story.answer.typed() && !t.ran.asked) {
		t.violate(wroteUnasked, t.done()[0].key(), "the answer is %s, and %s", t.story.answer, t.done()[0])
	}
	if t.quiet() && t.ran.code == 3 && !t.lacksAssumed() {
		r := driftedFar
		if text := driftOf(t.result, t.ran); strings.Contains(text, string(t.ours)) {
			r = drifted
		}
		t.violate(r, key{}, "%s", driftOf(t.result, t.ran))
	}
	if t.quiet() && t.again != "" {
		r := movedFar
		if strings.Contains(t.again, string(t.ours)) {
			r = moved
		}
		t.violate(r, key{}, "%s", t.again)
	}
	if t.result == nil || t.ran.signalled {
		return
	}
	confirmed, done, unanswered := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, w := range t.result.Writes {
		name := w.Verb + " " + key{w.Object.Kind, w.Object.Namespace, w.Object.Name}.String()
		switch {
		case w.State == report.Confirmed && strings.HasPrefix(w.Message, "the request was not answered"):
			unanswered[name] = true // and the run says so
		case w.State == report.Confirmed:
			confirmed[name]++
		case w.State == report.UnknownWrite && t.story.fault.ofLink():
			unanswered[name] = true
		}
	}
	for _, w := range t.writes {
		verb := "PATCH"
		if w.Verb == "delete" {
			verb = "DELETE"
		}
		if !w.rehearsed() && w.cutOff() { // whoever asked went away meanwhile: it may be done
			unanswered[verb+" "+w.key().String()] = true
		}
	}
	for name := range unanswered {
		delete(confirmed, name)
	}
	for _, w := range t.done() {
		verb := "PATCH"
		if w.Verb == "delete" {
			verb = "DELETE"
		}
		if name := verb + " " + w.key().String(); !unanswered[name] {
			done[name] = 1
		}
	}
	if !reflect.DeepEqual(confirmed, done) {
		t.violate(misreported, key{}, "confirmed are %v, done was %v", confirmed, done)
	}
}

// lacksAssumed reports whether all that is not as predicted rests on a controller that the plan
// assumes to run, in a cluster without controllers.
func (t *trial) lacksAssumed() bool {
	if t.story.controllers != nobody || t.plan == nil || t.result == nil || len(t.result.Differences) == 0 {
		return false
	}
	assumed := map[object.Ref]bool{}
	for _, e := range t.plan.Effects {
		assumed[e.Object] = len(e.Assumptions) > 0
	}
	return !slices.ContainsFunc(t.result.Differences, func(d report.Difference) bool { return !assumed[d.Object] })
}

func driftOf(r *report.Run, ran said) string {
	if r == nil {
		_, end, _ := strings.Cut(ran.out, "\nDigest: ")
		return end
	}
	var lines []string
	for _, d := range r.Differences {
		lines = append(lines, fmt.Sprintf("%s: predicted %s, %s: %s", d.Object.KubectlName(), d.Predicted, d.Reason, d.Message))
	}
	return strings.Join(lines, "; ")
}

// judgeWrites judges each write of ours.
func (t *trial) judgeWrites(a account) {
	seen := map[string]bool{}
	for _, w := range t.done() {
		id := w.String() + string(w.Request)
		if seen[id] {
			t.violate(sentTwice, w.key(), "%s %s", w, w.Request)
		}
		seen[id] = true
		var body struct{ Preconditions struct{ UID string } }
		if w.Verb == "delete" && (json.Unmarshal(w.Request, &body) != nil || body.Preconditions.UID == "") || w.Verb == "deletecollection" {
			t.violate(unpinned, w.key(), "%s %s", w, w.Request)
		}
		if a[w.key()] == nil {
			t.violate(beside, w.key(), "%s", w)
		}
		// A reference that goes does not get rid of its object.
		takes := w.Verb == "delete" || strings.Contains(string(w.Request), `"finalizers"`)
		for _, d := range t.deeds {
			if takes && d.do == protects && d.code == 0 && d.key == w.key() && d.ended.Before(w.Received) {
				t.violate(protectedLater, w.key(), "%s, %s after it was annotated", w, w.Received.Sub(d.ended))
			}
		}
	}
}

// judgeChanges judges what the run has changed.
func (t *trial) judgeChanges(a account, copied map[key]bool) {
	gone, last := 0, (*entry)(nil)
	for _, c := range t.changes() {
		if c.gone {
			gone++
		}
		if e := a[c.key]; e != nil && last == nil {
			last = e
		}
		if t.meddledWith(c.key) {
			continue
		}
		said := a[c.key]
		if said == nil || c.gone && !said.goes {
			t.violate(outside, c.key, "%s; the account says %s", c.text, textOf(said))
		}
		if !copied[c.key] {
			t.violate(uncopied, c.key, "%s; the account says %s", c.text, textOf(said))
		}
		if c.gone {
			t.judgeProtection(c, said)
		}
	}
	if most, err := strconv.Atoi(t.story.command.value("--max-deletes")); err == nil && gone > most && !t.meddled() {
		t.violate(tooMany, key{}, "%d are gone, at most %d are allowed; of one the account says %s", gone, most, textOf(last))
	}
}

func textOf(e *entry) string {
	if e == nil {
		return "nothing"
	}
	return e.text
}

// judgeProtection judges an object that the run has taken.
func (t *trial) judgeProtection(c change, said *entry) {
	was := t.before[c.key]
	if value, ok := was.GetAnnotations()[protect]; ok && value != "false" || was.GetAnnotations()[helmKeeps] == "keep" {
		t.violate(unprotected, c.key, "%s; it is annotated %v; the account says %s", c.text, was.GetAnnotations(), textOf(said))
		return
	}
	if t.story.command.verb == "remove-finalizer" && was.GetDeletionTimestamp() != nil {
		return // it was decided when it was deleted
	}
	if !t.story.command.has("--unlock=namespace,pvc,pv") && slices.Contains([]string{"Namespace", "PersistentVolumeClaim", "PersistentVolume"}, c.key.kind) {
		t.violate(unprotected, c.key, "%s; its kind is protected; the account says %s", c.text, textOf(said))
	}
}

// judgeAccount judges what became of the account before anything was written.
func (t *trial) judgeAccount(a account, copied map[key]bool) {
	changed := map[key]bool{}
	for _, c := range t.changes() {
		changed[c.key] = true
	}
	said := t.ran.out + t.ran.errs
	goes := 0
	for _, k := range keysOf(t.before) {
		e := a[k]
		if e == nil {
			continue
		}
		if t.before[k].GetDeletionTimestamp() != nil && !changed[k] {
			continue // it is on its way, by whomever, and as it was
		}
		if e.goes {
			goes++
		}
		if !copied[k] && !t.meddledWith(k) {
			t.violate(unclaimed, k, "the account says %s", e.text)
		}
		name := object.Ref{APIVersion: kindNamed(k.kind).apiVersion, Kind: k.kind, Name: k.name}.ShortName()
		if t.story.answer.typed() && !strings.Contains(said, name) && !t.meddled() {
			t.violate(unshown, k, "%s is not in what was printed; the account says %s", name, e.text)
		}
	}
	if most, err := strconv.Atoi(t.story.command.value("--max-deletes")); err == nil && goes > most && !t.meddled() {
		t.violate(tooMany, key{}, "%d are in the account, at most %d are allowed", goes, most)
	}
}

// copied are the objects of which the backups have a copy, or say that they have none
// because nobody wanted it.
func (t *trial) copied() (map[key]bool, error) {
	all := map[key]bool{}
	for _, dir := range t.bundles {
		b, err := backup.Open(dir, nil)
		if err != nil {
			return nil, err
		}
		for i := range b.Entries {
			e := &b.Entries[i]
			k := keyOf(e.Object)
			wanted := !t.story.command.has("--no-backup") && (k.kind != "Secret" || t.story.command.has("--backup-secrets"))
			all[k] = all[k] || e.Restorable || !wanted
		}
		if err := b.Close(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func keyOf(r object.Ref) key { return key{r.Kind, r.Namespace, r.Name} }

// meddled reports whether others did something from which more follows.
func (t *trial) meddled() bool {
	return slices.ContainsFunc(t.deeds, func(d *deedDone) bool { return d.do.cascades() && d.code == 0 })
}

// meddledWith reports whether others did something to the object, or from which something
// may follow for it: to what it is tied to by owners, by a namespace or by its use. What
// becomes of it then is not the doing of the run alone, and a plan is about a moment.
func (t *trial) meddledWith(k key) bool {
	for _, d := range t.deeds {
		// What is annotated on a Deployment its controller writes on what it has made, too, and
		// controllers adopt what fits one that is made again.
		further := d.do.cascades() || d.key.kind == "Deployment" || d.do == renews && slices.Contains([]string{"ReplicaSet", "StatefulSet"}, d.key.kind)
		if d.code == 0 && (d.key == k || further && t.tied()[t.thingOf(d.key)] == t.tied()[t.thingOf(k)]) {
			return true
		}
	}
	return false
}

// thingOf is the thing of the story that an object is, or is made for by a controller, be
// that only the namespace that it is in.
func (t *trial) thingOf(k key) string {
	name := strings.TrimPrefix(k.name, string(t.ours))
	if t.story.thing(name) == nil {
		name, _, _ = strings.Cut(name, "-")
	}
	if t.story.thing(name) == nil {
		name = strings.TrimPrefix(k.namespace, string(t.ours))
	}
	return name
}

// tied are the things of the story, those with one number tied to each other.
func (t *trial) tied() map[string]int {
	group := map[string]int{}
	for i, o := range t.story.things {
		group[o.name] = i + 1
	}
	join := func(a, b string) {
		x, y := group[a], group[b]
		if x == 0 || y == 0 {
			return
		}
		for name, n := range group {
			if n == x {
				group[name] = y
			}
		}
	}
	going := map[string]bool{}
	for k := range t.before {
		if k.kind != "Namespace" {
			continue
		}
		if now := t.after[k]; now == nil || now.GetDeletionTimestamp() != nil {
			going[t.thingOf(k)] = true
		}
	}
	for _, o := range t.story.things {
		for _, w := range o.owners {
			join(o.name, w.name)
		}
		join(o.name, o.with)
		if going[o.namespace] {
			join(o.name, o.namespace)
		}
	}
	return group
}
