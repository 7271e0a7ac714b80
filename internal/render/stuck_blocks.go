package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// manyBlocks is the number of causes with more than a line.
const manyBlocks = 4

// detail is the level of detail for a cause.
type detail struct {
	// words is the maximum number of lines of a text; proofs and commands limit their numbers.
	words, proofs, commands int
}

// details are tried in order until the answer fits on a screen.
var details = []detail{{words: 3, proofs: 2, commands: 2}, {words: 2, proofs: 1, commands: 2}, {words: 1, proofs: 1, commands: 1}}

// writeCauses writes a block for each of the first causes and a line for each of the others, as far
// as there is room. The rest is counted.
func writeCauses(w *writer, causes []*holdup, room int) {
	blocks, rest := w.style.blocksOf(causes, room)
	used := 0
	for _, b := range blocks {
		w.line()
		w.lines(b)
		used += 1 + len(b)
	}
	rests := causes[len(blocks):]
	if len(rests) == 0 && !rest {
		return
	}
	w.line()
	lines := min(len(rests), max(room-used-2, 0))
	for _, c := range rests[:lines] {
		w.atMost(1, c.line(w.style), 2)
	}
	w.atMost(1, notShown(rests[lines:]), 2)
}

// blocksOf returns the lines of the first causes in as much detail as fits. left reports whether
// something was left out.
func (s Style) blocksOf(causes []*holdup, room int) (blocks [][]string, left bool) {
	most := min(len(causes), manyBlocks)
	// Causes that end by themselves get no block next to others.
	if i := slices.IndexFunc(causes, (*holdup).goes); i > 0 {
		most = min(most, i)
	}
	for n := most; n > 0; n-- {
		others := 0
		if len(causes) > n {
			others = 2 + min(len(causes)-n, 2)
		}
		for _, d := range details {
			blocks, used := make([][]string, n), others
			left = false
			for i, c := range causes[:n] {
				blocks[i] = linesOf(s, func(w *writer) { left = c.write(w, d) || left })
				used += 1 + len(blocks[i])
			}
			if left && others == 0 {
				used += 2
			}
			if used <= room || n == 1 && d == details[len(details)-1] {
				return blocks, left
			}
		}
	}
	return nil, true
}

// notShown counts the omitted causes and names the option that shows them.
func notShown(causes []*holdup) string {
	if len(causes) == 0 {
		return "All evidence and commands: -o wide"
	}
	objects := 0
	for _, c := range causes {
		objects += c.total()
	}
	return "and " + plural(len(causes), "more cause") + ", of " + plural(objects, "object") + ": -o wide"
}

// goes reports whether the cause ends without intervention.
func (c *holdup) goes() bool { return c.severity() == reason.Info }

// line returns the cause on one line.
func (c *holdup) line(s Style) string {
	return s.paint(severityColour(c.severity()), c.heldText(s)) + c.lastsText() + ": " + c.whyText(s)
}

// write writes the block of a cause: the held objects and duration, the reason, the evidence about
// the responsible controller, the waiting objects, and the commands. It reports whether something
// was left out.
func (c *holdup) write(w *writer, d detail) (left bool) {
	s := w.style
	const indent, hang = "  ", 4
	if c.own {
		w.atMost(d.words, sentenceCase(s.paint(severityColour(c.severity()), c.whyText(s))), 2)
	} else {
		w.atMost(d.words, s.paint(severityColour(c.severity()), c.heldText(s))+c.lastsText(), 2)
		w.atMost(d.words, indent+c.whyText(s), hang)
	}
	proofs := strongest(s, c.told, whyHeld(c.told), d.proofs)
	for _, p := range proofs {
		words := d.words
		if strings.HasPrefix(p, "not read: ") {
			words = 1 // usually a long list
		}
		w.atMost(words, indent+s.pick("· ", "* ")+p, hang)
	}
	if len(c.waiting) > 0 {
		w.atMost(d.words, indent+s.some(c.waiting, manyWaiting)+agree(len(c.waiting), " waits", " wait")+" for "+agree(c.total(), "it", "them"), hang)
	}
	shown := pasted(c.freed.Remedies, d.commands)
	for _, r := range shown {
		w.atMost(d.words, indent+remedyText(s, c, r), hang)
		w.command(indent+"  ", r)
	}
	return len(c.told.Proof) > len(proofs) || len(c.freed.Remedies) > len(shown)
}

// pasted returns the shown commands: the mildest, and if that only looks, also the one that always
// ends the waiting.
func pasted(all []report.Remedy, most int) []report.Remedy {
	if len(all) < 2 || most == 1 || !all[0].Action.Looks() || all[len(all)-1].Action.Looks() {
		return all[:min(len(all), 1)]
	}
	return []report.Remedy{all[0], all[len(all)-1]}
}

// remedyText returns the effect and cost of a command, and how to apply it to all held objects.
func remedyText(s Style, c *holdup, r report.Remedy) string {
	text := sentenceCase(s.text(r.Effect))
	switch n := c.total(); {
	case n == 1 || c.goes():
	case r.Action == report.TakeOff:
		held := heldBack(c.freed)
		all := s.text(report.ShellWord(report.KubectlKind(held.APIVersion, held.Kind))) + " --all-of-kind"
		if _, several := namespaces(c.held, func(r *report.Ref) report.Ref { return *r }); several {
			all += " -A"
		}
		text += " of one (of all " + strconv.Itoa(n) + ": " + all + ")"
	case r.Target == heldBack(c.freed), r.Target == lastLink(c.freed):
		text += " (one of " + strconv.Itoa(n) + ")"
	}
	if r.Cost != "" {
		return text + ". Cost: " + s.text(r.Cost) + "."
	}
	return text + ":"
}
