package deleters

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// unknown reports the kinds that are not fully known, and why.
func (d *Deleters) unknown() []string {
	var list []string
	if why, _ := d.watches.discovery(); why != "" {
		list = append(list, discoveryMessage(why))
	}
	for _, k := range d.feed.Kinds() {
		switch {
		case k.State != kube.Synced:
			list = append(list, unreadText(k))
		case !d.watches.watched(k.Resource):
			list = append(list, k.Resource.GroupResource().String()+" is not watched yet")
		}
	}
	return truncate(append(list, d.undescribedVersions()...))
}

// discoveryMessage returns the message for a failed discovery.
func discoveryMessage(why string) string {
	return "the API server does not say what it serves: " + strings.TrimPrefix(why, "discovery: ")
}

// unreadText says why not everything of a kind is known.
func unreadText(k kube.KindState) string {
	what := k.Resource.GroupResource().String() + " cannot be read: "
	if k.State == kube.Syncing {
		what = k.Resource.GroupResource().String() + " is being read: "
	}
	return strings.TrimSuffix(what+k.Why, ": ")
}

// lackWatch reports whether some of the kinds are known but not watched yet.
func (d *Deleters) lackWatch(kinds []kube.KindState) bool {
	return slices.ContainsFunc(kinds, func(k kube.KindState) bool {
		return k.State == kube.Synced && !d.watches.watched(k.Resource)
	})
}

// undescribedVersions reports the API versions whose resources are unknown.
func (d *Deleters) undescribedVersions() []string {
	missing := d.feed.Missing()
	if missing == "" {
		return nil
	}
	var list []string
	if known := d.client.Discovered(); known != nil {
		for _, m := range known.Missing {
			list = append(list, d.undescribedVersion(m.GroupVersion, m.Why))
		}
	}
	if len(list) == 0 { // it was discovered just now
		list = append(list, missing)
	}
	return list
}

// undescribedVersion describes an API version without resources. It names the APIService if its
// server does not answer.
func (d *Deleters) undescribedVersion(apiVersion, why string) string {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err == nil {
		if s := d.store.find(object.APIService.GroupResource(), "", gv.Version+"."+gv.Group); s != nil && mayBeExtension(s) {
			return s.Ref.String() + ": its server does not answer: start it, or delete the APIService"
		}
	}
	return apiVersion + ": " + why
}

// watches records the kinds whose watch has begun since they became readable: a kind that can be
// listed may be forbidden to watch. It is safe for concurrent use.
type watches struct {
	// onChange is called after a change.
	onChange func()

	mu    sync.Mutex
	begun map[schema.GroupResource]bool
	// undiscovered is the error of discovery; empty if it succeeded.
	undiscovered string
	// denied is true if discovery is forbidden.
	denied bool
}

// Watching records that a watch has begun.
func (w *watches) Watching(r object.Resource) {
	if w.set(func() bool { was := w.begun[r.GroupResource()]; w.begun[r.GroupResource()] = true; return !was }) {
		w.onChange()
	}
}

// Broken records a kind that cannot be listed or watched.
func (w *watches) Broken(r object.Resource) {
	w.set(func() bool { delete(w.begun, r.GroupResource()); return true })
}

// Served records a successful discovery.
func (w *watches) Served(*object.Resources) {
	w.set(func() bool { w.undiscovered, w.denied = "", false; return true })
}

// undiscoverable records a failed discovery.
func (w *watches) undiscoverable(k kube.KindState) {
	w.set(func() bool { w.undiscovered, w.denied = k.Why, k.Refused; return true })
}

func (w *watches) set(change func() bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return change()
}

// watched reports whether a watch of a kind has begun.
func (w *watches) watched(r object.Resource) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.begun[r.GroupResource()]
}

// discovery returns the error of discovery; empty if it succeeded.
func (w *watches) discovery() (why string, denied bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.undiscovered, w.denied
}

// answers has the last errors of kinds that could not be read. It is safe for concurrent use.
type answers struct {
	mu   sync.Mutex
	last map[schema.GroupResource]string
}

// judge returns why a kind cannot be read; empty without an error. If the context ended the read,
// it returns the server's last error, if there is one.
func (a *answers) judge(ctx context.Context, gr schema.GroupResource, err error) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		delete(a.last, gr)
		return ""
	}
	why := err.Error()
	said, answered := errors.AsType[*apierrors.StatusError](err)
	switch {
	case answered:
		why = said.Error()
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		if why = a.last[gr]; why == "" {
			return gr.String() + " cannot be read: no answer in time"
		}
	}
	if a.last == nil {
		a.last = map[schema.GroupResource]string{}
	}
	a.last[gr] = why
	return gr.String() + " cannot be read: " + why
}

// unread reports the kinds that could not be read last time.
func (a *answers) unread() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []string
	for gr, why := range a.last {
		list = append(list, gr.String()+" cannot be read: "+why)
	}
	slices.Sort(list)
	return list
}

// forget drops a kind that is no longer served.
func (a *answers) forget(gr schema.GroupResource) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.last, gr)
}
