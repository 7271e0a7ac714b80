package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/stuck"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// waiting is how commands judge what objects that are being deleted wait for.
type waiting struct {
	// at is the flag that says when the dump was taken.
	at     string
	bodies *bodies
}

func (k *waiting) addFlags(f *pflag.FlagSet) {
	f.StringVar(&k.at, "at", "", "When the dump was taken, as 2006-01-02T15:04:05Z, if it does not say so itself: tells how long deletions have lasted.")
}

// from has a dump read so that it serves as evidence, too.
func (k *waiting) from(c *cobra.Command, s *source) error {
	if k.at != "" && len(s.from) == 0 {
		return usageErrorf(c, "--at is about dumps: give one with --from")
	}
	k.bodies = newBodies()
	s.bodies = k.bodies
	return nil
}

// moment is when the world was looked at, in seconds since 1970; 0 when not known.
func (k *waiting) moment(c *cobra.Command, w world) (int64, error) {
	taken := w.Source.TakenAt
	if k.at != "" {
		taken = k.at
	}
	if taken == "" {
		return 0, nil
	}
	t, err := time.Parse(time.RFC3339, taken)
	switch {
	case err == nil:
		return t.Unix(), nil
	case k.at != "":
		return 0, usageErrorf(c, "--at=%s: must be a time as 2006-01-02T15:04:05Z", k.at)
	}
	return 0, nil
}

// judge has the evidence gathered and the question answered.
func (k *waiting) judge(ctx context.Context, w world, q stuck.Question) (*report.Diagnosis, error) {
	seen, err := k.evidence(ctx, w, q.Objects)
	if err != nil {
		return nil, err
	}
	return stuck.Objects(ctx, w.Snapshot, seen, q)
}

// evidence is what was seen beside the snapshot.
func (k *waiting) evidence(ctx context.Context, w world, asked []object.Ref) (*evidence.World, error) {
	if w.client == nil {
		return k.bodies.evidence(w.Snapshot), nil
	}
	return liveEvidence(ctx, w, asked)
}

// liveEvidence reads of a cluster what says who holds up everything that is being
// deleted, first of all those that were asked for: of many only some are looked at one
// by one. What those wait for may be anywhere.
func liveEvidence(ctx context.Context, w world, asked []object.Ref) (*evidence.World, error) {
	var first, others []*object.Object
	for _, o := range w.Objects {
		switch {
		case !o.BeingDeleted():
		case slices.Contains(asked, o.Ref):
			first = append(first, o)
		default:
			others = append(others, o)
		}
	}
	return w.client.Evidence(ctx, append(first, others...))
}
