package uses

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Convention says that a program finds objects by their name or a label: no field refers to them. Whether that
// program runs, and needs this object, is not known, so what breaks is never certain.
type Convention struct {
	To object.Kind
	// Namespace and Name are those of the object; empty for any. A * at one end of Name matches any text.
	Namespace, Name string
	// Label and Values are a label of the object, and its values; empty for any label, and for any value.
	Label  string
	Values []string
	// Named is a label of the object with the name of the user, which is in the same namespace; empty for none.
	Named string
	// User is the kind of the objects that stop working. The zero value stands for programs outside of the
	// cluster: the namespace of the object is told in their place.
	User object.Kind
	// Near is true if only users in the namespace of the object count. UserLabel and UserValue are a label of
	// the users; empty for any.
	Near                 bool
	UserLabel, UserValue string
	// When is when the user stops working. Effect says how.
	When   report.BreakageTime
	Effect string
}

const (
	system       = "kube-system"
	newAuthority = "it can't issue certificates that its machines trust"
	newRoot      = "after its next start it signs with another root certificate, which running proxies don't trust"
	argoLabel    = "argocd.argoproj.io/secret-type"
	capiLabel    = "cluster.x-k8s.io/cluster-name"
)

var sealedSecret = kindOf("bitnami.com", "v1alpha1", "SealedSecret", "sealedsecrets", true)

var conventions = []Convention{
	// Source: sealed-secrets, pkg/controller/main.go initKeyRegistry: the keys are read at the start.
	{
		To: secret, Label: "sealedsecrets.bitnami.com/sealed-secrets-key", User: sealedSecret, When: report.BreaksNextStart,
		Effect: "after its next start the controller can't unseal it, unless another key can",
	},
	// Source: istio, pilot/pkg/bootstrap/istio_ca.go: without cacerts it uses istio-ca-secret, which it creates.
	{To: secret, Namespace: "istio-system", Name: "cacerts", User: object.Deployment, Near: true, UserLabel: "app", UserValue: "istiod", When: report.BreaksNextStart, Effect: newRoot},
	{To: secret, Namespace: "istio-system", Name: "istio-ca-secret", User: object.Deployment, Near: true, UserLabel: "app", UserValue: "istiod", When: report.BreaksNextStart, Effect: newRoot},
	// Source: argo-cd.readthedocs.io/en/stable/operator-manual/declarative-setup: Repositories, Clusters.
	{To: secret, Label: argoLabel, Values: []string{"cluster"}, User: object.ArgoApplication, When: report.BreaksNextReconcile, Effect: "it can't be synced if it is for that cluster"},
	{To: secret, Label: argoLabel, Values: []string{"repository", "repo-creds"}, User: object.ArgoApplication, When: report.BreaksNextReconcile, Effect: "it can't be synced if it is from that repository"},
	// Source: cluster-api.sigs.k8s.io/tasks/certs/using-custom-certificates; cluster-api, util/kubeconfig/kubeconfig.go.
	{To: secret, Name: "*-ca", Named: capiLabel, User: object.CAPICluster, When: report.BreaksNextReconcile, Effect: newAuthority},
	{To: secret, Name: "*-etcd", Named: capiLabel, User: object.CAPICluster, When: report.BreaksNextReconcile, Effect: newAuthority},
	{To: secret, Name: "*-sa", Named: capiLabel, User: object.CAPICluster, When: report.BreaksNextReconcile, Effect: newAuthority},
	{To: secret, Name: "*-kubeconfig", Named: capiLabel, User: object.CAPICluster, When: report.BreaksNow, Effect: "its machines are not reached until it is made again"},
	// Source: kubernetes.io/docs/concepts/services-networking/service: Services without selectors.
	{To: object.EndpointSlice, Named: "kubernetes.io/service-name", User: service, When: report.BreaksNow, Effect: "it leads to none of these endpoints"},
	// Source: kubernetes.io/docs/tasks/administer-cluster/dns-custom-nameservers: the kubelet's --cluster-dns is its IP.
	{To: service, Namespace: system, Name: "kube-dns", When: report.BreaksNow, Effect: "pods resolve no names, unless their nodes have another server"},
	// Source: docs.openshift.com, DNS Operator: the address of the Service dns-default.
	{To: service, Namespace: "openshift-dns", Name: "dns-default", When: report.BreaksNow, Effect: "pods resolve no names"},
	// Source: docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html.
	{To: configMap, Namespace: system, Name: "aws-auth", User: object.Node, When: report.BreaksNow, Effect: "it loses access to the API server, unless an access entry allows it"},
	// Upstream: cmd/kubeadm/app/util/config/cluster.go getInitConfigurationFromCluster.
	{To: configMap, Namespace: system, Name: "kubeadm-config", When: report.BreaksNextReconcile, Effect: "kubeadm join and kubeadm upgrade fail"},
	// Upstream: cmd/kubeadm/app/componentconfigs/kubelet.go kubeletConfigFromCluster.
	{To: configMap, Namespace: system, Name: "kubelet-config", When: report.BreaksNextReconcile, Effect: "kubeadm join and kubeadm upgrade fail"},
	// Upstream: cmd/kubeadm/app/discovery/token/token.go retrieveValidatedConfigInfo.
	{To: configMap, Namespace: "kube-public", Name: "cluster-info", When: report.BreaksNextReconcile, Effect: "kubeadm join with a token fails"},
	// Upstream: plugin/pkg/auth/authenticator/token/bootstrap/bootstrap.go TokenAuthenticator.AuthenticateToken.
	{To: secret, Namespace: system, Name: "bootstrap-token-*", When: report.BreaksNextStart, Effect: "no new node joins with this token"},
}

// FoundByConvention reports whether programs find some objects of a kind by a convention.
func FoundByConvention(kind schema.GroupKind) bool {
	return slices.ContainsFunc(conventions, func(c Convention) bool { return c.To.GroupKind == kind })
}

// ConventionsOf returns the conventions by which programs find an object.
func ConventionsOf(o *object.Object) []*Convention {
	var list []*Convention
	for i := range conventions {
		if c := &conventions[i]; o.Is(c.To) && c.finds(o) {
			list = append(list, c)
		}
	}
	return list
}

func (c *Convention) finds(o *object.Object) bool {
	prefix, starts := strings.CutSuffix(c.Name, "*")
	suffix, ends := strings.CutPrefix(c.Name, "*")
	switch {
	case c.Namespace != "" && c.Namespace != o.Namespace, c.Named != "" && !o.Labels.Has(c.Named):
		return false
	case c.Name != "" && o.Name != c.Name && !(starts && strings.HasPrefix(o.Name, prefix)) && !(ends && strings.HasSuffix(o.Name, suffix)):
		return false
	case c.Label == "":
		return true
	}
	value, labelled := o.Labels.Lookup(c.Label)
	return labelled && (len(c.Values) == 0 || slices.Contains(c.Values, value))
}

// UserName returns the name of the user, which is in the namespace of the object to; empty if it is not known by
// its name.
func (c *Convention) UserName(to *object.Object) string {
	if c.Named == "" {
		return ""
	}
	return to.Labels.Get(c.Named)
}

// Uses reports whether an object of the kind User is a user of the object to. One with the UserName always is.
func (c *Convention) Uses(user, to *object.Object) bool {
	return (!c.Near || user.Namespace == to.Namespace) && (c.UserLabel == "" || user.Labels.Get(c.UserLabel) == c.UserValue)
}

// Field returns the field of the object by which it is found, and a short name of that.
func (c *Convention) Field() (path, label string) {
	if c.Label != "" || c.Named != "" {
		return "metadata.labels", "by its label"
	}
	return "metadata.name", "by its name"
}
