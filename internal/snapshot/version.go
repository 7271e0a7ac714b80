package snapshot

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Version is the knowledge about the version of the API server. The zero value means unknown.
type Version struct {
	// Exact is the server's own gitVersion, such as v1.27.1+k3s1; empty if unknown.
	Exact string
	// Least and Most are the lowest and the highest possible N of 1.N; 0 means unbounded. Both are
	// equal for an exact version. Other bounds rest on the version skew that Kubernetes supports,
	// which a cluster can violate: they must not be used to prove an absence.
	Least, Most int
	// From is the evidence.
	From []VersionEvidence
}

// VersionEvidence is the evidence for the version of a server.
type VersionEvidence string

const (
	// FromServer is the answer of a live server.
	FromServer VersionEvidence = "Server"
	// FromFile is a file of the dump with such an answer.
	FromFile VersionEvidence = "File"
	// FromKubelets are the kubelets: none is newer than the server, or much older.
	FromKubelets VersionEvidence = "Kubelets"
	// FromAPIs are the served versions of built-in API groups.
	FromAPIs VersionEvidence = "APIs"
)

// Rules returns the rules for simulating the server: those of its release if known, otherwise of
// the newest.
func (v Version) Rules() release.Rules {
	return release.Of(release.MinorOf(v.Exact))
}

// MayLack reports whether the server's release, as far as known, may be one without the rule. An
// unknown server, or one with an unknown release, counts as one of the newest.
func (v Version) MayLack(rule release.Rule) bool {
	return (v.Least != 0 || v.Most != 0) && release.Minor(v.Least) < release.DifferenceOf(rule).Since
}

// Doubts reports whether the server's release may be one without a rule that its simulation
// follows: what the rule decides is Unknown.
func (v Version) Doubts(rule release.Rule) bool {
	return v.MayLack(rule) && (!release.DifferenceOf(rule).Simulated || v.Rules().Follow(rule))
}

// Minor returns the N of 1.N of an exact version.
func (v Version) Minor() (minor int, known bool) {
	if v.Exact == "" || v.Least == 0 {
		return 0, false
	}
	return v.Least, true
}

// Before reports whether the server is known to be older than 1.minor.
func (v Version) Before(minor int) bool { return v.Most != 0 && v.Most < minor }

// Version returns the knowledge about the version of the API server.
func (s *Snapshot) Version() Version { return s.Source.Version() }

// Version returns the knowledge about the version of the API server.
func (s Source) Version() Version {
	if s.KubernetesVersion == "" {
		return s.VersionBounds
	}
	v := Version{Exact: s.KubernetesVersion, From: []VersionEvidence{FromFile}}
	if s.Server != "" {
		v.From[0] = FromServer
	}
	v.Least = int(release.MinorOf(s.KubernetesVersion))
	v.Most = v.Least
	return v
}

// kubelets are the minor versions of the oldest and the newest kubelet; 0 without any.
type kubelets struct{ oldest, newest int }

// add adds the version of a kubelet. It ignores an invalid one.
func (k *kubelets) add(version string) {
	minor := int(release.MinorOf(version))
	if minor == 0 {
		return
	}
	if k.oldest == 0 || minor < k.oldest {
		k.oldest = minor
	}
	k.newest = max(k.newest, minor)
}

// merge adds the versions of another file.
func (k *kubelets) merge(one kubelets) {
	if k.oldest == 0 || one.oldest != 0 && one.oldest < k.oldest {
		k.oldest = one.oldest
	}
	k.newest = max(k.newest, one.newest)
}

// skew returns how many minor versions older than its API server a kubelet may be: three since the
// API server of 1.28, and two before. It may never be newer.
func skew(kubelet int) int {
	if kubelet+3 >= 28 {
		return 3
	}
	return 2
}

// boundsOf returns the bounds of the version of a server without an exact one: by the API versions
// that it serves, which are certain, and by its kubelets if they are consistent with that and with
// each other.
func boundsOf(k kubelets, served []string) Version {
	var v Version
	for _, gv := range served {
		span := apiSpans[gv]
		v.Least = max(v.Least, span.first)
		if span.last != 0 && (v.Most == 0 || span.last < v.Most) {
			v.Most = span.last
		}
	}
	if v.Most != 0 && v.Least > v.Most {
		v = Version{} // not the APIs of one server
	}
	byAPIs := v
	if v.Most == 0 || k.newest <= v.Most {
		v.Least = max(v.Least, k.newest)
		if most := k.oldest + skew(k.oldest); k.oldest != 0 && most >= v.Least && (v.Most == 0 || most < v.Most) {
			v.Most = most
		}
	}
	if v.Least != byAPIs.Least || v.Most != byAPIs.Most {
		v.From = append(v.From, FromKubelets)
	}
	if byAPIs.Least != 0 && byAPIs.Least == v.Least || byAPIs.Most != 0 && byAPIs.Most == v.Most {
		v.From = append(v.From, FromAPIs)
	}
	slices.Sort(v.From)
	return v
}

// span are the first and the last minor version that serve something; 0 means unbounded.
type span struct{ first, last int }

// BoundsByAPIs returns the bounds of the version of a server that serves these resources.
func BoundsByAPIs(served *object.Resources) Version {
	var versions []string
	for _, r := range served.All() {
		versions = append(versions, r.APIVersion())
	}
	return boundsOf(kubelets{}, versions)
}

// apiSpans are the releases that serve a version of a built-in group by default.
//
// From the deprecated API migration guide, and the API changes of the releases.
var apiSpans = map[string]span{
	"admissionregistration.k8s.io/v1":      {16, 0},
	"apiextensions.k8s.io/v1":              {16, 0},
	"apiextensions.k8s.io/v1beta1":         {7, 21},
	"apiregistration.k8s.io/v1":            {10, 0},
	"apiregistration.k8s.io/v1beta1":       {7, 21},
	"apps/v1":                              {9, 0},
	"apps/v1beta1":                         {5, 15},
	"apps/v1beta2":                         {8, 15},
	"autoscaling/v2":                       {23, 0},
	"autoscaling/v2beta1":                  {8, 24},
	"autoscaling/v2beta2":                  {12, 25},
	"batch/v1beta1":                        {8, 24},
	"certificates.k8s.io/v1":               {19, 0},
	"coordination.k8s.io/v1":               {14, 0},
	"discovery.k8s.io/v1":                  {21, 0},
	"discovery.k8s.io/v1beta1":             {17, 24},
	"events.k8s.io/v1":                     {19, 0},
	"events.k8s.io/v1beta1":                {8, 24},
	"extensions/v1beta1":                   {1, 21},
	"flowcontrol.apiserver.k8s.io/v1":      {29, 0},
	"flowcontrol.apiserver.k8s.io/v1beta1": {20, 25},
	"flowcontrol.apiserver.k8s.io/v1beta2": {23, 28},
	"flowcontrol.apiserver.k8s.io/v1beta3": {26, 31},
	"node.k8s.io/v1":                       {20, 0},
	"node.k8s.io/v1beta1":                  {14, 24},
	"policy/v1":                            {21, 0},
	"policy/v1beta1":                       {5, 24},
	"rbac.authorization.k8s.io/v1beta1":    {6, 21},
	"resource.k8s.io/v1":                   {34, 0},
	"scheduling.k8s.io/v1":                 {14, 0},
	"scheduling.k8s.io/v1beta1":            {11, 21},
	"storagemigration.k8s.io/v1":           {37, 0},
}
