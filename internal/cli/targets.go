package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// targets selects objects as kubectl's flags do.
type targets struct {
	Namespaces command.Namespaces
	Selector   string
	fields     string
	All        bool
	Files      manifests
	// IgnoreMissing leaves out objects that do not exist.
	IgnoreMissing bool
	// Deletes reports that the command deletes or would delete the targets.
	Deletes bool
	// AcceptsUnreadNamespace lets a read-only command accept a namespace that can't be read itself,
	// only its content.
	AcceptsUnreadNamespace bool
	// NamespaceUnread reports, after Answer, that one of the targets is such a namespace.
	NamespaceUnread bool
	// Content lets a single namespace mean its content.
	Content bool
	// Release is, after Find, the release of Helm that was named; nil for any other target.
	Release *helmRelease
}

// errNothingThere reports that none of the objects exists and that this is acceptable.
var errNothingThere = errors.New("no such object is there")

// NoteNothing prints ErrNothingThere in kubectl's words, and that there is nothing to do.
func (t *targets) NoteNothing(errOut io.Writer, todo string) {
	where := ""
	if t.many() {
		where = t.Namespaces.Where()
	}
	fmt.Fprintf(errOut, "No resources found%s: there is nothing to %s.\n", render.Escape(where), todo)
}

// AddFlags adds the flags that select objects.
func (t *targets) AddFlags(f *pflag.FlagSet) {
	t.AddNamespaceFlags(f)
	t.AddSelectorFlag(f, "The objects with these labels, as app=web,tier!=db.")
	f.StringVar(&t.fields, "field-selector", "", "Of a cluster: the objects with these fields, as metadata.name!=web.")
	f.BoolVar(&t.All, "all", false, "All objects of the type in the namespace.")
	t.Files.addFlags(f)
	command.Unlist(f, "field-selector", "kustomize", "recursive")
}

// AddSelectorFlag adds only -l, with a help text for the command.
func (t *targets) AddSelectorFlag(f *pflag.FlagSet, means string) {
	f.StringVarP(&t.Selector, "selector", "l", "", means)
}

// LabelSelector parses -l; it selects everything without -l.
func (t *targets) LabelSelector(c *cobra.Command) (labels.Selector, error) {
	selector, err := labels.Parse(t.Selector)
	if err != nil {
		return nil, command.Errorf(c, "-l %q: %w", t.Selector, err)
	}
	return selector, nil
}

// AddNamespaceFlags adds only -n and -A.
func (t *targets) AddNamespaceFlags(f *pflag.FlagSet) {
	t.Namespaces.AddFlags(f, "The namespace of the objects (default: that of the context, \"default\" for a dump).", "The objects of all namespaces.")
}

// Find resolves the arguments: TYPE NAME…, TYPE/NAME…, TYPE with -l or --all, -f manifests, or
// helm/NAME for the objects of a release. The result is not empty, and contains each object once,
// in the order of the arguments.
func (t *targets) Find(c *cobra.Command, w command.World, args []string) ([]object.Ref, error) {
	if err := t.Check(c, args); err != nil {
		return nil, err
	}
	if err := t.checkTypes(c, w.Snapshot, args); err != nil {
		return nil, err
	}
	var refs []object.Ref
	var err error
	switch {
	case t.isRelease(w.Snapshot, args):
		refs, err = t.findRelease(c, w, args)
	case w.Client != nil:
		refs, err = t.resolve(c, w, args)
	case t.fields != "":
		err = command.Errorf(c, "--field-selector needs a cluster: a dump is not asked, it is read")
	default:
		refs, err = t.lookUp(c, w.Snapshot, args)
	}
	if err != nil {
		return nil, err
	}
	if len(refs) == 0 {
		return nil, errNothingThere
	}
	refs = object.Distinct(refs) // one object may be named in several ways
	if t.Release != nil {
		return refs, nil
	}
	return refs, t.checkFound(c, refs)
}

// lookUp finds the objects in the snapshot.
func (t *targets) lookUp(c *cobra.Command, snap *snapshot.Snapshot, args []string) ([]object.Ref, error) {
	if !t.Files.Empty() {
		return t.Files.find(snap, t.Namespaces.OneOrDefault())
	}
	if strings.Contains(args[0], "/") {
		return t.findSlashed(c, snap, args)
	}
	var refs []object.Ref
	for arg := range strings.SplitSeq(args[0], ",") {
		r, err := findResource(snap, arg)
		if err != nil {
			return nil, err
		}
		found, err := t.findOf(c, snap, r, args[1:])
		if err != nil {
			return nil, err
		}
		refs = append(refs, found...)
	}
	if len(refs) == 0 && !t.IgnoreMissing {
		return nil, t.nothing(snap, args)
	}
	return refs, nil
}

// nothing returns the error of an empty selection. For a delete it is ErrNothingThere, as for
// kubectl delete: nothing is left to do. With a dump, that requires that it contains all objects of
// the types.
//
// Upstream: kubectl/pkg/cmd/delete/delete.go DeleteOptions.DeleteResult: "No resources found".
func (t *targets) nothing(snap *snapshot.Snapshot, args []string) error {
	labelled := ""
	if t.Selector != "" {
		labelled = " with labels " + t.Selector
	}
	err := fmt.Errorf("no %s%s found%s", strings.Join(args, " "), labelled, t.Namespaces.Where())
	if !t.Deletes || !t.many() {
		return err
	}
	for arg := range strings.SplitSeq(args[0], ",") {
		r, unknown := findResource(snap, arg)
		namespace := t.Namespaces.OneOrDefault()
		if t.Namespaces.All || !r.Namespaced {
			namespace = ""
		}
		if snap.Source.Server == "" && (unknown != nil || !snap.Covers(r, namespace)) {
			return fmt.Errorf("%w; the dump does not show all %s there", err, cmp.Or(r.Name, arg))
		}
	}
	return errNothingThere
}

// resolve has the cluster find the objects, as kubectl does.
func (t *targets) resolve(c *cobra.Command, w command.World, args []string) ([]object.Ref, error) {
	found, err := t.Namespaces.Resolve(c.Context(), w.Client, t.asked(args))
	if isForbidden(err) {
		// Permission to list is sufficient: the snapshot has the objects.
		if refs, local := t.lookUp(c, w.Snapshot, args); local == nil {
			return refs, nil
		}
	}
	if isMissing(err) {
		// The snapshot can suggest similar names.
		if _, local := t.lookUp(c, w.Snapshot, args); local != nil {
			return nil, local
		}
	}
	if err != nil {
		return nil, err
	}
	var refs []object.Ref
	for _, o := range found {
		seen := w.Find(o.APIVersion, o.Kind, o.Namespace, o.Name)
		switch {
		case seen == nil:
			return nil, notInSnapshot(w.Snapshot, o)
		case seen.UID != o.UID:
			return nil, fmt.Errorf("%s was deleted and created again while the cluster was read: try again", o.Ref)
		}
		refs = append(refs, seen.Ref)
	}
	if len(refs) == 0 && !t.IgnoreMissing {
		return nil, t.nothing(w.Snapshot, args)
	}
	return refs, nil
}

// isMissing reports whether an error of the cluster means that an object or its type does not
// exist.
func isMissing(err error) bool {
	return err != nil && (apierrors.IsNotFound(err) || strings.Contains(err.Error(), "doesn't have a resource type"))
}

// isForbidden reports whether the server refused to show one of the objects.
func isForbidden(err error) bool {
	if many, ok := errors.AsType[utilerrors.Aggregate](err); ok {
		return slices.ContainsFunc(many.Errors(), isForbidden)
	}
	return apierrors.IsForbidden(err)
}

// Missing reports whether the cluster says that the named objects or their types do not exist.
func (t *targets) Missing(ctx context.Context, client *kube.Client, args []string) bool {
	if t.many() || !t.Files.Empty() {
		return false
	}
	_, err := t.Namespaces.Resolve(ctx, client, t.asked(args))
	return isMissing(err)
}

// notInSnapshot returns the error for an object that exists on the server, but not in its snapshot.
func notInSnapshot(snap *snapshot.Snapshot, o *object.Object) error {
	if r, err := snap.Resources.For(o.APIVersion, o.Kind); err == nil {
		if why := snap.Why(r, o.Namespace); why != "" {
			return fmt.Errorf("%s is there, and what is around it could not be read: %s", o.Ref, why)
		}
	}
	return fmt.Errorf("%s was not there when the cluster was read: it is new, or its kind was left out", o.Ref)
}

// asked returns the selection for the cluster.
func (t *targets) asked(args []string) command.Selection {
	return command.Selection{
		Args: args, Files: t.Files.FilenameOptions, Labels: t.Selector, Fields: t.fields, All: t.All, AllNamespaces: t.Namespaces.All,
		IgnoreNotFound: t.IgnoreMissing,
	}
}

// Given reports whether arguments or flags select objects.
func (t *targets) Given(args []string) bool { return len(args) > 0 || t.many() || !t.Files.Empty() }

// Check refuses invalid combinations of arguments and flags.
func (t *targets) Check(c *cobra.Command, args []string) error {
	many := t.many()
	switch {
	case !t.Files.Empty() && (len(args) > 0 || many):
		return command.Errorf(c, "-f and -k name the objects: they exclude arguments, -l and --all")
	case !t.Files.Empty():
		return nil
	case len(args) == 0:
		return command.Errorf(c, "which object? Give TYPE NAME or TYPE/NAME")
	case t.Selector != "" && t.All:
		return command.Errorf(c, "-l and --all exclude each other")
	case many && (len(args) > 1 || strings.Contains(args[0], "/")):
		return command.Errorf(c, "names cannot be given together with -l or --all")
	case !many && len(args) == 1 && !strings.Contains(args[0], "/"):
		return command.Errorf(c, "which %s? Give %s/NAME, -l or --all", args[0], args[0])
	case !many && slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, "/") != strings.Contains(args[0], "/") }):
		return command.Errorf(c, "give TYPE NAME… or TYPE/NAME…, not both")
	case t.Namespaces.All && !many:
		return command.Errorf(c, "an object cannot be named across all namespaces: give -n, or -A with -l or --all")
	}
	return nil
}

func (t *targets) findSlashed(c *cobra.Command, snap *snapshot.Snapshot, args []string) ([]object.Ref, error) {
	var refs []object.Ref
	for _, arg := range args {
		kind, name, ok := strings.Cut(arg, "/")
		if !ok || kind == "" || name == "" || strings.Contains(name, "/") {
			return nil, command.Errorf(c, "%q: give TYPE/NAME for each object", arg)
		}
		r, err := findResource(snap, kind)
		if err != nil {
			return nil, err
		}
		found, err := t.findOf(c, snap, r, []string{name})
		if err != nil {
			return nil, err
		}
		refs = append(refs, found...)
	}
	return refs, nil
}

// findOf finds the objects of one resource.
func (t *targets) findOf(c *cobra.Command, snap *snapshot.Snapshot, r object.Resource, names []string) ([]object.Ref, error) {
	if len(names) > 0 {
		var refs []object.Ref
		for _, name := range names {
			o, err := t.named(snap, r, name)
			if err != nil && t.IgnoreMissing {
				continue
			}
			if err != nil {
				return nil, err
			}
			refs = append(refs, o.Ref)
		}
		return refs, nil
	}
	selector, err := t.LabelSelector(c)
	if err != nil {
		return nil, err
	}
	namespace := t.Namespaces.OneOrDefault()
	var refs []object.Ref
	for _, o := range snap.OfType(r) {
		if (t.Namespaces.All || !r.Namespaced || o.Namespace == namespace) && selector.Matches(o.Labels) {
			refs = append(refs, o.Ref)
		}
	}
	return refs, nil
}

func (t *targets) named(snap *snapshot.Snapshot, r object.Resource, name string) (*object.Object, error) {
	namespace := ""
	if r.Namespaced {
		namespace = t.Namespaces.OneOrDefault()
	}
	if o := snap.Find(r.APIVersion(), r.Kind, namespace, name); o != nil {
		return o, nil
	}
	return nil, notFound(snap, r, namespace, name)
}

// typesIn returns the types of a snapshot.
func typesIn(snap *snapshot.Snapshot) typesOfTargets {
	return typesOfTargets{snap.Resources, func(r object.Resource) bool { return len(snap.OfType(r)) > 0 }}
}

// typesOfTargets are the types for lookups by name. Holds reports whether objects of a type exist.
type typesOfTargets struct {
	*object.Resources
	Holds func(object.Resource) bool
}

// Find resolves a type as kubectl does. Among several it prefers the first with objects.
func (s typesOfTargets) Find(arg string) (object.Resource, bool) { return s.Named(arg, s.Holds) }

// findResource returns the type of an argument in a snapshot.
func findResource(snap *snapshot.Snapshot, arg string) (object.Resource, error) {
	if r, ok := typesIn(snap).Find(arg); ok {
		return r, nil
	}
	near := withInitials(snap, strings.ToLower(arg))
	if len(near) == 0 {
		near = command.Nearest(strings.ToLower(arg), snap.Resources.Names())
	}
	return object.Resource{}, fmt.Errorf("%s has no resource type %q%s", command.What(snap), arg, command.DidYouMean(near))
}

// withInitials returns the types of the snapshot's objects whose kind has these initials. A dump without CRDs and
// discovery lacks short names, which most often are the initials: dc for DeploymentConfig.
func withInitials(snap *snapshot.Snapshot, initials string) []string {
	var names []string
	for _, r := range snap.Resources.All() {
		upper := strings.Map(func(c rune) rune {
			if unicode.IsUpper(c) {
				return unicode.ToLower(c)
			}
			return -1
		}, r.Kind)
		if upper == initials && len(snap.OfType(r)) > 0 {
			names = append(names, r.GroupResource().String())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
