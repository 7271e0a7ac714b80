package scenario

import (
	"context"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// directive makes a directive from its line.
func directive(t *testing.T, line string) *datadriven.TestData {
	t.Helper()
	cmd, args, err := datadriven.ParseLine(line)
	if err != nil {
		t.Fatal(err)
	}
	return &datadriven.TestData{Cmd: cmd, CmdArgs: args}
}

// TestMachineRefuses holds that a directive that says what it cannot mean is an
// error and never carried out in part.
func TestMachineRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"observe sort=yes":            `takes no argument "sort"`,
		"observe n=-1":                "n=-1 is not a number",
		"attempt n=two":               "n=two is not a number",
		"attempt work=nothing":        `no work "nothing"`,
		"decide":                      "no such attempt is held",
		"act id=b":                    "no such attempt is held",
		"settle":                      "no such attempt is held",
		"wake everybody":              `takes no argument "everybody"`,
		"collector rules=none":        `no rules "none"`,
		"collector absent=(nobody)":   `the uid "nobody"`,
		"watch kind=Pod":              `"Pod" is watched already`,
		"drain read":                  `takes no argument "read"`,
		"explore seed=x":              "seed=x is not a number",
		"graph all":                   `takes no argument "all"`,
		"recorded since=yesterday":    `takes no argument "since"`,
		"restart now":                 `takes no argument "now"`,
		"kubelet pod=p":               `takes no argument "pod"`,
		"lookup work=delete id=b c=d": `takes no argument "c"`,
	} {
		t.Run(line, func(t *testing.T) {
			m := &machine{env: New()}
			m.follow()
			d := directive(t, line)
			if _, err := m.directives()[d.Cmd](context.Background(), d); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q", err, want)
			}
		})
	}
}

// TestWire holds that what was never sent is not written down as sent.
func TestWire(t *testing.T) {
	e := New()
	w := &wire{api: e.API()}
	ref := func(apiVersion, kind, namespace string) object.Ref {
		return object.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: "a"}
	}
	for _, r := range []object.Ref{ref("v9", "Pod", "n"), ref("v1", "Pod", ""), ref("v1", "Pod", "n")} {
		if _, err := w.Get(context.Background(), r); err == nil {
			t.Errorf("%s was found in an empty world", r)
		}
	}
	if got := w.take(); len(got) != 1 || got[0].text != "GET v1 Pod n/a → 404" || got[0].write {
		t.Errorf("sent %v, want the GET of the one that maps", got)
	}
	if got := w.take(); len(got) != 0 {
		t.Errorf("sent %v twice", got)
	}
}
