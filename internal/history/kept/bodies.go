package kept

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// body adds a whole object.
func (r *Record) body(b *body) error {
	var o identity
	if err := json.Unmarshal(b.Text, &o); err != nil || b.Until == 0 || o.Metadata.UID == "" {
		return errors.Join(errors.New("a whole object has no uid, or no end"), err)
	}
	b.uid = o.Metadata.UID
	at := object.Coordinates{Group: b.Kind.Group, Kind: b.Kind.Kind, Namespace: o.Metadata.Namespace, Name: o.Metadata.Name}
	r.bodies[at] = append(r.bodies[at], b)
	return nil
}

// identity has the fields that identify a whole object.
type identity struct {
	Metadata struct {
		Namespace       string    `json:"namespace"`
		Name            string    `json:"name"`
		UID             types.UID `json:"uid"`
		ResourceVersion string    `json:"resourceVersion"`
	} `json:"metadata"`
}

var errNoBody = errors.New("its content is not in the history")

// Bodies passes the whole objects of a collection at a revision to take.
func (r *Record) Bodies(_ context.Context, c history.Collection, take func(raw []byte) error) error {
	unread := &history.UnreadError{}
	for _, at := range r.places(c) {
		uid, there := r.there(at, c.Revision)
		if !there {
			continue
		}
		raw := r.bodyOf(at, uid, c.Revision)
		if raw == nil {
			ref := object.Ref{APIVersion: c.APIVersion, Kind: c.Kind, Namespace: at.Namespace, Name: at.Name, UID: uid}
			unread.Objects, unread.Whys = append(unread.Objects, ref), append(unread.Whys, errNoBody)
		} else if err := take(raw); err != nil {
			return err
		}
	}
	if from, to := r.whole.From.Revision, r.whole.To.Revision; c.Revision < from || c.Revision > to {
		return apierrors.NewResourceExpired(fmt.Sprintf("revision %d is not in the history, which holds %d to %d", c.Revision, from, to))
	}
	if len(unread.Objects) > 0 {
		return unread
	}
	return nil
}

// places returns the places of a collection that ever had an object, sorted.
func (r *Record) places(c history.Collection) []object.Coordinates {
	one := object.Ref{APIVersion: c.APIVersion, Kind: c.Kind, Namespace: c.Namespace, Name: c.Name}.Coordinates()
	if c.Name != "" {
		return []object.Coordinates{one}
	}
	var list []object.Coordinates
	for at := range r.writes {
		if at.Group == one.Group && at.Kind == one.Kind && (c.Namespace == "" || at.Namespace == c.Namespace) {
			list = append(list, at)
		}
	}
	slices.SortFunc(list, func(x, y object.Coordinates) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	return list
}

// there returns the object that was in a place at a revision.
func (r *Record) there(at object.Coordinates, revision uint64) (uid types.UID, there bool) {
	for _, w := range r.writes[at] {
		if w.revision > revision {
			break
		}
		uid, there = w.uid, !w.deleted
	}
	if there {
		return uid, true
	}
	for _, w := range r.writes[at] { // a past from a server may begin with any change
		if w.revision > revision {
			return w.uid, !w.added && uid == ""
		}
	}
	return "", false
}

// bodyOf returns the whole object at a revision; nil if the file does not have it. The caller owns
// the bytes.
func (r *Record) bodyOf(at object.Coordinates, uid types.UID, revision uint64) []byte {
	for _, b := range r.bodies[at] {
		if b.uid == uid && b.From <= revision && revision < b.Until {
			return bytes.Clone(b.Text)
		}
	}
	return nil
}
