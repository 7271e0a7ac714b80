package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// person is a terminal with typed input.
type person struct{ io.Reader }

func (person) AtTerminal() bool { return true }

const planDigest = "sha256:aaaa"

func TestConfirm(t *testing.T) {
	pod := object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web-1"}
	secret := object.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "key"}
	settings := object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "settings"}
	database := object.Ref{APIVersion: "example.com/v1", Kind: "Database", Namespace: "shop", Name: "orders"}
	var kinds object.Resources
	kinds.Add(object.Resource{Group: "example.com", Version: "v1", Name: "databases", Kind: "Database", Custom: true})
	many := make([]object.Ref, 1001)
	for name, x := range map[string]struct {
		flags   []string
		typed   string // empty: no terminal
		deletes []object.Ref
		code    int // -1: goes on
		says    string
	}{
		"no terminal":             {deletes: []object.Ref{pod}, code: command.Refused, says: "--confirm=" + planDigest},
		"the digest":              {flags: []string{"--confirm=" + planDigest}, deletes: []object.Ref{pod, secret}, code: -1},
		"another digest":          {flags: []string{"--confirm=sha256:bbbb"}, deletes: []object.Ref{pod}, code: command.Refused, says: planDigest},
		"another one, and a yes":  {flags: []string{"--confirm=sha256:bbbb"}, typed: "y\n", deletes: []object.Ref{pod}, code: command.Refused, says: planDigest},
		"the name":                {typed: "prod\n", deletes: []object.Ref{pod}, code: -1, says: "Type the name of the context (prod) to delete pod/web-1: "},
		"a yes is not a name":     {typed: "y\n", deletes: []object.Ref{pod}, code: command.Refused, says: "the answer was not prod"},
		"no":                      {typed: "n\n", deletes: []object.Ref{pod}, code: command.Refused, says: "nothing was written"},
		"nothing":                 {typed: "\n", deletes: []object.Ref{pod}, code: command.Refused, says: "nothing was written"},
		"the end":                 {typed: "\x04", deletes: []object.Ref{pod}, code: command.Refused, says: "nothing was written: there was no answer"},
		"yes to data":             {typed: "y\n", deletes: []object.Ref{pod, secret}, code: command.Refused, says: "Type the name of the context (prod) to delete up to 2 objects, 1 of them a Secret: "},
		"the worst loss first":    {typed: "y\n", deletes: []object.Ref{settings, secret, database}, code: command.Refused, says: "1 of them a Secret, 1 Database and 1 ConfigMap: "},
		"the name to data":        {typed: "prod\n", deletes: []object.Ref{pod, secret}, code: -1},
		"many allowed, yes":       {flags: []string{"--max-deletes=2000"}, typed: "y\n", deletes: many, code: command.Refused},
		"many allowed, name":      {flags: []string{"--max-deletes=2000"}, typed: "prod\n", deletes: many, code: -1},
		"only shown":              {flags: []string{"--dry-run"}, typed: "y\n", deletes: many, code: command.OK, says: "gc delete 'a b' --namespace=shop --confirm=" + planDigest},
		"only shown, with digest": {flags: []string{"--dry-run=client", "--confirm=" + planDigest}, deletes: []object.Ref{pod}, code: command.OK},
	} {
		t.Run(name, func(t *testing.T) {
			var k writing
			var out, errOut bytes.Buffer
			streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
			if x.typed != "" {
				streams.In = person{strings.NewReader(strings.TrimSuffix(x.typed, "\x04"))}
			}
			code, message := -1, ""
			c := &cobra.Command{Use: "gc"}
			c.AddCommand(&cobra.Command{Use: "delete", RunE: func(c *cobra.Command, args []string) error {
				if err := k.Check(c); err != nil {
					return err
				}
				p := &report.Plan{Digest: planDigest}
				for _, r := range x.deletes {
					p.Effects = append(p.Effects, report.Effect{Object: r, Consequence: &report.Consequence{Change: report.ChangeDeleted}})
				}
				q := question("delete", kube.Identity{Context: "prod", Server: "https://x", User: "ann"}, p, &kinds)
				if err := k.Ask(c, args, streams, q); err != nil {
					message, code = err.Error(), command.ExitCode(c.Context(), err)
				}
				return nil
			}})
			sub := c.Commands()[0]
			k.AddFlags(sub.Flags())
			sub.Flags().StringP("namespace", "n", "", "")
			c.SetArgs(append([]string{"delete", "a b", "-n", "shop"}, x.flags...))
			if err := c.ExecuteContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			if code != x.code {
				t.Errorf("code %d, want %d: %s", code, x.code, message)
			}
			if all := message + errOut.String(); !strings.Contains(all, x.says) {
				t.Errorf("said %q, want %q", all, x.says)
			}
			if out.Len() > 0 {
				t.Errorf("printed on stdout: %s", out.String())
			}
		})
	}
}

// TestConfirmGivesUp interrupts an unanswered question.
func TestConfirmGivesUp(t *testing.T) {
	silent, _ := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := askPerson(ctx, genericiooptions.IOStreams{In: silent, ErrOut: io.Discard}, report.Confirmation{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
}

// TestConfirmRefusesWords refuses meaningless flags.
func TestConfirmRefusesWords(t *testing.T) {
	for _, k := range []writing{
		{maxDeletes: -1}, {unlock: []string{"Pod"}}, {unlock: []string{"leak"}},
	} {
		if err := k.Check(&cobra.Command{Use: "gc"}); command.ExitCode(t.Context(), err) != command.WrongUsage {
			t.Errorf("%+v: got %v, want a usage error", k, err)
		}
	}
}

// TestUndoCommand: the command that undoes a run is for the same cluster and user, and repeats what does not
// split at commas.
func TestUndoCommand(t *testing.T) {
	var groups, unlock []string
	c := &cobra.Command{Use: "delete"}
	f := c.Flags()
	for _, name := range []string{"context", "token", "namespace"} {
		f.String(name, "", "")
	}
	f.Bool("insecure-skip-tls-verify", false, "")
	f.StringArrayVar(&groups, "as-group", nil, "")
	f.StringSliceVar(&unlock, "unlock", nil, "")
	if err := f.Parse(strings.Fields("--context=prod --as-group=a,b --as-group=c --token=x --insecure-skip-tls-verify --unlock=crd,pvc --namespace=shop")); err != nil {
		t.Fatal(err)
	}
	if got, want := undoCommand(c, "20260302T090000Z-aaaa"), "kubectl gc undo 20260302T090000Z-aaaa --as-group=a,b --as-group=c --context=prod --insecure-skip-tls-verify --token=…"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got, want := strings.Join(command.FlagWords(f.Lookup("unlock")), " "), "--unlock=crd,pvc"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestCommandLine checks that a name that looks like a flag, which a ClusterRole may have, is printed as an argument.
func TestCommandLine(t *testing.T) {
	for given, want := range map[string]string{
		"web":   "gc delete clusterrole web --namespace=shop --confirm=sha256:1",
		"-n":    "gc delete --namespace=shop --confirm=sha256:1 -- clusterrole -n",
		"a b;c": "gc delete clusterrole 'a b;c' --namespace=shop --confirm=sha256:1",
	} {
		var got string
		root, c := &cobra.Command{Use: "gc"}, &cobra.Command{Use: "delete"}
		c.Run = func(c *cobra.Command, args []string) { got = commandLine(c, args, "--confirm=sha256:1") }
		c.Flags().String("namespace", "", "")
		root.AddCommand(c)
		root.SetArgs([]string{"delete", "--namespace=shop", "--", "clusterrole", given})
		if err := root.Execute(); err != nil || got != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}
