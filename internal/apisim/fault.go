package apisim

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Rule says which requests fail, and how.
type Rule struct {
	// Verb is the verb that fails; zero for every verb.
	Verb object.Verbs
	// Kind and Namespace are compared with the request's; empty for every one.
	Kind      string
	Namespace string
	// Name is a pattern as path.Match knows them; empty for every name.
	Name string
	// Err names the answer, as in ParseRule.
	Err string
	// Times is how often the rule applies; 0 for always.
	Times int
}

// answers are the failures a rule can name.
var answers = map[string]func(ref object.Ref, gr schema.GroupResource) error{
	"Forbidden": func(ref object.Ref, gr schema.GroupResource) error {
		return forbidden(gr, ref.Name, "denied by a fault")
	},
	"Conflict": func(ref object.Ref, gr schema.GroupResource) error {
		return conflict(gr, ref.Name, "the object has been modified; please apply your changes to the latest version and try again")
	},
	"NotFound": func(ref object.Ref, gr schema.GroupResource) error { return notFound(gr, ref.Name) },
	"Invalid": func(ref object.Ref, gr schema.GroupResource) error {
		return apierrors.NewInvalid(schema.GroupKind{Group: gr.Group, Kind: ref.Kind}, ref.Name, nil)
	},
	"UnsupportedMediaType": func(object.Ref, schema.GroupResource) error { return unsupportedPatch() },
	"MethodNotAllowed": func(_ object.Ref, gr schema.GroupResource) error {
		return apierrors.NewMethodNotSupported(gr, "request")
	},
	"Unauthorized":       func(object.Ref, schema.GroupResource) error { return apierrors.NewUnauthorized("denied by a fault") },
	"TooManyRequests":    func(object.Ref, schema.GroupResource) error { return apierrors.NewTooManyRequestsError("try again") },
	"InternalError":      func(object.Ref, schema.GroupResource) error { return apierrors.NewInternalError(reason("fault")) },
	"ServiceUnavailable": func(object.Ref, schema.GroupResource) error { return apierrors.NewServiceUnavailable("fault") },
	"Timeout":            func(object.Ref, schema.GroupResource) error { return apierrors.NewTimeoutError("fault", 1) },
	"UnknownKind": func(ref object.Ref, _ schema.GroupResource) error {
		return &object.UnknownKindError{APIVersion: ref.APIVersion, Kind: ref.Kind}
	},
	"Uncovered": func(ref object.Ref, _ schema.GroupResource) error {
		return &object.UncoveredError{Ref: ref, Why: "fault"}
	},
}

// ParseRule reads a rule from text such as
// `verb=delete kind=ReplicaSet name=web-* err=Forbidden times=3`. Only err has
// to be there: a status reason, or UnknownKind or Uncovered.
func ParseRule(text string) (Rule, error) {
	var r Rule
	for word := range strings.FieldsSeq(text) {
		key, value, ok := strings.Cut(word, "=")
		if !ok || value == "" {
			return Rule{}, fmt.Errorf("fault rule: %q is not of the form key=value", word)
		}
		if err := r.set(key, value); err != nil {
			return Rule{}, err
		}
	}
	if r.Err == "" {
		return Rule{}, fmt.Errorf("fault rule %q: err is missing", text)
	}
	return r, nil
}

func (r *Rule) set(key, value string) error {
	switch key {
	case "verb":
		if r.Verb = object.VerbsOf([]string{value}); r.Verb == 0 {
			return fmt.Errorf("fault rule: there is no verb %q", value)
		}
	case "kind":
		r.Kind = value
	case "namespace":
		r.Namespace = value
	case "name":
		if _, err := path.Match(value, ""); err != nil {
			return fmt.Errorf("fault rule: name=%s: %w", value, err)
		}
		r.Name = value
	case "err":
		if _, ok := answers[value]; !ok {
			return fmt.Errorf("fault rule: there is no error %q", value)
		}
		r.Err = value
	case "times":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("fault rule: times=%s is not a positive number", value)
		}
		r.Times = n
	default:
		return fmt.Errorf("fault rule: there is no key %q", key)
	}
	return nil
}

func (r *Rule) matches(verb object.Verbs, ref object.Ref) bool {
	if r.Verb != 0 && r.Verb != verb || r.Kind != "" && r.Kind != ref.Kind || r.Namespace != "" && r.Namespace != ref.Namespace {
		return false
	}
	if r.Name == "" {
		return true
	}
	ok, err := path.Match(r.Name, ref.Name)
	return ok && err == nil
}

// Rules are rules in force. The first one that matches a request answers it. The
// zero value is ready, and may be used from many goroutines.
type Rules struct {
	mu    sync.Mutex
	rules []Rule
}

// Add puts rules behind those already in force.
func (rs *Rules) Add(rules ...Rule) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.rules = append(rs.rules, rules...)
}

// Check answers a request with the error of the first rule that matches, and
// nil when none does. It is an Admission.
func (rs *Rules) Check(verb object.Verbs, ref object.Ref) error {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for i := range rs.rules {
		r := &rs.rules[i]
		if !r.matches(verb, ref) {
			continue
		}
		answer := answers[r.Err]
		if r.Times > 0 {
			if r.Times--; r.Times == 0 {
				rs.rules = slices.Delete(rs.rules, i, i+1)
			}
		}
		group, version := object.SplitAPIVersion(ref.APIVersion)
		plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: group, Version: version, Kind: ref.Kind})
		return answer(ref, plural.GroupResource())
	}
	return nil
}

// API is what a collector needs of a server.
type API interface {
	Resource(apiVersion, kind string) (object.Resource, error)
	Get(ctx context.Context, ref object.Ref) (*object.Object, error)
	Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error
	Patch(ctx context.Context, ref object.Ref, p object.Patch) error
}

// Faults is an API some of whose requests fail on the way.
type Faults struct {
	Rules
	api API
}

// Faulty has the requests that match a rule answered by it instead of by api.
func Faulty(api API, rules ...Rule) *Faults {
	f := &Faults{api: api}
	f.Add(rules...)
	return f
}

// Resource asks the API.
func (f *Faults) Resource(apiVersion, kind string) (object.Resource, error) {
	return f.api.Resource(apiVersion, kind)
}

// Get asks the API unless a rule answers.
func (f *Faults) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	if err := f.Check(object.Get, ref); err != nil {
		return nil, err
	}
	return f.api.Get(ctx, ref)
}

// Delete asks the API unless a rule answers.
func (f *Faults) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	if err := f.Check(object.Delete, ref); err != nil {
		return err
	}
	return f.api.Delete(ctx, ref, o)
}

// Patch asks the API unless a rule answers.
func (f *Faults) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	if err := f.Check(object.PatchVerb, ref); err != nil {
		return err
	}
	return f.api.Patch(ctx, ref, p)
}
