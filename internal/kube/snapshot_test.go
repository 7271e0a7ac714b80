package kube

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

var (
	namespaceList = answer200(jsonType, []byte(`{"kind":"NamespaceList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[
		{"metadata":{"name":"shop","uid":"n"},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}}]}`))
	noPods = answer200(jsonType, []byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]}`))
)

// world scripts lists of all kinds.
func world(t *testing.T) (*scripted, *Client) {
	t.Helper()
	s, c := serve(t)
	s.on("/api/v1/namespaces", namespaceList)
	s.on("/api/v1/pods", noPods)
	s.on(configMapsPath, listOf("5", "", "a", "b"))
	s.on("/apis/example.com/v1/widgets", listOf("5", "", "w"))
	return s, c
}

func TestSnapshot(t *testing.T) {
	_, c := world(t)
	var last Progress
	snap, err := c.Snapshot(context.Background(), Scope{}, func(p Progress) { last = p })
	if err != nil {
		t.Fatal(err)
	}
	if len(snap.Gaps) > 0 || len(snap.Problems) > 0 || !snap.KnowsAllKinds() {
		t.Errorf("gaps %v, problems %v", snap.Gaps, snap.Problems)
	}
	if last.Done != 4 || last.Kinds != 4 || last.Objects != 4 || last.Bytes == 0 {
		t.Errorf("progress %+v", last)
	}
	if snap.Source.ClusterUID != "cluster" || snap.Source.KubernetesVersion != "v1.36.3" || snap.Source.TakenAt == "" {
		t.Errorf("source %+v", snap.Source)
	}
	if o := snap.Find("example.com/v1", "Widget", "shop", "w"); o == nil {
		t.Error("no widget")
	}
	if r, _ := snap.Resources.For("example.com/v1", "Widget"); !r.Custom {
		t.Error("the widget is not known to be a custom resource")
	}
	if o := snap.Find("v1", "Namespace", "", "shop"); o == nil || o.NamespaceFacts() == nil {
		t.Error("the namespace has no facts")
	}
}

// TestSnapshotOfReferences: for owner references only metadata is requested, except of CRDs, and no
// Events unless they are wanted.
func TestSnapshotOfReferences(t *testing.T) {
	definitions := object.CRD.Resource()
	definitions.Verbs = object.AllVerbs
	s, c := serve(t)
	s.serves(nil, namespaces, pods, configMaps, definitions, object.Resource{Version: "v1", Name: "events", Kind: "Event", Namespaced: true, Verbs: object.AllVerbs})
	var mu sync.Mutex
	accepts := map[string]string{}
	noDefinitions := answer200(jsonType, []byte(`{"kind":"CustomResourceDefinitionList","apiVersion":"apiextensions.k8s.io/v1","metadata":{"resourceVersion":"5"},"items":[]}`))
	for path, answer := range map[string]http.HandlerFunc{
		"/api/v1/namespaces": listOf("5", ""), "/api/v1/pods": listOf("5", ""), configMapsPath: listOf("5", ""), "/api/v1/events": listOf("5", ""),
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": noDefinitions,
	} {
		s.on(path, func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			accepts[path] = r.Header.Get("Accept")
			mu.Unlock()
			answer(w, r)
		})
	}
	if _, err := c.Snapshot(t.Context(), Scope{References: true, Monitored: true}, nil); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"/api/v1/namespaces": acceptList, "/api/v1/pods": acceptList, configMapsPath: acceptList,
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": jsonType,
	}
	if !maps.Equal(accepts, want) {
		t.Errorf("asked for %q, want %q", accepts, want)
	}
}

// TestSnapshotGaps: a kind that cannot be listed is a gap with its reason, and not absent. (L12,
// L46)
func TestSnapshotGaps(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		reason reason.Code
	}{
		"forbidden": {refuse(403, metav1.StatusReasonForbidden), reason.Forbidden},
		"broken":    {refuse(500, metav1.StatusReasonInternalError), reason.ListFailed},
		"unserved":  {http.NotFound, reason.NotServed},
		"truncated": {answer200(protobufType, listBody("5", "", "w")[:30]), reason.Truncated},
		"a page":    {answer200("text/html", nil), reason.ListFailed},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := world(t)
			s.on("/apis/example.com/v1/widgets", c.answer)
			snap, err := client.Snapshot(context.Background(), Scope{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(snap.Gaps) != 1 || snap.Gaps[0].Resource != "widgets" || snap.Gaps[0].Reason() != c.reason {
				t.Errorf("gaps %v", snap.Gaps)
			}
			if snap.Covers(widgets, "shop") || !snap.Covers(configMaps, "shop") {
				t.Error("covered is what was not listed, or the other way round")
			}
			if snap.Unserved(widgets, "shop") != (c.reason == reason.NotServed) || snap.Unserved(configMaps, "shop") {
				t.Error("unserved is what is served, or the other way round")
			}
		})
	}
}

// TestStaleGroup: a group that cannot be discovered affects no other group. (L08)
func TestStaleGroup(t *testing.T) {
	s, c := world(t)
	s.serves([]string{"metrics.k8s.io/v1beta1"}, namespaces, configMaps, pods, widgets)
	snap, err := c.Snapshot(context.Background(), Scope{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(snap.Gaps) != 1 || snap.Gaps[0].APIVersion != "metrics.k8s.io/v1beta1" || snap.Gaps[0].Resource != snapshot.EveryResource {
		t.Errorf("gaps %v", snap.Gaps)
	}
	if u := snap.Undiscovered(); len(u) != 1 || u[0].APIVersion != "metrics.k8s.io/v1beta1" || u[0].Hidden || u[0].Why == "" {
		t.Errorf("not discovered: %+v", u)
	}
	if snap.KnowsAllKinds() || !snap.Covers(widgets, "shop") {
		t.Error("one group has cost others, or nothing")
	}
	_, err = c.Resource("metrics.k8s.io/v1beta1", "PodMetrics")
	if _, ok := errors.AsType[*object.UncoveredError](err); !ok {
		t.Errorf("a kind of that group: %v", err)
	}
	_, err = c.Resource("example.com/v1", "Gadget")
	if _, ok := errors.AsType[*object.UnknownKindError](err); !ok {
		t.Errorf("a kind that is not served: %v", err)
	}
}

func TestDiscoveryFails(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"forbidden": refuse(403, metav1.StatusReasonForbidden),
		"a page":    answer200("text/html", []byte("<html>")),
		"nothing":   answerJSON(metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}),
	} {
		t.Run(name, func(t *testing.T) {
			s, c := world(t)
			s.on("/api", answer)
			s.on("/apis", answer)
			if snap, err := c.Snapshot(context.Background(), Scope{}, nil); err == nil {
				t.Errorf("a snapshot with %d objects", len(snap.Objects))
			}
			if c.Discovered() != nil {
				t.Error("what was not discovered is remembered")
			}
		})
	}
}

func TestScope(t *testing.T) {
	s, c := world(t)
	s.on("/api/v1/namespaces/shop/configmaps", listOf("5", "", "a"))
	snap, err := c.Snapshot(context.Background(), Scope{Namespaces: []string{"shop"}, Exclude: []string{"*.example.com", "pods"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !snap.Covers(configMaps, "shop") || snap.Covers(configMaps, "web") || !snap.Covers(namespaces, "") || snap.Covers(widgets, "shop") {
		t.Errorf("gaps %v", snap.Gaps)
	}
	if why := snap.Why(widgets, "shop"); !strings.Contains(why, "left out") {
		t.Errorf("why: %q", why)
	}
	if why := snap.Why(configMaps, "web"); !strings.HasPrefix(why, string(reason.LeftOut)+": ") {
		t.Errorf("why another namespace is not covered: %q", why)
	}
	if !slices.Equal(snap.Source.Namespaces, []string{"shop"}) {
		t.Errorf("looked at %q", snap.Source.Namespaces)
	}
	if asked := s.requests("/widgets"); len(asked) > 0 {
		t.Errorf("asked %q", asked)
	}
	for _, bad := range []Scope{{Include: []string{"["}}, {Exclude: []string{""}}, {Namespaces: []string{"a/b"}}} {
		if _, err := c.Snapshot(context.Background(), bad, nil); err == nil {
			t.Errorf("%v passed", bad)
		}
	}
	only, left := Scope{Include: []string{"ConfigMaps"}}.places(c.Discovered().Resources)
	if len(only) != 1 || len(left) != 3 {
		t.Errorf("only config maps: %v", only)
	}
}

// TestWhatIsListed: the preferred versions of kinds that can be deleted and listed. That includes
// Events, which a collector does not watch, under one of their two names.
func TestWhatIsListed(t *testing.T) {
	rs := snapshot.BuiltinResources()
	places, _ := Scope{}.places(rs)
	var names []string
	for _, p := range places {
		if !rs.Monitored(p.Resource) && p.Resource.Name != "events" {
			t.Errorf("%s is listed and not monitored", p.Resource.GroupResource())
		}
		names = append(names, p.Resource.APIVersion()+" "+p.Resource.Name)
	}
	for _, no := range []string{"events.k8s.io/v1 events", "v1 bindings", "v1 componentstatuses", "autoscaling/v1 horizontalpodautoscalers"} {
		if slices.Contains(names, no) {
			t.Errorf("%s is listed", no)
		}
	}
}

// TestVersionUnread: without permission to read the version it is unknown, and the served APIs bound
// it.
func TestVersionUnread(t *testing.T) {
	s, c := world(t)
	s.on("/version", refuse(403, metav1.StatusReasonForbidden))
	s.serves(nil, namespaces, configMaps, pods, widgets, object.Resource{
		Group: "resource.k8s.io", Version: "v1", Name: "deviceclasses", Kind: "DeviceClass", Verbs: object.AllVerbs,
	})
	snap, err := c.Snapshot(t.Context(), Scope{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := snap.Version(); v.Exact != "" || v.Least != 34 || v.Most != 0 || !slices.Equal(v.From, []snapshot.VersionEvidence{snapshot.FromAPIs}) {
		t.Errorf("version %+v", v)
	}
	if !snap.Version().Doubts(release.UpdatesWithoutNamespace) {
		t.Error("a rule that the server may lack is not in doubt")
	}
}

func TestSnapshotEnds(t *testing.T) {
	s, c := world(t)
	ctx, cancel := context.WithCancel(context.Background())
	s.on(configMapsPath, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	if _, err := c.Snapshot(ctx, Scope{}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.on("/version", refuse(401, metav1.StatusReasonUnauthorized))
	if _, err := c.Snapshot(context.Background(), Scope{}, nil); !apierrors.IsUnauthorized(err) {
		t.Error(err)
	}
}

// TestOldDiscovery: a server without aggregated documents is asked group by group. One that fails
// affects no other, and the preferred version comes first.
func TestOldDiscovery(t *testing.T) {
	s, c := serve(t)
	version := func(v string) metav1.GroupVersionForDiscovery {
		return metav1.GroupVersionForDiscovery{GroupVersion: "example.com/" + v, Version: v}
	}
	kinds := func(gv, name, kind string) http.HandlerFunc {
		return answerJSON(metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv,
			APIResources: []metav1.APIResource{
				{Name: name, Kind: kind, Namespaced: true, Verbs: []string{"get", "list", "watch", "delete"}},
				{Name: name + "/status", Kind: kind, Namespaced: true, Verbs: []string{"get"}},
			},
		})
	}
	s.on("/api", answerJSON(metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}))
	s.on("/apis", answerJSON(metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{
		{Name: "example.com", Versions: []metav1.GroupVersionForDiscovery{version("v1beta1"), version("v1")}, PreferredVersion: version("v1")},
		{Name: "broken.io", Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: "broken.io/v1", Version: "v1"}}},
	}}))
	s.on("/api/v1", kinds("v1", "configmaps", "ConfigMap"))
	s.on("/apis/example.com/v1", kinds("example.com/v1", "widgets", "Widget"))
	s.on("/apis/example.com/v1beta1", kinds("example.com/v1beta1", "widgets", "Widget"))
	s.on("/apis/broken.io/v1", refuse(503, metav1.StatusReasonServiceUnavailable))
	d, err := c.Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range d.Resources.All() {
		names = append(names, r.APIVersion()+" "+r.Name)
	}
	if !slices.Equal(names, []string{"v1 configmaps", "example.com/v1 widgets", "example.com/v1beta1 widgets"}) {
		t.Errorf("found %q", names)
	}
	if len(d.Missing) != 1 || d.Missing[0].GroupVersion != "broken.io/v1" || d.Missing[0].Why == "" {
		t.Errorf("missing %v", d.Missing)
	}
}

// TestCredentialsRunOut: if all lists are unauthorized, the snapshot fails instead of having only
// gaps.
func TestCredentialsRunOut(t *testing.T) {
	s, c := world(t)
	no := refuse(401, metav1.StatusReasonUnauthorized)
	for _, path := range []string{"/api/v1/namespaces", "/api/v1/pods", configMapsPath, "/apis/example.com/v1/widgets"} {
		s.on(path, no)
	}
	if _, err := c.Snapshot(context.Background(), Scope{}, nil); !apierrors.IsUnauthorized(err) {
		t.Error(err)
	}
	s.on(configMapsPath, listOf("5", ""))
	snap, err := c.Snapshot(context.Background(), Scope{}, nil)
	if err != nil || len(snap.Gaps) != 3 {
		t.Errorf("%v", err)
	}
}

// TestSnapshotInstead: kinds that may not be listed everywhere are listed in the namespace, and the
// namespace is read by name. Nothing else counts as absent.
func TestSnapshotInstead(t *testing.T) {
	s, c := world(t)
	forbidden := refuse(403, metav1.StatusReasonForbidden)
	for _, path := range []string{"/api/v1/namespaces", "/api/v1/pods", configMapsPath, "/apis/example.com/v1/widgets"} {
		s.on(path, forbidden)
	}
	s.on("/api/v1/namespaces/shop", answer200(jsonType, []byte(`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"shop","uid":"n","resourceVersion":"4"},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}}`)))
	s.on("/api/v1/namespaces/shop/pods", noPods)
	s.on("/api/v1/namespaces/shop/configmaps", listOf("5", "", "a", "b"))
	s.on("/apis/example.com/v1/namespaces/shop/widgets", forbidden)
	snap, err := c.Snapshot(context.Background(), Scope{Instead: []string{"shop"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if snap.Find("v1", "ConfigMap", "shop", name) == nil {
			t.Errorf("no %s", name)
		}
	}
	if o := snap.Find("v1", "Namespace", "", "shop"); o == nil || o.NamespaceFacts() == nil {
		t.Error("the namespace was not read by its name")
	}
	for r, inside := range map[string]bool{"configmaps": true, "pods": true, "widgets": false} {
		i := slices.IndexFunc(snap.Resources.All(), func(x object.Resource) bool { return x.Name == r })
		x := snap.Resources.All()[i]
		if snap.Covers(x, "shop") != inside || snap.Covers(x, "") || snap.Covers(x, "other") {
			t.Errorf("%s: covered in shop %t, everywhere %t, elsewhere %t", r, snap.Covers(x, "shop"), snap.Covers(x, ""), snap.Covers(x, "other"))
		}
	}
	if len(snap.Gaps) != 4 || slices.ContainsFunc(snap.Gaps, func(g snapshot.Gap) bool { return g.Reason() != reason.Forbidden || g.Namespace != "" }) {
		t.Errorf("gaps %v", snap.Gaps)
	}
	if unread := snap.Unread("shop"); len(unread) != 1 || unread[0].Resource != "widgets" {
		t.Errorf("unread of the namespace: %v", unread)
	}
}

var secretsHere = object.Resource{Version: "v1", Name: "secrets", Kind: "Secret", Namespaced: true, Verbs: object.AllVerbs}

// secretList returns a list of Secret metadata: names, and the account whose token each may be.
func secretList(of ...[3]string) http.HandlerFunc {
	list := metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}}
	for _, s := range of {
		m := metaOf(object.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: s[0], UID: types.UID("u-" + s[0])}, "5")
		if s[1] != "" {
			m.Annotations = map[string]string{object.AccountNameAnnotation: s[1], object.AccountUIDAnnotation: s[2]}
		}
		list.Items = append(list.Items, m)
	}
	return answer200(protobufType, wrapped(metaVersion, partialList, &list))
}

// TestTokens: Secrets that name a ServiceAccount are checked with a list by type, so that no secret
// data is read. Without such Secrets there is no list.
func TestTokens(t *testing.T) {
	for _, test := range []struct {
		name  string
		lists []http.HandlerFunc
		want  []string
		asked int
	}{
		{
			"two may be, one is",
			[]http.HandlerFunc{
				secretList([3]string{"a", "ci", "u"}, [3]string{"b", "ci", ""}, [3]string{"c"}),
				secretList([3]string{"b", "ci", ""}, [3]string{"new", "ci", ""}),
			},
			[]string{"b ci  true"}, 2,
		},
		{"none may be", []http.HandlerFunc{secretList([3]string{"c"})}, nil, 1},
		{
			"it cannot be asked",
			[]http.HandlerFunc{secretList([3]string{"a", "ci", "u"}), refuse(http.StatusBadRequest, metav1.StatusReasonBadRequest)},
			[]string{"a ci u false"}, 2,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, c := serve(t)
			s.serves(nil, secretsHere, namespaces)
			s.on("/api/v1/secrets", test.lists...)
			s.on("/api/v1/namespaces", listOf("9", ""))
			snap, err := c.Snapshot(t.Context(), Scope{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range snap.Objects {
				if x := o.Token(); x != nil {
					got = append(got, strings.Join([]string{o.Name, x.Account, string(x.AccountUID), map[bool]string{true: "true", false: "false"}[x.Sure]}, " "))
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("tokens %q, want %q", got, test.want)
			}
			asked := s.requests("/secrets")
			if len(asked) != test.asked || test.asked == 2 && !strings.Contains(asked[1], "fieldSelector=type%3Dkubernetes.io%2Fservice-account-token") {
				t.Errorf("asked %q", asked)
			}
		})
	}
}
