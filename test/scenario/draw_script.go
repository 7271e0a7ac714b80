package scenario

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Act is what a user does in a drawn scenario.
type Act struct {
	Ref object.Ref
	// Policy of a delete; empty for a delete that names none.
	Policy metav1.DeletionPropagation
	// Drop is a finalizer to remove; the act is a delete when it is empty.
	Drop string
}

// Policies are all that a delete can ask for, and to ask for nothing.
var Policies = []metav1.DeletionPropagation{
	metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan, "",
}

// DrawDeletes draws deletes of one to three objects of the world.
func DrawDeletes(t *rapid.T, w World, policies []metav1.DeletionPropagation) []Act {
	var acts []Act
	for range rapid.IntRange(1, 3).Draw(t, "deletes") {
		acts = append(acts, drawDelete(t, w, policies))
	}
	return acts
}

func drawDelete(t *rapid.T, w World, policies []metav1.DeletionPropagation) Act {
	return Act{
		Ref:    rapid.SampledFrom(w.Objects).Draw(t, "target").Ref,
		Policy: rapid.SampledFrom(policies).Draw(t, "policy"),
	}
}

// DrawMeddling draws what a user may do while a deletion is under way: delete
// again with another policy, delete something else, or remove a finalizer.
func DrawMeddling(t *rapid.T, w World, before []Act) Act {
	a := drawDelete(t, w, Policies)
	if rapid.Bool().Draw(t, "again") {
		a.Ref = rapid.SampledFrom(before).Draw(t, "again").Ref
	}
	if rapid.Bool().Draw(t, "drop") {
		a.Drop = rapid.SampledFrom([]string{Foreign, object.Orphan, object.Foreground}).Draw(t, "finalizer")
	}
	return a
}

// Apply carries the act out and returns it as a directive. What the server
// answers is of no concern: users try things that fail.
func (a Act) Apply(ctx context.Context, s *apisim.Server) string {
	target := a.Ref.APIVersion + " " + a.Ref.Kind + " " + strings.TrimPrefix(a.Ref.Namespace+"/"+a.Ref.Name, "/")
	if a.Drop == "" {
		var o metav1.DeleteOptions
		directive := "delete " + target
		if a.Policy != "" {
			o.PropagationPolicy = &a.Policy
			directive += " policy=" + string(a.Policy)
		}
		_ = s.Delete(ctx, a.Ref, o)
		return directive
	}
	o, err := s.Get(ctx, a.Ref)
	if err != nil {
		return "get " + target
	}
	left := slices.DeleteFunc(slices.Clone(o.Finalizers()), func(f string) bool { return f == a.Drop })
	_ = s.Patch(ctx, a.Ref, object.Patch{Type: object.Merge, Finalizers: &left})
	return fmt.Sprintf("patch merge %s fin=[%s]", target, strings.Join(left, ","))
}

// Story is a scenario file without answers: a world, and directives in order.
// With -rewrite the answers are filled in.
func Story(w World, directives []string) string {
	var b strings.Builder
	b.WriteString("cluster\n" + w.String() + "----\n")
	for _, d := range directives {
		b.WriteString("\n" + d + "\n----\n")
	}
	return b.String()
}

// CheckUntil checks a property as rapid.Check does, and again with other draws until
// met says that the case it is about was among them. A rare case is not met in each
// hundred draws; one that is not met in a thousand is not tested, which is a failure.
func CheckUntil(t *testing.T, met func() bool, property func(*rapid.T)) {
	t.Helper()
	seed := flag.Lookup("rapid.seed").Value
	given := seed.String()
	defer func() {
		if err := seed.Set(given); err != nil {
			t.Error(err)
		}
	}()
	for round := range uint64(10) {
		// With a seed given, every round would draw the same.
		if first, err := strconv.ParseUint(given, 0, 64); err != nil {
			t.Fatal(err)
		} else if first != 0 {
			if err := seed.Set(strconv.FormatUint(first+round, 10)); err != nil {
				t.Fatal(err)
			}
		}
		rapid.Check(t, property)
		if met() {
			return
		}
	}
	t.Error("what this property is about was never drawn: it says nothing")
}
