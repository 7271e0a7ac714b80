package snapshot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// common is what the items of one list have in common, to detect lists that were taken with a
// selector. With `-l KEY=VALUE` all objects have that label; in a complete list mostly one hasn't.
// Other selectors leave no trace unless they select a single object.
type common struct {
	items  int
	labels []label
	last   object.Labels
}

type label struct{ key, value string }

// add adds an item.
func (c *common) add(o *object.Object) {
	c.items++
	if c.items == 1 {
		for k, v := range o.Labels.All {
			if !automatic(k) && len(k) <= 317 && len(v) <= 63 { // other keys and values are invalid, and too long to be shown
				c.labels = append(c.labels, label{k, v})
			}
		}
		c.last = o.Labels
		return
	}
	if len(c.labels) == 0 || o.Labels == c.last {
		return
	}
	c.last = o.Labels
	c.labels = slices.DeleteFunc(c.labels, func(l label) bool {
		v, ok := o.Labels.Lookup(l.key)
		return !ok || v != l.value
	})
}

// selected returns why a list may be incomplete, "" if nothing indicates that.
func (c *common) selected() string {
	switch {
	case c.items == 1:
		return "a list of a single object may have been taken with a selector"
	case len(c.labels) > 0:
		return fmt.Sprintf("a list may have been taken with -l %s=%s, which all its objects have", c.labels[0].key, c.labels[0].value)
	default:
		return ""
	}
}

// automatic reports whether Kubernetes itself sets the label on all objects of a kind, such as
// kubernetes.io/os on nodes. Those for users are in app.kubernetes.io.
func automatic(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	if !ok || domain == "app.kubernetes.io" {
		return false
	}
	return domain == "kubernetes.io" || domain == "k8s.io" || strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io")
}
