package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
)

// lostCommand is the command lost.
type lostCommand struct {
	pastQuestion
	source command.Source
	output command.Output
}

func newLost(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	k := &lostCommand{pastQuestion: pastQuestion{streams: streams}, source: command.NewSource(config), output: command.Output{Own: []string{"html"}}}
	c := &cobra.Command{
		Use:   "lost [TYPE NAME… | TYPE/NAME…] [-n NAMESPACE | -A] [--since DURATION]",
		Short: "Say what was deleted in the last minutes, and which delete took it",
		Long: text(`
			Say what was deleted in the last minutes, and which delete took it: of a namespace
			that somebody deleted, that delete, and what went with it. What no delete explains
			is said to be the garbage collector's, a controller's, or not known.

			The API server remembers the last minutes, usually 5 to 10, also of a namespace or
			CRD that is gone. The answer says where that begins: nothing is known of what was
			before. Who sent a delete is not in there: with --audit-log each delete has its
			user, client and address, and what the log has decides what was not certain.

			With --from it reads a history, the file of snapshot --history, or an etcd snapshot
			(etcdctl snapshot save): everything since the last compaction before it was taken.
			Both have the instances of a CRD that is gone, too.

			Without arguments it looks at the namespace of your context, or at all of a
			file; -A means all. An object that is named need not exist any more.

			Nothing is written. Only metadata is read.`),
		Example: templates.Examples(`
			# What was deleted in the last minutes, anywhere?
			kubectl gc lost -A

			# Who took this namespace, and what was in it?
			kubectl gc lost namespace/payments -o wide

			# What went in a namespace since a moment ago?
			kubectl gc lost -n shop --since=2m

			# Who sent that delete?
			ssh control-plane cat /var/log/kubernetes/audit.log | kubectl gc lost -n shop --audit-log=-

			# A page of what went when, to look at or to send
			kubectl gc lost -A -o html > lost.html`),
		RunE: func(c *cobra.Command, args []string) error { return k.run(c, args) },
	}
	f := c.Flags()
	k.output.AddFlags(f)
	k.output.AddSortFlag(f)
	k.pastQuestion.addFlags(f)
	k.audit.addFlag(f)
	k.output.AddCompleteFlag(f, "Exit with 4 when something could not be read, or less is remembered than was asked for.")
	k.source.AddRecordFlags(f)
	command.Unlist(f, "require-complete")
	return c
}

func (k *lostCommand) run(c *cobra.Command, args []string) error {
	named, err := namedObjects(c, args)
	if err != nil {
		return err
	}
	if err := k.check(c, args); err != nil {
		return err
	}
	if err := k.audit.open(c, k.streams.In); err != nil {
		return err
	}
	defer k.audit.close()
	record, err := k.source.OpenRecord(c, k.streams, &k.namespaces)
	if err != nil {
		return err
	}
	defer record.Close()
	a, q, err := k.trace(c, record, named)
	if err != nil {
		return err
	}
	d := past.LostDocument(a, q)
	if err := k.output.Show(c, k.streams.Out, d, command.As(render.LostText, d), command.Timeline(d)); err != nil {
		return err
	}
	return k.output.UnlessComplete(d.Complete)
}

// pastQuestion is a question about the past: the time span and the namespaces.
type pastQuestion struct {
	streams       genericiooptions.IOStreams
	namespaces    command.Namespaces
	since         time.Duration
	sinceRevision uint64
	// audit are audit logs that name the senders of deletes.
	audit auditLogs
}

func (b *pastQuestion) addFlags(f *pflag.FlagSet) {
	b.namespaces.AddFlags(f, "Look at this namespace and its content only (default: that of the context).", "Look at all namespaces.")
	f.DurationVar(&b.since, "since", 0, "Look back so far, as 30s, 5m or 1h (default: as far as is remembered).")
	f.Uint64Var(&b.sinceRevision, "since-revision", 0, "Look at what is newer than this resourceVersion.")
	command.Unlist(f, "since-revision")
}

func (b *pastQuestion) check(c *cobra.Command, args []string) error {
	switch {
	case b.since < 0 || c.Flags().Changed("since") && b.since < time.Second:
		return command.Errorf(c, "--since=%s: must be a second or more", b.since)
	case b.since > 0 && b.sinceRevision > 0:
		return command.Errorf(c, "--since and --since-revision exclude each other")
	case len(args) > 0 && b.namespaces.All:
		return command.Errorf(c, "an object cannot be named across all namespaces: give -n")
	}
	return b.namespaces.Check(c)
}

// trace finds the losses in a record. The namespace of the context must be known before.
func (b *pastQuestion) trace(c *cobra.Command, from *command.Record, named lostNames) (*past.Account, past.LostQuestion, error) {
	q, scope, err := b.question(from, &named)
	if err != nil {
		return nil, q, err
	}
	record, err := b.read(c, from, scope)
	if _, forbidden := errors.AsType[*kube.ForbiddenPastError](err); forbidden && b.namespaces.All {
		return nil, q, errors.New("to look at all namespaces you need the right to list leases in namespace kube-system; with rights in one namespace only: -n NAMESPACE")
	} else if err != nil {
		return nil, q, err
	}
	if q.Objects, err = named.objects(record); err != nil {
		return nil, q, err
	}
	if record.Log, err = b.audit.read(record); err != nil {
		return nil, q, err
	}
	return past.Trace(record), q, nil
}

// question returns the question without its objects, which need the past to be resolved, and the
// namespaces to read.
func (b *pastQuestion) question(record *command.Record, named *lostNames) (q past.LostQuestion, scope []string, err error) {
	q = past.LostQuestion{Since: b.since, SinceRevision: b.sinceRevision, Source: record.Origin, Undo: true, File: record.Flags}
	if len(named.list) > 0 {
		served, err := record.Served()
		if err != nil {
			return q, nil, err
		}
		named.namespace = b.namespaces.OneOrDefault()
		scope = named.spaces(served)
	} else if q.Namespace = b.namespaces.Listed(record.Live); q.Namespace != "" {
		scope = []string{q.Namespace}
	}
	if record.Live {
		q.Source.Namespaces = scope
	}
	return q, scope, nil
}

// read reads the past from a record.
func (b *pastQuestion) read(c *cobra.Command, record past.Source, namespaces []string) (*past.Record, error) {
	s := command.BeginStage(c, b.streams.ErrOut, "reading the history of the cluster")
	defer s.End()
	return record.Past(c.Context(), past.Window{
		Since: int64(b.since / time.Second), SinceRevision: b.sinceRevision, Namespaces: namespaces,
		Progress: func(done, kinds int) {
			s.Tell(fmt.Sprintf("reading the history of the cluster: %d of %d kinds", done, kinds))
		},
	})
}

// lostNames are objects given by type and name, and the namespace for namespaced types. Neither the
// objects nor their types need to exist.
type lostNames struct {
	namespace string
	list      []typedName
}

type typedName struct{ kind, name string }

// namedObjects parses arguments of the forms TYPE NAME… and TYPE/NAME….
func namedObjects(c *cobra.Command, args []string) (lostNames, error) {
	var n lostNames
	if len(args) == 1 && !strings.Contains(args[0], "/") {
		return n, command.Errorf(c, "which %s? Give %s/NAME", args[0], args[0])
	}
	if len(args) > 0 && !strings.Contains(args[0], "/") {
		for _, name := range args[1:] {
			if strings.Contains(name, "/") {
				return n, command.Errorf(c, "give TYPE NAME… or TYPE/NAME…, not both")
			}
			n.list = append(n.list, typedName{args[0], name})
		}
		return n, nil
	}
	for _, arg := range args {
		kind, name, _ := strings.Cut(arg, "/")
		if kind == "" || name == "" || strings.Contains(name, "/") {
			return n, command.Errorf(c, "%q: give TYPE/NAME for each object", arg)
		}
		n.list = append(n.list, typedName{kind, name})
	}
	return n, nil
}

// spaces returns the namespaces where the objects and their dependents may have been; nil for all.
func (n lostNames) spaces(served *object.Resources) []string {
	var spaces []string
	for _, x := range n.list {
		switch r, ok := served.Named(x.kind, first); {
		case ok && r.Is(object.Namespace):
			spaces = append(spaces, x.name)
		case ok && !r.Namespaced:
			return nil
		default:
			spaces = append(spaces, n.namespace)
		}
	}
	slices.Sort(spaces)
	return slices.Compact(spaces)
}

// objects returns the references of the objects. Types are those that the server serves, and those
// of deleted CRDs.
func (n lostNames) objects(record *past.Record) ([]object.Ref, error) {
	if len(n.list) == 0 {
		return nil, nil
	}
	resources := record.Resources.Clone()
	for i := range record.Changes {
		past.AddDefined(resources, record.Changes[i].Object)
	}
	refs := make([]object.Ref, 0, len(n.list))
	for _, x := range n.list {
		r, ok := resources.Named(x.kind, first)
		if !ok {
			return nil, &unknownTypeError{x.kind, command.Nearest(strings.ToLower(x.kind), resources.Names())}
		}
		ref := object.Ref{APIVersion: r.APIVersion(), Kind: r.Kind, Name: x.name}
		if r.Namespaced {
			ref.Namespace = n.namespace
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// first prefers the first of several types with a name: whether there are objects is not known.
func first(object.Resource) bool { return true }

// unknownTypeError reports a type that is not served and was not deleted.
type unknownTypeError struct {
	name string
	near []string
}

// Error suggests similar types.
func (e *unknownTypeError) Error() string {
	return fmt.Sprintf("the server has no resource type %q, and none was deleted%s", e.name, command.DidYouMean(e.near))
}

// auditLogs are files with audit logs, one for each API server; "-" is the standard input.
type auditLogs struct {
	names []string
	files []io.ReadCloser
}

func (l *auditLogs) addFlag(f *pflag.FlagSet) {
	f.StringArrayVar(&l.names, "audit-log", nil, "Name the sender of each delete, from this audit log (JSON lines, also gzipped; - for stdin). Repeat it for several API servers.")
}

// open opens the logs. It runs before other input is read.
func (l *auditLogs) open(c *cobra.Command, in io.Reader) error {
	for i, name := range l.names {
		switch {
		case name != "-":
			file, err := os.Open(name)
			if err != nil {
				return err
			}
			l.files = append(l.files, file)
		case slices.Contains(l.names[:i], "-"):
			return command.Errorf(c, "--audit-log=- may be given once")
		default:
			l.files = append(l.files, io.NopCloser(in))
		}
	}
	return nil
}

func (l *auditLogs) close() {
	for _, file := range l.files {
		_ = file.Close()
	}
}

// read returns the entries of the logs for the time of a past; nil if there are no logs.
func (l *auditLogs) read(record *past.Record) (*past.AuditLog, error) {
	if len(l.names) == 0 {
		return nil, nil
	}
	log := &past.AuditLog{}
	for i, name := range l.names {
		if name == "-" {
			name = "standard input"
		}
		if err := log.Read(name, l.files[i], record.LogWindow()); err != nil {
			return nil, errors.New("audit log " + err.Error())
		}
	}
	return log, nil
}
