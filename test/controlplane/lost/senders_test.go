package lost

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/past"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const scene = "senders"

// listen is a past with what the audit log of the plane says of it.
func listen(record *past.Record) (*past.Record, error) {
	f, err := os.Open(plane.AuditLog())
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	heard := *record
	heard.Log = &past.AuditLog{}
	return &heard, heard.Log.Read(f.Name(), f, record.LogWindow())
}

// half is a past with every second request of its log, as if there were two API servers with a
// log each.
func half(record *past.Record, first int) *past.Record {
	heard := *record
	heard.Log = &past.AuditLog{First: record.Log.First, Last: record.Log.Last}
	for i := first; i < len(record.Log.Requests); i += 2 {
		heard.Log.Requests = append(heard.Log.Requests, record.Log.Requests[i])
	}
	return &heard
}

// client is somebody who deletes. The audit log has what service accounts ask for, and of
// others only that they do.
type client struct {
	token, as, agent string
	user             string
	heard            bool
}

// order is a delete that a client sends, and what has to be said of it.
type order struct {
	client
	id, path, verb string
	// policy and grace are sent in the body or, asked, in the query; empty for none.
	policy, grace   string
	asked, rehearse bool
	// objects are the paths of what it takes.
	objects []string
}

// TestSenders: of deletes by several users, with several policies and in several ways, the audit
// log names who sent each, and what was asked for. What was refused or rehearsed took nothing,
// and what the garbage collector took nobody has asked for.
func TestSenders(t *testing.T) {
	ctx := t.Context()
	if err := plane.Controllers(deleters...); err != nil {
		t.Fatal(err)
	}
	clients := stageClients(t)
	random := rand.New(rand.NewPCG(*seed, 0))
	t.Logf("seed %d", *seed)
	var orders []*order
	for i := range 80 {
		orders = append(orders, newOrder(random, clients[random.IntN(len(clients))], i))
	}
	uids := map[string]string{}
	for _, o := range orders {
		o.stage(t, uids)
	}
	if err := calm(ctx); err != nil {
		t.Fatal(err)
	}
	client, err := connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	from, err := now(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range orders {
		o.send(t)
	}
	if err := calm(ctx); err != nil {
		t.Fatal(err)
	}
	record, err := client.Past(ctx, past.Window{SinceRevision: from})
	if err == nil {
		record, err = listen(record)
	}
	if err != nil {
		t.Fatal(err)
	}
	said := past.LostDocument(past.Trace(record), past.LostQuestion{Namespace: scene})
	losses := map[string]*report.Loss{}
	for i := range said.Losses {
		losses[string(said.Losses[i].Object.UID)] = &said.Losses[i]
	}
	for _, o := range orders {
		o.compare(t, said, losses, uids)
	}
	collected := 0
	for _, l := range said.Losses {
		if l.Sent != nil && strings.HasSuffix(l.Sent.UserAgent, past.GarbageCollector) {
			collected++
			if l.Code != string(reason.OwnerGone) && l.Code != string(reason.OwnerWaits) || len(l.Or) > 0 {
				t.Errorf("%v: %+v", l.Object, l)
			}
		}
	}
	if collected == 0 {
		t.Error("the garbage collector has sent nothing")
	}
}

// stageClients makes a namespace, and those who may delete in it.
func stageClients(t *testing.T) []client {
	t.Helper()
	run := func(args ...string) string {
		out, err := plane.Kubectl(t.Context(), nil, args...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	run("create", "namespace", scene)
	list := []client{
		{token: plane.Token, user: "admin", agent: "kubectl/v1.36.3 (linux/amd64)"},
		{token: plane.Token, user: "admin", as: "dora", agent: "curl/8"},
	}
	run("create", "clusterrolebinding", "dora", "--clusterrole=cluster-admin", "--user=dora")
	for _, name := range []string{"alice", "bob"} {
		run("create", "serviceaccount", name, "-n", "default")
		run("create", "clusterrolebinding", name, "--clusterrole=cluster-admin", "--serviceaccount=default:"+name)
		list = append(list, client{
			token: run("create", "token", name, "-n", "default"), user: "system:serviceaccount:default:" + name, agent: name + "/1", heard: true,
		})
	}
	return list
}

func newOrder(random *rand.Rand, c client, i int) *order {
	const path = "/api/v1/namespaces/" + scene
	o := &order{client: c, id: fmt.Sprintf("sent-%d", i), asked: random.IntN(2) == 0}
	o.policy = []string{"", "Background", "Foreground", "Orphan"}[random.IntN(4)]
	o.grace = []string{"", "0"}[random.IntN(2)]
	switch n := random.IntN(10); {
	case n == 0:
		o.verb = "evict"
		o.policy, o.asked = "", false
		o.path = fmt.Sprintf("%s/pods/p%d", path, i)
		o.objects = []string{o.path}
	case n == 1:
		o.verb = "deletecollection"
		o.path = fmt.Sprintf("%s/secrets?labelSelector=group%%3D%d", path, i)
		for k := range 3 {
			o.objects = append(o.objects, fmt.Sprintf("%s/secrets/s%d-%d", path, i, k))
		}
	case n == 2:
		o.rehearse = true
		fallthrough
	default:
		o.verb = "delete"
		o.path = fmt.Sprintf("%s/configmaps/c%d", path, i)
		o.objects = []string{o.path}
	}
	return o
}

// stage makes what the order takes; of a ConfigMap also one that belongs to it.
func (o *order) stage(t *testing.T, uids map[string]string) {
	t.Helper()
	for _, at := range o.objects {
		i := strings.LastIndex(at, "/")
		name := at[i+1:]
		made := object{"apiVersion": "v1", "metadata": object{"name": name}}
		switch {
		case strings.HasSuffix(at[:i], "pods"):
			made["kind"], made["spec"] = "Pod", podSpec
		case o.verb == "deletecollection":
			_, group, _ := strings.Cut(o.path, "%3D")
			made["kind"], made["metadata"] = "Secret", object{"name": name, "labels": object{"group": group}}
		default:
			made["kind"] = "ConfigMap"
		}
		got := must(t, http.MethodPost, at[:i], made)
		uids[at] = got.Metadata.UID
		if made["kind"] == "ConfigMap" {
			must(t, http.MethodPost, at[:i], object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{
				"name": name + "-of", "ownerReferences": []object{{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": got.Metadata.UID}},
			}})
		}
	}
}

func must(t *testing.T, method, path string, body any) answer {
	t.Helper()
	got, err := send(t.Context(), "", method, path, body)
	if err != nil || got.code > 299 {
		t.Fatalf("%s %s: %v %d", method, path, err, got.code)
	}
	return got
}

// send sends the order.
func (o *order) send(t *testing.T) {
	t.Helper()
	method, path := http.MethodDelete, o.path
	options, query := object{"apiVersion": "v1", "kind": "DeleteOptions"}, []string{}
	for name, value := range map[string]string{"propagationPolicy": o.policy, "gracePeriodSeconds": o.grace} {
		switch {
		case value == "":
		case o.asked:
			query = append(query, name+"="+value)
		case name == "gracePeriodSeconds":
			options[name] = 0
		default:
			options[name] = value
		}
	}
	switch {
	case o.rehearse && o.asked:
		query = append(query, "dryRun=All")
	case o.rehearse:
		options["dryRun"] = []string{"All"}
	}
	var body any = options
	if o.asked {
		body = nil
		path += map[bool]string{false: "?", true: "&"}[strings.Contains(path, "?")] + strings.Join(query, "&")
	}
	if o.verb == "evict" {
		method, path = http.MethodPost, path+"/eviction"
		body = object{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": object{"name": o.path[strings.LastIndex(o.path, "/")+1:]}, "deleteOptions": options}
	}
	head := http.Header{}
	head.Set("Authorization", "Bearer "+o.token)
	head.Set("User-Agent", o.agent)
	head.Set("Audit-ID", o.id)
	if o.as != "" {
		head.Set("Impersonate-User", o.as)
	}
	got, err := sendWith(t.Context(), head, method, path, body)
	if err != nil || got.code > 299 {
		t.Fatalf("%s %s: %v %d", method, path, err, got.code)
	}
}

// compare compares what is said of the order with what was sent.
func (o *order) compare(t *testing.T, said *report.Lost, losses map[string]*report.Loss, uids map[string]string) {
	t.Helper()
	want := &report.Sent{
		Verb: o.verb, User: o.user, ImpersonatedUser: o.as, UserAgent: o.agent, SourceIPs: []string{"127.0.0.1"}, AuditIDs: []string{o.id},
	}
	if o.heard || o.asked && o.policy+o.grace != "" {
		want.Options = &report.SentOptions{PropagationPolicy: o.policy}
		if o.grace != "" {
			want.Options.GracePeriodSeconds = new(int64)
		}
	}
	for _, at := range o.objects {
		l := losses[uids[at]]
		switch {
		case o.rehearse:
			if l != nil {
				t.Errorf("%s was rehearsed: %+v", at, l)
			}
			continue
		case l == nil || l.Sent == nil:
			t.Errorf("%s %s: %+v", o.id, at, l)
			continue
		}
		sent := *l.Sent
		if sent.Time == "" || sent.MatchedBy == "" {
			t.Errorf("%s: %+v", at, sent)
		}
		sent.Time, sent.MatchedBy = "", ""
		if diff := cmp.Diff(want, &sent); diff != "" {
			t.Errorf("%s: %s", at, diff)
		}
		if o.verb == "evict" {
			if l.Code != string(reason.Evicted) || l.Request != 0 {
				t.Errorf("%s: %+v", at, l)
			}
			continue
		}
		r := said.Requests[l.Request-1]
		if !r.Certain || r.Sent == nil || r.Sent.User != o.user || !strings.Contains(strings.Join(r.Sent.AuditIDs, " "), o.id) {
			t.Errorf("%s: %+v %+v", at, r, r.Sent)
		}
	}
}
