package object

import "testing"

// The answers are those of a v1.37.2 control plane to its garbage collector.
func TestAnswerTo(t *testing.T) {
	for name, want := range map[string]Answer{
		"web": OfThatName, "a?b": OfThatName, "a b": OfThatName, "Web": OfThatName,
		"shop/web": NothingThere, "a/b": NothingThere, "a/b/c": NothingThere,
		".": SomethingElse, "..": SomethingElse, "a%b": SomethingElse, "a%2fb": SomethingElse, "../../secrets": SomethingElse,
		"a/": SomethingElse, "/a": SomethingElse, "a//b": SomethingElse, "a/./b": SomethingElse, "a/b%c": SomethingElse,
		"a/status": SomethingElse, "a/proxy/b": SomethingElse,
	} {
		if got := AnswerTo(Resource{Version: "v1", Kind: "ConfigMap", Name: "configmaps", Namespaced: true}, name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
	if got := AnswerTo(Namespace.Resource(), "shop/pods"); got != SomethingElse {
		t.Errorf("the pods of a namespace: %d", got)
	}
}
