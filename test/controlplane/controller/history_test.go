package controller

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/history/kept"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// lost are the losses in a namespace that the program tells of, as text.
func lost(t *testing.T, namespace string, flags ...string) ([]string, *report.Lost) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, append([]string{"lost", "-n", namespace, "-o", "json", "--kubeconfig=" + plane.Kubeconfig}, flags...)...)
	text, err := command.Output()
	if err != nil {
		return nil, nil // it is not there yet
	}
	d := &report.Lost{}
	if err := json.Unmarshal(text, d); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var list []string
	for _, l := range d.Losses {
		list = append(list, fmt.Sprintf("%s/%s %s %s %s", l.Object.Kind, l.Object.Name, l.Object.UID, l.State, l.Code))
	}
	slices.Sort(list)
	return list, d
}

// TestHistory: what a controller has kept, and what is saved of a server, tells what the server
// does; what is deleted while no controller runs, too; and whole objects are there as they were.
func TestHistory(t *testing.T) {
	ns := space(t)
	dir := filepath.Join(t.TempDir(), "history")
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))), 0o600); err != nil {
		t.Fatal(err)
	}
	secret := func(name string) {
		post(t, "/api/v1/namespaces/"+ns+"/secrets", body{"metadata": body{"name": name}, "stringData": body{"password": "known to nobody"}})
	}
	for _, name := range []string{"first", "second", "third"} {
		configMap(t, ns, name)
	}
	secret("secret")

	p := start(t, "--history="+dir, "--history-key="+key)
	keep := []string{"--from=" + dir, "--history-key=" + key}
	until(t, "the history begins", func() bool { _, d := lost(t, ns, keep...); return d != nil })
	remove(t, path(ns, "configmaps", "first"), "Background")
	remove(t, path(ns, "secrets", "secret"), "Background")
	until(t, "the history tells of both", func() bool { list, _ := lost(t, ns, keep...); return len(list) == 2 })
	p.signal(syscall.SIGKILL)
	<-p.done
	remove(t, path(ns, "configmaps", "second"), "Background")
	p = start(t, "--history="+dir, "--history-key="+key)
	until(t, "the history tells of what went meanwhile", func() bool { list, _ := lost(t, ns, keep...); return len(list) == 3 })
	remove(t, path(ns, "configmaps", "third"), "Background")
	until(t, "the history tells of all", func() bool { list, _ := lost(t, ns, keep...); return len(list) == 4 })

	saved := filepath.Join(t.TempDir(), "saved.history")
	if text, err := exec.CommandContext(t.Context(), program, "snapshot", "--history", "--to", saved, "--kubeconfig="+plane.Kubeconfig).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	server, _ := lost(t, ns)
	for name, flags := range map[string][]string{"kept": keep, "saved": {"--from=" + saved}} {
		got, d := lost(t, ns, flags...)
		if !slices.Equal(got, server) {
			t.Errorf("%s: %v\nthe server: %v", name, got, server)
		}
		if d != nil && name == "kept" && !d.Complete {
			t.Errorf("%s: gaps %+v, limits %+v", name, d.Gaps, d.Limits)
		}
	}
	wholeObjects(t, dir, kept.Key(strings.Repeat("k", 32)), ns)
	wholeObjects(t, saved, nil, ns)
	for _, file := range []string{saved, dir} {
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
}

// wholeObjects sees that of each loss but the Secret the whole object is there.
func wholeObjects(t *testing.T, path string, key kept.Key, namespace string) {
	t.Helper()
	r, err := kept.Open(t.Context(), path, key)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	past, err := r.Past(t.Context(), history.Window{Namespaces: []string{namespace}})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range history.Trace(past).Losses {
		if l.Object.Namespace != namespace {
			continue
		}
		var got []string
		err := r.Bodies(t.Context(), history.Collection{
			APIVersion: l.Object.APIVersion, Kind: l.Object.Kind, Namespace: namespace, Name: l.Object.Name, Revision: l.Asked - 1,
		}, func(raw []byte) error { got = append(got, string(raw)); return nil })
		if l.Object.Is(object.Secret) {
			if err == nil || len(got) > 0 {
				t.Errorf("%s: a Secret that nobody has asked to keep: %v", path, got)
			}
			continue
		}
		if err != nil || len(got) != 1 || !strings.Contains(got[0], string(l.Object.UID)) {
			t.Errorf("%s: %s: %v, %v", path, l.Object.Ref, got, err)
		}
	}
}
