package source

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Asked selects objects as kubectl's arguments and flags do.
type Asked struct {
	// Args are TYPE NAME…, TYPE/NAME… or TYPE.
	Args []string
	// Files are -f, -k and -R.
	Files resource.FilenameOptions
	// Labels and Fields are -l and --field-selector.
	Labels, Fields     string
	All, AllNamespaces bool
	// IgnoreNotFound leaves out objects that do not exist.
	IgnoreNotFound bool
}

// Resolve finds the selected objects as kubectl does, and reads them from the server, also those in
// files. The result has UIDs and resourceVersions, and the preferred version of each resource once
// Discover has run; it has no spec or status.
func Resolve(ctx context.Context, flags genericclioptions.RESTClientGetter, c *kube.Client, t Asked) ([]*object.Object, error) {
	namespace, enforce, err := flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	found := resource.NewBuilder(unlimited{flags, c.Config(ctx)}).
		Unstructured().
		ContinueOnError().
		NamespaceParam(namespace).DefaultNamespace().
		FilenameParam(enforce && !t.AllNamespaces, &t.Files).
		LabelSelectorParam(t.Labels).
		FieldSelectorParam(t.Fields).
		SelectAllParam(t.All).
		AllNamespaces(t.AllNamespaces).
		ResourceTypeOrNameArgs(false, t.Args...).
		Latest().
		Flatten().
		Do()
	if t.IgnoreNotFound {
		found.IgnoreErrors(apierrors.IsNotFound)
	}
	infos, err := found.Infos()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	objects := make([]*object.Object, 0, len(infos))
	for _, info := range infos {
		m, err := meta.Accessor(info.Object)
		if err != nil {
			return nil, err
		}
		gvk := info.Mapping.GroupVersionKind
		gr := info.Mapping.Resource.GroupResource()
		o := kube.ObjectOf(m, gvk.GroupVersion().String(), gvk.Kind)
		if d := c.Discovered(); d != nil {
			if r, ok := d.Resources.Preferred(gr); ok {
				o.APIVersion, o.Kind = r.APIVersion(), r.Kind
			}
		}
		objects = append(objects, o)
	}
	return objects, nil
}

// unlimited is a getter with the configuration of the client.
type unlimited struct {
	genericclioptions.RESTClientGetter
	config *rest.Config
}

// ToRESTConfig returns the configuration of the client.
func (u unlimited) ToRESTConfig() (*rest.Config, error) { return u.config, nil }
