package cel_test

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/cel"
)

// names are the inputs of the expressions in TestEvaluate: a DELETE of an object that has a
// finalizer. Its annotations and spec are unknown.
func names() map[string]cel.Value {
	meta := cel.Value{Kind: cel.Map, Open: true, Fields: map[string]cel.Value{
		"name": cel.NewString("db"), "namespace": cel.NewOptionalField(""), "labels": cel.NewStringMap(map[string]string{"tier": "db", "a.b/c": ""}), "finalizers": {},
	}}
	return map[string]cel.Value{
		"object":    {Kind: cel.Null},
		"oldObject": {Kind: cel.Map, Open: true, Fields: map[string]cel.Value{"kind": cel.NewString("ConfigMap"), "metadata": meta}},
		"plain":     {Kind: cel.Map, Fields: map[string]cel.Value{"labels": cel.NewStringMap(nil)}},
	}
}

func TestEvaluate(t *testing.T) {
	for result, expressions := range map[string][]string{
		"true": {
			`true`, `!false`, `!!true`, `!!"tier" in oldObject.metadata.labels`, `oldObject.metadata.name == "db"`, `oldObject.metadata['name'] == 'db'`, `"tier" in oldObject.metadata.labels`,
			`has(oldObject.metadata.finalizers)`, `!has(oldObject.metadata.namespace)`, `object == null`, `oldObject != null`,
			`oldObject.metadata.name in ["a", "db"]`, `oldObject.metadata.name.startsWith("d") && oldObject.metadata.name.endsWith("b")`,
			`oldObject.metadata.name.matches("^d.$")`, `size(oldObject.metadata.labels) == 2`, `oldObject.metadata.labels.exists(k, k == "tier")`,
			`oldObject.metadata.labels.all(k, k.size() > 3)`, `oldObject.metadata.?labels.?tier.orValue("") == "db"`, `oldObject.metadata.labels[?"none"].orValue("x") == "x"`,
			`oldObject.metadata.?namespace.hasValue() == false`, `oldObject.spec.x == 1 || true`, `true || object.spec.x == 1`, `object.spec.x == 1 || true`,
			`(oldObject.metadata.name == "db" ? 1 : 2) < 2`, `"d" + "b" == oldObject.metadata.name`, `r"\d" == "\\d"`, `'''a"b''' == "a\x22b"`,
			`-1 < 0 && 0x10 == 16`, `[1, 2].exists(x, [x].exists(x, x == 2))`, `{"a": 1}.a == 1`, `"DB".lowerAscii() == oldObject.metadata.name`,
			`true // a comment`, `1 == 1 && // more` + "\n" + `2 == 2`, `[] == []`, `[1, "a"] == [1, "a"]`, `"a" != 1`, `has(oldObject.kind)`,
			`oldObject.metadata.labels["a.b/c"] == ""`, `false ? object.x : true`, `oldObject.metadata.finalizers.size() > 0 || "\u0041" == "A"`,
		},
		"false": {
			`false`, `!true`, `oldObject.metadata.name != "db"`, `has(oldObject.metadata.namespace)`, `oldObject.spec.x == 1 && false`,
			`false && object.spec.x == 1`, `object.spec.x == 1 && false`, `"none" in oldObject.metadata.labels`, `[1].exists(x, x > 1)`, `"1" == 1`,
			`oldObject == null`, `has(object.metadata)`, `has(plain.labels)`, `plain.?labels.hasValue()`, `[1, 2] == [2, 1]`, `"é".size() == 2`, `"b" < "a"`,
		},
		"failed": {
			`object.metadata.name == "db"`, `oldObject.metadata.namespace == ""`, `oldObject.metadata.labels.none == "x"`,
			`oldObject.metadata.labels["none"] == "x"`, `object.x || false`, `false || object.x`, `[1][1] == 1`, `plain.labels.x == "y"`,
			`!"text"`, `object.x ? true : true`, `[object.x].size() == 1`, `plain.labels.all(x, true)`, `"x" in object`, `"a".matches("(")`,
		},
		"unknown": {
			`object.x in []`, `[oldObject.x] == []`, `{"a": oldObject.x}.a == 1`, `[oldObject.x].size() == 1`,
			`oldObject.spec.x == 1`, `oldObject.metadata.annotations["x"] == "y"`, `has(oldObject.metadata.annotations)`, `oldObject.spec.x == 1 || false`,
			`oldObject.spec.x == 1 || object.x`, `oldObject.metadata.finalizers.exists(x, x == "a")`, `request.userInfo.username == "x"`,
			`authorizer.group("").resource("pods").check("delete").allowed()`, `1 + 1 == 2`, `1.5 > 1.0`, `b"a" == b"a"`, `10u > 1u`, `duration("1s") > duration("0s")`,
			`{"a": 1} == {"a": 1}`, `Object{spec: 1}`, `(`, `a b`, `"`, `'a`, `"\z"`, `oldObject.spec.x in [1]`, `true in [oldObject.spec.x]`, `x ? true : true`,
			`[1, 2].map(x, x)`, `[1].exists_one(x, x == 1)`, `oldObject.metadata.?annotations.?x.orValue("")`, `"a`, ``, `1 ==`, `f(`, `a.`, `a[`, "a.`b`", `oldObject.spec`,
			`"a,b".split(",").size() == 2`, `- oldObject.x`, `true ? oldObject.x : true`, `optional.of(1)`, `0777 == 511`, `1_0 == 10`,
			strings.Repeat("(", 1000) + "true" + strings.Repeat(")", 1000), strings.Repeat("!", 1001) + "true", strings.Repeat(" ", 17<<10) + "true",
			"[1,2,3,4,5,6,7,8,9].all(a, " + strings.Repeat("[1,2,3,4,5,6,7,8,9].all(a, ", 8) + "true" + strings.Repeat(")", 9),
		},
	} {
		for _, e := range expressions {
			if got := said(cel.Parse(e).Evaluate(names())); got != result {
				t.Errorf("%.80s: %s, want %s", e, got, result)
			}
		}
	}
}

// TestLongStrings: a string that doubles with each variable becomes unknown.
func TestLongStrings(t *testing.T) {
	known := map[string]cel.Value{"s": cel.NewString("0123456789")}
	for range 64 {
		known["s"] = cel.Parse("s + s").Evaluate(known)
	}
	if known["s"].Kind != cel.Unknown {
		t.Errorf("it has %d bytes", len(known["s"].Text))
	}
}

func said(v cel.Value) string {
	switch v.Kind {
	case cel.Bool:
		if v.True {
			return "true"
		}
		return "false"
	case cel.Failed:
		return "failed"
	default:
		return "unknown"
	}
}

func FuzzEvaluate(f *testing.F) {
	for _, e := range []string{`has(a.b) && c["d"] in [1, 'e'] ? !f : g.?h[?"i"].orValue("j") == k`, `{"a": r"b"}.all(c, c.size() < 0x1F)`, "'''\\u0041'''"} {
		f.Add(e)
	}
	f.Fuzz(func(_ *testing.T, e string) { cel.Parse(e).Evaluate(names()) })
}
