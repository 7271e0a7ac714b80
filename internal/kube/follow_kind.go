package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// follower follows one kind.
type follower struct {
	f  *following
	at Place
	// known has the objects that were sent and not deleted since.
	known map[types.UID]known
	state State
	why   string
	// refused is true if this client may not list or watch the kind.
	refused bool
	// version is where the next watch resumes. It is empty if a list is needed first.
	version string
	pause   backoff
	// reader decodes watch frames.
	reader *frameReader
}

// known is what is remembered of an object to report its deletion. It shares the strings of the
// object.
type known struct{ namespace, name, version string }

// newFollower returns the follower of a kind. handed are objects that were sent before the kind was
// dropped. They are sent again, because receivers forget the objects of a dropped kind.
func newFollower(f *following, r object.Resource, handed map[types.UID]known) *follower {
	before := make(map[types.UID]known, len(handed))
	for uid, k := range handed {
		before[uid] = known{namespace: k.namespace, name: k.name}
	}
	return &follower{f: f, at: Place{Resource: r}, known: before, reader: newFrameReader(r)}
}

// tolerated is how many consecutive watches may fail before the kind is Broken. A forbidden watch
// breaks it at once.
const tolerated = 3

// run follows the kind until the context ends.
func (w *follower) run(ctx context.Context) {
	failed := 0
	for ctx.Err() == nil {
		if w.version == "" {
			if w.state == Synced {
				w.say(Syncing, "the watch has broken off, and everything is listed again")
			}
			if err := w.list(ctx); err != nil {
				w.broken(ctx, err)
				continue
			}
			w.say(Synced, "")
		}
		progressed, err := w.watch(ctx)
		if progressed {
			failed, w.pause = 0, backoff{}
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && progressed:
		case err == nil:
			// A watch that ends at once without events would otherwise loop.
			w.f.client.wait(ctx.Done(), w.pause.next())
		case expired(err):
			w.version = ""
			w.f.client.wait(ctx.Done(), w.pause.next())
		default:
			if failed++; failed >= tolerated || denied(err) {
				w.version = ""
				w.broken(ctx, err)
				continue
			}
			w.f.client.wait(ctx.Done(), w.pause.next())
		}
	}
}

// denied reports whether the server refuses access or does not know the user.
func denied(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

// broken reports an error and waits for the next try.
func (w *follower) broken(ctx context.Context, err error) {
	if ctx.Err() == nil {
		w.f.options.Listener.Broken(w.at.Resource)
		w.refused = denied(err)
		w.say(Broken, err.Error())
		w.f.wait(ctx, w, w.pause.next())
	}
}

// say reports a state if it has changed.
func (w *follower) say(s State, why string) {
	if s == w.state && why == w.why {
		return
	}
	w.state, w.why = s, why
	w.f.note(KindState{Resource: w.at.Resource, State: s, Why: why, Refused: s == Broken && w.refused})
}

// list sends the listed objects, and reports known objects that a complete list lacks as deleted.
func (w *follower) list(ctx context.Context) error {
	select {
	case w.f.lists <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-w.f.lists }()
	seen := make(map[types.UID]struct{}, len(w.known))
	first := len(w.known) == 0
	floor := w.f.client.highest.of(w.at.Resource)
	got, err := w.f.client.List(ctx, w.at, Selection{}, Listing{
		Object: func(o *object.Object) error {
			if !first {
				seen[o.UID] = struct{}{}
			}
			return w.found(ctx, o)
		},
		Restart: func() {
			first = false // objects of the first try may be gone
			clear(seen)
		},
	})
	if err != nil {
		return err
	}
	if got.ResourceVersion == "" || got.ResourceVersion == "0" {
		return &UnexpectedAnswerError{About: w.at.subject().String(), What: "the list has no resourceVersion, so it cannot be watched"}
	}
	if behind(floor, got.ResourceVersion) {
		return wentBack(w.at.Resource, got.ResourceVersion)
	}
	if !first {
		if err := w.vanished(ctx, seen); err != nil {
			return err
		}
	}
	w.version = got.ResourceVersion
	w.f.client.highest.see(w.at.Resource, w.version)
	return nil
}

// found sends an object of a list, unless it is known in this version.
func (w *follower) found(ctx context.Context, o *object.Object) error {
	if o.UID == "" {
		return fmt.Errorf("%s has no uid", quote(o.Name))
	}
	have, ok := w.known[o.UID]
	if ok && have.version == o.ResourceVersion && have.name == o.Name && have.namespace == o.Namespace {
		return nil
	}
	e := object.Event{Type: object.Added, Object: o}
	if ok {
		e.Type = object.Modified
	}
	return w.tell(ctx, e)
}

// confirmed is how many of the objects that a list lacks are checked with a GET before the list is
// believed.
const confirmed = 16

// vanished reports known objects that a list lacks as deleted, unless confirm finds one of them.
func (w *follower) vanished(ctx context.Context, seen map[types.UID]struct{}) error {
	if err := w.confirm(ctx, seen); err != nil {
		return err
	}
	r := w.at.Resource
	for uid, k := range w.known {
		if _, ok := seen[uid]; ok {
			continue
		}
		gone := &object.Object{Ref: object.Ref{
			APIVersion: r.APIVersion(), Kind: r.Kind, Namespace: k.namespace, Name: k.name, UID: uid,
		}}
		if err := w.tell(ctx, object.Event{Type: object.Deleted, Object: gone}); err != nil {
			return err
		}
	}
	return nil
}

// confirm checks with GETs that some of the objects that a list lacks are really gone. A wrong
// empty list would otherwise look like the end of a whole kind. (spec L19)
func (w *follower) confirm(ctx context.Context, seen map[types.UID]struct{}) error {
	asked := 0
	for uid, k := range w.known {
		if _, ok := seen[uid]; ok {
			continue
		}
		r := w.at.Resource
		if (k.namespace != "") != r.Namespaced {
			continue // of another scope, which no longer has a path
		}
		if asked++; asked > confirmed {
			return nil
		}
		o, err := w.f.client.read(ctx, r, object.Ref{APIVersion: r.APIVersion(), Kind: r.Kind, Namespace: k.namespace, Name: k.name})
		switch {
		case err == nil && o.UID == uid:
			return fmt.Errorf("%s: the list does not show %s, which is there", w.at.subject(), quote(k.namespace+"/"+k.name))
		case err != nil && !apierrors.IsNotFound(err):
			return fmt.Errorf("the list does not show it any more: %w", err)
		}
	}
	return nil
}

// tell sends a change and remembers it.
func (w *follower) tell(ctx context.Context, e object.Event) error {
	if err := w.f.send(ctx, e); err != nil {
		return err
	}
	o := e.Object
	if e.Type == object.Deleted {
		delete(w.known, o.UID)
		return nil
	}
	w.known[o.UID] = known{namespace: o.Namespace, name: o.Name, version: o.ResourceVersion}
	return nil
}

// watch watches from version on until the server ends the watch, which it does every few minutes,
// or an error occurs. progressed is true if an event came or the watch lasted more than 5 seconds.
func (w *follower) watch(ctx context.Context) (progressed bool, err error) {
	limit := 5*time.Minute + rand.N(5*time.Minute)
	// A watch that the server forgets to end is cut off. The transport detects a dead connection.
	bound, cancel := context.WithTimeout(ctx, limit+30*time.Second)
	defer cancel()
	began := time.Now()
	frames, err := w.f.client.watch(bound, w.at, w.version, limit, w.reader)
	if err != nil {
		return false, err
	}
	defer frames.close()
	w.f.options.Listener.Watching(w.at.Resource)
	for {
		e, err := frames.next()
		if err != nil {
			progressed = progressed || time.Since(began) > 5*time.Second
			if errors.Is(err, io.EOF) || bound.Err() != nil {
				return progressed, ctx.Err()
			}
			return progressed, err
		}
		if at, err := strconv.ParseUint(w.version, 10, 64); err == nil && behind(at, e.version) {
			return progressed, wentBack(w.at.Resource, e.version)
		}
		if e.Object != nil {
			if e.Object.UID == "" {
				return progressed, fmt.Errorf("%s: a change of %s, which has no uid", w.at.subject(), quote(e.Object.Name))
			}
			if err := w.tell(ctx, e.Event); err != nil {
				return progressed, err
			}
		}
		if e.version != "" {
			w.version = e.version
			w.f.client.highest.see(w.at.Resource, w.version)
		}
		progressed = true
	}
}
