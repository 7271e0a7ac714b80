// Package deleters runs the garbage collector and the other deleting controllers on a live API
// server that has none, such as that of a test, and detects when nothing is left to do.
//
// The collector is kube.Collect with the rules of Kubernetes. The other controllers are those of
// apisim/controllers, on a cache that the same watches fill. Their requests go to the server. No
// request is sent twice for one version of an object.
package deleters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Options say which controllers run apart from the garbage collector and the namespace controller.
type Options struct {
	// Pods says how deleted pods end.
	Pods Pods
	// Protection makes it remove the finalizers that protect PersistentVolumeClaims and
	// PersistentVolumes once they are no longer in use.
	Protection bool
	// AskProtection is the option that enables Protection, for messages.
	AskProtection string
	// InUse allows a start although kube-controller-manager or a kubelet runs, and leaves their
	// work to them. AskInUse is the option that enables it, for messages.
	InUse    bool
	AskInUse string
	// Command is the command in the User-Agent.
	Command string
	// PodsAfter is how long deleted pods last if Pods is AfterDuration.
	PodsAfter time.Duration
	// Log is called with a line for each delete and each removal of a finalizer that the server
	// accepted, and Record with each finished attempt of the collector. Several goroutines call Log.
	// Both may be nil.
	Log    func(line string)
	Record func(engine.Record)
}

// maxLoadingPause is the longest pause before a kind that the server is still loading is requested
// again.
const maxLoadingPause = 10 * time.Millisecond

// shutdownGrace is how long requests in progress may continue at the end.
const shutdownGrace = time.Second

// Deleters is a set of running controllers. It is safe for concurrent use.
type Deleters struct {
	options           Options
	client            *kube.Client
	version, emulated string
	others            others
	traffic           *traffic
	store             *store
	list              []controllers.Controller
	pods              *kubelets
	// ctx ends the work. done is closed when it has ended with err.
	ctx  context.Context
	stop context.CancelFunc
	done chan struct{}
	err  error
	do   chan func(*engine.Collector)
	// definitions receives a value after a change that may affect the served kinds.
	definitions chan struct{}
	answers     answers
	deletes     deletes
	watches     *watches
	// deferred are the deferred attempts. Only the collector's goroutine uses it.
	deferred deferrals

	mu      sync.Mutex
	feed    *kube.Feed
	waiting waitState
	settled settledMark
}

// Start starts the controllers. It returns when all kinds are listed and watched, or with an error
// that names those that may not be read. Kinds that cannot be read for other reasons are in Remarks.
// ctx limits the start only. Stop ends the controllers.
func Start(ctx context.Context, config *rest.Config, o Options) (*Deleters, error) {
	if o.Pods > AfterDuration {
		return nil, fmt.Errorf("Pods(%d) is not a valid Pods value: use AtOnce, AfterGracePeriod or Never", o.Pods)
	}
	d := &Deleters{
		options: o, traffic: &traffic{}, done: make(chan struct{}), do: make(chan func(*engine.Collector)),
		definitions: make(chan struct{}, 1), deferred: deferrals{}, deletes: deletes{by: o.Command, log: o.Log},
	}
	config = rest.CopyConfig(config)
	config.Timeout = 0 // a timeout would end every watch
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return watched{next, d.traffic} })
	var err error
	if d.client, err = kube.Connect(config, kube.Options{Command: o.Command, Unready: maxLoadingPause}); err != nil {
		return nil, err
	}
	id, err := d.client.Cluster(ctx)
	if err != nil {
		d.client.Close()
		return nil, fmt.Errorf("%s: %w", id.Server, err)
	}
	d.others, err = d.findOthers(ctx)
	if inUse := d.others.inUse(); err == nil && inUse != nil && !o.InUse {
		err = inUse
	}
	if err != nil {
		d.client.Close()
		return nil, fmt.Errorf("%s: %w", id.Server, err)
	}
	d.version, d.emulated = id.Version, id.Emulated
	d.store = newStore(d.client.Resource)
	d.watches = &watches{onChange: d.store.wake, begun: map[schema.GroupResource]bool{}}
	d.ctx, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	followed := make(chan struct{})
	go d.run(o, followed)
	if err := d.ready(ctx, followed); err != nil {
		return nil, errors.Join(err, d.Stop())
	}
	return d, nil
}

// run runs the collector and, concurrently, the other controllers.
func (d *Deleters) run(o Options, followed chan struct{}) {
	var beside sync.WaitGroup
	defer close(d.done)
	defer d.client.Close()
	defer beside.Wait()
	defer d.stop()
	d.err = kube.Collect(d.ctx, d.client, kube.CollectorOptions{
		Kind: d.recordKind, Listener: d.watches,
		Follow: func(f *kube.Feed) {
			d.mu.Lock()
			d.feed = f
			d.mu.Unlock()
			w := &world{ctx: d.ctx, client: d.client, feed: f, store: d.store, list: d.read, deletes: &d.deletes, accepted: map[acceptedRequest]struct{}{}, readOnly: d.others.manager != nil}
			d.chooseControllers(o, w)
			close(followed)
			beside.Go(func() { d.runControllers(w) })
			beside.Go(d.followKinds)
		},
		Run: engine.RunOptions{Record: d.record, Observed: d.storeEvent, Warn: func(engine.Warning) {}, Do: d.do, Grace: shutdownGrace, Before: d.others.before()},
	})
}

// chooseControllers chooses the controllers, in the order in which a plan runs them.
func (d *Deleters) chooseControllers(o Options, coverage controllers.Coverage) {
	if o.Protection || d.others.manager != nil {
		d.list = append(d.list, controllers.ClaimProtection(coverage), controllers.VolumeProtection(coverage))
	}
	d.list = append(d.list, controllers.NamespaceController(coverage, release.Of(d.release())))
	if o.Pods != Never {
		d.pods = &kubelets{Controller: controllers.Kubelet(controllers.Healthy{}), graceful: o.Pods == AfterGracePeriod, after: o.PodsAfter, real: d.others.kubelet != nil}
		d.list = append(d.list, d.pods)
	}
}

// ready waits until everything is known and watched. It fails at once if something may not be read.
// It does not wait for kinds that cannot be read for other reasons.
func (d *Deleters) ready(ctx context.Context, followed <-chan struct{}) error {
	select {
	case <-followed:
	case <-d.done:
		return d.endedError()
	}
	read := d.feed.Synced()
	for {
		_, changed := d.store.now()
		if why, denied := d.watches.discovery(); denied {
			return errors.New(terminalSafe(discoveryMessage(why)))
		}
		if read == nil {
			kinds := d.feed.Kinds() // both questions are about the same moment
			if err := forbiddenError(kinds); err != nil {
				return err
			}
			if !d.lackWatch(kinds) {
				// The collector's goroutine has received all events of the first lists. Once it
				// runs a function, all of them are in the store.
				return d.betweenSteps(ctx, func(*engine.Collector) {})
			}
		}
		select {
		case <-read:
			read = nil
		case <-changed:
		case <-d.done:
			return d.endedError()
		case <-ctx.Done():
			return fmt.Errorf("not everything could be read in time: %s", terminalSafe(cmp.Or(strings.Join(d.unknown(), "; "), "the API server has not said what it serves")))
		}
	}
}

// forbiddenError returns an error if some kinds may not be listed or watched.
func forbiddenError(kinds []kube.KindState) error {
	var why []string
	for _, k := range kinds {
		if k.Refused && k.State == kube.Broken {
			why = append(why, k.Why)
		}
	}
	if len(why) == 0 {
		return nil
	}
	slices.Sort(why)
	return fmt.Errorf("the garbage collector has to list and watch everything, and may not: %s", terminalSafe(strings.Join(truncate(why), "; ")))
}

// recordKind records the state of a kind.
func (d *Deleters) recordKind(k kube.KindState) {
	switch k.State {
	case kube.Undiscovered:
		d.watches.undiscoverable(k)
	case kube.Dropped:
		d.answers.forget(k.Resource.GroupResource())
	default:
	}
	d.store.kind(k)
}

// storeEvent stores an event that the collector has observed.
func (d *Deleters) storeEvent(e object.Event) {
	d.store.record(e)
	if e.Object.Is(object.CRD) || e.Object.Is(object.APIService) {
		d.kindsMayHaveChanged()
	}
}

// endedError returns an error that says that the work has ended, and why.
func (d *Deleters) endedError() error {
	if d.err == nil || errors.Is(d.err, context.Canceled) {
		return errors.New("the garbage collector has ended")
	}
	return fmt.Errorf("the garbage collector has ended: %w", d.err)
}

// Stop ends the controllers and returns when all goroutines have ended. No write begins after the
// call, and writes in progress have a second to finish.
func (d *Deleters) Stop() error {
	d.stop()
	<-d.done
	if errors.Is(d.err, context.Canceled) {
		return nil
	}
	return d.err
}

// Remarks returns what a person should know at the start: that the rules were not measured for the
// server's release, what is left to others, and what cannot be read. It fails for an unknown
// version.
func (d *Deleters) Remarks() (remarks []string, err error) {
	of := d.release()
	if of == 0 {
		return nil, fmt.Errorf("the API server says that its version is %q: that is not a release of Kubernetes", d.version)
	}
	if of.Nearest() != of {
		remarks = append(remarks, fmt.Sprintf("the API server is %s: the rules of the nearest release from %s to %s are followed", d.version, release.Oldest, release.Newest))
	}
	remarks = append(remarks, d.others.remarks()...)
	for _, why := range d.unknown() {
		remarks = append(remarks, "nothing settles until this is mended: "+terminalSafe(why))
	}
	return remarks, nil
}

// release returns the release of the server, or the emulated one; 0 if unknown.
func (d *Deleters) release() release.Minor { return release.MinorOf(cmp.Or(d.emulated, d.version)) }
