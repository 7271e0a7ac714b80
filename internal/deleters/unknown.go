package deleters

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// unknown reports the kinds that are not fully known, and why.
func (d *Deleters) unknown() []string {
	var list []string
	if why, _ := d.watches.discovery(); why != "" {
		list = append(list, unsaid(why))
	}
	for _, k := range d.feed.Kinds() {
		switch {
		case k.State != kube.Synced:
			list = append(list, unread(k))
		case !d.watches.watched(k.Resource):
			list = append(list, k.Resource.GroupResource().String()+" is not watched yet")
		}
	}
	return few(append(list, d.undescribed()...))
}

// unsaid returns the message for a failed discovery.
func unsaid(why string) string {
	return "the API server does not say what it serves: " + strings.TrimPrefix(why, "discovery: ")
}

// unread says why not everything of a kind is known.
func unread(k kube.KindState) string {
	what := k.Resource.GroupResource().String() + " cannot be read: "
	if k.State == kube.Syncing {
		what = k.Resource.GroupResource().String() + " is being read: "
	}
	return strings.TrimSuffix(what+k.Why, ": ")
}

// lacksWatch reports whether some kinds are known but not watched yet.
func (d *Deleters) lacksWatch() bool {
	for _, k := range d.feed.Kinds() {
		if k.State == kube.Synced && !d.watches.watched(k.Resource) {
			return true
		}
	}
	return false
}

// undescribed reports the API versions whose resources are unknown.
func (d *Deleters) undescribed() []string {
	missing := d.feed.Missing()
	if missing == "" {
		return nil
	}
	var list []string
	if known := d.client.Discovered(); known != nil {
		for _, m := range known.Missing {
			list = append(list, d.undescribedVersion(m.GroupVersion, m.Why))
		}
	}
	if len(list) == 0 { // it was discovered just now
		list = append(list, missing)
	}
	return list
}

// undescribedVersion describes an API version without resources. It names the APIService if its
// server does not answer.
func (d *Deleters) undescribedVersion(apiVersion, why string) string {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err == nil {
		if s := d.store.find(object.APIService.GroupResource(), "", gv.Version+"."+gv.Group); s != nil && elsewhere(s) {
			return s.Ref.String() + ": its server does not answer: start it, or delete the APIService"
		}
	}
	return apiVersion + ": " + why
}
