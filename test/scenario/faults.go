package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// rule says which requests fail, and how.
type rule struct {
	// verb is the verb that fails; zero for every verb.
	verb object.Verbs
	// kind and namespace are compared with the request's; empty for every one.
	kind, namespace string
	// name is a pattern as path.Match knows them; empty for every name.
	name string
	// err names the answer, as in parseRule.
	err string
	// times is how often the rule applies; 0 for always.
	times int
}

// answers are the failures that a rule can name.
var answers = map[string]func(ref object.Ref, gr schema.GroupResource) error{
	"Forbidden": func(ref object.Ref, gr schema.GroupResource) error {
		return apierrors.NewForbidden(gr, ref.Name, errors.New("denied by a fault"))
	},
	"Conflict": func(ref object.Ref, gr schema.GroupResource) error {
		return apierrors.NewConflict(gr, ref.Name,
			errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	},
	"NotFound": func(ref object.Ref, gr schema.GroupResource) error { return apierrors.NewNotFound(gr, ref.Name) },
	"Invalid": func(ref object.Ref, gr schema.GroupResource) error {
		return apierrors.NewInvalid(schema.GroupKind{Group: gr.Group, Kind: ref.Kind}, ref.Name, nil)
	},
	"UnsupportedMediaType": func(object.Ref, schema.GroupResource) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		}}
	},
	"MethodNotAllowed": func(_ object.Ref, gr schema.GroupResource) error {
		return apierrors.NewMethodNotSupported(gr, "request")
	},
	"Unauthorized":       func(object.Ref, schema.GroupResource) error { return apierrors.NewUnauthorized("denied by a fault") },
	"TooManyRequests":    func(object.Ref, schema.GroupResource) error { return apierrors.NewTooManyRequestsError("try again") },
	"InternalError":      func(object.Ref, schema.GroupResource) error { return apierrors.NewInternalError(errors.New("fault")) },
	"ServiceUnavailable": func(object.Ref, schema.GroupResource) error { return apierrors.NewServiceUnavailable("fault") },
	"Timeout":            func(object.Ref, schema.GroupResource) error { return apierrors.NewTimeoutError("fault", 1) },
	"UnknownKind": func(ref object.Ref, _ schema.GroupResource) error {
		return &object.UnknownKindError{APIVersion: ref.APIVersion, Kind: ref.Kind}
	},
	"Uncovered": func(ref object.Ref, _ schema.GroupResource) error {
		return &object.UncoveredError{Ref: ref, Why: "fault"}
	},
}

// parseRule reads a rule from text such as
// `verb=delete kind=ReplicaSet name=web-* err=Forbidden times=3`. Only err has
// to be there: a status reason, or UnknownKind or Uncovered.
func parseRule(text string) (rule, error) {
	var r rule
	for word := range strings.FieldsSeq(text) {
		key, value, ok := strings.Cut(word, "=")
		if !ok || value == "" {
			return rule{}, fmt.Errorf("fault rule: %q is not of the form key=value", word)
		}
		if err := r.set(key, value); err != nil {
			return rule{}, err
		}
	}
	if r.err == "" {
		return rule{}, fmt.Errorf("fault rule %q: err is missing", text)
	}
	return r, nil
}

func (r *rule) set(key, value string) error {
	switch key {
	case "verb":
		if r.verb = object.VerbsOf([]string{value}); r.verb == 0 {
			return fmt.Errorf("fault rule: there is no verb %q", value)
		}
	case "kind":
		r.kind = value
	case "namespace":
		r.namespace = value
	case "name":
		if _, err := path.Match(value, ""); err != nil {
			return fmt.Errorf("fault rule: name=%s: %w", value, err)
		}
		r.name = value
	case "err":
		if _, ok := answers[value]; !ok {
			return fmt.Errorf("fault rule: there is no error %q", value)
		}
		r.err = value
	case "times":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("fault rule: times=%s is not a positive number", value)
		}
		r.times = n
	default:
		return fmt.Errorf("fault rule: there is no key %q", key)
	}
	return nil
}

func (r *rule) matches(verb object.Verbs, ref object.Ref) bool {
	if r.verb != 0 && r.verb != verb || r.kind != "" && r.kind != ref.Kind || r.namespace != "" && r.namespace != ref.Namespace {
		return false
	}
	if r.name == "" {
		return true
	}
	ok, err := path.Match(r.name, ref.Name)
	return ok && err == nil
}

// ruleSet are rules in force. The first one that matches a request answers it. The zero
// value is ready, and may be used from many goroutines.
type ruleSet struct {
	mu    sync.Mutex
	rules []rule
}

// add puts a rule behind those already in force.
func (rs *ruleSet) add(r rule) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.rules = append(rs.rules, r)
}

// check answers a request with the error of the first rule that matches, and nil when
// none does. It is an apisim.Admission.
func (rs *ruleSet) check(verb object.Verbs, ref object.Ref) error {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for i := range rs.rules {
		r := &rs.rules[i]
		if !r.matches(verb, ref) {
			continue
		}
		answer := answers[r.err]
		if r.times > 0 {
			if r.times--; r.times == 0 {
				rs.rules = slices.Delete(rs.rules, i, i+1)
			}
		}
		group, version := object.SplitAPIVersion(ref.APIVersion)
		plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: group, Version: version, Kind: ref.Kind})
		return answer(ref, plural.GroupResource())
	}
	return nil
}

// faults is an API some of whose requests fail on the way.
type faults struct {
	engine.API
	ruleSet
}

// Get asks the API unless a rule answers.
func (f *faults) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	if err := f.check(object.Get, ref); err != nil {
		return nil, err
	}
	return f.API.Get(ctx, ref)
}

// Delete asks the API unless a rule answers.
func (f *faults) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	if err := f.check(object.Delete, ref); err != nil {
		return err
	}
	return f.API.Delete(ctx, ref, o)
}

// Patch asks the API unless a rule answers.
func (f *faults) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	if err := f.check(object.PatchVerb, ref); err != nil {
		return err
	}
	return f.API.Patch(ctx, ref, p)
}
