package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

var pods = schema.GroupResource{Resource: "pods"}

// answering is an API that gives one answer to all writes.
type answering struct {
	engine.API
	err  error
	sent int
}

func (a *answering) Patch(context.Context, object.Ref, object.Patch) error {
	a.sent++
	return a.err
}

func (a *answering) Delete(context.Context, object.Ref, metav1.DeleteOptions) error {
	a.sent++
	return a.err
}

// TestLostAnswer: a delete that was carried out is done, even if its answer was lost. One with an
// unknown effect is not sent twice.
func TestLostAnswer(t *testing.T) {
	ref := object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web", UID: "1"}
	lost := errors.New("reset")
	for name, x := range map[string]struct {
		seen error
		want error
	}{
		"gone":         {apierrors.NewNotFound(pods, "web"), nil},
		"not readable": {errors.New("reset as well"), lost},
	} {
		t.Run(name, func(t *testing.T) {
			api := &answering{err: lost}
			look := func(context.Context, object.Ref) (*object.Object, error) { return nil, x.seen }
			written := &journalledAPI{API: api, journal: &journal{writer: sealedBundle(t, ref), look: look, now: func() time.Time { return time.Unix(1, 0) }}}
			version := "7"
			once := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &version}}
			if err := written.Delete(t.Context(), ref, once); !errors.Is(err, x.want) {
				t.Errorf("got %v, want %v", err, x.want)
			}
			if x.want == nil {
				return
			}
			if err := written.Delete(t.Context(), ref, once); !errors.Is(err, errUnanswered) || api.sent != 1 {
				t.Errorf("sent %d times: %v", api.sent, err)
			}
		})
	}
}

// TestJournalSettles tries the outcomes of a delete without an answer.
func TestJournalSettles(t *testing.T) {
	ref := object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web", UID: "1"}
	deleting := &object.Object{Ref: ref}
	deleting.Edit().DeletionTimestamp = 1
	other := &object.Object{Ref: ref}
	other.UID = "2"
	for name, x := range map[string]struct {
		o    *object.Object
		err  error
		want backup.Outcome
	}{
		"gone":          {nil, apierrors.NewNotFound(pods, "web"), backup.Confirmed},
		"path unserved": {nil, &kube.UnservedPathError{}, backup.Unknown},
		"another":       {other, nil, backup.Confirmed},
		"being deleted": {deleting, nil, backup.Confirmed},
		"untouched":     {&object.Object{Ref: ref}, nil, backup.Unknown},
		"not readable":  {nil, errors.New("reset"), backup.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			w := sealedBundle(t, ref)
			look := func(context.Context, object.Ref) (*object.Object, error) { return x.o, x.err }
			j := &journal{writer: w, look: look, now: func() time.Time { return time.Unix(1, 0) }}
			sent := errors.New("reset")
			got, err := j.Do(t.Context(), backup.Intent{Object: ref, Verb: http.MethodDelete, ResourceVersion: "7"}, (*object.Object).BeingDeleted,
				func(context.Context) error { return sent })
			if got != x.want || !errors.Is(err, sent) {
				t.Errorf("got %s %v, want %s and the answer itself", got, err, x.want)
			}
			if last := closed(t, w)[2]; last.Kind != backup.Answered || last.Result.Outcome != x.want {
				t.Errorf("the journal has %+v, want %s", last, x.want)
			}
		})
	}
}

// TestJournalOfRepeated: a delete that the client retried is one intent. If its object is gone or
// being deleted, the delete succeeded; if it is unchanged, the server refused it.
func TestJournalOfRepeated(t *testing.T) {
	ref := object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web", UID: "1"}
	deleting := &object.Object{Ref: ref}
	deleting.Edit().DeletionTimestamp = 1
	gone, conflict := apierrors.NewNotFound(pods, "web"), apierrors.NewConflict(pods, "web", errors.New("other"))
	for name, x := range map[string]struct {
		answer error
		o      *object.Object
		err    error
		want   backup.Outcome
	}{
		"gone":          {gone, nil, gone, backup.Confirmed},
		"being deleted": {conflict, deleting, nil, backup.Confirmed},
		"untouched":     {conflict, &object.Object{Ref: ref}, nil, backup.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			w := sealedBundle(t, ref)
			api := &answering{err: &kube.RepeatedError{Err: x.answer}}
			look := func(context.Context, object.Ref) (*object.Object, error) { return x.o, x.err }
			version := "7"
			err := (&journalledAPI{API: api, journal: &journal{writer: w, look: look, now: func() time.Time { return time.Unix(1, 0) }}}).
				Delete(t.Context(), ref, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &version}})
			if (err == nil) != (x.want == backup.Confirmed) {
				t.Errorf("got %v, want %s", err, x.want)
			}
			journal := closed(t, w)
			if len(journal) != 4 || journal[1].Kind != backup.Intended || journal[2].Result.Outcome != x.want {
				t.Errorf("the journal has %+v, want one intent that is %s", journal, x.want)
			}
		})
	}
}

// TestJournalFirst: a request that can't be recorded is not sent.
func TestJournalFirst(t *testing.T) {
	ref := object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web", UID: "1"}
	w := sealedBundle(t, ref)
	api := &answering{}
	written := &journalledAPI{API: api, journal: &journal{writer: w, look: nil, now: func() time.Time { return time.Unix(1, 0) }}}
	if err := written.Patch(t.Context(), ref, object.Patch{UID: "1"}); err != nil || api.sent != 1 {
		t.Fatalf("sent %d, %v", api.sent, err)
	}
	closed(t, w)
	var journal *backup.JournalError
	if err := written.Patch(t.Context(), ref, object.Patch{UID: "1"}); !errors.As(err, &journal) || api.sent != 1 {
		t.Errorf("with a closed backup %d were sent, %v", api.sent, err)
	}
}

func sealedBundle(t *testing.T, ref object.Ref) *backup.Writer {
	t.Helper()
	digest := "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	w, err := backup.Create(t.TempDir(), backup.Head{Command: "collect", PlanDigest: digest, Created: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	raw := fmt.Sprintf(`{"metadata":{"namespace":%q,"name":%q,"uid":%q,"resourceVersion":"7"}}`, ref.Namespace, ref.Name, ref.UID)
	if _, err := w.Add(ref, backup.Deleted, []byte(raw)); err != nil {
		t.Fatal(err)
	}
	if err := w.Seal(); err != nil {
		t.Fatal(err)
	}
	return w
}

// closed closes a backup and returns its journal.
func closed(t *testing.T, w *backup.Writer) []backup.Record {
	t.Helper()
	if err := w.Close(time.Unix(2, 0)); err != nil {
		t.Fatal(err)
	}
	b, err := backup.Open(w.Path(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	return b.Journal
}
