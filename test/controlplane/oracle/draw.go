package oracle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

const (
	operated  = "databases.oracle.example.com/cleanup" // which the operator takes off, where it runs
	foreign   = "example.com/hold"
	claims    = "kubernetes.io/pvc-protection"
	volumes   = "kubernetes.io/pv-protection"
	protect   = "kubectl-gc.io/protect"
	helmKeeps = "helm.sh/resource-policy"
	runs      = "oracle/operator" // the label of what an operator looks after
	guarded   = "oracle/guarded"  // the label of what an admission policy does not let be deleted
	pick      = "oracle/pick"
)

func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// drawer draws a story.
type drawer struct {
	*rand.Rand
	story
}

// draw is the story of a seed.
func draw(seed uint64) *story {
	d := &drawer{Rand: rand.New(rand.NewPCG(seed, 8)), story: story{seed: seed, undo: true}}
	d.controllers = choose(d, map[controllers]int{everybody: 11, noCollector: 6, nobody: 3})
	d.world()
	d.asked()
	d.rights = choose(d, map[rights]int{everything: 15, ownNamespace: 2, readOnly: 1, someKinds: 1, impersonated: 1})
	d.answer = choose(d, map[answer]int{rightDigest: 25, wrongDigest: 2, nobodyThere: 1, saidYes: 9, saidNo: 1, saidWrong: 1, hungUp: 1})
	d.fault = choose(d, map[fault]int{noFault: 30, interrupted: 3, killed: 2, answerLost: 2, serverLost: 2})
	if d.one(2) {
		d.meddling()
	}
	d.released = d.one(2)
	d.surroundings()
	return &d.story
}

// takenWith lists what may go with the targets of the command: what they own, and what is in them.
func (d *drawer) takenWith() []string {
	var names []string
	for _, t := range d.things {
		of := func(name string) bool {
			return t.namespace == name || slices.ContainsFunc(t.owners, func(o owner) bool { return o.name == name })
		}
		if t.kind != "Namespace" && slices.ContainsFunc(d.command.targets, of) {
			names = append(names, t.name)
		}
	}
	return names
}

// surroundings draws what else may be in the way: policies that deny, an operator that makes
// again what has gone, a kind that goes.
func (d *drawer) surroundings() {
	if d.one(4) {
		for range 1 + d.IntN(2) {
			if t := &d.things[d.IntN(len(d.things))]; t.kind != "Namespace" || d.one(3) {
				t.labels[guarded] = "yes"
			}
		}
	}
	if all := d.takenWith(); len(all) > 0 && d.one(3) {
		d.steps = append([]step{{when: beforeRun, do: renews, object: all[d.IntN(len(all))]}}, d.steps...)
	}
	if d.fault == noFault && d.one(10) {
		if d.fault = unserved; d.story.unserved() == nil {
			d.fault = noFault
		}
	}
}

// choose draws by weight.
func choose[K ~string](d *drawer, weights map[K]int) K {
	names, n := slices.Sorted(maps.Keys(weights)), 0
	for _, name := range names {
		n += weights[name]
	}
	n = d.IntN(n)
	for _, name := range names {
		if n -= weights[name]; n < 0 {
			return name
		}
	}
	panic("unreachable")
}

func (d *drawer) one(n int) bool { return d.IntN(n) == 0 }

func (d *drawer) world() {
	d.things = append(d.things, thing{kind: "Namespace", name: "a"})
	namespaces := []string{"a", "a", "a"}
	if d.one(3) {
		d.things = append(d.things, thing{kind: "Namespace", name: "b"})
		namespaces = append(namespaces, "b")
	}
	most := 2 + d.IntN(12)
	for range most {
		d.add(namespaces[d.IntN(len(namespaces))])
	}
	withProtected := d.one(3)
	for i := range d.things {
		d.owned(i)
		d.marked(i, withProtected)
	}
}

// add draws an object, and what it cannot be without.
func (d *drawer) add(namespace string) {
	n := 0
	for _, k := range kinds {
		n += k.weight
	}
	n = d.IntN(n)
	i := 0
	for ; n >= kinds[i].weight; i++ {
		n -= kinds[i].weight
	}
	t := thing{kind: kinds[i].name, name: fmt.Sprintf("o%d", len(d.things)), labels: map[string]string{}, annotations: map[string]string{}}
	if kinds[i].namespaced {
		t.namespace = namespace
	}
	switch t.kind {
	case "PersistentVolumeClaim":
		t.finalizers = []string{claims}
		if d.one(2) {
			t.with = t.name + "v"
			d.things = append(d.things, thing{kind: "PersistentVolume", name: t.with, finalizers: []string{volumes}, with: t.name})
		}
	case "Pod":
		t.with = d.other("PersistentVolumeClaim", namespace)
	case "Secret":
		if d.one(3) {
			t.with = d.other("ServiceAccount", namespace)
		}
	case "Database":
		if d.one(2) {
			t.finalizers = []string{operated}
		}
		if d.one(2) {
			t.labels[runs] = "yes"
		}
	}
	if d.one(8) {
		t.finalizers = append(t.finalizers, foreign)
	}
	d.things = append(d.things, t)
}

// other is an object of a kind in a namespace; empty where there is none.
func (d *drawer) other(kind, namespace string) string {
	for _, t := range d.things {
		if t.kind == kind && t.namespace == namespace {
			return t.name
		}
	}
	return ""
}

// owned draws the owners of an object.
func (d *drawer) owned(i int) {
	t := &d.things[i]
	number := []int{0, 0, 0, 1, 1, 1, 1, 2}[d.IntN(8)]
	if t.kind == "Namespace" || t.kind == "PersistentVolume" {
		number = max(0, number-1)
	}
	for range number {
		// Where the collector runs, garbage that nothing holds has gone before the run.
		seldom := 5
		if d.controllers == everybody && len(t.finalizers) == 0 {
			seldom = 20
		}
		if d.one(seldom) {
			t.owners = append(t.owners, owner{name: fmt.Sprintf("ghost%d", d.IntN(2)), ghost: true, kind: []string{"ConfigMap", "Gadget"}[d.IntN(2)]})
			continue
		}
		var fitting []string
		younger := d.one(8)
		for j := range d.things {
			o := &d.things[j]
			if (j < i || younger && j != i) && (o.namespace == "" || o.namespace == t.namespace) && !slices.ContainsFunc(t.owners, func(w owner) bool { return w.name == o.name }) {
				fitting = append(fitting, o.name)
			}
		}
		if len(fitting) > 0 {
			t.owners = append(t.owners, owner{name: fitting[d.IntN(len(fitting))], blocks: d.one(2)})
		}
	}
	if len(t.owners) > 0 && !t.owners[0].ghost && d.one(3) {
		t.owners[0].controller = true
	}
}

// marked draws labels, annotations and whether the object is being deleted, and in some worlds
// protected objects.
func (d *drawer) marked(i int, withProtected bool) {
	t := &d.things[i]
	if t.labels == nil {
		t.labels, t.annotations = map[string]string{}, map[string]string{}
	}
	if d.one(3) {
		t.labels[pick] = "yes"
	}
	n := d.IntN(12)
	if !withProtected {
		n = max(n, 2)
	}
	switch n {
	case 0:
		t.annotations[protect] = "true"
	case 1:
		t.annotations[helmKeeps] = "keep"
	case 2:
		t.annotations[protect] = "false"
	}
	if len(t.finalizers) > 0 && t.kind != "Namespace" && d.one(6) {
		t.deleting = true
	}
}

// asked draws the command.
func (d *drawer) asked() {
	verbs := map[string]int{"delete": 30, "remove-finalizer": 10, "collect": 1}
	if d.controllers != everybody {
		verbs["collect"] = 25
	}
	c := &d.command
	c.verb = choose(d, verbs)
	var flags []string
	flag := func(n int, f string) {
		if d.one(n) {
			flags = append(flags, f)
		}
	}
	switch c.verb {
	case "delete":
		d.targets()
		flag(3, []string{"--cascade=foreground", "--cascade=orphan", "--cascade=background"}[d.IntN(3)])
		if d.one(4) {
			flags = append(flags, "--wait=false")
		} else {
			flags = append(flags, "--timeout=2s")
		}
		flags = append(flags, "--patience=1s")
	case "collect":
		c.namespace = "a"
		d.litter()
		flags = append(flags, "--patience=4s")
	case "remove-finalizer":
		if !d.held() {
			c.verb = "delete"
			d.targets()
			flags = append(flags, "--timeout=2s")
			break
		}
		flag(3, "--unlock=in-use")
		flag(4, "--unlock=gc")
		flag(4, "--unlock=content")
		flag(2, "--unlock=leak")
		if d.one(2) {
			flags = append(flags, "--wait", "--timeout=2s")
		}
	}
	if !d.one(4) {
		flags = append(flags, "--unlock=namespace,pvc,pv")
	}
	flag(4, fmt.Sprintf("--max-deletes=%d", d.IntN(9)))
	flag(8, "--no-backup")
	flag(3, "--backup-secrets")
	c.flags = flags
}

// litter makes garbage of a few objects that nobody owns.
func (d *drawer) litter() {
	for n := 1 + d.IntN(3); n > 0; n-- {
		t := &d.things[d.IntN(len(d.things))]
		if t.namespace == "a" && len(t.owners) == 0 {
			t.owners = []owner{{name: "ghost2", ghost: true, kind: "ConfigMap", blocks: d.one(2)}}
		}
	}
}

// targets draws what is deleted: mostly what owns something, is held, or is garbage.
func (d *drawer) targets() {
	namespace := "a"
	var all, owners, ofNobody, held, containers []string
	for _, t := range d.things {
		if t.namespace != "" && t.namespace != namespace {
			continue
		}
		all = append(all, t.name)
		if slices.ContainsFunc(d.things, func(o thing) bool {
			return slices.ContainsFunc(o.owners, func(w owner) bool { return w.name == t.name })
		}) {
			owners = append(owners, t.name)
		}
		if len(t.finalizers) > 0 {
			held = append(held, t.name)
		}
		if slices.ContainsFunc(t.owners, func(w owner) bool { return w.ghost }) {
			ofNobody = append(ofNobody, t.name)
		}
		if t.kind == "Namespace" {
			containers = append(containers, t.name)
		}
	}
	d.command.namespace = namespace
	var picked []string
	for _, t := range d.things {
		if t.namespace == namespace && t.labels[pick] != "" {
			picked = append(picked, t.kind)
		}
	}
	if len(picked) > 0 && d.one(6) {
		d.command.selector = picked[d.IntN(len(picked))]
		return
	}
	for range 1 + d.IntN(3)/2*d.IntN(3) {
		from := [][]string{owners, owners, owners, held, ofNobody, ofNobody, containers, all}[d.IntN(8)]
		if len(from) == 0 {
			from = all
		}
		if name := from[d.IntN(len(from))]; !slices.Contains(d.command.targets, name) {
			d.command.targets = append(d.command.targets, name)
		}
	}
}

// held draws a finalizer to take off an object that is being deleted, and has one be
// deleted where none is.
func (d *drawer) held() bool {
	var fitting []int
	for i, t := range d.things {
		if len(t.finalizers) > 0 && (t.namespace == "" || t.namespace == "a") {
			fitting = append(fitting, i)
		}
	}
	if len(fitting) == 0 {
		return false
	}
	t := &d.things[fitting[d.IntN(len(fitting))]]
	t.deleting = t.deleting || !d.one(6)
	d.command.targets, d.command.namespace = []string{t.name}, "a"
	d.command.finalizers = []string{t.finalizers[d.IntN(len(t.finalizers))]}
	return true
}

// meddling draws what others do meanwhile, preferably to what the program is about.
func (d *drawer) meddling() {
	moments := map[moment]int{atRehearsal: 3, atWrite: 4, afterRun: 1, beforeRun: 2}
	if d.answer.typed() {
		moments = map[moment]int{atQuestion: 6, atRehearsal: 2, atWrite: 3, afterRun: 1}
	}
	for range 1 + d.IntN(3) {
		s := step{
			when:   choose(d, moments),
			do:     choose(d, map[deed]int{protects: 4, annotates: 2, holds: 2, releases: 2, deletes: 2, adds: 2}),
			object: d.things[d.IntN(len(d.things))].name,
		}
		if n := len(d.command.targets); n > 0 && d.one(2) {
			s.object = d.command.targets[d.IntN(n)]
		}
		if d.thing(s.object).kind != "Namespace" || s.do == protects || s.do == annotates {
			d.steps = append(d.steps, s)
		}
	}
	if d.one(3) {
		s := step{when: atUndo, do: choose(d, map[deed]int{replaces: 4, annotates: 1, holds: 1, deletes: 1}), object: d.things[d.IntN(len(d.things))].name}
		if n := len(d.command.targets); n > 0 && d.one(2) {
			s.object = d.command.targets[d.IntN(n)]
		}
		if d.thing(s.object).kind == "Namespace" {
			s.do = annotates
		}
		d.steps = append(d.steps, s)
	}
	order := []moment{beforeRun, atQuestion, atRehearsal, atWrite, afterRun, atUndo}
	slices.SortStableFunc(d.steps, func(a, b step) int { return slices.Index(order, a.when) - slices.Index(order, b.when) })
}
