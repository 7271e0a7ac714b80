package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// source says where the world comes from: a dump, or a cluster.
type source struct {
	from          []string
	allowPartial  bool
	missingAbsent bool
	limits        dumpLimits
	cluster       cluster
	// about are the namespaces that the question is about; empty for all of them.
	about []string
	// single tells that the question is about the targets: of a cluster of which we may
	// not read everything, their namespace is read.
	single bool
	// evidence says that more of a dump is taken than a snapshot.
	evidence bool
}

// world is what a command looks at.
type world struct {
	*snapshot.Snapshot
	// client is the cluster that the snapshot shows; nil for a dump.
	client *kube.Client
	// bodies are the evidence in a dump, where it was taken.
	bodies *bodies
}

func newSource(config *genericclioptions.ConfigFlags) source {
	return source{cluster: cluster{config: config}}
}

func (s *source) addFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&s.from, "from", nil,
		"Read a dump instead of a cluster: a file, directory, tar, tar.gz or zip, or - for standard input. Repeat it to read several as one.")
	f.BoolVar(&s.allowPartial, "allow-partial", false,
		"Go on when a file of the dump is truncated or broken; what it would have shown counts as unknown.")
	f.BoolVar(&s.missingAbsent, "treat-missing-as-absent", false,
		"Take everything that the dump does not contain for absent. Wrong answers follow if that is not so.")
	s.limits.addFlags(f)
	s.cluster.addFlags(f)
}

// usesStdin tells whether a dump comes from standard input.
func (s *source) usesStdin() bool { return slices.Contains(s.from, "-") }

// read reads the world and reports its problems on stderr. The namespaces
// are told which one the context of the kubeconfig means; nil where a command has none.
func (s *source) read(c *cobra.Command, streams genericiooptions.IOStreams, n *namespaces) (world, error) {
	if !s.live() {
		return s.readOpened(c, streams, nil, n)
	}
	client, err := s.open(c, n)
	if err != nil {
		return world{}, err
	}
	return s.readOpened(c, streams, client, n)
}

// whole reports whether all of a cluster is read.
func (s *source) whole() bool { return s.live() && s.cluster.scope.All() }

// live reports whether a cluster is read, and no dump.
func (s *source) live() bool { return len(s.from) == 0 }

// readOpened reads the cluster of a client, or the dump where there is none.
func (s *source) readOpened(c *cobra.Command, streams genericiooptions.IOStreams, client *kube.Client, n *namespaces) (world, error) {
	var w world
	var err error
	if client == nil {
		w, err = s.readDump(c, streams)
	} else {
		w, err = s.readCluster(c, streams.ErrOut, client, n)
	}
	if err != nil {
		return world{}, err
	}
	s.remark(w.Snapshot, streams.ErrOut)
	return w, nil
}

// readDump reads files. It never looks at a kubeconfig.
func (s *source) readDump(c *cobra.Command, streams genericiooptions.IOStreams) (world, error) {
	memory := newDumpMemory()
	defer memory.end()
	o := snapshot.Options{
		Stdin: streams.In, AllowPartial: s.allowPartial, TreatMissingAsAbsent: s.missingAbsent,
		Limits: s.limits.limits(), Memory: memory.room,
	}
	var b *bodies
	if s.evidence {
		b = newBodies()
		o.Wants, o.Raw = b.wants, b.add
	}
	defer begin(c, streams.ErrOut, reading(s.from)).end()
	return unlessInterrupted(c.Context(), func() (world, error) {
		snap, err := snapshot.ReadFiles(s.from, o)
		return world{Snapshot: snap, bodies: b}, liftLimit(err)
	})
}

func (s *source) readCluster(c *cobra.Command, errOut io.Writer, client *kube.Client, n *namespaces) (world, error) {
	scope := s.cluster.scope
	scope.Instead = s.about
	if s.single && !n.all {
		scope.Instead = []string{n.oneOrDefault()}
	}
	snap, err := s.cluster.read(c, client, scope, errOut)
	if err == nil {
		err = s.unread(c, snap)
	}
	return world{Snapshot: snap, client: client}, err
}

// readNamespace reads of a cluster one namespace, and what is in none.
func (s *source) readNamespace(c *cobra.Command, streams genericiooptions.IOStreams, client *kube.Client, namespace string) (world, error) {
	snap, err := s.cluster.read(c, client, kube.Scope{Namespaces: []string{namespace}}, streams.ErrOut)
	return world{Snapshot: snap, client: client}, err
}

// open connects to the cluster and tells the namespaces which one it means.
func (s *source) open(c *cobra.Command, n *namespaces) (*kube.Client, error) {
	if s.allowPartial || s.missingAbsent {
		return nil, usageErrorf(c, "--allow-partial and --treat-missing-as-absent are about dumps: give one with --from")
	}
	if n != nil {
		s.cluster.config.Namespace = &n.one
	}
	client, err := s.cluster.connect(c)
	if err != nil || n == nil {
		return client, err
	}
	n.fallback, _, err = s.cluster.config.ToRawKubeConfigLoader().Namespace()
	return client, err
}

// remark prints what is remarkable about the input.
func (s *source) remark(snap *snapshot.Snapshot, errOut io.Writer) {
	const most = 10
	for i, p := range snap.Problems {
		if i == most {
			fmt.Fprintf(errOut, "warning: and %d more remarks on the input\n", len(snap.Problems)-most)
			break
		}
		fmt.Fprintln(errOut, "warning: "+render.Escape(p.Message))
	}
	if s.missingAbsent && len(snap.Gaps) > 0 {
		fmt.Fprintln(errOut, "warning: what the dump does not contain is taken for absent; where that is wrong, so is the answer")
	}
	if len(snap.Objects) == 0 {
		fmt.Fprintln(errOut, "warning: the input holds no objects")
	}
}
