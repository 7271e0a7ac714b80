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
	f  *feedWriter
	at Place
	// known has the objects that were sent and not deleted since.
	known map[types.UID]sentObject
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

// sentObject is what is remembered of an object to report its deletion. It shares the strings of
// the object.
type sentObject struct{ namespace, name, version string }

// newFollower returns the follower of a kind. dropped are objects that were sent before the kind
// was dropped. They are sent again, because receivers forget the objects of a dropped kind.
func newFollower(f *feedWriter, r object.Resource, dropped map[types.UID]sentObject) *follower {
	before := make(map[types.UID]sentObject, len(dropped))
	for uid, k := range dropped {
		before[uid] = sentObject{namespace: k.namespace, name: k.name}
	}
	return &follower{f: f, at: Place{Resource: r}, known: before, reader: newFrameReader(r)}
}

// maxFailedWatches is how many consecutive watches may fail before the kind is Broken. A forbidden
// watch breaks it at once.
const maxFailedWatches = 3

// run follows the kind until the context ends.
func (w *follower) run(ctx context.Context) {
	failed := 0
	for ctx.Err() == nil {
		if w.version == "" {
			if w.state == Synced {
				w.setState(Syncing, "the watch was interrupted; listing again")
			}
			if err := w.list(ctx); err != nil {
				w.setBroken(ctx, err)
				continue
			}
			w.setState(Synced, "")
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
		case isExpired(err):
			w.version = ""
			w.f.client.wait(ctx.Done(), w.pause.next())
		default:
			if failed++; failed >= maxFailedWatches || isDenied(err) {
				w.version = ""
				w.setBroken(ctx, err)
				continue
			}
			w.f.client.wait(ctx.Done(), w.pause.next())
		}
	}
}

// isDenied reports whether the server refuses access or does not know the user.
func isDenied(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

// setBroken reports an error and waits for the next try.
func (w *follower) setBroken(ctx context.Context, err error) {
	if ctx.Err() == nil {
		w.f.options.Listener.Broken(w.at.Resource)
		w.refused = isDenied(err)
		w.setState(Broken, err.Error())
		w.f.wait(ctx, w, w.pause.next())
	}
}

// setState reports a state if it has changed.
func (w *follower) setState(s State, why string) {
	if s == w.state && why == w.why {
		return
	}
	w.state, w.why = s, why
	w.f.setState(KindState{Resource: w.at.Resource, State: s, Why: why, Refused: s == Broken && w.refused})
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
	floor := w.f.client.highest.highestOf(w.at.Resource)
	got, err := w.f.client.List(ctx, w.at, Selection{}, Listing{
		Object: func(o *object.Object) error {
			if !first {
				seen[o.UID] = struct{}{}
			}
			return w.sendListed(ctx, o)
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
	if isLower(floor, got.ResourceVersion) {
		return wentBackError(w.at.Resource, got.ResourceVersion)
	}
	if !first {
		if err := w.sendVanished(ctx, seen); err != nil {
			return err
		}
	}
	w.version = got.ResourceVersion
	w.f.client.highest.record(w.at.Resource, w.version)
	return nil
}

// sendListed sends an object of a list, unless it is known in this version.
func (w *follower) sendListed(ctx context.Context, o *object.Object) error {
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
	return w.sendEvent(ctx, e)
}

// maxConfirmed is how many of the objects that a list lacks are checked with a GET before the list
// is believed.
const maxConfirmed = 16

// sendVanished reports known objects that a list lacks as deleted, unless confirm finds one of
// them.
func (w *follower) sendVanished(ctx context.Context, seen map[types.UID]struct{}) error {
	if err := w.confirmGone(ctx, seen); err != nil {
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
		if err := w.sendEvent(ctx, object.Event{Type: object.Deleted, Object: gone}); err != nil {
			return err
		}
	}
	return nil
}

// confirmGone checks with GETs that some of the objects that a list lacks are really gone. A wrong
// empty list would otherwise look like the end of a whole kind. (spec L19)
func (w *follower) confirmGone(ctx context.Context, seen map[types.UID]struct{}) error {
	asked := 0
	for uid, k := range w.known {
		if _, ok := seen[uid]; ok {
			continue
		}
		r := w.at.Resource
		if (k.namespace != "") != r.Namespaced {
			continue // of another scope, which no longer has a path
		}
		if asked++; asked > maxConfirmed {
			return nil
		}
		o, err := w.f.client.read(ctx, r, object.Ref{APIVersion: r.APIVersion(), Kind: r.Kind, Namespace: k.namespace, Name: k.name})
		switch {
		case err == nil && o.UID == uid:
			return fmt.Errorf("%s: the list lacks %s, which exists", w.at.subject(), quote(k.namespace+"/"+k.name))
		case err != nil && !apierrors.IsNotFound(err):
			return fmt.Errorf("the list no longer has it: %w", err)
		}
	}
	return nil
}

// sendEvent sends a change and remembers it.
func (w *follower) sendEvent(ctx context.Context, e object.Event) error {
	if err := w.f.send(ctx, e); err != nil {
		return err
	}
	o := e.Object
	if e.Type == object.Deleted {
		delete(w.known, o.UID)
		return nil
	}
	w.known[o.UID] = sentObject{namespace: o.Namespace, name: o.Name, version: o.ResourceVersion}
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
		if at, err := strconv.ParseUint(w.version, 10, 64); err == nil && isLower(at, e.version) {
			return progressed, wentBackError(w.at.Resource, e.version)
		}
		if e.Object != nil {
			if e.Object.UID == "" {
				return progressed, fmt.Errorf("%s: a change of %s, which has no uid", w.at.subject(), quote(e.Object.Name))
			}
			if err := w.sendEvent(ctx, e.Event); err != nil {
				return progressed, err
			}
		}
		if e.version != "" {
			w.version = e.version
			w.f.client.highest.record(w.at.Resource, w.version)
		}
		progressed = true
	}
}
