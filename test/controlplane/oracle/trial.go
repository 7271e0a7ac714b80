package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// trial is a story on its way through the control plane.
type trial struct {
	*stage
	story      *story
	slot       int
	ours, twin place
	dir        string // of the program
	link       *link  // to the server, where it fails
	gate       *gate  // to the server, where a kind is no longer served

	// What there was when the plan was made, and what there was at the end, here and at
	// the twin's.
	before, after, would map[key]*unstructured.Unstructured
	twinBefore           map[key]*unstructured.Unstructured

	plan   *report.Plan
	raw    []byte // the plan as it was printed
	shown  said   // the dry run
	again  string // what was other in a second one
	ran    said
	result *report.Run
	writes []*write
	deeds  []*deedDone
	// operators work until the worlds have come to rest after the run.
	operators sync.WaitGroup
	rested    chan struct{}
	bundles   []string
	// freed tells that finalizers came off in the end.
	freed bool

	// restores reports whether it is the administrator who runs the program.
	restores bool
	undone   *report.Undo
	undoSaid []said
	restored map[key]*unstructured.Unstructured
	undoing  []*write

	wrong []violation
	known []string // what of it is known
	// twinless are objects that are not judged: at the twin's they were others from the
	// beginning.
	twinless []key
	// noticed are the changes that the judge would have missed in the account.
	noticed int
}

// world is the part of a mirror that the judges look at.
func (t *trial) worldAt(at place) map[key]*unstructured.Unstructured { return t.mirror.world(at) }

var digests = regexp.MustCompile(`--confirm=(sha256:[0-9a-f]{64})`)

// run carries the story out, and judges it.
func (t *trial) run(ctx context.Context) error {
	t.rested = make(chan struct{})
	if err := t.begin(ctx); err != nil {
		return err
	}
	t.aim()
	// A plan that has become another one is looked at once more, as a person would. The
	// difference is for whoever has to find out what has moved.
	for range 4 {
		before := t.shown.out
		if err := t.foresee(ctx); err != nil {
			return err
		}
		if t.another() {
			if t.again = apart(before, t.shown.out); strings.Contains(t.again, string(t.ours)) && t.quiet() {
				break
			}
		}
		if err := t.act(ctx); err != nil {
			return err
		}
		if !t.another() {
			break
		}
	}
	if err := t.repeat(ctx); err != nil {
		return err
	}
	var err error
	if t.writes, err = t.writesOf(ctx, t.user()); err != nil {
		return err
	}
	if err := t.look(ctx, dwell); err != nil {
		return err
	}
	close(t.rested)
	t.operators.Wait()
	t.judge()
	if len(t.wrong) > 0 {
		// What has not settled is no violation: it is looked at once more, later.
		if err := t.look(ctx, 6*dwell); err != nil {
			return err
		}
		t.judge()
	}
	if t.story.released {
		if err := t.release(ctx); err != nil {
			return err
		}
		t.judge()
	}
	return t.undo(ctx)
}

// aim has a command that is about nothing but what has gone before it began be about
// something that is there.
func (t *trial) aim() {
	c := &t.story.command
	there := func(name string) bool { return t.before[t.ours.key(t.story.thing(name))] != nil }
	if c.verb != "delete" || len(c.targets) == 0 || slices.ContainsFunc(c.targets, there) {
		return
	}
	for _, of := range t.story.things {
		if (of.namespace == "a" || of.namespace == "") && of.kind != "Namespace" && there(of.name) {
			c.targets = []string{of.name}
			return
		}
	}
}

// apart are the lines that one of two texts has and the other has not.
func apart(a, b string) string {
	var lines []string
	in := func(text string) map[string]int {
		n := map[string]int{}
		for line := range strings.Lines(text) {
			n[strings.TrimSpace(line)]++
		}
		return n
	}
	x, y := in(a), in(b)
	for line := range x {
		if y[line] != x[line] {
			lines = append(lines, fmt.Sprintf("%dx -> %dx %s", x[line], y[line], line))
		}
	}
	for line := range y {
		if x[line] == 0 {
			lines = append(lines, fmt.Sprintf("0x -> %dx %s", y[line], line))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

// look waits until both worlds are at rest.
func (t *trial) look(ctx context.Context, least time.Duration) error {
	if err := t.rest(ctx, least, t.ours, t.twin); err != nil {
		return err
	}
	t.after, t.would = t.worldAt(t.ours), t.worldAt(t.twin)
	return nil
}

// foresee asks for the plan.
func (t *trial) foresee(ctx context.Context) (err error) {
	args := append(t.story.command.args(t.ours, t.story), "--dry-run", "-o", "json")
	if t.shown, err = t.gc(ctx, nil, nil, args...); err != nil {
		return err
	}
	var p report.Plan
	if json.Unmarshal([]byte(t.shown.out), &p) == nil && p.Kind == "Plan" {
		t.plan, t.raw = &p, []byte(t.shown.out)
	}
	return nil
}

// digest is that of the plan that was shown.
func (t *trial) digest() string {
	if found := digests.FindStringSubmatch(t.shown.errs); found != nil {
		return found[1]
	}
	if t.plan != nil {
		return t.plan.Digest
	}
	return ""
}

// act runs the command, while others do what they do.
func (t *trial) act(ctx context.Context) (err error) {
	args := t.story.command.args(t.ours, t.story)
	var question func(string) string
	switch t.story.answer {
	case rightDigest:
		args = append(args, "-o", "json", "--confirm="+t.digest())
	case wrongDigest:
		args = append(args, "-o", "json", "--confirm=sha256:"+strings.Repeat("0", 64))
	case nobodyThere:
		args = append(args, "-o", "json")
	case saidYes, saidNo, saidWrong, hungUp:
		args = append(args, "-o", "wide") // which lists every object of the plan
		question = func(asked string) string {
			t.happens(ctx, atQuestion)
			switch t.story.answer {
			case saidYes:
				return "theirs\n"
			case saidNo:
				return "n\n"
			case saidWrong:
				return "yess\n"
			default:
				return "\x04"
			}
		}
	}
	t.happens(ctx, beforeRun)
	var p *process
	var cut sync.Once
	var ready sync.WaitGroup
	ready.Add(1)
	t.records.tell(t.user(), func(received bool, w *write) {
		if w.ObjectRef.Name == sentinelName(t.user()) {
			return
		}
		if !received && w.rehearsed() {
			go t.happens(ctx, atRehearsal)
		}
		if received || w.rehearsed() {
			return
		}
		go t.happens(ctx, atWrite)
		ready.Wait()
		switch t.story.fault {
		case interrupted:
			p.signal(os.Interrupt)
		case killed:
			p.signal(syscall.SIGKILL)
		case answerLost, serverLost:
			cut.Do(func() { t.link.cut(t.story.fault == serverLost) })
		case unserved:
			cut.Do(t.gate.shut)
		case noFault:
		}
	})
	t.ran, err = t.gc(ctx, func(started *process) { p = started; ready.Done() }, question, args...)
	if err != nil {
		return err
	}
	var r report.Run
	if json.Unmarshal([]byte(t.ran.out), &r) == nil && r.Kind == "Run" {
		t.result = &r
	}
	if t.link != nil {
		t.link.mend()
	}
	if t.gate != nil {
		t.gate.reopen()
	}
	t.happens(ctx, afterRun)
	t.records.tell(t.user(), nil)
	if t.bundles, err = filepath.Glob(filepath.Join(t.dir, "kubectl-gc", "backups", "*")); err != nil {
		return err
	}
	return nil
}

// another reports whether the run was refused because the plan has become another one.
func (t *trial) another() bool {
	return t.story.answer == rightDigest && t.ran.code == 5 && strings.Contains(t.ran.errs, "is of another plan")
}

// undo carries the undo out, and judges it. Where the user has not all rights somebody
// does it who has.
func (t *trial) undo(ctx context.Context) (err error) {
	if !t.undoable() {
		return nil
	}
	t.restores = t.story.rights != everything
	look, err := t.gc(ctx, nil, nil, "undo", t.bundles[0], "--dry-run", "-o", "json")
	if err != nil {
		return err
	}
	t.undoSaid = append(t.undoSaid, look)
	var foreseen report.Undo
	if err := json.Unmarshal([]byte(look.out), &foreseen); err != nil || foreseen.Kind != "Undo" {
		t.judgeUndo()
		return nil
	}
	t.undone = &foreseen
	t.happens(ctx, atUndo)
	found := digests.FindStringSubmatch(look.errs)
	if found != nil {
		ran, err := t.gc(ctx, nil, nil, "undo", t.bundles[0], "-o", "json", "--confirm="+found[1])
		if err != nil {
			return err
		}
		t.undoSaid = append(t.undoSaid, ran)
		var done report.Undo
		if json.Unmarshal([]byte(ran.out), &done) == nil && done.Kind == "Undo" {
			t.undone = &done
		}
	}
	if !t.restores {
		if t.undoing, err = t.writesOf(ctx, t.user()); err != nil {
			return err
		}
	}
	if err := t.rest(ctx, dwell, t.ours); err != nil {
		return err
	}
	t.restored = t.worldAt(t.ours)
	t.judgeUndo()
	return nil
}

// undoable reports whether there is something to be undone: a backup of a run that wrote.
func (t *trial) undoable() bool {
	if !t.story.undo || len(t.bundles) != 1 || t.story.command.has("--no-backup") {
		return false
	}
	for _, w := range t.writes {
		if !w.rehearsed() && w.done() {
			return true
		}
	}
	return false
}

// begin waits until the two worlds are one: on a busy machine a controller may be through
// with one of them long before the other. Where two controllers were at an object at
// once, it depends on which was first what it is, for good: such an object has no twin,
// and is not judged.
func (t *trial) begin(ctx context.Context) error {
	for range 4 {
		t.before, t.twinBefore = t.worldAt(t.ours), t.worldAt(t.twin)
		t.twinless = t.unlikely()
		if len(t.twinless) == 0 {
			return nil
		}
		if err := t.rest(ctx, 2*dwell, t.ours, t.twin); err != nil {
			return err
		}
	}
	for _, k := range t.twinless {
		delete(t.twinBefore, t.twinOf(k))
	}
	return nil
}

// unlikely are the objects that are others at the twin's.
func (t *trial) unlikely() []key {
	var list []key
	for _, k := range keysOf(t.before) {
		other := t.twinBefore[t.twinOf(k)]
		if strings.HasSuffix(k.name, "-rights") {
			continue
		}
		if other == nil || len(differences(t.ours, t.before[k], t.twin, other)) > 0 {
			list = append(list, k)
		}
	}
	return list
}

// twinOf is what an object is called at the twin's.
func (t *trial) twinOf(k key) key {
	there := func(s string) string { return strings.Replace(s, string(t.ours), string(t.twin), 1) }
	return key{k.kind, there(k.namespace), there(k.name)}
}
