package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// helmType is the type of a Helm release on a command line. A resource type with that name is preferred.
const helmType = "helm"

// helmRelease is a release of Helm that was named as a target, helm/web.
type helmRelease struct {
	// Records are the Secrets or ConfigMaps with its revisions, in the order of these.
	Records []*object.Object
	// Facts are those of the newest record; nil if its data are not in the dump.
	Facts *object.HelmReleaseFacts
}

// Newest returns the record of the newest revision.
func (r *helmRelease) Newest() *object.Object { return r.Records[len(r.Records)-1] }

// namesRelease reports whether the arguments name a release of Helm.
func namesRelease(args []string) bool {
	return len(args) > 0 && (args[0] == helmType || slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, helmType+"/") }))
}

// isRelease reports whether the arguments name a release, and not an object of a type with that name.
func (t *targets) isRelease(snap *snapshot.Snapshot, args []string) bool {
	if !t.Files.Empty() || t.many() || !namesRelease(args) {
		return false
	}
	_, err := findResource(snap, helmType)
	return err != nil
}

// findRelease sets Release, and returns the objects of the release that exist: those of its manifest
// and its records.
func (t *targets) findRelease(c *cobra.Command, w command.World, args []string) ([]object.Ref, error) {
	name := strings.TrimPrefix(args[len(args)-1], helmType+"/")
	if len(args) > 2 || (len(args) == 2) != (args[0] == helmType) || strings.Contains(name, "/") || name == "" {
		return nil, command.Errorf(c, "give one release of Helm, as helm/NAME, and nothing else")
	}
	namespace := t.Namespaces.OneOrDefault()
	r := &helmRelease{}
	for _, kind := range []object.Kind{object.Secret, object.ConfigMap} { // the order in which Helm would look
		if len(r.Records) == 0 {
			r.Records = recordsOf(w.Snapshot, kind, namespace, name)
		}
	}
	if len(r.Records) == 0 {
		return nil, noRelease(w.Snapshot, namespace, name)
	}
	newest := r.Newest()
	if r.Facts = newest.HelmRelease(); r.Facts == nil && w.Client != nil {
		_, o, err := w.Client.Raw(c.Context(), newest.Ref)
		switch {
		case apierrors.IsForbidden(err):
			return nil, fmt.Errorf("%s -n %s has the manifest of helm release %s, and may not be read: %w", newest.Ref.ShortName(), namespace, name, err)
		case err != nil:
			return nil, fmt.Errorf("the record of helm release %s: %w", name, err)
		}
		r.Facts = o.HelmRelease()
	}
	t.Release = r
	return r.objects(w.Snapshot), nil
}

// recordsOf returns the records of a release of one kind, in the order of their revisions.
func recordsOf(snap *snapshot.Snapshot, kind object.Kind, namespace, name string) []*object.Object {
	var records []*object.Object
	for _, o := range snap.OfType(kind.Resource()) {
		if of, _, ok := object.HelmRecordOf(o); ok && of == name && o.Namespace == namespace {
			records = append(records, o)
		}
	}
	slices.SortStableFunc(records, func(a, b *object.Object) int {
		_, i, _ := object.HelmRecordOf(a)
		_, k, _ := object.HelmRecordOf(b)
		return cmp.Compare(i, k)
	})
	return records
}

// objects returns the objects of the release in a snapshot.
func (r *helmRelease) objects(snap *snapshot.Snapshot) []object.Ref {
	var refs []object.Ref
	if r.Facts != nil {
		for i := range r.Facts.Objects {
			if o := snap.ObjectAt(r.Facts.Objects[i].Coordinates(r.Newest().Namespace)); o != nil {
				refs = append(refs, o.Ref)
			}
		}
	}
	refs = append(refs, object.Mapped(r.Records, func(o *object.Object) object.Ref { return o.Ref })...)
	return refs
}

// noRelease returns the error for a release without records.
func noRelease(snap *snapshot.Snapshot, namespace, name string) error {
	text := fmt.Sprintf("helm release %q not found in namespace %q", name, namespace)
	var here, elsewhere []string
	for _, at := range releasesOf(snap) {
		if at.Namespace == namespace {
			here = append(here, at.Name)
		} else if at.Name == name {
			elsewhere = append(elsewhere, at.Namespace)
		}
	}
	why := snap.Why(object.Secret.Resource(), namespace)
	switch {
	case len(elsewhere) > 0:
		text += fmt.Sprintf("; there is one in namespace %s: add -n", strings.Join(elsewhere[:min(3, len(elsewhere))], ", "))
	case why != "" && snap.Source.Server != "":
		text += "; not all secrets there could be read: " + why
	case why != "":
		text += "; the dump does not show all secrets there"
	}
	return fmt.Errorf("%s%s", text, command.DidYouMean(command.Nearest(name, here)))
}

// releasesOf returns the namespaces and names of the releases that have records in a snapshot, each once.
func releasesOf(snap *snapshot.Snapshot) []object.Coordinates {
	var list []object.Coordinates
	for _, kind := range []object.Kind{object.Secret, object.ConfigMap} {
		for _, o := range snap.OfType(kind.Resource()) {
			name, _, ok := object.HelmRecordOf(o)
			if at := (object.Coordinates{Kind: helmType, Namespace: o.Namespace, Name: name}); ok && !slices.Contains(list, at) {
				list = append(list, at)
			}
		}
	}
	return list
}
