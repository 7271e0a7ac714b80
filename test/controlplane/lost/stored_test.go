package lost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	nouns "github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// inStorage opens an etcd snapshot of a plane that is taken now.
func inStorage(t *testing.T, of *cluster.Cluster) (*past.EtcdFile, error) {
	file := filepath.Join(t.TempDir(), "snapshot.db")
	if err := of.Snapshot(file); err != nil {
		return nil, err
	}
	r, err := past.OpenEtcd(file, snapshot.Options{})
	if err == nil {
		t.Cleanup(r.Close)
	}
	return r, err
}

// agreed compares what storage says of the past with what the server has said: it knows at least
// as much, and says nothing else where the server was certain.
func agreed(t *testing.T, live, disk *past.Account) {
	t.Helper()
	losses := map[string]*past.Loss{}
	for _, l := range disk.Losses {
		if l.Gone > live.Past.To.Revision {
			l.Gone = 0 // it went since
		}
		if l.Began <= live.Past.To.Revision {
			losses[lossKey(&l)] = &l
		}
	}
	for i := range live.Losses {
		l := &live.Losses[i]
		if max(l.Began, l.Gone) > live.Past.To.Revision {
			delete(losses, lossKey(l))
			continue // it happened while the past was read
		}
		d := losses[lossKey(l)]
		delete(losses, lossKey(l))
		switch {
		case d == nil:
			t.Errorf("storage does not know of the loss of %s: %s", l.Object.Ref, tell(l))
		case len(l.Or) == 0 && (tell(l) != tell(d) || l.Policy != d.Policy):
			t.Errorf("%s: %s, and in storage %s", l.Object.Ref, tell(l), tell(d))
		case tell(l) != tell(d):
			t.Logf("%s: %s, and in storage %s", l.Object.Ref, tell(l), tell(d))
		}
		if d != nil && l.Cause.Request >= 0 && live.Requests[l.Cause.Request].Certain && (d.Cause.Request < 0 || !disk.Requests[d.Cause.Request].Certain) {
			t.Errorf("%s: its request is certain, and in storage it is not", l.Object.Ref)
		}
	}
	for _, d := range losses {
		if _, err := live.Past.Resources.For(d.Object.APIVersion, d.Object.Kind); err == nil {
			t.Errorf("only storage knows of the loss of %s: %s", d.Object.Ref, tell(d))
		}
	}
}

// lossKey tells losses from each other: an object may lose several owners, and then go.
func lossKey(l *past.Loss) string {
	key := l.Object.Kind + " " + string(l.Object.UID)
	if l.Orphaned {
		key += fmt.Sprintf(" without an owner at %d", l.Began)
	}
	return key
}

// sameBodies compares whole objects of all kinds at a revision.
func sameBodies(t *testing.T, client *kube.Client, r *past.EtcdFile, revision uint64) error {
	t.Helper()
	ctx := t.Context()
	served, err := client.Discover(ctx)
	if err != nil {
		return err
	}
	objects := 0
	for _, res := range served.Resources.All() {
		gr := res.GroupResource()
		if p, ok := served.Resources.Preferred(gr); !ok || p.Version != res.Version || nouns.Storage(gr) != gr || !res.Verbs.Has(nouns.List|nouns.Watch) {
			continue
		}
		c := past.Collection{APIVersion: res.APIVersion(), Kind: res.Kind, Revision: revision}
		want, err := bodiesOf(ctx, client, c)
		if err != nil {
			return err
		}
		got, err := bodiesOf(ctx, r, c)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s at %d (-live +stored):\n%s", gr, revision, diff)
		}
		objects += len(got)
	}
	t.Logf("%d objects at revision %d", objects, revision)
	return nil
}

func bodiesOf(ctx context.Context, r past.Source, c past.Collection) (map[string]any, error) {
	all := map[string]any{}
	return all, r.Bodies(ctx, c, func(raw []byte) error {
		var o struct {
			Metadata struct{ Namespace, Name string }
		}
		var whole map[string]any
		err := errors.Join(json.Unmarshal(raw, &o), json.Unmarshal(raw, &whole))
		fill(whole, c)
		all[o.Metadata.Namespace+"/"+o.Metadata.Name] = whole
		return err
	})
}

// fill fills in what a server leaves out in lists, and what it fills in when it reads storage.
func fill(o map[string]any, c past.Collection) {
	if o["kind"] == nil {
		o["apiVersion"], o["kind"] = c.APIVersion, c.Kind
	}
	if status, ok := o["status"].(map[string]any); ok && c.Kind == "PersistentVolumeClaim" && status["phase"] == nil {
		status["phase"] = "Pending"
	}
	if spec, ok := o["spec"].(map[string]any); ok && c.Kind == "StatefulSet" {
		templates, _ := spec["volumeClaimTemplates"].([]any)
		for _, claim := range templates {
			maps.Copy(claim.(map[string]any), map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim"})
		}
	}
}

// TestStored: of random states an etcd snapshot tells the same as the server, and shows the same
// objects, of now and of before the deletes.
func TestStored(t *testing.T) {
	t.Logf("seed %d", *seed)
	if err := plane.Controllers(deleters...); err != nil {
		t.Fatal(err)
	}
	if _, err := plane.Kubectl(t.Context(), nil, "apply", "-f", "testdata/kinds.yaml"); err != nil {
		t.Fatal(err)
	}
	if err := provide(t.Context()); err != nil {
		t.Fatal(err)
	}
	var list []*state
	for i := range min(*states, *batch) {
		list = append(list, draw(*seed+1, i, "d"+strconv.Itoa(i)))
	}
	from, err := happen(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	client, err := connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	live, err := client.Past(t.Context(), past.Window{SinceRevision: from})
	if err != nil {
		t.Fatal(err)
	}
	disk, err := inStorage(t, plane)
	if err != nil {
		t.Fatal(err)
	}
	record, err := disk.Past(t.Context(), past.Window{SinceRevision: from})
	if err != nil {
		t.Fatal(err)
	}
	agreed(t, past.Trace(live), past.Trace(record))
	if len(record.Limits) > 0 || slices.IndexFunc(record.Changes, func(c past.Change) bool { return c.Type == nouns.Deleted }) < 0 {
		t.Errorf("%d changes, limits %+v", len(record.Changes), record.Limits)
	}
	for _, revision := range []uint64{from, record.To.Revision} {
		if err := sameBodies(t, client, disk, revision); err != nil {
			t.Error(err)
		}
	}
	if err := each(list, func(s *state) error { return s.release(t.Context()) }); err != nil {
		t.Fatal(err)
	}
}

// TestStoredEncrypted: what a server encrypts is said to be unknown, and what it does not is known.
func TestStoredEncrypted(t *testing.T) {
	sealed, err := cluster.Start(cluster.Encrypted)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sealed.Stop() })
	for _, args := range [][]string{
		{"create", "secret", "generic", "one", "--from-literal=a=b"}, {"create", "service", "externalname", "one", "--external-name=example.com"},
		{"delete", "secret/one", "service/one"}, {"create", "secret", "generic", "two", "--from-literal=a=b"},
	} {
		if _, err := sealed.Kubectl(t.Context(), nil, args...); err != nil {
			t.Fatal(err)
		}
	}
	disk, err := inStorage(t, sealed)
	if err != nil {
		t.Fatal(err)
	}
	record, err := disk.Past(t.Context(), past.Window{})
	if err != nil {
		t.Fatal(err)
	}
	var lost, unknown []string
	for _, l := range past.Trace(record).Losses {
		lost = append(lost, l.Object.Kind+" "+l.Object.Name)
	}
	for _, l := range record.Limits {
		unknown = append(unknown, l.Resource.Name+": "+l.Why)
	}
	want := []string{"configmaps: ", "secrets: "}
	if diff := cmp.Diff([]string{"Service one"}, lost); diff != "" || len(unknown) != len(want) {
		t.Errorf("limits %q; lost %s", unknown, diff)
	}
	for i := range want {
		if i < len(unknown) && !strings.HasPrefix(unknown[i], want[i]+"Encrypted: ") {
			t.Errorf("limits %q", unknown)
		}
	}
	_, err = bodiesOf(t.Context(), disk, past.Collection{APIVersion: "v1", Kind: "Secret", Revision: record.To.Revision})
	if unread, ok := errors.AsType[*past.UnreadError](err); !ok || len(unread.Objects) != 1 || unread.Objects[0].Name != "two" {
		t.Error(err)
	}
}
