package controllers

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// NamespaceName is the name of the controller that empties namespaces.
const NamespaceName = "namespace-controller"

// namespaceAssumption is what the end of a namespace rests on.
const namespaceAssumption = "the namespace controller runs and can discover and delete every kind in the namespace"

const (
	// namespaceToken is what the namespace controller has in spec.finalizers.
	namespaceToken       = "kubernetes"
	namespaceTerminating = "Terminating"
)

// NamespaceController returns the controller that empties namespaces which are
// being deleted: pods first, then everything else, by rules with
// release.OrderedNamespaces, and all at once by others; in the background
// whatever the objects' own finalizers of the collector say. When nothing is
// left it takes its token out of spec.finalizers, and with the last token the
// namespace goes, unless metadata.finalizers hold it.
//
// The token stays as long as the coverage leaves open whether something is left:
// a namespaced kind that is not covered in that namespace, or the definitions of
// custom resources, without which a kind may be unknown. A caller that knows the
// kinds from discovery, or takes one for harmless, has its coverage say so.
// A nil coverage stands for a world that is complete.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go namespacedResourcesDeleter.Delete.
// Rule: spec §5.2, §5.3, S200–S220.
func NamespaceController(c Coverage, r release.Rules) Controller {
	return &namespaces{coverage: orComplete(c), rules: r}
}

type namespaces struct {
	coverage Coverage
	rules    release.Rules
	waits    []Wait
}

func (*namespaces) Name() string       { return NamespaceName }
func (*namespaces) Assumption() string { return namespaceAssumption }
func (n *namespaces) Waiting() []Wait  { return n.waits }

// Step makes one pass over each namespace that is being deleted.
func (n *namespaces) Step(ctx context.Context, w World) (bool, error) {
	p, there := begin(ctx, w, NamespaceName), lost{w: w}
	for _, ns := range w.ObjectsOf(object.Namespace.GroupResource(), "") {
		if ctx.Err() != nil {
			break
		}
		if ns.BeingDeleted() && len(tokensOf(ns)) > 0 {
			c := content{pass: p, coverage: n.coverage, rules: n.rules, namespace: ns, lost: &there}
			c.empty()
		}
	}
	return p.end(&n.waits)
}

// empty is one pass over one namespace.
func (c *content) empty() {
	if !c.terminate() || !c.deleteAll() {
		return
	}
	if !slices.Contains(tokensOf(c.namespace), namespaceToken) {
		c.waitForTokens(c.namespace)
		return
	}
	next := c.namespace.Clone()
	facts := object.NamespaceFacts{Phase: namespaceTerminating}
	for _, token := range slices.Compact(slices.Sorted(slices.Values(tokensOf(c.namespace)))) {
		if token != namespaceToken {
			facts.Finalizers = append(facts.Finalizers, token)
		}
	}
	next.Edit().Facts = &facts
	_, err := c.w.Finalize(c.ctx, next)
	c.refused(c.namespace.Ref, object.Resource{}, err)
	if err == nil && len(facts.Finalizers) > 0 {
		c.waitForTokens(next)
	}
}

// terminate puts the namespace into the phase Terminating if it is not, and tells
// whether the pass goes on. (spec §5.2 step 2, S215)
func (c *content) terminate() bool {
	facts := c.namespace.NamespaceFacts()
	if facts == nil || facts.Phase == namespaceTerminating {
		return true
	}
	next := c.namespace.Clone()
	next.Edit().Facts = &object.NamespaceFacts{Phase: namespaceTerminating, Finalizers: facts.Finalizers}
	stored, err := c.w.Update(c.ctx, next)
	c.refused(c.namespace.Ref, object.Resource{}, err)
	if err != nil {
		return false
	}
	c.namespace = stored
	return true
}

func (c *content) waitForTokens(ns *object.Object) {
	w := Wait{Object: ns.Ref, Reason: TokensRemain}
	for _, token := range slices.Compact(slices.SortedFunc(slices.Values(tokensOf(ns)), strings.Compare)) {
		w.Finalizers = append(w.Finalizers, FinalizerCount{Name: token, Objects: 1})
	}
	c.wait(w)
}

// tokensOf are the spec.finalizers of a namespace. One of which nothing is known
// is taken for one that the namespace controller has yet to empty.
func tokensOf(ns *object.Object) []string {
	if facts := ns.NamespaceFacts(); facts != nil {
		return facts.Finalizers
	}
	return []string{namespaceToken}
}
