package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// holdup is one cause that blocks deletions, with all objects that it blocks.
type holdup struct {
	// told is the finding with the best words and proofs. freed is the one with the commands: it
	// has the longest chain to the same end.
	told, freed *report.Finding
	findings    []*report.Finding
	// held are the blocked objects at the end of the chains, as far as findings name them. waiting
	// are the objects that wait for them.
	held, waiting []report.Ref
	isHeld, waits map[report.Ref]bool
	more          int
	// own reports that the only held object is the explained one, which was named before.
	own bool
}

// holdupKey is the common key of the findings of one cause.
type holdupKey struct{ code, finalizer, verdict, apiVersion, kind, what string }

// holdupsOf groups findings by cause, ordered by severity.
func holdupsOf(findings []report.Finding) []*holdup {
	var list []*holdup
	found := map[holdupKey]*holdup{}
	for _, f := range bySeverity(findings) {
		k := keyOf(f)
		c := found[k]
		if c == nil {
			c = &holdup{told: f, freed: f, isHeld: map[report.Ref]bool{}, waits: map[report.Ref]bool{}}
			found[k] = c
			list = append(list, c)
		}
		c.add(f)
	}
	for _, c := range list {
		c.waiting = slices.DeleteFunc(c.waiting, func(r report.Ref) bool { return c.isHeld[r] })
	}
	return list
}

func keyOf(f *report.Finding) holdupKey {
	held := heldBack(f)
	k := holdupKey{code: f.Code, finalizer: f.Finalizer, verdict: string(f.Verdict), apiVersion: held.APIVersion, kind: held.Kind}
	switch reason.Code(f.Code) {
	case reason.UnderWay, reason.GracePeriod, reason.FinalizerControllerAlive:
		k.apiVersion, k.kind = "", "" // a count is enough for causes that end by themselves
	case reason.StillInUse, reason.LiveDependentBlocks, reason.EndNotSeen, reason.WaitingCycle, reason.OrphaningStuck:
	case reason.WebhookUnreachable, reason.PolicyDenies, reason.PolicyUnknown, reason.APIServiceUnavailable:
		k.apiVersion, k.kind, k.what = "", "", lastLink(f).Name
	default:
		k.what = whyHeld(f)
	}
	return k
}

func (c *holdup) add(f *report.Finding) {
	c.findings = append(c.findings, f)
	held := heldBack(f)
	if !c.isHeld[held] {
		c.isHeld[held] = true
		c.held = append(c.held, held)
	}
	if f.Object != held && !c.waits[f.Object] {
		c.waits[f.Object] = true
		c.waiting = append(c.waiting, f.Object)
	}
	c.more = max(c.more, f.More)
	if f.Object == held && heldBack(c.told) != c.told.Object {
		c.told = f
		if heldBack(c.freed) != held {
			c.freed = f
		}
	}
	if heldBack(c.told) == held && len(f.Chain) > len(c.freed.Chain) {
		c.freed = f
	}
}

// heldBack returns the object that would be deleted once the end of a chain is resolved: its last
// object, or the one before if the last is an obstacle.
func heldBack(f *report.Finding) report.Ref {
	last := len(f.Chain) - 1
	if last < 0 {
		return f.Object
	}
	switch reason.Code(f.Code) {
	case reason.StillInUse:
		if last == 0 || f.Chain[last-1].Waits != string(reason.InUse) { // its users have no names
			return f.Chain[last].Ref
		}
		return f.Chain[last-1].Ref
	case reason.LiveDependentBlocks, reason.OrphaningStuck, reason.WebhookUnreachable, reason.PolicyDenies, reason.PolicyUnknown, reason.APIServiceUnavailable:
		return f.Chain[max(last-1, 0)].Ref
	default:
		return f.Chain[last].Ref
	}
}

// total returns the number of held objects.
func (c *holdup) total() int { return max(len(c.held), 1+c.more) }

// severity returns the severity of the cause, which all its findings share.
func (c *holdup) severity() reason.Severity { return c.told.Severity }

// heldText names one held object, or the first few of a kind.
func (c *holdup) heldText(s Style) string {
	first := c.held[0]
	if c.total() == 1 {
		return s.where(first)
	}
	n := strconv.Itoa(c.total()) + " "
	for _, r := range c.held {
		if r.Kind != first.Kind || r.APIVersion != first.APIVersion {
			return n + "objects (" + enumerate(c.heldNames(s.where), c.total()) + ")"
		}
	}
	kind := countOf(s, c.total(), first.APIVersion, first.Kind)
	switch namespace, several := namespaces(c.held, func(r *report.Ref) report.Ref { return *r }); {
	case several:
		return kind + " (" + enumerate(c.heldNames(func(r report.Ref) string { return s.text(r.Namespace + "/" + r.Name) }), c.total()) + ")"
	case namespace != "":
		kind += " in namespace " + s.text(namespace)
	}
	return kind + " (" + enumerate(c.heldNames(func(r report.Ref) string { return s.text(r.Name) }), c.total()) + ")"
}

func (c *holdup) heldNames(name func(report.Ref) string) []string {
	var names []string
	for _, r := range c.held[:min(len(c.held), manyWaiting)] {
		names = append(names, name(r))
	}
	return names
}

// lastsText returns the longest time that an object has been held.
func (c *holdup) lastsText() string {
	var longest *int
	for _, f := range c.findings {
		if own := heldBack(f) == f.Object || heldBack(c.told) != c.told.Object; own && f.ForSeconds != nil && (longest == nil || *f.ForSeconds > *longest) {
			longest = f.ForSeconds
		}
	}
	if longest == nil {
		return ""
	}
	return ", for " + span(longest)
}

// whyText returns what blocks the objects.
func (c *holdup) whyText(s Style) string {
	why := whyHeld(c.told)
	same := !slices.ContainsFunc(c.findings, func(f *report.Finding) bool { return whyHeld(f) != why })
	if same && c.told.Code != underWay {
		return s.text(why)
	}
	var ends []report.Ref
	seen := map[report.Ref]bool{}
	for _, f := range c.findings {
		if end := lastLink(f); !seen[end] {
			seen[end] = true
			ends = append(ends, end)
		}
	}
	switch reason.Code(c.told.Code) {
	case reason.StillInUse:
		if lastLink(c.told) == heldBack(c.told) {
			_, why, _ := strings.Cut(c.told.Message, ": ")
			return "in use: " + s.text(why)
		}
		return "in use by " + s.some(ends, manyWaiting)
	case reason.LiveDependentBlocks:
		return "blocked by " + s.some(ends, manyWaiting) + ", which the garbage collector does not delete"
	default:
		general, _, _ := strings.Cut(why, ": ")
		return s.text(general)
	}
}

// whyHeld returns the reason in a finding, without the objects that wait.
func whyHeld(f *report.Finding) string {
	waits := "waits for finalizer " + f.Finalizer
	switch reason.Code(f.Code) {
	case reason.FinalizerControllerGone:
		return waits + "; its controller is not running"
	case reason.FinalizerControllerSlow:
		return waits + "; its controller is running but does not remove it"
	case reason.FinalizerControllerUnknown:
		return waits + "; whether its controller is running is not known"
	case reason.FinalizerControllerAlive:
		return waits + "; its controller is running"
	default:
	}
	held := heldBack(f).FullName()
	return strings.TrimPrefix(strings.TrimPrefix(f.Message, "waits for "+held+": "), "waits for "+held+", which is ")
}
