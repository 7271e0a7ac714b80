package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// spot is a kind in a namespace.
type spot struct {
	typeName
	namespace string
}

// sighting is one list as it was read, the raw material of coverage.
type sighting struct {
	location
	file string
	list manifest.List
	// stream is true for a list in the output of `kubectl cluster-info dump`.
	stream bool
	// common is what its items have in common.
	common common
	// shown are the kinds and namespaces of the items, each once.
	shown []spot
}

// failure is a list that is known to be missing or broken. It is named by a location, or by a spot
// if kind is set.
type failure struct {
	location
	spot
	reason reason.Code
	text   string
}

// judge turns sightings into coverage after the resources are known.
type judge struct {
	resources *object.Resources
	coverage  *Coverage

	doubted []doubted
	// ending are lists that end like one that was cut off.
	ending []*sighting
	// misnamedFiles counts the files with items that contradict their names. Only the first one is
	// a problem: a dump with that flaw has it in every file.
	misnamedFiles int
	firstMisnamed Problem
}

// list decides what one list proves, by its layout.
//
//   - A list that is one page of several proves nothing, and neither does any other list of that
//     resource: it may be the next page.
//   - A list in a file named after its resource, in a layout that defines the scope of the file,
//     covers the resource in that scope, empty or not.
//   - Any other list covers the namespaces of its items, unless it looks like a selection. An
//     empty one covers a cluster-scoped kind. For a namespaced kind its namespace is unknown.
func (j *judge) list(s *sighting) {
	if s.list.Partial {
		j.partial(s)
		return
	}
	proof := s.proof()
	if s.list.Open && proof != nothing {
		j.ending = append(j.ending, s)
		return
	}
	switch proof {
	case nothing:
		return
	case taken:
		if why := s.common.selected(); why != "" {
			j.doubted = append(j.doubted, doubted{s.shown, why + "; if it was not"})
			return
		}
	case whole:
		j.placed(s)
	}
	for _, at := range s.shown {
		j.showing(at)
	}
	if s.list.Items == 0 {
		j.empty(s)
	}
}

// empty covers the kind of a list without items, if that is cluster-scoped.
func (j *judge) empty(s *sighting) {
	kind, typed := strings.CutSuffix(s.list.Kind, "List")
	if !typed || kind == "" {
		return
	}
	if r, ok := j.resource(typeName{s.list.APIVersion, kind}); ok && !r.Namespaced {
		j.coverage.Add(r.GroupResource(), "")
	}
}

// placed covers the resource in the scope that a path names, unless items contradict the path.
func (j *judge) placed(s *sighting) {
	named, ok := j.named(s.location)
	if !ok || s.scope == shown || !j.agrees(s, named) {
		return
	}
	switch s.scope {
	case inNamespace:
		if named.Namespaced {
			j.coverage.Add(named.GroupResource(), s.namespace)
		}
	case inCluster:
		if !named.Namespaced {
			j.coverage.Add(named.GroupResource(), "")
		}
	case everywhere:
		j.coverage.Add(named.GroupResource(), "")
	case shown, byDirectory: // the name alone doesn't tell the scope
	}
}

// doubted are the kinds and namespaces of a list that may be incomplete.
type doubted struct {
	shown []spot
	why   string
}

// doubt records why the kinds of a list that may be incomplete are not covered, unless another list
// covers them.
func (j *judge) doubt(d doubted) {
	for _, at := range d.shown {
		if r, ok := j.resource(at.typeName); ok && r.Namespaced == (at.namespace != "") && !j.coverage.covers(r.GroupResource(), at.namespace) {
			j.coverage.Fail(r.GroupResource(), at.namespace, reason.Partial, fmt.Sprintf("%s, add --complete=%s", d.why, r.GroupResource()))
		}
	}
}

// showing covers the namespace of an item, or its whole kind if it is cluster-scoped.
func (j *judge) showing(at spot) {
	r, ok := j.resource(at.typeName)
	switch {
	case !ok:
	case !r.Namespaced && at.namespace == "":
		j.coverage.Add(r.GroupResource(), "")
	case r.Namespaced && at.namespace != "":
		j.coverage.Add(r.GroupResource(), at.namespace)
	}
}

// partial records that a page of a list proves nothing: neither it, nor any other list of its
// kinds.
func (j *judge) partial(s *sighting) {
	const text = "a list says that it is one page of several"
	if named, ok := j.named(s.location); ok {
		namespace := ""
		if s.scope == inNamespace && named.Namespaced {
			namespace = s.namespace
		}
		j.coverage.Fail(named.GroupResource(), namespace, reason.Partial, text)
	}
	for _, at := range s.shown {
		if r, ok := j.resource(at.typeName); ok {
			j.coverage.Fail(r.GroupResource(), "", reason.Partial, text)
		}
	}
}

// agrees reports whether all items of a list have the resource and the namespace of its path.
func (j *judge) agrees(s *sighting, named object.Resource) bool {
	want := object.Storage(named.GroupResource())
	for _, at := range s.shown {
		r, ok := j.resource(at.typeName)
		kindFits := ok && object.Storage(r.GroupResource()) == want
		placeFits := s.scope != inNamespace || at.namespace == s.namespace
		if !kindFits || !placeFits {
			if j.misnamedFiles++; j.misnamedFiles == 1 {
				j.firstMisnamed = Problem{Kind: MisnamedFile, File: s.file,
					Message: fmt.Sprintf("lists %q %q in namespace %q, which its name does not say", at.apiVersion, at.kind, at.namespace)}
			}
			return false
		}
	}
	return true
}

// ends records why lists that may have been cut off prove nothing, unless another list covers their
// kinds.
func (j *judge) ends() {
	const text = "a YAML list without a head ends as one does that is cut off"
	for _, s := range j.ending {
		for _, at := range s.shown {
			r, ok := j.resource(at.typeName)
			if gr := r.GroupResource(); ok && !j.coverage.covers(gr, at.namespace) && !j.coverage.of(gr).failed(at.namespace) {
				j.coverage.Fail(gr, at.namespace, reason.Truncated, text)
			}
		}
	}
}

func (j *judge) resource(t typeName) (object.Resource, bool) {
	r, err := j.resources.For(t.apiVersion, t.kind)
	return r, err == nil && r.Served()
}

// named returns the resource that a location names. An unknown resource with a group in its path is
// accepted as it is.
func (j *judge) named(l location) (object.Resource, bool) {
	if l.resource == "" {
		return object.Resource{}, false
	}
	if l.grouped {
		gr := schema.GroupResource{Group: l.group, Resource: l.resource}
		for _, candidate := range []schema.GroupResource{gr, object.Storage(gr)} {
			if r, ok := j.resources.Preferred(candidate); ok {
				return r, true
			}
		}
		if r, ok := builtinNames().resource(l); ok {
			return r, true
		}
		return object.Resource{Group: l.group, Name: l.resource, Namespaced: l.scope != inCluster}, true
	}
	if r, ok := builtinNames().resource(l); ok {
		if p, ok := j.resources.Preferred(object.Storage(r.GroupResource())); ok {
			return p, true
		}
		return r, true
	}
	for _, r := range j.resources.Sorted() {
		if r.Name == l.resource {
			return r, true
		}
	}
	return object.Resource{}, false
}

// failure removes the coverage of a list that is known to be missing.
func (j *judge) failure(f failure) {
	if f.kind != "" {
		if r, ok := j.resource(f.typeName); ok {
			j.coverage.Fail(r.GroupResource(), f.spot.namespace, f.reason, f.text)
		}
		return
	}
	if r, ok := j.named(f.location); ok {
		namespace := f.location.namespace
		if !r.Namespaced {
			namespace = ""
		}
		j.coverage.Fail(r.GroupResource(), namespace, f.reason, f.text)
	}
}

// taken returns the earliest time at which the dump can have been taken, in seconds since 1970: no
// deletion in it is later. It returns 0 without any object that is written regularly.
func (r *reader) taken() int64 {
	at := r.moment
	for _, o := range r.objects {
		if at > 0 && o.BeingDeleted() {
			at = max(at, o.Deleted())
		}
	}
	return at
}

// snapshot builds the snapshot from everything that was read.
func (r *reader) snapshot(paths []string) (*Snapshot, error) {
	if s := r.onlyStored(); s != nil {
		s.Source.TakenAt = cmp.Or(r.options.TakenAt, s.Source.TakenAt)
		s.latest = max(s.latest, Source{TakenAt: r.options.TakenAt}.Seconds())
		if len(s.Source.Files) > 0 && s.Source.Revision == 0 { // a revision is one moment
			s.doubt(cmp.Or(s.latest, s.Source.Seconds()))
			s.findOwners()
		}
		return s, r.options.CompletenessFlags.applyToSnapshot(s)
	}
	if r.source.KubernetesVersion == "" {
		r.source.VersionBounds = boundsOf(r.kubelets, r.documents.groupVersions())
	}
	discovered := r.documents.resources(&r.problems)
	r.source.Discovered = r.source.Discovered || discovered != nil
	coverage := &Coverage{}
	for _, stored := range r.stored {
		r.takeStored(stored, coverage, &discovered)
	}
	builtin := discovered
	if discovered == nil {
		builtin = r.builtinKinds().builtin()
	}
	r.name(builtin)
	resources := resourcesOf(builtin, discovered == nil, r.source.Discovered, r.objects, r.seen)
	if discovered == nil {
		resources = r.documents.server(r.source, r.seen).served(resources, r.seen)
	}
	j := &judge{resources: resources, coverage: coverage}
	for _, list := range r.sightings {
		j.list(list)
	}
	for _, run := range r.runs {
		j.run(run, r.documents.groups)
	}
	for _, b := range r.bundles {
		j.bundle(b)
	}
	if err := r.options.CompletenessFlags.applyTo(coverage, resources, r.objects); err != nil {
		return nil, err
	}
	j.ends()
	for _, f := range r.failed {
		j.failure(f)
	}
	for _, d := range j.doubted {
		j.doubt(d)
	}
	if j.misnamedFiles > 1 {
		j.firstMisnamed.Message += fmt.Sprintf("; %d more files have the same flaw", j.misnamedFiles-1)
	}
	if j.misnamedFiles > 0 {
		r.problems = append(r.problems, j.firstMisnamed)
	}
	r.problems = append(r.problems, r.skipped.remarks()...)
	r.source.Files = append(r.source.Files, paths...)
	r.at(Source{TakenAt: r.options.TakenAt}.Seconds())
	r.source.TakenAt = cmp.Or(r.options.TakenAt, r.source.TakenAt)
	if at := r.taken(); r.source.TakenAt == "" && at > 0 {
		r.source.TakenAt = time.Unix(at, 0).UTC().Format(time.RFC3339)
	}
	s := &Snapshot{Objects: r.objects, Resources: resources, Source: r.source, Problems: r.problems, coverage: coverage, latest: r.moment}
	s.conditionless = slices.ContainsFunc(r.stored, (*Snapshot).Conditionless)
	if err := s.settle(); err != nil {
		return nil, err
	}
	s.doubt(s.latest)
	s.findOwners()
	return s, nil
}

// common is what the items of one list have in common, to detect lists that were taken with a
// selector. With `-l KEY=VALUE` all objects have that label; in a complete list mostly one hasn't.
// Other selectors leave no trace unless they select a single object.
type common struct {
	items  int
	labels []label
	last   object.Labels
}

type label struct{ key, value string }

// add adds an item.
func (c *common) add(o *object.Object) {
	c.items++
	if c.items == 1 {
		for k, v := range o.Labels.All {
			if !automatic(k) && len(k) <= 317 && len(v) <= 63 { // other keys and values are invalid, and too long to be shown
				c.labels = append(c.labels, label{k, v})
			}
		}
		c.last = o.Labels
		return
	}
	if len(c.labels) == 0 || o.Labels == c.last {
		return
	}
	c.last = o.Labels
	c.labels = slices.DeleteFunc(c.labels, func(l label) bool {
		v, ok := o.Labels.Lookup(l.key)
		return !ok || v != l.value
	})
}

// selected returns why a list may be incomplete, "" if nothing indicates that.
func (c *common) selected() string {
	switch {
	case c.items == 1:
		return "a list of a single object may have been taken with a selector"
	case len(c.labels) > 0:
		return fmt.Sprintf("a list may have been taken with -l %s=%s, which all its objects have", c.labels[0].key, c.labels[0].value)
	default:
		return ""
	}
}

// automatic reports whether Kubernetes itself sets the label on all objects of a kind, such as
// kubernetes.io/os on nodes. Those for users are in app.kubernetes.io.
func automatic(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	if !ok || domain == "app.kubernetes.io" {
		return false
	}
	return domain == "kubernetes.io" || domain == "k8s.io" || strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io")
}
