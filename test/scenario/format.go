package scenario

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Format writes an object on one line. The UID is left out of events, where it
// would only be noise.
func Format(o *object.Object, names Names) string { return format(o, names, true) }

// FormatEvent writes a watch event on one line.
func FormatEvent(e object.Event, names Names) string {
	return e.Type.String() + " " + format(e.Object, names, e.Type == object.Added)
}

func format(o *object.Object, names Names, uid bool) string {
	words := []string{o.Ref.String()}
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	if uid {
		add("uid=%s", o.UID)
	}
	if len(o.Owners) > 0 {
		owners := make([]string, 0, len(o.Owners))
		for _, ref := range o.Owners {
			owners = append(owners, FormatOwner(ref, names))
		}
		add("owners=[%s]", strings.Join(owners, ","))
	}
	if o.Labels != "" {
		var pairs []string
		for k, v := range o.Labels.All {
			pairs = append(pairs, k+"="+v)
		}
		add("labels=[%s]", strings.Join(pairs, ","))
	}
	if o.BeingDeleted() {
		switch offset := o.DeletionTimestamp() - Start; offset {
		case 0:
			add("deleting")
		default:
			add("deleting=%+d", offset)
		}
	}
	if grace := o.GracePeriod(); grace != nil {
		add("grace=%d", *grace)
	}
	if len(o.Finalizers()) > 0 {
		add("fin=[%s]", strings.Join(o.Finalizers(), ","))
	}
	if o.Revision() != 0 {
		add("revision=%d", o.Revision())
	}
	words = append(words, formatFacts(o)...)
	if o.Generation != 0 {
		add("gen=%d", o.Generation)
	}
	add("rv=%s", o.ResourceVersion)
	return strings.Join(words, " ")
}

func formatFacts(o *object.Object) []string {
	var words []string
	if p := o.Pod(); p != nil {
		words = append(words, "node="+p.NodeName)
		if p.Phase != "" {
			words = append(words, "phase="+p.Phase)
		}
		if p.TerminationGracePeriod != nil {
			words = append(words, fmt.Sprintf("period=%d", *p.TerminationGracePeriod))
		}
		if p.Mirror {
			words = append(words, "mirror")
		}
		if p.VolumesKnown {
			names := make([]string, 0, len(p.Claims))
			for _, c := range p.Claims {
				names = append(names, map[bool]string{true: "~"}[c.Ephemeral]+c.Name)
			}
			words = append(words, "claims=["+strings.Join(names, ",")+"]")
		}
	}
	if n := o.NamespaceFacts(); n != nil {
		words = append(words, "phase="+n.Phase, "spec=["+strings.Join(n.Finalizers, ",")+"]")
	}
	if d := o.Definition(); d != nil {
		for _, v := range d.Versions {
			words = append(words, "defines="+d.Group+"/"+v.Name+":"+d.Kind+":"+d.Plural)
		}
		if !d.Namespaced {
			words = append(words, "scope=Cluster")
		}
		if d.Established {
			words = append(words, "established")
		}
		if d.Terminating {
			words = append(words, "terminating")
		}
	}
	if j := o.Job(); j != nil {
		words = append(words, fmt.Sprintf("finished=%v", j.Finished))
		if j.ManagedBy != "" {
			words = append(words, "managed="+j.ManagedBy)
		}
	}
	if v := o.Volume(); v != nil {
		words = append(words, "phase="+v.Phase)
		if v.ClaimName != "" {
			words = append(words, fmt.Sprintf("claim=%s/%s:%s", v.ClaimNamespace, v.ClaimName, v.ClaimUID))
		}
		words = append(words, formatReclaim(v)...)
	}
	if c := o.ResourceClaim(); c != nil {
		var users []string
		for _, r := range c.Reserved {
			users = append(users, r.Resource+":"+r.Name+":"+string(r.UID))
		}
		words = append(words, "reserved=["+strings.Join(users, ",")+"]")
	}
	if a := o.IPAddress(); a != nil {
		words = append(words, "of="+a.Namespace+"/"+a.Name)
	}
	if x := o.StatefulSet(); x != nil {
		words = append(words, "templates=["+strings.Join(x.ClaimTemplates, ",")+"]")
	}
	if x := o.Token(); x != nil {
		words = append(words, map[bool]string{true: "token=", false: "token?="}[x.Sure]+strings.TrimSuffix(x.Account+":"+string(x.AccountUID), ":"))
	}
	if c := o.ServiceCIDR(); c != nil {
		words = append(words, "cidrs=["+strings.Join(c.CIDRs, ",")+"]")
	}
	return words
}

func formatReclaim(v *object.PVFacts) []string {
	var words []string
	for _, x := range []struct{ key, value string }{{"reclaim", v.ReclaimPolicy}, {"by", v.Provisioner}, {"to", v.MigratedTo}} {
		if x.value != "" {
			words = append(words, x.key+"="+x.value)
		}
	}
	if v.CSI {
		words = append(words, "csi")
	}
	return words
}
