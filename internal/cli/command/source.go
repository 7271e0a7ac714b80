package command

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	_ "github.com/kubectl-gc/kubectl-gc/internal/codec/all" // dumps may be compressed, or databases
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Source selects the input: a dump or a cluster.
type Source struct {
	From          []string
	AllowPartial  bool
	missingAbsent bool
	completeness  snapshot.CompletenessFlags
	// revision is the revision to read from an etcd snapshot; 0 for the newest.
	revision int64
	// At is the time of the dump in RFC 3339, empty if the dump contains it.
	At      string
	limits  dumpLimits
	Cluster Cluster
	// About are the namespaces of the question; empty for all.
	About []string
	// Single reports that the question is only about the targets. If the user may not read the
	// whole cluster, only their namespace is read.
	Single bool
	// Evidence also collects evidence from a dump. Written reports that the result will be written
	// to a file.
	Evidence, Written bool
}

// World is the input of a command.
type World struct {
	*snapshot.Snapshot
	// Client is the client of the cluster; nil for a dump.
	Client *kube.Client
	// bodies is the evidence of a dump if it was collected, or that of a cluster if its snapshot
	// will be written.
	bodies *bodies
}

// IsCluster reports whether the input is a whole cluster: live, from etcd, or from a snapshot of a
// live one with evidence. Any other dump may be a part of one.
func (w World) IsCluster() bool {
	return w.Client != nil || w.Source.Revision != 0 || w.bodies != nil && len(w.bodies.listedParts) > 0
}

// NewSource returns a source with the flags that select a cluster.
func NewSource(config *genericclioptions.ConfigFlags) Source {
	return Source{Cluster: Cluster{Config: config}}
}

// AddFlags adds the flags that select a dump, and what is read from a cluster.
func (s *Source) AddFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&s.From, "from", nil,
		"Read a dump instead of a cluster: a file, directory, tar, tar.gz, zip or etcd snapshot, or - for standard input. Repeat it to read several as one.")
	f.BoolVar(&s.AllowPartial, "allow-partial", false,
		"Accept truncated or broken files in the dump; what they would have shown counts as unknown.")
	f.BoolVar(&s.missingAbsent, "treat-missing-as-absent", false,
		"Take everything that the dump does not contain for absent. Wrong answers follow if that is not so.")
	f.BoolVar(&s.completeness.Partial, "partial", false,
		"No list of the dump is whole: take nothing for absent that is not in it, but for the types of --complete.")
	f.StringSliceVar(&s.completeness.Complete, "complete", nil,
		"The dump holds all objects of these types, as pods,deploy,issuers.cert-manager.io: what is not in it does not exist. With -n, all of that namespace.")
	f.Int64Var(&s.revision, "revision", 0,
		"Of an etcd snapshot, look at the cluster as it was at this revision, if the snapshot still holds it (default the newest).")
	s.limits.addFlags(f)
	Unlist(f, "allow-partial", "treat-missing-as-absent", "partial", "complete", "revision")
	s.Cluster.AddFlags(f)
}

// AddAtFlag adds --at, the time of a dump, for answers with ages.
func (s *Source) AddAtFlag(f *pflag.FlagSet) {
	f.StringVar(&s.At, "at", "", "When the dump was taken, as 2006-01-02T15:04:05Z, if nothing in it says so: ages are counted from then.")
}

// CheckAt refuses an invalid time, and any time for a cluster.
func (s *Source) CheckAt(c *cobra.Command) error {
	if s.At != "" && s.Live() {
		return Errorf(c, "--at is about dumps, a cluster knows what time it is: give a dump with --from")
	}
	if _, err := SecondsOf(s.At); err != nil {
		return Errorf(c, "--at=%s: must be a time as 2006-01-02T15:04:05Z", s.At)
	}
	return nil
}

// UsesStdin reports whether a dump is read from standard input.
func (s *Source) UsesStdin() bool { return slices.Contains(s.From, "-") }

// Read reads the input and prints its problems on stderr. It sets the namespace of the context in
// n, which is nil for commands without a namespace.
func (s *Source) Read(c *cobra.Command, streams genericiooptions.IOStreams, n *Namespaces) (World, error) {
	if !s.Live() {
		return s.ReadOpened(c, streams, nil, n)
	}
	client, err := s.Open(c, n)
	if err != nil {
		return World{}, err
	}
	return s.ReadOpened(c, streams, client, n)
}

// Whole reports whether a whole cluster is read.
func (s *Source) Whole() bool { return s.Live() && s.Cluster.Scope.All() }

// Live reports whether a cluster is read instead of a dump.
func (s *Source) Live() bool { return len(s.From) == 0 }

// ReadOpened reads the cluster of the client, or the dump if it is nil.
func (s *Source) ReadOpened(c *cobra.Command, streams genericiooptions.IOStreams, client *kube.Client, n *Namespaces) (World, error) {
	var w World
	var err error
	if client == nil {
		s.completeness.In = s.About
		if n != nil {
			s.completeness.In = n.List()
		}
		w, err = s.ReadDump(c, streams)
	} else {
		w, err = s.readCluster(c, streams.ErrOut, client, n)
	}
	if err != nil {
		return World{}, err
	}
	s.PrintWarnings(w.Snapshot, streams.ErrOut)
	return w, nil
}

// ReadDump reads files. It never reads a kubeconfig.
func (s *Source) ReadDump(c *cobra.Command, streams genericiooptions.IOStreams) (World, error) {
	if s.missingAbsent && (s.completeness.Partial || len(s.completeness.Complete) > 0) {
		return World{}, Errorf(c, "--treat-missing-as-absent says of everything what --complete says of some types and --partial of none: give one")
	}
	for _, path := range s.From {
		if history, err := isHistory(path); err == nil && history {
			return World{}, fmt.Errorf("%s is a history: it has what was deleted, and not what is there; lost and undo read it, and explain of what is gone", render.Escape(path))
		}
	}
	memory := NewMemory()
	defer memory.End()
	o := snapshot.Options{
		Stdin: streams.In, TakenAt: s.At, Revision: s.revision, AllowPartial: s.AllowPartial, TreatMissingAsAbsent: s.missingAbsent, CompletenessFlags: s.completeness,
		Limits: s.limits.limits(), Memory: memory.Room,
	}
	var b *bodies
	if s.Evidence || s.Written {
		b = &bodies{readBodies: map[health.Part]map[types.NamespacedName]bool{}, listedParts: map[health.Part]bool{}, keepRecords: s.Written}
		o.Wants, o.Raw, o.Evidence = b.wants, b.add, b.line
	}
	defer BeginStage(c, streams.ErrOut, Reading(s.From)).End()
	return UnlessInterrupted(c.Context(), func() (World, error) {
		snap, err := snapshot.ReadFiles(s.From, o)
		if unknown, ok := errors.AsType[*snapshot.UnknownTypeError](err); ok {
			near := Nearest(strings.ToLower(unknown.Name), unknown.Resources.Names())
			err = fmt.Errorf("--complete=%s: the dump has no such resource type%s", unknown.Name, DidYouMean(near))
		}
		if err != nil {
			return World{}, LiftLimit(err)
		}
		if s.Written && len(b.listedParts) > 0 {
			b.noteLater(snap)
		}
		return World{Snapshot: snap, bodies: b}, s.checkTakenAt(snap)
	})
}

// checkTakenAt refuses a time of the dump before one of its deletions.
func (s *Source) checkTakenAt(snap *snapshot.Snapshot) error {
	if s.At == "" {
		return nil
	}
	at, err := SecondsOf(s.At)
	for _, o := range snap.Objects {
		if o.BeingDeleted() && at < o.Deleted() {
			return fmt.Errorf("--at=%s: the dump was taken later: %s was deleted at %s", s.At, render.Escape(o.Ref.ShortName()), time.Unix(o.Deleted(), 0).UTC().Format(time.RFC3339))
		}
	}
	return err
}

func (s *Source) readCluster(c *cobra.Command, errOut io.Writer, client *kube.Client, n *Namespaces) (World, error) {
	scope := s.Cluster.Scope
	scope.Instead, scope.Outside = s.About, s.Written
	if s.Single && !n.All && len(s.About) == 0 {
		scope.Instead = []string{n.OneOrDefault()}
	}
	snap, err := s.Cluster.Read(c, client, scope, errOut)
	if err == nil {
		err = s.checkRead(c, snap)
	}
	w := World{Snapshot: snap, Client: client}
	if err == nil && s.Written {
		w.bodies, err = s.evidenceOf(c, client, snap, errOut)
	}
	return w, err
}

// Open connects to the cluster and sets the namespace of the context in n.
func (s *Source) Open(c *cobra.Command, n *Namespaces) (*kube.Client, error) {
	for _, name := range []string{"allow-partial", "treat-missing-as-absent", "partial", "complete"} {
		if f := c.Flag(name); f != nil && f.Changed {
			return nil, Errorf(c, "--%s is about dumps: give one with --from", name)
		}
	}
	if n != nil {
		s.Cluster.Config.Namespace, n.config = &n.One, s.Cluster.Config
	}
	client, err := s.Cluster.Connect(c)
	if err != nil || n == nil {
		return client, err
	}
	n.fallback, _, err = s.Cluster.Config.ToRawKubeConfigLoader().Namespace()
	return client, err
}

// PrintWarnings prints warnings about the input.
func (s *Source) PrintWarnings(snap *snapshot.Snapshot, errOut io.Writer) {
	const most = 10
	for i, p := range snap.Problems {
		if i == most {
			fmt.Fprintf(errOut, "warning: and %d more remarks on %s\n", len(snap.Problems)-most, What(snap))
			break
		}
		fmt.Fprintln(errOut, "warning: "+render.Escape(p.Message))
	}
	if snap.MissingIsAbsent() && len(snap.Gaps) > 0 {
		fmt.Fprintln(errOut, "warning: objects that the dump does not contain are treated as absent; where that is wrong, so is the answer")
	}
	if len(snap.Objects) == 0 {
		fmt.Fprintln(errOut, "warning: "+What(snap)+" holds no objects")
	}
}

// checkRead is an error if the snapshot contains nothing in the namespaces of the question, since any
// answer would be meaningless.
func (s *Source) checkRead(c *cobra.Command, snap *snapshot.Snapshot) error {
	if len(s.About) == 0 {
		if !snap.Blind("") {
			return nil
		}
		hint := ""
		if c.Flag("namespace") != nil && !s.Single {
			hint = "; with permissions in one namespace, name it with -n"
		}
		return fmt.Errorf("nothing of the cluster could be read: %s%s", refusal(snap.Unread("")), hint)
	}
	for _, ns := range s.About {
		if !snap.Blind(ns) {
			return nil
		}
	}
	return fmt.Errorf("nothing of namespace %s could be read: %s", strings.Join(s.About, ", "), refusal(snap.Unread(s.About[0])))
}

// refusal returns the error of one unread kind, preferably a Forbidden of the core group. That one
// names the resource and the user.
func refusal(unread []snapshot.Gap) string {
	first := max(0, slices.IndexFunc(unread, func(g snapshot.Gap) bool { return g.Reason() == reason.Forbidden && g.APIVersion == "v1" }))
	_, text, _ := strings.Cut(unread[first].Why, ": ")
	if others := len(unread) - 1; others > 0 {
		text += fmt.Sprintf(" (and %d other kinds)", others)
	}
	return text
}
