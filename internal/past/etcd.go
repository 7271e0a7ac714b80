package past

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot/etcd"
)

// EtcdFile is the past in an etcd snapshot: a Source.
type EtcdFile struct {
	// mu protects stored.
	mu     sync.Mutex
	stored *snapshot.Stored
	kinds  []*kindKeys
	// resources are those that are served, and those that were served at some time since the oldest
	// revision.
	resources *object.Resources
	clock     Clock
}

// kindKeys has the keys of the objects of one kind.
type kindKeys struct {
	kind etcd.Place // without namespace and name
	keys []string
	gr   schema.GroupResource
	// resource is the version of the returned objects, if they are served.
	resource object.Resource
	served   bool
}

// OpenEtcd opens an etcd snapshot.
func OpenEtcd(path string, o snapshot.Options) (*EtcdFile, error) {
	s, err := snapshot.OpenStored(path, o)
	if err != nil {
		return nil, err
	}
	r := &EtcdFile{stored: s, resources: s.Resources.Clone()}
	for _, step := range []func() error{r.groupKeys, r.addCRDs, r.readClock} {
		if err := step(); err != nil {
			r.Close()
			return nil, fmt.Errorf("%s: %w", s.Source.Files[0], err)
		}
	}
	return r, nil
}

// Close closes the file.
func (r *EtcdFile) Close() { r.stored.Close() }

// Present returns the latest state of the cluster.
func (r *EtcdFile) Present() *snapshot.Snapshot { return r.stored.Snapshot }

// groupKeys groups the keys by kind. The keys of a kind are adjacent, because keys are sorted.
func (r *EtcdFile) groupKeys() error {
	var last *kindKeys
	for i, key := range r.stored.Keys {
		place, ok := etcd.PlaceOf(key)
		if !ok {
			last = nil
			continue
		}
		if kind := (etcd.Place{Group: place.Group, Resource: place.Resource}); last == nil || last.kind != kind {
			last = &kindKeys{kind: kind, keys: r.stored.Keys[i:i]}
			r.kinds = append(r.kinds, last)
		}
		last.keys = last.keys[:len(last.keys)+1]
	}
	for _, s := range r.kinds {
		s.gr = snapshot.StoredIn(s.kind, "")
		if _, known := r.resources.Preferred(s.gr); known || s.kind.Group != "" {
			continue
		}
		err := r.eachState(s, s.keys[:1], func(o *object.Object) { s.gr = snapshot.StoredIn(s.kind, o.APIVersion) })
		if err != nil {
			return err
		}
	}
	return nil
}

// addCRDs adds the resources of all CRDs that ever existed, and sets the resource of each kind.
func (r *EtcdFile) addCRDs() error {
	for _, s := range r.kinds {
		if s.gr != object.CRD.GroupResource() {
			continue
		}
		if err := r.eachState(s, s.keys, func(o *object.Object) { AddDefined(r.resources, o) }); err != nil {
			return err
		}
	}
	for _, s := range r.kinds {
		s.resource, s.served = r.resources.Preferred(s.gr)
	}
	return nil
}

// eachState calls visit with all states of some keys, except the encrypted ones.
func (r *EtcdFile) eachState(s *kindKeys, keys []string, visit func(o *object.Object)) error {
	for _, key := range keys {
		for _, c := range r.stored.Changes(key) {
			if c.Deletion {
				continue
			}
			o, err := r.readObject(s, key, c)
			if isEncrypted(err) {
				continue
			}
			if err != nil {
				return err
			}
			visit(o)
		}
	}
	return nil
}

// readObject returns the object that a change has written, in its served version.
func (r *EtcdFile) readObject(s *kindKeys, key string, c etcd.Change) (*object.Object, error) {
	place, _ := etcd.PlaceOf(key)
	o, err := r.stored.Object(key, place, c)
	switch {
	case err != nil:
		return nil, fmt.Errorf("key %q: %w", key, err)
	case o.UID == "":
		return nil, fmt.Errorf("key %q: it has no uid", key)
	case s.served:
		o.APIVersion, o.Kind = s.resource.APIVersion(), s.resource.Kind
	}
	return o, nil
}

func isEncrypted(err error) bool {
	_, sealed := errors.AsType[etcd.SealedError](err)
	return sealed
}

// readClock makes the clock from the leases that the control plane renews every few seconds.
func (r *EtcdFile) readClock() error {
	var ticks []Moment
	for _, s := range r.kinds {
		if s.gr != object.Lease.GroupResource() {
			continue
		}
		for _, key := range s.keys {
			if place, _ := etcd.PlaceOf(key); place.Namespace != "kube-system" {
				continue
			}
			for _, c := range r.stored.Changes(key) {
				if c.Deletion {
					continue
				}
				e, err := r.stored.Read(key, c)
				if err != nil {
					return err
				}
				at, err := etcd.RenewTime(e.Value)
				if err != nil {
					return fmt.Errorf("key %q: %w", key, err)
				}
				if at > 0 {
					ticks = append(ticks, Moment{Revision: uint64(c.Revision), Time: at})
				}
			}
		}
	}
	r.clock = NewClock(ticks)
	return nil
}

// Past returns every write after a moment, all unchanged objects, and the state of each object at
// the beginning.
func (r *EtcdFile) Past(ctx context.Context, w Window) (*Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from, err := r.startRevision(w)
	if err != nil {
		return nil, err
	}
	p := &Record{
		From: r.clock.Earliest(from), To: r.clock.Earliest(uint64(r.stored.Newest)), Resources: r.resources,
		Clock: r.clock, Timeless: len(r.clock.Ticks()) == 0,
	}
	l := &pastReader{
		file: r, past: p, from: int64(from), namespaces: w.Namespaces, written: map[object.Ref]bool{}, limited: map[schema.GroupResource]bool{},
	}
	for i, s := range r.kinds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if w.Progress != nil {
			w.Progress(i+1, len(r.kinds))
		}
		if err := l.readKind(s); err != nil {
			return nil, fmt.Errorf("%s: %w", r.stored.Source.Files[0], err)
		}
	}
	slices.SortStableFunc(p.Changes, func(a, b Change) int { return cmp.Compare(a.Revision, b.Revision) })
	l.addGaps()
	l.addUnchanged()
	return p, nil
}

// startRevision returns the revision after which the past is requested.
func (r *EtcdFile) startRevision(w Window) (uint64, error) {
	oldest, newest := uint64(r.stored.Oldest), uint64(r.stored.Newest)
	switch {
	case w.SinceRevision > newest:
		return 0, fmt.Errorf("%s: revision %d is not in the file, which holds %d to %d", r.stored.Source.Files[0], w.SinceRevision, oldest, newest)
	case w.SinceRevision > 0:
		return max(w.SinceRevision, oldest), nil
	case w.Since > 0:
		return max(r.clock.Before(r.clock.At(newest).Time-w.Since).Revision, oldest), nil
	}
	return oldest, nil
}

// Bodies passes objects to take as they are stored, in their stored version, except CRDs. An API
// server would convert some of them and fill in defaults. Objects that cannot be read are
// encrypted, or of a type that this program does not know.
func (r *EtcdFile) Bodies(ctx context.Context, c Collection, take func(raw []byte) error) error {
	res, err := r.resources.For(c.APIVersion, c.Kind)
	if err != nil {
		return err
	}
	at := int64(c.Revision)
	if at < r.stored.Oldest || at > r.stored.Newest {
		return fmt.Errorf("revision %d is not in the file, which holds %d to %d", c.Revision, r.stored.Oldest, r.stored.Newest)
	}
	gr := object.Storage(res.GroupResource())
	unread := &UnreadError{}
	for _, s := range r.kinds {
		if s.gr != gr {
			continue
		}
		for _, key := range s.keys {
			place, ok := keyInCollection(key, c)
			if !ok {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			raw, err := r.readBody(s, key, at)
			if err != nil {
				unread.Objects = append(unread.Objects, object.Ref{APIVersion: c.APIVersion, Kind: c.Kind, Namespace: place.Namespace, Name: place.Name})
				unread.Errors = append(unread.Errors, err)
				continue
			}
			if raw == nil {
				continue
			}
			if err := take(raw); err != nil {
				return err
			}
		}
	}
	if len(unread.Objects) > 0 {
		return unread
	}
	return nil
}

// keyInCollection reports whether a key belongs to a requested object.
func keyInCollection(key string, c Collection) (etcd.Place, bool) {
	if c.Name != "" && !strings.HasSuffix(key, "/"+c.Name) || c.Namespace != "" && !strings.Contains(key, "/"+c.Namespace+"/") {
		return etcd.Place{}, false
	}
	place, _ := etcd.PlaceOf(key)
	return place, (c.Name == "" || place.Name == c.Name) && (c.Namespace == "" || place.Namespace == c.Namespace)
}

// readBody returns the content of a key at a revision; nil if it was empty.
func (r *EtcdFile) readBody(s *kindKeys, key string, at int64) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.stored.At(key, at)
	if !ok {
		return nil, nil
	}
	raw, err := r.stored.Text(key, c)
	if err == nil && s.gr == object.CRD.GroupResource() {
		return toServedCRD(raw)
	}
	return raw, err
}

// crdBeta is the version that API servers use to store CRDs, although it is not served since 1.22.
const crdBeta = "apiextensions.k8s.io/v1beta1"

// toServedCRD converts a CRD to the served version. In v1beta1, fields that all versions share are
// outside the list of versions.
//
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/v1/conversion.go Convert_apiextensions_CustomResourceDefinitionSpec_To_v1_CustomResourceDefinitionSpec.
func toServedCRD(raw []byte) ([]byte, error) {
	var o map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		return nil, err
	}
	if o["apiVersion"] != crdBeta {
		return raw, nil
	}
	spec, ok := o["spec"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s without a spec", crdBeta)
	}
	o["apiVersion"] = object.CRD.APIVersion()
	versions, _ := spec["versions"].([]any)
	if len(versions) == 0 {
		versions = []any{map[string]any{"name": spec["version"], "served": true, "storage": true}}
		spec["versions"] = versions
	}
	delete(spec, "version")
	for was, now := range map[string]string{
		"validation": "schema", "subresources": "subresources", "additionalPrinterColumns": "additionalPrinterColumns", "selectableFields": "selectableFields",
	} {
		forAll, have := spec[was]
		delete(spec, was)
		for _, x := range versions {
			if v, ok := x.(map[string]any); ok && have && v[now] == nil {
				v[now] = forAll
			}
		}
	}
	for _, x := range versions {
		v, _ := x.(map[string]any)
		columns, _ := v["additionalPrinterColumns"].([]any)
		for _, c := range columns {
			if fields, ok := c.(map[string]any); ok && fields["JSONPath"] != nil { // not if versions share it
				fields["jsonPath"] = fields["JSONPath"]
				delete(fields, "JSONPath")
			}
		}
	}
	switch spec["preserveUnknownFields"] {
	case false:
		delete(spec, "preserveUnknownFields")
	case nil: // v1beta1 has another default
		spec["preserveUnknownFields"] = true
	}
	convertConversion(spec["conversion"])
	return json.Marshal(o)
}

// convertConversion converts the conversion of a CRD to the served version.
//
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/v1/conversion.go Convert_apiextensions_CustomResourceConversion_To_v1_CustomResourceConversion.
func convertConversion(conversion any) {
	c, ok := conversion.(map[string]any)
	if !ok {
		return
	}
	if c["strategy"] == "Webhook" {
		webhook := map[string]any{"conversionReviewVersions": c["conversionReviewVersions"]}
		if client := c["webhookClientConfig"]; client != nil {
			webhook["clientConfig"] = client
		}
		c["webhook"] = webhook
	}
	delete(c, "webhookClientConfig")
	delete(c, "conversionReviewVersions")
}
