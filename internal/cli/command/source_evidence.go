package command

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// bodies collects evidence from the objects of a dump while the snapshot is read.
type bodies struct {
	world health.Evidence
	// readBodies are the objects that were read with their bodies, by part.
	readBodies map[health.Part]map[types.NamespacedName]bool
	// records are the added records in order, kept if the snapshot will be written.
	records     []*health.Record
	keepRecords bool
	// listedParts are the parts with a record of how far a server has listed them. Such lists were read
	// for a snapshot, separately from its objects.
	listedParts map[health.Part]bool
	// later are the objects with a record that are not in the snapshot of a cluster: see noteLater.
	later map[identity]bool
}

// identity identifies an object without its group, which may differ between sources.
type identity struct{ kind, namespace, name string }

func identityOf(ref object.Ref) identity { return identity{ref.Kind, ref.Namespace, ref.Name} }

// wants returns the fields to read from the body of an object; nil for a second copy.
func (b *bodies) wants(o *object.Object) *manifest.Fields {
	if part, ok := health.PartOf(o.APIVersion, o.Kind); ok && b.readBodies[part][nameOf(o.Ref)] {
		return nil
	}
	return health.FieldsOf(o)
}

// add reads evidence from the body of an object. An unreadable body makes its part incomplete and
// is no error.
func (b *bodies) add(o *object.Object, text []byte) error {
	if len(text) == 0 {
		b.addRecord(health.Missed(o, "the dump holds an object that is too large, or of a form that cannot be read in part"))
		return nil
	}
	r, err := health.ReadOf(o, text)
	b.addRecord(r)
	if err == nil {
		b.markRead(o.Ref)
	}
	return nil
}

// line reads the evidence of an object from a line of our own snapshot.
func (b *bodies) line(text []byte) error {
	r, err := health.ParseLine(text)
	if err != nil {
		return err
	}
	b.addRecord(r)
	if part, ok := r.Part(); ok {
		b.listedParts[part], b.world.Live = true, true
	} else if r.Unread == "" {
		b.markRead(r.Ref())
	}
	return nil
}

func (b *bodies) addRecord(r *health.Record) {
	b.world.Take(r)
	if b.keepRecords {
		b.records = append(b.records, r)
	}
}

// markRead records that the body of an object was read.
func (b *bodies) markRead(ref object.Ref) {
	part, ok := health.PartOf(ref.APIVersion, ref.Kind)
	if !ok {
		return
	}
	if b.readBodies[part] == nil {
		b.readBodies[part] = map[types.NamespacedName]bool{}
	}
	b.readBodies[part][nameOf(ref)] = true
}

func nameOf(ref object.Ref) types.NamespacedName {
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

const bodiesMissing = "the dump lists objects without their spec and status"

// evidence marks how far each part was read. It is as far as a server has listed it, otherwise as
// far as the snapshot covers it and has the bodies of all its objects. It is nil if none was
// collected.
func (b *bodies) evidence(snap *snapshot.Snapshot) *health.Evidence {
	if b == nil {
		return nil
	}
	namespaces := object.SetOf(snap.Objects, func(o *object.Object) string { return o.Namespace })
	for same := range snap.ByKind() {
		part, ok := health.PartOf(same[0].APIVersion, same[0].Kind)
		if !ok || b.listedParts[part] || part == health.Events { // no judgement depends on all Events
			continue
		}
		for _, o := range same {
			if !b.readBodies[part][nameOf(o.Ref)] && health.FieldsOf(o) != nil {
				b.world.Mark(part, o.Namespace, bodiesMissing)
			}
		}
	}
	for _, part := range health.Parts() {
		if b.listedParts[part] {
			continue
		}
		r := health.ResourceOf(part)
		if snap.Covers(r, "") {
			b.world.Mark(part, "", "")
			continue
		}
		if r.Namespaced {
			for ns := range namespaces {
				if ns != "" && snap.Covers(r, ns) {
					b.world.Mark(part, ns, "")
				}
			}
		}
		why := snap.Why(r, "")
		if _, text, ok := strings.Cut(why, ": "); ok { // without its code
			why = text
		}
		b.world.Mark(part, "", cmp.Or(why, health.NotRead))
	}
	return &b.world
}

// Evidence returns the evidence about what blocks the objects that are being deleted, and with
// drains about cordoned nodes. On a live cluster with many objects, only some are read
// individually, those in asked first.
func (w World) Evidence(ctx context.Context, asked []object.Ref, drains bool) (*health.Evidence, error) {
	if w.Client == nil {
		return w.bodies.evidence(w.Snapshot), nil
	}
	var first, others []*object.Object
	for _, o := range w.Objects {
		switch {
		case !o.BeingDeleted():
		case slices.Contains(asked, o.Ref):
			first = append(first, o)
		default:
			others = append(others, o)
		}
	}
	return w.Client.Evidence(ctx, append(first, others...), w.Objects, drains)
}

// Plan simulates a seed with evidence about other controllers. For a cluster it first simulates
// without evidence, and then reads only the evidence that matters for the objects reached. enough
// may accept the first result; it may be nil.
func (w World) Plan(ctx context.Context, seed plan.Seed, o plan.Options, enough func(*report.Plan) bool) (*plan.Result, error) {
	var reach kube.Reach
	if w.Client != nil {
		w = w.withRecords(ctx, seed.Targets)
		first := o
		first.Explore = 0
		result, err := plan.Simulate(ctx, w.Snapshot, seed, first)
		if err != nil || enough != nil && enough(result.Plan) {
			return result, err
		}
		reach = reachOf(w, result.Plan)
		if o.Outside, err = w.readOutside(ctx, result.Plan); err != nil {
			return nil, err
		}
	}
	var err error
	if o.Health, err = w.Assess(ctx, reach); err != nil {
		return nil, err
	}
	if w.Client != nil && seed.Uninstall == nil { // no run executes that plan
		contents, err := w.Client.Contents(ctx, w.found(seed.Targets))
		if err != nil {
			return nil, err
		}
		o.Guards = append(slices.Clone(o.Guards), contents...)
	}
	result, err := plan.Simulate(ctx, w.Snapshot, seed, o)
	if err != nil || w.Client == nil || !plan.ReferrerParts(reach.Referrers).Include(plan.ReferrerPartsOf(w.Snapshot, result.Plan)) {
		return result, err
	}
	// The evidence has shown more that goes, such as a namespace that waited for the target.
	if o.Health, err = w.Assess(ctx, reach); err != nil {
		return nil, err
	}
	return plan.Simulate(ctx, w.Snapshot, seed, o)
}

// withRecords reads the records of Helm that the inventories of targets lack. One that cannot be read
// leaves the inventory incomplete, and the plan says so.
func (w World) withRecords(ctx context.Context, targets []object.Ref) World {
	objects := w.Objects
	for _, o := range w.found(targets) {
		inventory := o.Inventory()
		if inventory == nil {
			continue
		}
		at := w.RecordOf(inventory)
		if at == nil {
			continue
		}
		if _, record, err := w.Client.Raw(ctx, at.Ref); err == nil && record.HelmRelease() != nil && record.HelmRelease().Unread == "" {
			o = o.Clone()
			o.Edit().Facts = inventory.WithRecord(record.HelmRelease())
			objects = slices.Clone(objects)
			objects[w.Place(o)] = o
		}
	}
	if len(objects) > 0 && &objects[0] != &w.Objects[0] {
		return w.WithSnapshot(w.With(objects))
	}
	return w
}

// readOutside reads the fields that decide about the outside resources of a plan, as far as the
// snapshot lacks them. Without such objects it sends no request.
func (w World) readOutside(ctx context.Context, p *report.Plan) (map[types.UID]*object.OutsideFacts, error) {
	var objects []*object.Object
	for i := range p.Outside {
		ref := p.Outside[i].Object
		if o := w.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil && plan.LacksOutside(o) {
			objects = append(objects, o)
		}
	}
	if len(objects) == 0 {
		return nil, nil
	}
	return w.Client.ReadOutside(ctx, objects)
}

// found returns the existing objects of refs, except kinds that change constantly.
func (w World) found(refs []object.Ref) []*object.Object {
	var list []*object.Object
	for _, ref := range refs {
		if o := w.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil && !plan.Passing(o.Ref) {
			list = append(list, o)
		}
	}
	return list
}

// Assess returns the evidence about other controllers: from the dump, or from the cluster
// within a reach.
func (w World) Assess(ctx context.Context, reach kube.Reach) (*health.Assessment, error) {
	if w.Client == nil {
		return health.New(w.Snapshot, w.bodies.evidence(w.Snapshot), w.TakenAt()), nil
	}
	seen, err := w.Client.Neighbours(ctx, reach)
	if err != nil {
		return nil, err
	}
	return health.New(w.Snapshot, seen, w.TakenAt()), nil
}

// What names the input in an error.
func (w World) What() string { return What(w.Snapshot) }

// What names the input of a snapshot in an error.
func What(snap *snapshot.Snapshot) string {
	if snap.Source.Server != "" {
		return "this cluster"
	}
	return "the dump"
}

// TakenAt returns the time of the snapshot in seconds since 1970; 0 if unknown.
func (w World) TakenAt() int64 { return w.Source.Seconds() }

// SecondsOf parses a time to seconds since 1970; an empty one is 0.
func SecondsOf(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0, err
	}
	return t.Unix(), nil
}

// reachOf returns the objects that a plan changes, and those held by finalizers of other
// controllers.
func reachOf(w World, p *report.Plan) kube.Reach {
	r := kube.Reach{Referrers: plan.ReferrerPartsOf(w.Snapshot, p)}
	written, held := map[*object.Object]bool{}, map[*object.Object]bool{}
	add := func(list *[]*object.Object, have map[*object.Object]bool, ref object.Ref, is func(*object.Object) bool) {
		if o := w.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil && !have[o] && is(o) {
			*list = append(*list, o)
			have[o] = true
		}
	}
	always := func(*object.Object) bool { return true }
	for e := range p.Account() {
		add(&r.Written, written, e.Object, always)
		add(&r.Held, held, e.Object, heldByOthers)
	}
	for e := range p.Account() { // objects of earlier deletions that ours wait for
		for _, release := range e.Once {
			add(&r.Held, held, release.Object, always)
		}
	}
	for i := range p.Effects { // earlier deletions also finish, or are held
		e := &p.Effects[i]
		blocked := e.BlockedBy != nil && slices.ContainsFunc(e.BlockedBy.Finalizers, ofOthers)
		if e.AlreadyHappening || blocked {
			add(&r.Written, written, e.Object, always)
		}
		if blocked {
			add(&r.Held, held, e.Object, always)
		}
	}
	if slices.ContainsFunc(r.Written, func(o *object.Object) bool { return health.MayObstruct(o.Ref) }) {
		for _, o := range inDeletions(w.Snapshot) {
			add(&r.Written, written, o.Ref, always)
			add(&r.Held, held, o.Ref, heldByOthers)
		}
	}
	return r
}

// inDeletions returns the objects that are being deleted, and the content of the namespaces among them. A request
// may remove what they wait for.
func inDeletions(snap *snapshot.Snapshot) (list []*object.Object) {
	namespaces := map[string]bool{}
	for _, o := range snap.Objects {
		if o.Is(object.Namespace) && o.BeingDeleted() {
			namespaces[o.Name] = true
		}
	}
	list = append(list, object.Filtered(snap.Objects, func(o *object.Object) bool {
		return o.BeingDeleted() || namespaces[o.Namespace]
	})...)
	return list
}

// ofOthers reports whether a finalizer is removed by a controller outside of Kubernetes.
func ofOthers(name string) bool {
	return name != object.Foreground && name != object.Orphan && !health.OfManager(name)
}

// heldByOthers reports whether an object has a finalizer of a controller outside of Kubernetes.
func heldByOthers(o *object.Object) bool { return slices.ContainsFunc(o.Finalizers(), ofOthers) }

// ReachOf returns the reach of a single object.
func ReachOf(snap *snapshot.Snapshot, o *object.Object) kube.Reach {
	written := []*object.Object{o}
	if health.MayObstruct(o.Ref) {
		written = append(written, inDeletions(snap)...)
	}
	r := reachWriting(written)
	r.Referrers = plan.ReferrerPartsFor(snap, o)
	return r
}

// reachWriting returns the reach of requests that may write to objects.
func reachWriting(objects []*object.Object) kube.Reach {
	r := kube.Reach{Written: objects}
	r.Held = append(r.Held, object.Filtered(objects, heldByOthers)...)
	return r
}

// AssessAll returns the evidence about everything that a delete of any object may depend on.
func (w World) AssessAll(ctx context.Context) (*health.Assessment, error) {
	return w.Assess(ctx, reachWriting(w.Objects))
}
