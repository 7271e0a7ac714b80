package differential

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot/etcd"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/extent"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

var etcdWorlds = flag.Int("snapshots", extent.Of(5, 100), "the number of worlds of which an etcd snapshot is compared with the cluster")

// TestEtcdSnapshots: of drawn worlds an etcd snapshot gives the answers that the cluster gave
// when it was taken, byte for byte but for where they come from. The last snapshot gives
// those of the first world, too, at the revision of that time.
func TestEtcdSnapshots(t *testing.T) {
	a := openArchive(t)
	type answer struct {
		question []string
		text     string
	}
	var first []answer
	then := int64(0)
	answered := 0
	for i := range *etcdWorlds {
		s := draw(*seed + uint64(i))
		a.store(t, s, i)
		a.take(t)
		for _, q := range questions(t, s, i) {
			text := a.agree(t, q)
			if i == 0 {
				first, then = append(first, answer{q, text}), a.newest
			}
			answered++
		}
	}
	for _, old := range first {
		text := a.ask(t, old.question, "--from="+a.file, "--revision="+strconv.FormatInt(then, 10))
		if text != old.text {
			t.Errorf("%q at revision %d:\n%s", old.question, then, cmp.Diff(old.text, text))
		}
	}
	t.Logf("%d worlds, %d answers", *etcdWorlds, answered)
}

// TestEtcdEncrypted: what is encrypted in storage is not known, and that is all: the answers
// are those that somebody gets from the cluster who leaves these kinds out.
func TestEtcdEncrypted(t *testing.T) {
	a := openArchive(t, cluster.Encrypted)
	a.but = whyUnknown
	for _, kind := range [][]string{{"secret", "generic"}, {"configmap"}} {
		if _, err := a.Kubectl(t.Context(), nil, append(append([]string{"create"}, kind...), "one", "--from-literal=a=b")...); err != nil {
			t.Fatal(err)
		}
	}
	sealed := []string{"Secret", "ConfigMap"}
	answered := 0
	for i := range *etcdWorlds {
		s := draw(*seed + uint64(i))
		a.store(t, s, i)
		// What was put into storage as it is gets encrypted when it is written again.
		all, err := a.Kubectl(t.Context(), nil, "get", "secrets,configmaps", "-A", "-o", "json")
		if err == nil {
			_, err = a.Kubectl(t.Context(), all, "replace", "-f", "-")
		}
		if err != nil {
			t.Fatal(err)
		}
		a.take(t)
		s.phases[0] = slices.DeleteFunc(s.phases[0], func(act scenario.Act) bool { return slices.Contains(sealed, act.Ref.Kind) })
		for _, q := range questions(t, s, i) {
			if slices.Contains(q, "json") { // the words for why something is not known are others
				a.agree(t, q, "--exclude=secrets", "--exclude=configmaps")
				answered++
			}
		}
	}
	t.Logf("%d worlds, %d answers", *etcdWorlds, answered)
}

// archive is a cluster without controllers, and the last snapshot of its storage.
type archive struct {
	*live
	program string
	// file is the last snapshot, and newest its revision.
	file string
	// but is what answers may differ in, besides what is beside them.
	but    *regexp.Regexp
	newest int64
}

func openArchive(t *testing.T, options ...cluster.Option) *archive {
	t.Helper()
	l, err := open(t.Context(), *etcdWorlds, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Stop(); err != nil {
			t.Error(err)
		}
	})
	program, err := cluster.Program()
	if err != nil {
		t.Fatal(err)
	}
	return &archive{live: l, program: program, file: filepath.Join(t.TempDir(), "snapshot.db")}
}

// store puts a world into storage.
func (a *archive) store(t *testing.T, s story, slot int) {
	t.Helper()
	var objects []*object.Object
	for _, o := range s.objects {
		objects = append(objects, placeOf(slot).put(o))
	}
	if err := a.put(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
}

// take takes a snapshot.
func (a *archive) take(t *testing.T) {
	t.Helper()
	if err := a.Snapshot(a.file); err != nil {
		t.Fatal(err)
	}
	f, err := etcd.Open(a.file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a.newest = f.Newest
}

// questions are what is asked of a world: what its deletes do, in data and in words, who the
// targets belong to, and what is garbage.
func questions(t *testing.T, s story, slot int) [][]string {
	t.Helper()
	list := [][]string{{"collect", "-o", "json"}, {"graph", "-A", "-o", "json"}}
	for _, act := range s.phases[0] {
		ref := placeOf(slot).ref(act.Ref)
		k, err := kindOf(ref)
		if err != nil {
			t.Fatal(err)
		}
		target := []string{k.plural + "." + object.GroupOf(k.apiVersion) + "/" + ref.Name}
		if k.namespaced {
			target = append(target, "-n", ref.Namespace)
		}
		remove := append([]string{"dry-run", "delete"}, target...)
		if act.Policy != "" {
			remove = append(remove, "--cascade="+string(act.Policy))
		}
		list = append(list, remove, append(slices.Clone(remove), "-o", "json"),
			append([]string{"explain", "-o", "json"}, target...))
	}
	return list
}

// agree asks the cluster and the snapshot, and returns what the snapshot says. Of the cluster
// everything is read, as of a file: it is told what to read.
func (a *archive) agree(t *testing.T, question []string, ofCluster ...string) string {
	t.Helper()
	ofCluster = append(ofCluster, "--include=*")
	if question[0] == "collect" {
		ofCluster = append(ofCluster, "-A", "--dry-run") // as it is of a file anyway
	}
	var want, got string
	for range 5 { // the API server renews its own lease, which is a change between the two
		want, got = a.ask(t, question, ofCluster...), a.ask(t, question, "--from="+a.file)
		if want == got {
			return got
		}
		a.take(t)
	}
	t.Errorf("%q:\n%s", question, cmp.Diff(want, got))
	return got
}

// beside is what an answer has beside what was asked: where it comes from, how long ago
// something was, and, in an explanation, who may remove the finalizers of other objects, of
// which a cluster is not asked and a file is. The digest of a plan for a cluster covers the
// content of its targets.
var beside = regexp.MustCompile(`(?s)\n    "source": \{.*?\n    \}|"forSeconds": ?\d+|"state": ?"(Unknown|Gone)"|"digest": ?"sha256:\w+"`)

// whyUnknown is why something is not known, and the digest of a plan that says so.
var whyUnknown = regexp.MustCompile(`,\s*"matters": ?true|(LeftOut: )?left out on request|(Encrypted: )?\d+ of its \d+ objects are encrypted in storage \(aescbc\)|"digest": "sha256:[0-9a-f]+"`)

// ask is what the program answers.
func (a *archive) ask(t *testing.T, question []string, more ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), a.program, append(slices.Clone(question), more...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+a.Kubeconfig) // a flag would be part of the commands of an answer
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	} else if ok {
		out.WriteString("exit code " + strconv.Itoa(ended.ExitCode()) + "\n" + errOut.String())
	}
	text := beside.ReplaceAllString(out.String(), "")
	if a.but != nil {
		text = a.but.ReplaceAllString(text, "")
	}
	return text
}
