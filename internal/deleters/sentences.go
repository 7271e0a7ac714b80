package deleters

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// The finalizers of a controller that runs here only if Options.Protection is set.
const (
	claimProtection  = "kubernetes.io/pvc-protection"
	volumeProtection = "kubernetes.io/pv-protection"
)

// sentence describes what an object waits for, without its name.
func (d *Deleters) sentence(w controllers.Wait) string {
	what, names := w.Resource.GroupResource().String(), remaining(w)
	with := strings.TrimSpace(what + " " + names)
	switch w.Reason {
	case controllers.ContentRemains, controllers.InstancesRemain:
		if f := finalizers(w); f != "" {
			return "waits for " + with + " (finalizers " + f + ")"
		}
		return "waits for " + with
	case controllers.PodsRemain:
		return "waits for " + with + ", which go before everything else"
	case controllers.TokensRemain:
		return "its spec.finalizers has " + finalizers(w) + ", which another controller must remove"
	case controllers.DiscoveryFails:
		apiVersion, why, _ := strings.Cut(w.Why, ": ")
		return d.undescribedVersion(apiVersion, why)
	case controllers.Refused:
		if names != "" {
			return with + " cannot be deleted: " + w.Why
		}
		return "the last try failed: " + w.Why
	case controllers.NotServed:
		return "has objects of a kind that the API server does not serve: " + names
	case controllers.ClaimInUse:
		return "is used by " + with
	case controllers.VolumeBound:
		return "is bound to " + with
	default:
		return cmp.Or(w.Why, "it is not known what is there of "+what)
	}
}

// remaining returns the names of the blocking objects.
func remaining(w controllers.Wait) string {
	var names []string
	for _, r := range w.Remaining {
		if r.Namespace == "" || r.Namespace == w.Object.Namespace || w.Object.Kind == object.Namespace.Kind {
			names = append(names, r.Name)
		} else {
			names = append(names, r.Namespace+"/"+r.Name)
		}
	}
	return strings.Join(few(names), ", ")
}

func finalizers(w controllers.Wait) string {
	var names []string
	for _, f := range w.Finalizers {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// stays says what outside of this program an object that is being deleted waits for, or when it
// ends. There are no kubelets and only a few controllers here. It returns "" if nothing is known.
func (d *Deleters) stays(o *object.Object) string {
	holds := func(k object.Kind, finalizer string) bool { return o.Is(k) && o.HasFinalizer(finalizer) }
	grace := o.GracePeriod()
	switch {
	case !d.options.Protection && d.others.manager == nil && (holds(object.PVC, claimProtection) || holds(object.PV, volumeProtection)):
		finalizer := claimProtection
		if o.Is(object.PV) {
			finalizer = volumeProtection
		}
		return "nobody takes " + finalizer + " off: use " + cmp.Or(d.options.AskProtection, "claim protection")
	case holds(object.CRD, controllers.DefinitionCleanup):
		return "the API server deletes its instances, and it goes when they have gone"
	case !o.Is(object.Pod) || grace != nil && *grace == 0 && len(o.Finalizers()) > 0:
		return ""
	case d.others.inUse() != nil:
		return "its kubelet has to end it"
	case d.options.Pods == Never:
		return "there is no kubelet: the test has to delete it with a grace period of 0"
	case d.options.Pods == AfterGracePeriod:
		return "it ends at " + ends(o).UTC().Format(time.RFC3339) + ", when its grace period is over"
	}
	return ""
}

// verdict describes the outcome for an object. It drops a plan's assumptions about a cluster, such
// as that its controllers run, because they do not hold here.
func (d *Deleters) verdict(o *object.Object, e *report.Explanation) string {
	const assumed = "goes if "
	said, why := phrases[e.Verdict], e.Message
	if o.BeingDeleted() && e.Verdict != report.WaitingForDependents {
		stays := d.stays(o)
		switch {
		case stays != "":
			why = stays
		case o.Is(object.Namespace):
			why = ""
		case strings.HasPrefix(why, assumed) && len(o.Finalizers()) > 0:
			why = strings.Join(o.Finalizers(), ", ") + " must be removed, and nothing here removes it"
		case strings.HasPrefix(why, assumed):
			why = ""
		}
		if stays != "" && len(o.Finalizers()) > 0 {
			said = phrases[report.HeldByFinalizer]
		}
	}
	if why != "" {
		said += ": " + why
	}
	return said + "."
}

// goesOn reports whether this program may end a wait.
func (s standing) goesOn(w controllers.Wait) bool {
	return slices.ContainsFunc(s.open, func(o controllers.Wait) bool {
		return o.Object == w.Object && o.Reason == w.Reason && o.Resource.GroupResource() == w.Resource.GroupResource() && o.Why == w.Why
	})
}
