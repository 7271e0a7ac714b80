package object

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// KubectlName returns the object as `kubectl … -o name` prints it and as kubectl accepts it:
// `pod/web-1`, `deployment.apps/web`. It omits the namespace and does not escape.
func (r Ref) KubectlName() string {
	return r.nameWith(KubectlKind(r.APIVersion, r.Kind))
}

// nameWith returns the object with a name of its kind. An owner reference may lack the name, or both.
func (r Ref) nameWith(kind string) string {
	switch {
	case r.Name != "" || r.UID == "":
		return kind + "/" + r.Name
	case r.Kind == "":
		return "uid " + string(r.UID)
	default:
		return kind + " with uid " + string(r.UID)
	}
}

// FullName returns the short name of the object with its namespace.
func (r Ref) FullName() string {
	if r.Namespace == "" {
		return r.ShortName()
	}
	return r.ShortName() + " in namespace " + r.Namespace
}

// KubectlKind returns a kind as kubectl accepts it: `pod`, `deployment.apps`. A kind that is not
// UTF-8 keeps its bytes: strings.ToLower would make such kinds equal.
func KubectlKind(apiVersion, kind string) string {
	if utf8.ValidString(kind) {
		kind = strings.ToLower(kind)
	}
	if group := GroupOf(apiVersion); group != "" {
		return kind + "." + group
	}
	return kind
}

// ShortName returns the object with kubectl's short name of its kind: `deploy/web`, `pvc/data`. A
// kind without a well-known short name is written as in KubectlName.
func (r Ref) ShortName() string {
	return r.nameWith(ShortKindName(r.APIVersion, r.Kind))
}

// ShortKind returns the short name of a kind, which kubectl accepts; empty if it has none.
func ShortKind(apiVersion, kind string) string {
	return shortKinds[schema.GroupKind{Group: GroupOf(apiVersion), Kind: kind}]
}

// ShortKindName returns ShortKind, or KubectlKind if there is none.
func ShortKindName(apiVersion, kind string) string {
	return cmp.Or(ShortKind(apiVersion, kind), KubectlKind(apiVersion, kind))
}

// shortKinds are the well-known short names. Pod, node and secret are short enough.
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
