package kube

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// errNotDiscovered is returned before the first Discover.
var errNotDiscovered = errors.New("discovery has not run yet")

// Resource maps an apiVersion and kind to the resource that serves it, as of the last Discover. It
// returns an *object.UnknownKindError if the group was discovered completely and does not have the
// kind, and an *object.UncoveredError if that is unknown.
func (c *Client) Resource(apiVersion, kind string) (object.Resource, error) {
	d := c.discovery.Load()
	if d == nil {
		return object.Resource{}, errNotDiscovered
	}
	r, err := d.Resources.For(apiVersion, kind)
	if err != nil {
		if why, ok := d.MissingGroup(object.GroupOf(apiVersion)); ok {
			return object.Resource{}, &object.UncoveredError{
				Ref: object.Ref{APIVersion: apiVersion, Kind: kind}, Why: "discovery failed: " + why,
			}
		}
	}
	return r, err
}

// locate maps a reference to its place. It fails for a name that no object can have.
func (c *Client) locate(ref object.Ref) (Place, error) {
	at, err := c.place(ref)
	if err != nil {
		return at, err
	}
	return at, checkSegment("name", ref.Name)
}

// place maps a reference to its place without a check of the name.
func (c *Client) place(ref object.Ref) (Place, error) {
	r, err := c.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		return Place{}, err
	}
	at := Place{Resource: r}
	if r.Namespaced {
		if ref.Namespace == "" {
			return at, &object.NamespaceRequiredError{Ref: ref}
		}
		at.Namespace = ref.Namespace
		if err := checkSegment("namespace", ref.Namespace); err != nil {
			return at, err
		}
	}
	return at, nil
}

// checkSegment fails for a name that would change the path of a request.
func checkSegment(what, name string) error {
	if name == "" {
		return fmt.Errorf("the %s is empty", what)
	}
	if bad := path.IsValidPathSegmentName(name); len(bad) > 0 {
		return fmt.Errorf("%s is not a possible %s: %s", quote(name), what, bad[0])
	}
	return nil
}

// Get reads the metadata of the object at the coordinates of ref, whatever its UID. Only an error
// for which apierrors.IsNotFound holds says that the server looked for the object and did not find
// it. Proven decides whether the object is really absent.
func (c *Client) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	at, err := c.place(ref)
	if err != nil {
		return nil, err
	}
	if answer := object.AnswerTo(at.Resource, ref.Name); answer != object.OfThatName { // without a request
		return nil, &object.ImpossibleNameError{Name: ref.Name, Absent: answer == object.NothingThere}
	}
	if err := checkSegment("name", ref.Name); err != nil {
		return nil, err
	}
	return c.read(ctx, at.Resource, object.Ref{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: at.Namespace, Name: ref.Name})
}

// read reads metadata. The namespace of ref must match the scope of the resource.
func (c *Client) read(ctx context.Context, r object.Resource, ref object.Ref) (*object.Object, error) {
	at := Place{r, ref.Namespace}
	about := subject{resource: r, namespace: ref.Namespace, name: ref.Name}
	a, err := c.send(ctx, request{verb: http.MethodGet, path: append(at.path(), ref.Name), accept: acceptMetadata, about: about})
	if err != nil {
		return nil, err
	}
	defer func() { _ = a.body.Close() }()
	o, err := readMetadata(a, r, about)
	if err != nil {
		return nil, err
	}
	if o.Name != ref.Name || o.Namespace != ref.Namespace {
		return nil, &UnexpectedAnswerError{About: about.String(), What: "it is " + quote(o.Namespace+"/"+o.Name)}
	}
	c.highest.record(r, o.ResourceVersion)
	return o, nil
}

// readMetadata reads a response that is the metadata of one object.
func readMetadata(a *answer, r object.Resource, about subject) (*object.Object, error) {
	text, err := io.ReadAll(io.LimitReader(a.body, smallBody))
	if err != nil {
		return nil, fmt.Errorf("%s: the answer broke off: %w", about, err)
	}
	var o *object.Object
	switch a.media {
	case protobufType:
		o, err = readPartial(text, manifest.NewBuilder(r))
	case jsonType:
		o, err = ReadObject(text, r.APIVersion(), r.Kind, nil)
	default:
		err = errors.New("its type is " + quote(a.media))
	}
	if err != nil {
		return nil, &UnexpectedAnswerError{About: about.String(), What: err.Error()}
	}
	return o, nil
}

// Delete sends a delete with unchanged options. A nil error means that the server has accepted the
// delete, not that the object is gone.
func (c *Client) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}
	body, err := json.Marshal(&o)
	if err != nil {
		return err
	}
	return c.writeTo(ctx, http.MethodDelete, ref, "", jsonType, body, false)
}

// Patch sends a patch of metadata. A server without support for its type answers 415.
func (c *Client) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	return c.writeTo(ctx, http.MethodPatch, ref, "", p.Type.String(), p.Body(), false)
}

// requestFor returns a request for an object that is answered in JSON.
func (c *Client) requestFor(verb string, ref object.Ref) (request, error) {
	at, err := c.locate(ref)
	return request{
		verb: verb, path: append(at.path(), ref.Name), accept: jsonType,
		about: subject{resource: at.Resource, namespace: at.Namespace, name: ref.Name},
	}, err
}

// writeTo sends one write to an object, or to one of its subresources, and checks that an API server
// accepted it.
func (c *Client) writeTo(ctx context.Context, verb string, ref object.Ref, subresource, contentType string, body []byte, dry bool) error {
	r, err := c.requestFor(verb, ref)
	if err != nil {
		return err
	}
	if subresource != "" {
		r.path = append(r.path, subresource)
	}
	r.query, r.accept, r.body, r.content = dryRun(dry), acceptMetadata, body, contentType
	a, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	defer func() { _ = a.body.Close() }()
	if a.media != protobufType && a.media != jsonType {
		return &UnexpectedAnswerError{About: r.about.String(), What: "its type is " + quote(a.media)}
	}
	// The connection is reused only if the response was read to its end.
	if _, err := io.Copy(io.Discard, io.LimitReader(a.body, smallBody)); err != nil {
		return fmt.Errorf("%s: the answer broke off: %w", r.about, err)
	}
	return nil
}

// ReadObject reads one object of a kind from JSON, which may lack apiVersion and kind, as items of
// lists do. The interner may be nil.
func ReadObject(text []byte, apiVersion, kind string, in *manifest.Interner) (*object.Object, error) {
	var found *object.Object
	err := manifest.Read(bytes.NewReader(text), manifest.Options{File: kind, APIVersion: apiVersion, Kind: kind, Interner: in}, manifest.Handler{
		Object: func(o *object.Object, inList bool, _ manifest.Position) error {
			if inList || found != nil || o.APIVersion != apiVersion || o.Kind != kind {
				return fmt.Errorf("it holds a %s of %s", quote(o.Kind), quote(o.APIVersion))
			}
			found = o
			return nil
		},
		List:    func(l manifest.List) error { return errors.New("it is a list: " + quote(l.Kind)) },
		Foreign: func(_ manifest.Position, what string) error { return errors.New(what) },
	})
	if err == nil && found == nil {
		err = errors.New("it holds no object")
	}
	return found, err
}

// Raw reads the whole object at the coordinates of ref, byte for byte as the server sends it, for a
// backup. It also returns the object.Object of these bytes.
func (c *Client) Raw(ctx context.Context, ref object.Ref) ([]byte, *object.Object, error) {
	r, err := c.requestFor(http.MethodGet, ref)
	if err != nil {
		return nil, nil, err
	}
	return c.sendRaw(ctx, r)
}

// sendRaw sends a request for a whole object, and reads the answer.
func (c *Client) sendRaw(ctx context.Context, r request) ([]byte, *object.Object, error) {
	a, err := c.send(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = a.body.Close() }()
	text, err := io.ReadAll(io.LimitReader(a.body, smallBody))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: the answer broke off: %w", r.about, err)
	}
	var o *object.Object
	if a.media != jsonType {
		err = errors.New("its type is " + quote(a.media))
	} else if o, err = ReadObject(text, r.about.resource.APIVersion(), r.about.resource.Kind, nil); err == nil && (o.Name != r.about.name || o.Namespace != r.about.namespace) {
		err = errors.New("it is " + quote(o.Namespace+"/"+o.Name))
	}
	if err != nil {
		return nil, nil, &UnexpectedAnswerError{About: r.about.String(), What: err.Error()}
	}
	return text, o, nil
}

// PatchRaw sends an unchanged patch, such as a JSON patch with tests, to the object or, if named,
// to one of its subresources. With dry the server does not store the result.
func (c *Client) PatchRaw(ctx context.Context, ref object.Ref, subresource string, form types.PatchType, body []byte, dry bool) error {
	return c.writeTo(ctx, http.MethodPatch, ref, subresource, string(form), body, dry)
}

// Overwrite sends a merge patch to an object, and returns the object as stored.
func (c *Client) Overwrite(ctx context.Context, ref object.Ref, patch []byte) ([]byte, error) {
	r, err := c.requestFor(http.MethodPatch, ref)
	if err != nil {
		return nil, err
	}
	r.body, r.content = patch, string(types.MergePatchType)
	raw, _, err := c.sendRaw(ctx, r)
	return raw, err
}

// Create creates the object ref from JSON. It returns the object as stored, as bytes and decoded.
// apierrors.IsAlreadyExists holds for the error if it exists already. With dry the server does not
// store it.
func (c *Client) Create(ctx context.Context, ref object.Ref, body []byte, dry bool) ([]byte, *object.Object, error) {
	r, err := c.requestFor(http.MethodPost, ref)
	if err != nil {
		return nil, nil, err
	}
	r.path = r.path[:len(r.path)-1]
	r.query, r.body, r.content = dryRun(dry), body, jsonType
	return c.sendRaw(ctx, r)
}

func dryRun(dry bool) url.Values {
	if !dry {
		return nil
	}
	return url.Values{"dryRun": {"All"}}
}

// Finalize replaces a namespace through its finalize subresource, which is the only way to change
// spec.finalizers. body is the whole namespace. Its uid and resourceVersion are preconditions: the
// server answers 409 if they differ from the stored ones.
//
// Upstream: pkg/registry/core/namespace/strategy.go namespaceFinalizeStrategy.PrepareForUpdate.
// Rule: spec §5.1, S205.
func (c *Client) Finalize(ctx context.Context, ref object.Ref, body []byte) error {
	return c.writeTo(ctx, http.MethodPut, ref, "finalize", jsonType, body, false)
}

// DeleteCollection deletes the objects of a place that match; a nil selector matches all. A nil
// error means that the server has accepted the deletes.
func (c *Client) DeleteCollection(ctx context.Context, at Place, selector labels.Selector, o metav1.DeleteOptions) error {
	o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}
	body, err := json.Marshal(&o)
	if err != nil {
		return err
	}
	q := url.Values{}
	if selector != nil && !selector.Empty() {
		q.Set("labelSelector", selector.String())
	}
	a, err := c.send(ctx, request{verb: http.MethodDelete, path: at.path(), query: q, accept: acceptList, body: body, content: jsonType, about: at.subject()})
	if err != nil {
		return err
	}
	defer func() { _ = a.body.Close() }()
	_, err = io.Copy(io.Discard, a.body)
	return err
}

// ObjectOf converts metadata to an object.Object.
func ObjectOf(m metav1.Object, apiVersion, kind string) *object.Object {
	o := &object.Object{
		Ref:             object.Ref{APIVersion: apiVersion, Kind: kind, Namespace: m.GetNamespace(), Name: m.GetName(), UID: m.GetUID()},
		ResourceVersion: m.GetResourceVersion(),
		Labels:          object.LabelsOf(m.GetLabels()),
		Generation:      m.GetGeneration(),
	}
	if created := m.GetCreationTimestamp(); !created.IsZero() {
		o.Created = created.Unix()
	}
	for _, ref := range m.GetOwnerReferences() {
		o.Owners = append(o.Owners, object.OwnerReference{
			APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, UID: ref.UID,
			Controller: object.FlagOf(ref.Controller), BlockOwnerDeletion: object.FlagOf(ref.BlockOwnerDeletion),
		})
	}
	deleted, grace := m.GetDeletionTimestamp(), m.GetDeletionGracePeriodSeconds()
	protection := object.ProtectionOf(m.GetAnnotations())
	revision := object.RevisionBy(m.GetAnnotations()[object.RevisionAnnotation])
	tracker := object.TrackerBy(m.GetAnnotations()[object.TrackerAnnotation])
	wave := object.WaveBy(m.GetAnnotations()[object.WaveAnnotation], m.GetAnnotations()[object.WeightAnnotation])
	if len(m.GetFinalizers()) == 0 && protection == 0 && revision == 0 && wave == 0 && tracker == "" && deleted == nil && grace == nil {
		return o
	}
	life := o.Edit()
	life.Finalizers, life.GracePeriod, life.Protection, life.Revision, life.Wave, life.Tracker = m.GetFinalizers(), grace, protection, revision, wave, tracker
	if deleted != nil {
		life.DeletionTimestamp = deleted.Unix()
		life.Protection |= object.ApprovalBy(m.GetAnnotations()[object.ApprovalAnnotation], life.DeletionTimestamp)
	}
	return o
}

// Content is a hash of an object without the fields that the cluster changes during a deletion. Two
// versions with the same Content express the same intent of the user.
type Content [sha256.Size]byte

// ignoredMetadata are the fields of metadata that Content ignores: the last writers, and fields
// that the collector and a DELETE change, which are compared one by one.
var ignoredMetadata = []string{
	"resourceVersion", "managedFields", "generation", "ownerReferences", "finalizers", "deletionTimestamp", "deletionGracePeriodSeconds",
}

// ContentOf returns the content of an object as sent by the server. It ignores the status, which no
// user wrote.
func ContentOf(raw []byte) (Content, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var o map[string]any
	if err := d.Decode(&o); err != nil {
		return Content{}, err
	}
	delete(o, "status")
	metadata, ok := o["metadata"].(map[string]any)
	if !ok {
		return Content{}, errors.New("it has no metadata")
	}
	for _, field := range ignoredMetadata {
		delete(metadata, field)
	}
	text, err := json.Marshal(o)
	return sha256.Sum256(text), err
}

// Contents returns one line for each object, in their order: its uid with the hash of its content.
// If the content is not read, the line has the resourceVersion instead: for a Secret or ConfigMap, or
// without permission. The error is that of the context.
func (c *Client) Contents(ctx context.Context, objects []*object.Object) ([]string, error) {
	names := make([]string, len(objects))
	tasks := make([]func(), len(objects))
	for i, o := range objects {
		names[i] = fmt.Sprintf("version %s %s", o.UID, o.ResourceVersion)
		tasks[i] = func() {
			if isData(o) || ctx.Err() != nil {
				return
			}
			raw, now, err := c.Raw(ctx, o.Ref)
			if apierrors.IsNotFound(err) || err == nil && now.UID != o.UID {
				names[i] = fmt.Sprintf("gone %s", o.UID)
			} else if err != nil {
				return
			} else if content, err := ContentOf(raw); err == nil {
				names[i] = fmt.Sprintf("content %s %x", o.UID, content)
			}
		}
	}
	runAll(tasks)
	return names, ctx.Err()
}
