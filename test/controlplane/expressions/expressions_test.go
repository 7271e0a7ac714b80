// Package expressions compares the evaluation of expressions over partial knowledge with that of
// the API server over all of it.
package expressions

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apiserver/pkg/cel/environment"

	partial "github.com/kubectl-gc/kubectl-gc/internal/cel"
)

// TestExpressions makes random expressions, and evaluates each as the API server does, over several
// objects that agree in what a snapshot knows of them. A result that is said to be known has to be
// that of all of them.
func TestExpressions(t *testing.T) {
	count := 20_000
	if os.Getenv("KUBECTL_GC_TEST") == "all" {
		count = 200_000
	}
	env := serverEnvironment(t)
	known, decided, compiled := snapshotKnows(), 0, 0
	for seed := range count {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		text := expression(random, 4)
		tree, issues := env.Compile(text)
		if issues.Err() != nil {
			continue // the API server does not store it
		}
		compiled++
		program, err := env.Program(tree)
		if err != nil {
			t.Fatal(err)
		}
		got := partial.Parse(text).Evaluate(known)
		if got.Kind != partial.Unknown {
			decided++
		}
		for n, object := range worlds() {
			out, _, err := program.Eval(map[string]any{"object": nil, "oldObject": object, "request": map[string]any{"operation": "DELETE", "name": "db", "userInfo": map[string]any{"username": "u" + strconv.Itoa(n)}}})
			if said := asServer(out, err); got.Kind != partial.Unknown && said != asPartial(got) {
				t.Errorf("%s: %s, but in world %d the API server says %s (%v)", text, asPartial(got), n, said, err)
				break
			}
		}
	}
	t.Logf("%d expressions, of which %d compile and %d are decided", count, compiled, decided)
	if decided*10 < compiled {
		t.Errorf("only %d of %d are decided", decided, compiled)
	}
}

func serverEnvironment(t *testing.T) *cel.Env {
	t.Helper()
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: environment.DefaultCompatibilityVersion(),
		EnvOptions: []cel.EnvOption{
			cel.Variable("object", cel.DynType), cel.Variable("oldObject", cel.DynType), cel.Variable("request", cel.DynType),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return set.StoredExpressionsEnv()
}

// snapshotKnows is what a snapshot knows of each of worlds.
func snapshotKnows() map[string]partial.Value {
	open := func(fields map[string]partial.Value) partial.Value {
		return partial.Value{Kind: partial.Map, Open: true, Fields: fields}
	}
	return map[string]partial.Value{
		"object": {Kind: partial.Null},
		"oldObject": open(map[string]partial.Value{"kind": partial.NewString("ConfigMap"), "metadata": open(map[string]partial.Value{
			"name": partial.NewString("db"), "namespace": partial.NewOptionalField(""), "labels": partial.NewStringMap(map[string]string{"tier": "db", "a": ""}), "finalizers": {},
		})}),
		"request": open(map[string]partial.Value{"operation": partial.NewString("DELETE"), "name": partial.NewString("db")}),
	}
}

func worlds() []any {
	var list []any
	for _, w := range []struct {
		annotations map[string]any
		finalizers  []any
		data        any
	}{
		{nil, []any{"a"}, nil},
		{map[string]any{"x": "y"}, []any{"x", "db"}, map[string]any{"x": "db"}},
		{map[string]any{"tier": "db", "x": ""}, []any{"tier"}, "db"},
		{map[string]any{}, []any{"", "y", "z"}, map[string]any{"tier": []any{"x", int64(1)}, "a": true}},
	} {
		meta := map[string]any{"name": "db", "labels": map[string]any{"tier": "db", "a": ""}, "finalizers": w.finalizers}
		if w.annotations != nil {
			meta["annotations"] = w.annotations
		}
		object := map[string]any{"kind": "ConfigMap", "metadata": meta}
		if w.data != nil {
			object["data"] = w.data
		}
		list = append(list, object)
	}
	return list
}

func asServer(out any, err error) string {
	switch {
	case err != nil:
		return "an error"
	case out == types.True:
		return "true"
	case out == types.False:
		return "false"
	}
	return "another value"
}

func asPartial(v partial.Value) string {
	switch v.Kind {
	case partial.Failed:
		return "an error"
	case partial.Bool:
		return strconv.FormatBool(v.True)
	default:
		return "another value"
	}
}

// expression is a random expression that is most often a bool.
func expression(r *rand.Rand, depth int) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	if depth == 0 {
		return pick("true", "false", "has(oldObject.metadata.annotations)", `oldObject.metadata.name == "db"`, "object == null", "has(object.metadata)",
			"oldObject.data.a", `"x" in oldObject.metadata.annotations`, `request.userInfo.username == "u1"`, `"tier" in oldObject.metadata.labels`)
	}
	sub := func() string { return expression(r, depth-1) }
	switch r.IntN(16) {
	case 0, 1:
		return "(" + sub() + " && " + sub() + ")"
	case 2, 3:
		return "(" + sub() + " || " + sub() + ")"
	case 4:
		return "!" + sub()
	case 5:
		return "(" + sub() + " ? " + sub() + " : " + sub() + ")"
	case 6, 7:
		return fmt.Sprintf("(%s %s %s)", value(r, depth-1), pick("==", "!=", "==", "<", ">="), value(r, depth-1))
	case 8, 9:
		return fmt.Sprintf("(%s in %s)", value(r, depth-1), value(r, depth-1))
	case 10:
		return "has(" + place(r) + "." + pick("tier", "x", "name", "namespace", "labels", "metadata", "finalizers") + ")"
	case 11:
		return fmt.Sprintf("%s.%s(x%d, %s)", value(r, depth-1), pick("exists", "all"), depth, strings.ReplaceAll(sub(), `"db"`, fmt.Sprintf("x%d", depth)))
	case 12:
		return fmt.Sprintf("%s.%s(%s)", value(r, depth-1), pick("startsWith", "endsWith", "contains", "matches"), pick(`"d"`, `"b"`, `""`, `"^t.*r$"`, value(r, depth-1)))
	case 13:
		return place(r) + ".?" + pick("tier", "x", "labels", "namespace") + pick(".hasValue()", `.orValue("x") == "x"`, `.?tier.orValue("") == "db"`, `[?"tier"].hasValue()`)
	case 14:
		return fmt.Sprintf("(%s %s %s)", value(r, 0)+pick(".size()", ""), pick("==", "<", ">="), pick("1", "2", "size("+value(r, depth-1)+")"))
	default:
		return expression(r, 0)
	}
}

func place(r *rand.Rand) string {
	return []string{"object", "oldObject", "oldObject.metadata", "oldObject.metadata.labels", "oldObject.metadata.annotations", "oldObject.data", "request", "object.metadata", "oldObject.metadata.namespace"}[r.IntN(9)]
}

// value is a random expression of any type.
func value(r *rand.Rand, depth int) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	if depth <= 0 {
		return pick(`"db"`, `"tier"`, `'x'`, "1", "0", "null", "true", `["db", "x"]`, "[1, 2]", "[]", `{"a": "b"}`, place(r), "oldObject.metadata.name", "oldObject.metadata.finalizers", "oldObject.kind", `r"a\d"`, "request.operation")
	}
	switch r.IntN(7) {
	case 0:
		return place(r) + "." + pick("tier", "x", "name", "labels", "namespace", "finalizers")
	case 1:
		return place(r) + `["` + pick("tier", "x", "name", "labels") + `"]`
	case 2:
		return "(" + expression(r, depth-1) + " ? " + value(r, depth-1) + " : " + value(r, depth-1) + ")"
	case 3:
		return "[" + value(r, depth-1) + ", " + value(r, depth-1) + "]"
	case 4:
		return "(" + value(r, depth-1) + " + " + value(r, depth-1) + ")"
	case 5:
		return value(r, depth-1) + pick("[0]", "[1]", `.lowerAscii()`, `["x"]`, ".size()")
	default:
		return value(r, 0)
	}
}
