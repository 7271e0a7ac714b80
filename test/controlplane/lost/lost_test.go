package lost

import (
	"context"
	"flag"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/past"
	"github.com/kubectl-gc/kubectl-gc/test/extent"
)

var (
	states = flag.Int("states", extent.Of(40, 1000), "the number of random states")
	batch  = flag.Int("batch", 40, "the number of states at a time")
	seed   = flag.Uint64("seed", seedOf(time.Now()), "the seed of the states")
)

// seedOf is the same for every change, and another one each night.
func seedOf(now time.Time) uint64 {
	if extent.All() {
		return uint64(now.UnixNano())
	}
	return 1
}

// TestRequests: of random states of a real cluster, with one to three deletes by a plain client
// in each while others write, the requests that are found are those that were made. None that
// was not made is certain.
//
// One that changed nothing leaves nothing to see: it came when its object was on its way out
// already, and added no finalizer; or, which is tried by having the state happen once more
// without it, everything that went would have gone without it, too. The first kind does not count
// as made, and states with the second are counted on their own.
func TestRequests(t *testing.T) {
	t.Logf("seed %d", *seed)
	if err := plane.Controllers(deleters...); err != nil {
		t.Fatal(err)
	}
	if err := provide(t.Context()); err != nil {
		t.Fatal(err)
	}
	var all, doubtful []*verdict
	for first := 0; first < *states; first += *batch {
		var list []*state
		for i := first; i < min(first+*batch, *states); i++ {
			list = append(list, draw(*seed, i, "s"+strconv.Itoa(i)))
		}
		verdicts, err := judge(t, list)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range verdicts {
			if len(v.absent) > 0 && v.class <= missed {
				doubtful = append(doubtful, v)
			}
		}
		all = append(all, verdicts...)
		t.Logf("%d states: %s, before they happen once more: %d", len(all), count(all), len(doubtful))
	}
	for list := range slices.Chunk(doubtful, *batch) {
		if err := reenact(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range all {
		for _, note := range v.notes {
			t.Logf("state %d is %s: %s", v.number, v.class, note)
		}
	}
	total := count(all)
	t.Logf("all: %s", total)
	if total.of[wrong] > 0 || total.found() < enough*float64(len(all)) {
		t.Errorf("%d of %d states are wrong, and of %v the requests are found", total.of[wrong], len(all), total.found())
	}
}

// enough is the share of states whose requests have to be found.
const enough = 0.99

// judge has a batch of states happen and compares what is found with what was done.
func judge(t *testing.T, list []*state) ([]*verdict, error) {
	ctx := t.Context()
	from, err := happen(ctx, list)
	if err != nil {
		return nil, err
	}
	client, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	record, err := client.Past(ctx, past.Window{SinceRevision: from})
	if err != nil {
		return nil, err
	}
	written, err := readLog()
	if err != nil {
		return nil, err
	}
	a := past.Trace(record)
	verdicts := make([]*verdict, len(list))
	for i, s := range list {
		v := compare(t, s, a, written)
		if len(v.absent) > 0 {
			if v.fates, err = s.become(ctx); err != nil {
				return nil, err
			}
		}
		verdicts[i] = v
	}
	if err := judgeHeard(t, list, record, written); err != nil {
		return nil, err
	}
	return verdicts, each(list, func(s *state) error { return s.release(ctx) })
}

// judgeHeard has an audit log beside the past, the whole one and each half: nothing becomes wrong.
func judgeHeard(t *testing.T, list []*state, record *past.Record, written writes) error {
	heard, err := listen(record)
	if err != nil {
		return err
	}
	for name, p := range map[string]*past.Record{"the log": heard, "one half of it": half(heard, 0), "the other half": half(heard, 1)} {
		a := past.Trace(p)
		for _, s := range list {
			if v := compare(t, s, a, written); v.class == wrong {
				t.Errorf("state %d with %s: %v", s.number, name, v.notes)
			}
		}
	}
	return nil
}

// happen builds states and has done to them what is to be done, and says since when.
func happen(ctx context.Context, list []*state) (from uint64, err error) {
	if err := each(list, func(s *state) error { return s.build(ctx) }); err != nil {
		return 0, err
	}
	if err := calm(ctx); err != nil {
		return 0, err
	}
	if from, err = now(ctx); err != nil {
		return 0, err
	}
	if err := each(list, func(s *state) error { return s.act(ctx) }); err != nil {
		return 0, err
	}
	return from, calm(ctx)
}

func each(list []*state, do func(*state) error) error {
	var wg sync.WaitGroup
	errs := make([]error, len(list))
	for i, s := range list {
		wg.Go(func() { errs[i] = do(s) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// now is the revision of the cluster.
func now(ctx context.Context) (uint64, error) {
	list, err := send(ctx, "", http.MethodGet, "/api/v1/namespaces/default/configmaps", nil)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(list.Metadata.ResourceVersion, 10, 64)
}
