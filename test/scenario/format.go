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
