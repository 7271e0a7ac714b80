package kube

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Targets say which objects are meant, in the words of kubectl.
type Targets struct {
	// Args are TYPE NAME…, TYPE/NAME… or TYPE.
	Args []string
	// Files are -f, -k and -R.
	Files resource.FilenameOptions
	// Labels and Fields are -l and --field-selector.
	Labels, Fields     string
	All, AllNamespaces bool
	// IgnoreNotFound leaves out what is not there.
	IgnoreNotFound bool
}

// Resolve finds the objects that are meant, as kubectl does, and reads them: what a
// file names is looked up on the server, too. The objects have uid and
// resourceVersion, and the preferred version of their resource once Discover has
// run; spec and status are not looked at.
func (c *Client) Resolve(ctx context.Context, t Targets) ([]*object.Object, error) {
	if c.getter == nil {
		return nil, errors.New("the client was made without kubeconfig flags")
	}
	namespace, enforce, err := c.getter.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	found := resource.NewBuilder(unlimited{c.getter, c.config, ctx}).
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
		o := objectOf(m, gvk.GroupVersion().String(), gvk.Kind)
		if d := c.discovery.Load(); d != nil {
			if r, ok := d.Resources.Preferred(gr); ok {
				o.APIVersion, o.Kind = r.APIVersion(), r.Kind
			}
		}
		objects = append(objects, o)
	}
	return objects, nil
}

// unlimited is a getter whose requests have no limit of the client, as ours, and
// end with a context.
type unlimited struct {
	genericclioptions.RESTClientGetter
	config *rest.Config
	ctx    context.Context
}

// ToRESTConfig is the configuration of the client.
func (u unlimited) ToRESTConfig() (*rest.Config, error) {
	config := rest.CopyConfig(u.config)
	config.Wrap(bindTo(u.ctx))
	return config, nil
}

// objectOf takes from metadata what object.Object keeps of it.
func objectOf(m metav1.Object, apiVersion, kind string) *object.Object {
	o := &object.Object{
		Ref:             object.Ref{APIVersion: apiVersion, Kind: kind, Namespace: m.GetNamespace(), Name: m.GetName(), UID: m.GetUID()},
		ResourceVersion: m.GetResourceVersion(),
		Labels:          object.LabelsOf(m.GetLabels()),
		Generation:      m.GetGeneration(),
	}
	if created := m.GetCreationTimestamp(); !created.IsZero() {
		o.Created = created.Unix()
	}
	for _, ref := range m.GetOwnerReferences() {
		o.Owners = append(o.Owners, object.OwnerReference{
			APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, UID: ref.UID,
			Controller: object.FlagOf(ref.Controller), BlockOwnerDeletion: object.FlagOf(ref.BlockOwnerDeletion),
		})
	}
	deleted, grace := m.GetDeletionTimestamp(), m.GetDeletionGracePeriodSeconds()
	protection := object.ProtectionOf(m.GetAnnotations())
	revision := object.RevisionBy(m.GetAnnotations()[object.RevisionAnnotation])
	if len(m.GetFinalizers()) == 0 && protection == 0 && revision == 0 && deleted == nil && grace == nil {
		return o
	}
	life := o.Edit()
	life.Finalizers, life.GracePeriod, life.Protection, life.Revision = m.GetFinalizers(), grace, protection, revision
	if deleted != nil {
		life.DeletionTimestamp = deleted.Unix()
	}
	return o
}
