package command

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// DefaultNamespace is the namespace that kubectl uses if neither a flag nor the context names one.
// Dumps have no context.
const DefaultNamespace = "default"

// Namespaces selects the namespaces of a command, with -n and -A.
type Namespaces struct {
	One string
	All bool
	// fallback is the namespace of the kubeconfig's context.
	fallback string
	// config are the flags of the client, the source of fallback; nil before there is a client.
	config *genericclioptions.ConfigFlags
}

// AddFlags adds -n and -A with help texts for the command.
func (n *Namespaces) AddFlags(f *pflag.FlagSet, one, all string) {
	f.StringVarP(&n.One, "namespace", "n", "", one)
	f.BoolVarP(&n.All, "all-namespaces", "A", false, all)
}

// Check refuses -n together with -A.
func (n *Namespaces) Check(c *cobra.Command) error {
	if n.One != "" && n.All {
		return Errorf(c, "-n and -A exclude each other")
	}
	return nil
}

// List returns the namespace of -n; empty without it.
func (n *Namespaces) List() []string {
	if n.One == "" {
		return nil
	}
	return []string{n.One}
}

// Listed returns the namespace to list objects in, as kubectl get does: by default that of the
// context. It is empty for all namespaces, and for a dump without -n.
func (n *Namespaces) Listed(live bool) string {
	if n.All || n.One == "" && !live {
		return ""
	}
	return n.OneOrDefault()
}

// OneOrDefault returns the namespace of -n, or the default one.
func (n *Namespaces) OneOrDefault() string {
	return cmp.Or(n.One, n.fallback, DefaultNamespace)
}

// Where returns the searched namespace for an error.
func (n *Namespaces) Where() string {
	if n.All {
		return " in any namespace"
	}
	return fmt.Sprintf(" in namespace %q", n.OneOrDefault())
}

// Resolve has the cluster find the objects, as kubectl does. client must be from Source.Open for
// these namespaces.
func (n *Namespaces) Resolve(ctx context.Context, client *kube.Client, t Selection) ([]*object.Object, error) {
	return Resolve(ctx, n.config, client, t)
}

// Selection selects objects as kubectl's arguments and flags do.
type Selection struct {
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

// metadataOf returns the media type of objects or lists without their content, with a fallback for servers that
// lack it.
func metadataOf(what string) string {
	return "application/json;as=" + what + ";g=meta.k8s.io;v=v1,application/json"
}

// isByName reports whether all objects are read by name.
func (t *Selection) isByName() bool {
	named := len(t.Args) != 1 || strings.Contains(t.Args[0], "/")
	return named && t.Labels == "" && t.Fields == "" && !t.All
}

// Resolve finds the selected objects as kubectl does, and reads their metadata from the server, also
// of those in files. The result has UIDs and resourceVersions, and the preferred version of each
// resource once Discover has run.
func Resolve(ctx context.Context, flags genericclioptions.RESTClientGetter, c *kube.Client, t Selection) ([]*object.Object, error) {
	namespace, enforce, err := flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	accept := metadataOf("PartialObjectMetadataList")
	if t.isByName() {
		accept = metadataOf("PartialObjectMetadata")
	}
	builder := resource.NewBuilder(unlimited{flags, c.Config(ctx)}).
		TransformRequests(func(r *rest.Request) { r.SetHeader("Accept", accept) }).
		Unstructured().
		ContinueOnError().
		NamespaceParam(namespace).DefaultNamespace().
		FilenameParam(enforce && !t.AllNamespaces, &t.Files).
		LabelSelectorParam(t.Labels).
		FieldSelectorParam(t.Fields).
		SelectAllParam(t.All).
		AllNamespaces(t.AllNamespaces).
		ResourceTypeOrNameArgs(false, t.Args...).
		Latest()
	if t.isByName() {
		builder = builder.Flatten() // items of a list of metadata have no kind for it
	}
	found := builder.Do()
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
		gvk := info.Mapping.GroupVersionKind
		if d := c.Discovered(); d != nil {
			if r, ok := d.Resources.Preferred(info.Mapping.Resource.GroupResource()); ok {
				gvk = schema.FromAPIVersionAndKind(r.APIVersion(), r.Kind)
			}
		}
		add := func(found runtime.Object) error {
			m, err := meta.Accessor(found)
			if err == nil {
				objects = append(objects, kube.ObjectOf(m, gvk.GroupVersion().String(), gvk.Kind))
			}
			return err
		}
		each := add
		if meta.IsListType(info.Object) {
			each = func(list runtime.Object) error { return meta.EachListItem(list, add) }
		}
		if err := each(info.Object); err != nil {
			return nil, err
		}
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
