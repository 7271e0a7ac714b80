package apply

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// right is an RBAC verb on a resource in a namespace.
type right struct {
	verb      string
	resource  object.Resource
	namespace string
}

// RefusedError reports that a plan was not executed. Nothing was written.
type RefusedError struct{ Why string }

// Error names the reason.
func (e *RefusedError) Error() string { return "refused, nothing was written: " + e.Why }

// checkRights checks all required permissions before the first write: a run that lacks permission
// halfway is worse than none. (spec §21)
func checkRights(ctx context.Context, client *kube.Client, wanted []right) error {
	asked := map[string]bool{}
	var missing []string
	for _, w := range wanted {
		text := fmt.Sprintf("%s %s", w.verb, w.resource.GroupResource())
		if w.namespace != "" {
			text += " in " + w.namespace
		}
		if asked[text] {
			continue
		}
		asked[text] = true
		access, err := client.MayI(ctx, w.verb, w.resource, w.namespace)
		if err != nil {
			return fmt.Errorf("whether we may %s: %w", text, err)
		}
		if !access.Allowed {
			missing = append(missing, strings.TrimSuffix(text+": "+access.Why, ": "))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.SortFunc(missing, cmp.Compare[string])
	return &RefusedError{Why: "we may not " + strings.Join(missing, "; nor ")}
}

// rightsOf returns the permissions that requests require.
func rightsOf(client *kube.Client, verb string, refs []object.Ref) ([]right, error) {
	var list []right
	for _, ref := range refs {
		r, err := client.Resource(ref.APIVersion, ref.Kind)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ref, err)
		}
		list = append(list, right{verb, r, ref.Namespace})
	}
	return list, nil
}
