package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// manifests are files that name targets, by kubectl's flags.
type manifests struct {
	resource.FilenameOptions
}

func (m *manifests) addFlags(f *pflag.FlagSet) {
	f.StringSliceVarP(&m.Filenames, "filename", "f", nil, "Manifests that name the objects: files, directories, or - for standard input.")
	f.StringVarP(&m.Kustomize, "kustomize", "k", "", "A kustomization that names the objects.")
	f.BoolVarP(&m.Recursive, "recursive", "R", false, "Go into subdirectories of -f.")
}

func (m *manifests) Empty() bool { return len(m.Filenames) == 0 && m.Kustomize == "" }

func (m *manifests) UsesStdin() bool {
	return slices.Contains(m.Filenames, "-")
}

// find reads the manifests and finds their objects in the snapshot. Only apiVersion, kind,
// namespace and name are used.
func (m *manifests) find(snap *snapshot.Snapshot, namespace string) ([]object.Ref, error) {
	var refs []object.Ref
	err := resource.NewLocalBuilder().Unstructured().Local().Flatten().ContinueOnError().
		FilenameParam(false, &m.FilenameOptions).Do().Visit(func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		u, ok := info.Object.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("%s: not an object", info.Source)
		}
		ref, err := findManifest(snap, u, namespace)
		if err != nil {
			return fmt.Errorf("%s: %w", info.Source, err)
		}
		refs = append(refs, ref)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(refs) == 0 {
		return nil, fmt.Errorf("no objects in %v", m.Filenames)
	}
	return refs, nil
}

// namespacesNamed returns the namespaces that the manifests contain as objects, those of their
// other objects, and whether there are objects without a namespace. It ignores unreadable files and
// standard input, which can be read only once.
func (m *manifests) namespacesNamed() (named, others []string, more bool) {
	if m.UsesStdin() {
		return nil, nil, false
	}
	_ = resource.NewLocalBuilder().Unstructured().Local().Flatten().ContinueOnError().
		FilenameParam(false, &m.FilenameOptions).Do().Visit(func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		kind := info.Object.GetObjectKind().GroupVersionKind()
		switch {
		case kind.Group == object.Namespace.Group && kind.Kind == object.Namespace.Kind:
			named = append(named, info.Name)
		case info.Namespace != "":
			others = append(others, info.Namespace)
		default:
			more = true
		}
		return nil
	})
	slices.Sort(others)
	return named, slices.Compact(others), more
}

func findManifest(snap *snapshot.Snapshot, u *unstructured.Unstructured, namespace string) (object.Ref, error) {
	r, err := snap.Resources.For(u.GetAPIVersion(), u.GetKind())
	if err != nil {
		return object.Ref{}, err
	}
	if p, ok := snap.Resources.Preferred(r.GroupResource()); ok {
		r = p
	}
	if own := u.GetNamespace(); own != "" {
		namespace = own
	}
	if !r.Namespaced {
		namespace = ""
	}
	if o := snap.Find(r.APIVersion(), r.Kind, namespace, u.GetName()); o != nil {
		return o.Ref, nil
	}
	return object.Ref{}, notFound(snap, r, namespace, u.GetName())
}
