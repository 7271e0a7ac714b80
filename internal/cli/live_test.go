package cli_test

import (
	"bytes"
	"context"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

// smallCluster serves the objects of small, and returns the flags to reach it.
func smallCluster(t *testing.T) []string {
	t.Helper()
	rs := &object.Resources{}
	rs.Add(object.Resource{Version: "v1", Name: "namespaces", Singular: "namespace", Kind: "Namespace", Verbs: object.AllVerbs})
	rs.Add(object.Resource{Version: "v1", Name: "configmaps", Singular: "configmap", Kind: "ConfigMap", Namespaced: true, Verbs: object.AllVerbs})
	server := httptest.NewServer(facade.New(small(), rs, facade.Documents(rs.All())))
	t.Cleanup(server.Close)
	nothing := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(nothing, []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", nothing)
	return []string{"--server=" + server.URL, "--cache-dir=" + t.TempDir()}
}

// TestCompletionInCluster: without a dump, words come from the cluster.
func TestCompletionInCluster(t *testing.T) {
	at := smallCluster(t)
	for typed, want := range map[string]string{
		"explain con":                               "configmaps",
		"explain -n sh":                             "shop",
		"explain -n shop configmaps l":              "leaf\nlost",
		"explain -n shop configmap/le":              "configmap/leaf",
		"explain -n shop configmaps leaf ":          "",
		"explain configmaps l":                      "",
		"stuck -n shop configmap/root configm":      "configmaps/",
		"remove-finalizer -n shop configmaps/held ": "example.com/keep",
		"remove-finalizer -n shop nonsense/x ":      "",
		"dry-run delete -n shop configmaps,nam":     "configmaps,namespaces",
		"explain -n shop configmaps/ro":             "configmaps/root",
	} {
		words := strings.Split(typed, " ")
		var out, errs bytes.Buffer
		code := cli.Main(t.Context(), append(append([]string{"kubectl_complete-gc", words[0]}, at...), words[1:]...),
			genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errs})
		offered, _, _ := strings.Cut(out.String(), ":")
		if code != 0 || strings.TrimSpace(offered) != want || errs.Len() > 0 {
			t.Errorf("%q: code %d, %q, %q; want %q", typed, code, out.String(), errs.String(), want)
		}
	}
}

// undecided is a terminal where the user types nothing.
type undecided struct{ asked func() }

func (undecided) AtTerminal() bool { return true }

func (u undecided) Read([]byte) (int, error) {
	u.asked()
	select {}
}

// TestInterruptedQuestion: an interrupt is not a confirmation.
func TestInterruptedQuestion(t *testing.T) {
	at := smallCluster(t)
	ctx, cancel := context.WithCancel(t.Context())
	var errs bytes.Buffer
	args := append([]string{"kubectl-gc", "delete", "configmap/leaf", "-n", "shop"}, at...)
	code := cli.Main(ctx, append(args, "--backup-dir="+t.TempDir()), genericiooptions.IOStreams{In: undecided{cancel}, Out: io.Discard, ErrOut: &errs})
	if code != 130 || !strings.HasSuffix(errs.String(), "\nerror: interrupted while waiting for your answer: nothing was written\n") {
		t.Errorf("code %d: %q", code, errs.String())
	}
}
