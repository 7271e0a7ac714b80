package deleters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/collect"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Options say who works beside the garbage collector and the namespace controller.
type Options struct {
	// Pods says what becomes of pods that are deleted.
	Pods Pods
	// Protection has the finalizers taken off that protect PersistentVolumeClaims and
	// PersistentVolumes in use, when they are not in use any more.
	Protection bool
	// AskProtection is what a person adds to have Protection, for texts.
	AskProtection string
	// InUse starts also where kube-controller-manager or a kubelet works, and leaves to them what
	// they do. AskInUse is what a person adds for that, for texts.
	InUse    bool
	AskInUse string
	// Command is who we are, in the User-Agent.
	Command string
}

// unready is how soon a kind is asked for again that the server is still loading.
const unready = 10 * time.Millisecond

// grace is how long a request under way may go on at the end.
const grace = time.Second

// Deleters are at work. They may be used from many goroutines.
type Deleters struct {
	options           Options
	client            *kube.Client
	version, emulated string
	others            others
	traffic           *traffic
	store             *store
	list              []controllers.Controller
	pods              *kubelets
	// ctx ends the work, and done is closed when it has ended, with err.
	ctx  context.Context
	stop context.CancelFunc
	done chan struct{}
	err  error
	do   chan func(*engine.Collector)
	// definitions has a token when something has changed that says what is served.
	definitions chan struct{}
	answers     answers
	deletes     deletes
	watches     *watches
	// deferred are the attempts that wait; they belong to the collector's goroutine.
	deferred deferrals

	mu       sync.Mutex
	feed     *kube.Feed
	standing standing
	settled  mark
	refused  []kube.KindState
}

// Start starts the work and returns when everything that is there is known and watched, or with
// an error that names what may not be read. What cannot be read for other reasons is in Remarks.
// The context bounds the start; Stop ends the work.
func Start(ctx context.Context, config *rest.Config, o Options) (*Deleters, error) {
	if o.Pods > Never {
		return nil, fmt.Errorf("Pods(%d) is no end of pods: take AtOnce, AfterGracePeriod or Never", o.Pods)
	}
	d := &Deleters{
		options: o, traffic: &traffic{}, done: make(chan struct{}), do: make(chan func(*engine.Collector)),
		definitions: make(chan struct{}, 1), deferred: deferrals{},
	}
	config = rest.CopyConfig(config)
	config.Timeout = 0 // it would end every watch
	config.Wrap(d.traffic.wrap)
	var err error
	if d.client, err = kube.Connect(config, kube.Options{Command: o.Command, Unready: unready}); err != nil {
		return nil, err
	}
	id, err := d.client.Cluster(ctx)
	if err != nil {
		d.client.Close()
		return nil, fmt.Errorf("%s: %w", id.Server, err)
	}
	d.others, err = d.whoElse(ctx)
	if inUse := d.others.inUse(); err == nil && inUse != nil && !o.InUse {
		err = inUse
	}
	if err != nil {
		d.client.Close()
		return nil, fmt.Errorf("%s: %w", id.Server, err)
	}
	d.version, d.emulated = id.Version, id.Emulated
	d.store = newStore(d.client.Resource)
	d.watches = &watches{news: d.store.wake, begun: map[schema.GroupResource]bool{}}
	d.ctx, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	followed := make(chan struct{})
	go d.run(o, followed)
	if err := d.ready(ctx, followed); err != nil {
		return nil, errors.Join(err, d.Stop())
	}
	return d, nil
}

// run collects, and has the controllers act beside that.
func (d *Deleters) run(o Options, followed chan struct{}) {
	var beside sync.WaitGroup
	defer close(d.done)
	defer d.client.Close()
	defer beside.Wait()
	defer d.stop()
	d.err = collect.Run(d.ctx, d.client, collect.Options{
		Kind: d.kind, Listener: d.watches,
		Follow: func(f *kube.Feed) {
			d.mu.Lock()
			d.feed = f
			d.mu.Unlock()
			d.employ(o)
			w := &world{ctx: d.ctx, client: d.client, feed: f, store: d.store, list: d.read, asked: map[asked]struct{}{}, observes: d.others.manager != nil}
			close(followed)
			beside.Go(func() { d.act(w) })
			beside.Go(d.followKinds)
		},
		Run: engine.RunOptions{Record: d.record, Observed: d.observed, Warn: func(engine.Warning) {}, Do: d.do, Grace: grace, Before: d.others.before()},
	})
}

// employ chooses the controllers, in the order in which they act in a plan.
func (d *Deleters) employ(o Options) {
	coverage := coverage{d}
	if o.Protection || d.others.manager != nil {
		d.list = append(d.list, controllers.ClaimProtection(coverage), controllers.VolumeProtection(coverage))
	}
	d.list = append(d.list, controllers.NamespaceController(coverage, release.Of(d.release())))
	if o.Pods != Never {
		d.pods = &kubelets{Controller: controllers.Kubelet(nil), graceful: o.Pods == AfterGracePeriod, real: d.others.kubelet != nil}
		d.list = append(d.list, d.pods)
	}
}

// ready waits until everything is known and watched, and fails at once where we may not know
// something. What cannot be read for other reasons is not waited for.
func (d *Deleters) ready(ctx context.Context, followed <-chan struct{}) error {
	select {
	case <-followed:
	case <-d.done:
		return d.ended()
	}
	read := d.feed.Synced()
	for {
		_, changed := d.store.now()
		if why, denied := d.watches.discovery(); denied {
			return errors.New(plain(unsaid(why)))
		}
		if read == nil {
			if err := d.mayNot(); err != nil {
				return err
			}
			if !d.lacksWatch() {
				// Every event of the first lists was received by the collector's goroutine:
				// once it takes a function, all of them are in the store.
				return d.between(ctx, func(*engine.Collector) {})
			}
		}
		select {
		case <-read:
			read = nil
		case <-changed:
		case <-d.done:
			return d.ended()
		case <-ctx.Done():
			return fmt.Errorf("not everything could be read in time: %s", plain(cmp.Or(strings.Join(d.unknown(), "; "), "the API server has not said what it serves")))
		}
	}
}

// mayNot is the error of kinds that we may not list or watch.
func (d *Deleters) mayNot() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.refused) == 0 {
		return nil
	}
	var why []string
	for _, k := range d.refused {
		why = append(why, k.Why)
	}
	slices.Sort(why)
	return fmt.Errorf("the garbage collector has to list and watch everything, and may not: %s", plain(strings.Join(few(why), "; ")))
}

// kind takes in what has become of a kind.
func (d *Deleters) kind(k kube.KindState) {
	d.mu.Lock()
	d.refused = slices.DeleteFunc(d.refused, func(r kube.KindState) bool { return r.Resource.GroupResource() == k.Resource.GroupResource() })
	if k.Refused && k.State == kube.Broken {
		d.refused = append(d.refused, k)
	}
	d.mu.Unlock()
	switch k.State {
	case kube.Undiscovered:
		d.watches.undiscoverable(k)
	case kube.Dropped:
		d.answers.forget(k.Resource.GroupResource())
	default:
	}
	d.store.kind(k)
}

// observed stores an event that the collector has observed.
func (d *Deleters) observed(e object.Event) {
	d.store.see(e)
	if e.Object.Is(object.CRD) || e.Object.Is(object.APIService) {
		d.redefined()
	}
}

// ended is the error of work that has ended by itself.
func (d *Deleters) ended() error {
	if d.err == nil || errors.Is(d.err, context.Canceled) {
		return errors.New("the garbage collector has ended")
	}
	return fmt.Errorf("the garbage collector has ended: %w", d.err)
}

// Stop ends the work and returns when no goroutine is left. No write begins after it was
// called, and one under way has a second.
func (d *Deleters) Stop() error {
	d.stop()
	<-d.done
	if errors.Is(d.err, context.Canceled) {
		return nil
	}
	return d.err
}
