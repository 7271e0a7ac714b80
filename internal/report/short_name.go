package report

import (
	"cmp"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// ShortName is the object as people write it at a prompt: `deploy/web`, `pvc/data`. A
// kind without a name that everybody knows is written as kubectl does, with its group.
func (r Ref) ShortName() string {
	if short := ShortKind(r.APIVersion, r.Kind); short != "" {
		return short + "/" + r.Name
	}
	return r.KubectlName()
}

// ShortKind is the short name of a kind, which kubectl takes, too; empty if it has none.
func ShortKind(apiVersion, kind string) string {
	return shortKinds[schema.GroupKind{Group: object.GroupOf(apiVersion), Kind: kind}]
}

// ShortKindName is the short name of a kind, or else the one that kubectl takes.
func ShortKindName(apiVersion, kind string) string {
	return cmp.Or(ShortKind(apiVersion, kind), KubectlKind(apiVersion, kind))
}

// shortKinds are the names that kubectl users write without thinking. A pod, a node and
// a secret are short enough.
var shortKinds = map[schema.GroupKind]string{
	{Kind: "ConfigMap"}:             "cm",
	{Kind: "Endpoints"}:             "ep",
	{Kind: "Namespace"}:             "ns",
	{Kind: "PersistentVolume"}:      "pv",
	{Kind: "PersistentVolumeClaim"}: "pvc",
	{Kind: "Service"}:               "svc",
	{Kind: "ServiceAccount"}:        "sa",

	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: "crd",
	{Group: "apps", Kind: "DaemonSet"}:                                "ds",
	{Group: "apps", Kind: "Deployment"}:                               "deploy",
	{Group: "apps", Kind: "ReplicaSet"}:                               "rs",
	{Group: "apps", Kind: "StatefulSet"}:                              "sts",
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:           "hpa",
	{Group: "batch", Kind: "CronJob"}:                                 "cj",
	{Group: "batch", Kind: "Job"}:                                     "job",
	{Group: "networking.k8s.io", Kind: "Ingress"}:                     "ing",
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:               "netpol",
	{Group: "policy", Kind: "PodDisruptionBudget"}:                    "pdb",
}
