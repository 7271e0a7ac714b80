package report_test

import (
	"strings"
	"testing"
	"unicode"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestCommandLine: each action has its command, and no name of a cluster gets out of its
// word.
func TestCommandLine(t *testing.T) {
	node := object.Ref{APIVersion: "v1", Kind: "Node", Name: "n1"}
	web := object.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}
	hostile := object.Ref{APIVersion: "example.com/v1", Kind: "A b", Namespace: "$(c)", Name: "d;e"}
	for _, test := range []struct {
		act  report.Act
		want string
	}{
		{report.Act{Action: report.Explain, Target: web}, "gc explain deployment.apps web -n shop"},
		{report.Act{Action: report.Explain, Target: hostile}, "gc explain 'a b.example.com' 'd;e' -n '$(c)'"},
		{report.Act{Action: report.Explain, Target: object.ClusterRole.Ref("", "-n")}, "gc explain clusterrole.rbac.authorization.k8s.io/-n"},
		{report.Act{Action: report.Describe, Target: node}, "describe node n1"},
		{report.Act{Action: report.Edit, Target: web}, "edit deployment.apps web -n shop"},
		{report.Act{Action: report.ShowWriters, Target: web}, "get deployment.apps web -n shop -o jsonpath='{.metadata.managedFields}'"},
		{report.Act{Action: report.ShowConditions, Target: node}, "get node n1 -o jsonpath='{.status.conditions}'"},
		{report.Act{Action: report.ShowNode, Target: web}, "get deployment.apps web -n shop -o wide"},
		{report.Act{Action: report.ShowLogs, Target: web}, "logs deploy/web -n shop"},
		{report.Act{Action: report.ShowLogs, Target: hostile}, "logs 'a b.example.com/d;e' -n '$(c)'"},
		{report.Act{Action: report.ShowRights, Target: web, User: "a b"}, "auth can-i --list -n shop --as='a b'"},
		{report.Act{Action: report.ShowBackends, Target: hostile}, "get service,endpointslices,pods -n '$(c)'"},
		{report.Act{Action: report.ShowDefinitions}, "get crd"},
		{report.Act{Action: report.ShowKinds, Kinds: "pod,a b"}, "get 'pod,a b' -A -o json"},
		{report.Act{Action: report.AwaitEnd, Target: web, Minutes: 5}, "wait --for=delete deploy/web -n shop --timeout=5m"},
		{report.Act{Action: report.ScaleUp, Target: web}, "scale deploy/web -n shop --replicas=1"},
		{report.Act{Action: report.RestartControllers}, "delete pod -n kube-system -l component=kube-controller-manager"},
		{report.Act{Action: report.Delete, Target: node}, "delete node n1"},
		{report.Act{Action: report.DeleteAgain, Target: node, Policy: "Orphan"}, "delete node n1 --cascade=orphan"},
		{report.Act{Action: report.DeleteAgain, Target: node, Policy: "Background", NoWait: true}, "delete node n1 --cascade=background --wait=false"},
		{report.Act{Action: report.ForceDelete, Target: web}, "delete deployment.apps web -n shop --grace-period=0 --force"},
		{report.Act{Action: report.Unregister, Target: hostile}, "delete 'a b' 'd;e'"},
		{report.Act{Action: report.StopConverting, Target: hostile}, `patch crd 'd;e' --type=merge -p '{"spec":{"conversion":{"strategy":"None","webhook":null}}}'`},
		{report.Act{Action: report.TakeOff, Target: web, Finalizer: "a/b c"}, "gc remove-finalizer deploy/web -n shop 'a/b c'"},
		{report.Act{Action: report.TakeOff, Target: node, Finalizer: "a/b", Flags: "--x --y"}, "gc remove-finalizer node/n1 a/b --x --y"},
		{report.Act{Action: report.DropOwners, Target: node}, `patch node n1 --type=merge -p '{"metadata":{"ownerReferences":null}}'`},
		{report.Act{Action: report.SendPatch, Target: node, Patch: `[{"op":"it's"}]`}, `patch node n1 --type=json -p '[{"op":"it'\''s"}]'`},
		{report.Act{Action: report.BringBack, Target: hostile, Minutes: 5}, "gc undo --since=5m 'a b.example.com/d;e' -n '$(c)'"},
		{report.Act{Action: report.BringBack, Revision: 17}, "gc undo --since-revision=17 -A"},
		{report.Act{Action: report.BringBack, Minutes: 10}, "gc undo --since=10m -A"},
	} {
		got := test.act.CommandLine()
		if got != "kubectl "+test.want {
			t.Errorf("%s: %s, not kubectl %s", test.act.Action, got, test.want)
		}
		file, err := syntax.NewParser().Parse(strings.NewReader(got), "")
		if err != nil || len(file.Stmts) != 1 {
			t.Errorf("%s is not one command: %v", got, err)
		}
	}
}

// TestShellWord: whatever the text, a shell reads it as one word, which is the text.
func TestShellWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Of control characters the parser has its own idea.
		text := rapid.StringOf(rapid.RuneFrom([]rune("\t\n !$&*'\"\\"), unicode.PrintRanges...)).Draw(t, "text")
		var parsed []*syntax.Word
		for word, err := range syntax.NewParser().WordsSeq(strings.NewReader(report.ShellWord(text))) {
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, word)
		}
		words, err := expand.Fields(nil, parsed...)
		if err != nil {
			t.Fatal(err)
		}
		if len(words) != 1 || words[0] != text {
			t.Fatalf("%q is %q, read as %q", text, report.ShellWord(text), words)
		}
	})
	for text, want := range map[string]string{
		"": "''", "web-1": "web-1", "a=b": "a=b", "=ls": "'=ls'", "a!b": "'a!b'", "a'b": `'a'\''b'`, "ü": "'ü'", "^a^b": "'^a^b'",
	} {
		if got := report.ShellWord(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
