package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestConnection adds the flags of a run to commands of different programs, once.
func TestConnection(t *testing.T) {
	c := Connection{"--context=prod eu", "--as=ann", "--as-group=a", "--insecure-skip-tls-verify", "--user=x"}
	c[0] = "--context=" + ShellWord("prod eu")
	const kubectl = " --context='prod eu' --as=ann --as-group=a --insecure-skip-tls-verify --user=x"
	for command, flags := range map[string]string{
		"kubectl gc stuck":                         kubectl,
		"kubectl patch cm x --type=json -p '[]'":   kubectl,
		"flux suspend kustomization app -n x":      kubectl,
		"helm uninstall web -n x":                  " --kube-context='prod eu' --kube-as-user=ann --kube-as-group=a --kube-insecure-skip-tls-verify",
		"HELM_DRIVER=configmap helm uninstall web": " --kube-context='prod eu' --kube-as-user=ann --kube-as-group=a --kube-insecure-skip-tls-verify",
		"argocd app delete x/web --cascade=false":  "",
		"": "",
	} {
		got := c.Command(command)
		if got != command+flags || c.Command(got) != got {
			t.Errorf("%q, and again %q", got, c.Command(got))
		}
	}
	if got := c[1:2].Text("see `kubectl gc check`, the `log` or `helm x"); got != "see `kubectl gc check --as=ann`, the `log` or `helm x" {
		t.Error(got)
	}
}

// TestConnect adds the flags to all commands of a document: every field of the types that hold one.
func TestConnect(t *testing.T) {
	then := Remedy{Command: "kubectl b"}
	u := &Undo{Later: &LaterUndo{Then: Remedy{Command: "kubectl a"}}, Older: &OlderLosses{Then: &then}, Steps: []UndoStep{{Notes: []UndoNote{{Release: &Remedy{Command: "kubectl c"}}}}}}
	p := &Plan{Remedies: []Remedy{{Command: "kubectl d"}}, Seed: Seed{Uninstall: &Uninstall{Command: "helm e"}}}
	d := &Diagnosis{Findings: []Finding{{Remedy: "`kubectl f`", Remedies: []Remedy{{Command: "kubectl g"}}}, {Remedy: "kubectl h", Remedies: []Remedy{{Command: "kubectl h"}}}}}
	c := Connection{"--context=x"}
	r := &Run{Message: "nothing runs: `kubectl i` does it"}
	for _, document := range []any{u, p, d, r} {
		c.Connect(document)
	}
	got := []string{
		u.Later.Then.Command, u.Older.Then.Command, u.Steps[0].Notes[0].Release.Command, p.Remedies[0].Command, p.Seed.Uninstall.Command,
		d.Findings[0].Remedy, d.Findings[0].Remedies[0].Command, d.Findings[1].Remedy, r.Message,
	}
	want := []string{
		"kubectl a --context=x", "kubectl b --context=x", "kubectl c --context=x", "kubectl d --context=x", "helm e --kube-context=x",
		"`kubectl f --context=x`", "kubectl g --context=x", "kubectl h --context=x", "nothing runs: `kubectl i --context=x` does it",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
