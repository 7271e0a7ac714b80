package kept

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// bodyAt says where a whole object stands, as it was from a revision up to before another one.
type bodyAt struct {
	from, until uint64
	uid         types.UID
	spot        spot
	// before is what it was then, if the whole object is as the write at until has left it; nil
	// if it is as it was.
	before *object.Object
}

func (a *annals) keep(r object.Ref, b bodyAt) {
	if b.from == 0 {
		b.from = b.until - 1
	}
	at := placeOf(r)
	a.bodies[at] = append(a.bodies[at], b)
}

// body is a whole object that a server has shown in the past.
func (a *annals) body(b *body, at spot) error {
	var o identity
	if err := json.Unmarshal(b.Text, &o); err != nil || b.Until == 0 || o.Metadata.UID == "" {
		return errors.Join(errors.New("a body is none"), err)
	}
	ref := object.Ref{Namespace: o.Metadata.Namespace, Name: o.Metadata.Name}
	p := place{b.Kind, ref.Namespace, ref.Name}
	a.bodies[p] = append(a.bodies[p], bodyAt{from: b.From, until: b.Until, uid: o.Metadata.UID, spot: at})
	return nil
}

// identity is what a whole object says of which one it is.
type identity struct {
	Metadata struct {
		Namespace       string    `json:"namespace"`
		Name            string    `json:"name"`
		UID             types.UID `json:"uid"`
		ResourceVersion string    `json:"resourceVersion"`
	} `json:"metadata"`
}

var errNoBody = errors.New("its content is not in the history")

// Bodies hands over the whole objects of a collection as they were at a revision.
func (r *Record) Bodies(_ context.Context, c history.Collection, take func(raw []byte) error) error {
	group, _ := object.SplitAPIVersion(c.APIVersion)
	unread := &history.UnreadError{}
	for _, at := range r.places(kind{group, c.Kind}, c) {
		uid, there := r.there(at, c.Revision)
		if !there {
			continue
		}
		raw, err := r.whole(at, uid, c.Revision)
		switch {
		case err != nil:
			return err
		case raw == nil:
			ref := object.Ref{APIVersion: c.APIVersion, Kind: c.Kind, Namespace: at.namespace, Name: at.name, UID: uid}
			unread.Objects, unread.Whys = append(unread.Objects, ref), append(unread.Whys, errNoBody)
		default:
			if err := take(raw); err != nil {
				return err
			}
		}
	}
	if c.Revision < r.annals.from || c.Revision > r.annals.to {
		return apierrors.NewResourceExpired(fmt.Sprintf("revision %d is not in the history, which holds %d to %d", c.Revision, r.annals.from, r.annals.to))
	}
	if len(unread.Objects) > 0 {
		return unread
	}
	return nil
}

// places are those of a collection in which there ever was an object, sorted.
func (r *Record) places(k kind, c history.Collection) []place {
	if c.Name != "" {
		return []place{{k, c.Namespace, c.Name}}
	}
	var list []place
	for at := range r.writes {
		if at.kind == k && (c.Namespace == "" || at.namespace == c.Namespace) {
			list = append(list, at)
		}
	}
	slices.SortFunc(list, func(x, y place) int {
		return cmp.Or(cmp.Compare(x.namespace, y.namespace), cmp.Compare(x.name, y.name))
	})
	return list
}

// there is the object that was in a place at a revision.
func (r *Record) there(at place, revision uint64) (uid types.UID, there bool) {
	for _, w := range r.writes[at] {
		if w.revision > revision {
			break
		}
		uid, there = w.uid, !w.deleted
	}
	if there {
		return uid, true
	}
	for _, w := range r.writes[at] { // a past that was read from a server begins with none
		if w.revision > revision {
			return w.uid, !w.added && uid == ""
		}
	}
	return "", false
}

// whole is an object as it was at a revision; nil where that was not kept.
func (r *Record) whole(at place, uid types.UID, revision uint64) ([]byte, error) {
	for _, b := range r.annals.bodies[at] {
		if b.uid != uid || revision < b.from || revision >= b.until {
			continue
		}
		e, err := r.files[b.spot.file].at(b.spot)
		switch {
		case err != nil:
			return nil, err
		case e.Body != nil:
			return e.Body.Text, nil
		case e.Change != nil && len(e.Change.Body) > 0:
			raw, err := asBefore(e.Change.Body, b.before)
			if err != nil {
				return nil, damaged(r.files[b.spot.file].name, b.spot.frame, err.Error())
			}
			return raw, nil
		}
	}
	return nil, nil
}

// asBefore takes off a whole object what its deletion, or the loss of an owner, has written on it.
// All else of it is left byte for byte.
func asBefore(raw jsontext.Value, before *object.Object) ([]byte, error) {
	var o, metadata map[string]jsontext.Value
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(o["metadata"], &metadata); err != nil {
		return nil, err
	}
	if !before.BeingDeleted() {
		delete(metadata, "deletionTimestamp")
		delete(metadata, "deletionGracePeriodSeconds")
	}
	owners := make([]metav1.OwnerReference, 0, len(before.Owners))
	for _, owner := range before.Owners {
		owners = append(owners, metav1.OwnerReference{
			APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID,
			Controller: owner.Controller.Bool(), BlockOwnerDeletion: owner.BlockOwnerDeletion.Bool(),
		})
	}
	set := func(name string, value any, has bool) error {
		delete(metadata, name)
		if !has {
			return nil
		}
		text, err := json.Marshal(value)
		metadata[name] = text
		return err
	}
	if err := errors.Join(
		set("ownerReferences", owners, len(owners) > 0),
		set("finalizers", before.Finalizers(), len(before.Finalizers()) > 0),
		set("generation", before.Generation, before.Generation != 0),
		set("resourceVersion", before.ResourceVersion, true),
	); err != nil {
		return nil, err
	}
	text, err := json.Marshal(metadata, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	o["metadata"] = text
	return json.Marshal(o, json.Deterministic(true))
}

func timeText(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }
