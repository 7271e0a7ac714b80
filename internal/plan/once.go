package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// once are finalizers that have to come off, each once. What is below the same root waits
// for the same ones: so the list is made once, and many effects share it. It is never
// changed. A nil once is empty.
type once struct {
	list []report.Release
	// running and others are how many of them have a controller that runs, and how many
	// have not; firstRunning and firstOther are the places of the first of each.
	running, others          int
	firstRunning, firstOther int
	// gone: the controllers of all the others are gone.
	gone bool
	// alone are those whose controllers run; nil until somebody asks.
	alone *once
}

func onceOf(list []report.Release) *once {
	if len(list) == 0 {
		return nil
	}
	o := &once{list: slices.Clip(list), gone: true}
	for i, r := range list {
		if r.State == report.ControllerRuns {
			if o.running++; o.running == 1 {
				o.firstRunning = i
			}
			continue
		}
		if o.others++; o.others == 1 {
			o.firstOther = i
		}
		o.gone = o.gone && r.State == report.ControllerGone
	}
	return o
}

// all are those of the list.
func (o *once) all() []report.Release {
	if o == nil {
		return nil
	}
	return o.list
}

// onlyRunning are those whose controllers run.
func (o *once) onlyRunning() *once {
	if o == nil || o.others == 0 {
		return o
	}
	if o.alone == nil {
		list := slices.DeleteFunc(slices.Clone(o.list), func(r report.Release) bool { return r.State != report.ControllerRuns })
		if o.alone = onceOf(list); o.alone == nil {
			o.alone = &once{gone: true}
		}
	}
	return o.alone
}

// text says to an effect which finalizers have to come off first, and that their
// controllers do not run where that is so.
//
// What is refused now is not held by a finalizer: recovery says when that ends.
func (o *once) text(e *report.Effect, recovery string) string {
	if o == nil {
		o = &once{gone: true}
	}
	recovery = cmp.Or(recoveryFrom(reason.Code(e.Reason)), recovery)
	others := func() string { return releaseText(e.Object, o.list[o.firstOther], o.others) }
	text := ""
	if e.AtOnce != "" && o.running > 0 {
		text += ", once " + releaseText(e.Object, o.list[o.firstRunning], o.running)
	}
	switch {
	case e.Later == "":
		return text
	case o.others == 0 && e.Outcome == report.Kept && e.Later == report.Deleted:
		return text + "; is deleted once " + recovery
	case o.others == 0 && e.Outcome == report.Kept && e.Later == report.Orphaned:
		return text + "; is orphaned once " + recovery
	case o.others == 0 && e.Outcome == report.Kept:
		return text + "; changes once " + recovery
	case o.others == 0:
		return text
	case e.Outcome == report.Blocked:
	case e.Later == report.Deleted:
		text += "; goes when " + others()
	case e.Later == report.Unknown:
		text += "; its outcome is unknown when " + others()
	case e.Later == report.Blocked:
		text += "; is deleted when " + others()
	default:
		text += "; changes when " + others()
	}
	if e.Outcome == report.Blocked && e.Reason != string(reason.FinalizerRemains) || !o.gone {
		return text
	}
	return text + "; its controller is not running"
}

// recoveryFrom is what has to work again before an object goes that stays for a reason; empty where
// several may have to.
func recoveryFrom(why reason.Code) string {
	switch why {
	case reason.CollectorNotWorking, reason.DeletionMissed:
		return "the garbage collector works again"
	case reason.ControllerNotWorking:
		return "kube-controller-manager works again"
	case reason.PodNotFinished, reason.NodeNotReady:
		return "the kubelet of its node works again"
	case reason.WebhookUnreachable:
		return "the webhook answers"
	default:
		return ""
	}
}

// releaseText names who takes which finalizer off what: the first of several.
func releaseText(of report.Ref, r report.Release, several int) string {
	text := r.Finalizer
	if r.Object != of {
		text += " of " + r.Object.ShortName()
	}
	if n := several - 1; n > 0 {
		text += fmt.Sprintf(", and %d more,", n)
	}
	if r.State == report.ControllerRuns {
		return cmp.Or(r.Controller, "its controller") + " removes " + text
	}
	return text + " is removed"
}

// joins are the lists that were made of two others.
type joins map[[2]*once]*once

func (j joins) of(a, b *once) *once {
	switch {
	case a == nil || a == b:
		return b
	case b == nil:
		return a
	}
	both, known := j[[2]*once{a, b}]
	if !known {
		var u union
		u.add(a.list)
		u.add(b.list)
		both = onceOf(u.list)
		j[[2]*once{a, b}] = both
	}
	return both
}

// union joins finalizers, each once. A namespace may wait for thousands. One list that is
// joined with no other, or two that have been joined before, are shared.
type union struct {
	// parts are the lists that were joined, as long as these are two at most.
	parts []*once
	list  []report.Release
	// has is what is in a long list.
	has map[report.Release]bool
}

// join adds a list in which each is once.
func (u *union) join(o *once) {
	switch {
	case o == nil || slices.Contains(u.parts, o):
	case len(u.list) == 0 && len(u.parts) < 2:
		u.parts = append(u.parts, o)
	default:
		u.add(o.list)
	}
}

// add adds releases.
func (u *union) add(more []report.Release) {
	if len(more) == 0 {
		return
	}
	parts := u.parts
	u.parts = nil
	for _, o := range parts {
		u.add(o.list)
	}
	const short = 8
	if u.has == nil && len(u.list)+len(more) > short {
		u.has = make(map[report.Release]bool, len(u.list)+len(more))
		for _, r := range u.list {
			u.has[r] = true
		}
	}
	for _, r := range more {
		if u.has[r] || u.has == nil && slices.Contains(u.list, r) {
			continue
		}
		u.list = append(u.list, r)
		if u.has != nil {
			u.has[r] = true
		}
	}
}

func (u *union) empty() bool { return len(u.parts)+len(u.list) == 0 }

// all is what was joined.
func (u *union) all(j joins) *once {
	switch len(u.parts) {
	case 0:
		return onceOf(u.list)
	case 1:
		return u.parts[0]
	default:
		return j.of(u.parts[0], u.parts[1])
	}
}
