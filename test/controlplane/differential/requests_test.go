package differential

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// A request is noted by what it says: under the names of its world, without what
// differs from run to run.
func TestLines(t *testing.T) {
	const strategic, merge = "application/strategic-merge-patch+json", "application/merge-patch+json"
	ref := object.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "w3-n", Name: "w3-o1"}
	for _, tt := range []struct{ name, method, contentType, body, want string }{
		{"a delete of what was judged", "DELETE", "application/json",
			`{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"w3-u1","resourceVersion":"7"},"propagationPolicy":"Background"}`,
			"DELETE v1 Secret n/o1 policy=Background uid=u1 rv"},
		{"a delete of whatever version", "DELETE", "application/json", `{"preconditions":{"uid":"w3-u1"},"propagationPolicy":"Orphan"}`,
			"DELETE v1 Secret n/o1 policy=Orphan uid=u1"},
		{"a delete of whatever has the name", "DELETE", "", "", "DELETE v1 Secret n/o1"},
		{"a delete with a grace period", "DELETE", "application/json", `{"gracePeriodSeconds":0}`,
			`DELETE v1 Secret n/o1 {"gracePeriodSeconds":0}`},
		{"references by uid, in any order", "PATCH", strategic,
			`{"metadata":{"uid":"w3-u1","ownerReferences":[{"$patch":"delete","uid":"w3-u3"},{"$patch":"delete","uid":"w3-u2"}]}}`,
			"PATCH strategic v1 Secret n/o1 uid=u1 without=u2,u3"},
		{"what is left of the references", "PATCH", merge,
			`{"metadata":{"resourceVersion":"7","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"w3-o4","uid":"w3-u4","blockOwnerDeletion":true}]}}`,
			"PATCH merge v1 Secret n/o1 rv owners=v1:Pod:o4:u4!"},
		{"an end of blocking", "PATCH", strategic,
			`{"metadata":{"uid":"w3-u1","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"w3-o4","uid":"w3-u4","blockOwnerDeletion":false}]}}`,
			"PATCH strategic v1 Secret n/o1 uid=u1 with=v1:Pod:o4:u4!f"},
		{"the finalizers that are left", "PATCH", merge, `{"metadata":{"resourceVersion":"7","finalizers":["a/b","c/d"]}}`,
			"PATCH merge v1 Secret n/o1 rv finalizers=a/b,c/d"},
		{"no finalizer", "PATCH", merge, `{"metadata":{"resourceVersion":"7","finalizers":null}}`,
			"PATCH merge v1 Secret n/o1 rv finalizers="},
		{"what no collector sends", "PATCH", merge, `{"metadata":{"labels":{}}}`,
			`PATCH v1 Secret n/o1 application/merge-patch+json {"metadata":{"labels":{}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b book
			b.turn()
			b.note(tt.method, ref, tt.contentType, []byte(tt.body), true)
			if p := b.page(3); p.text() != tt.want+"\n" {
				t.Errorf("got  %swant %s", p.text(), tt.want)
			}
			if p := b.page(2); p.text() != "" {
				t.Errorf("in another world: %s", p.text())
			}
		})
	}
}

// What a client sends through a recorder arrives, and is noted with its success; of
// what was noted before a phase nothing is left.
func TestRecorder(t *testing.T) {
	var b book
	var arrived []string
	server := httptest.NewServer(recorder{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		arrived = append(arrived, r.Method+" "+r.URL.Path+" "+string(body))
		if strings.HasSuffix(r.URL.Path, "missing") {
			w.WriteHeader(http.StatusNotFound)
		}
	}), scenario.Resources(), &b})
	defer server.Close()
	send := func(method, path, body string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
	}
	const secrets = "/api/v1/namespaces/w0-n/secrets/"
	b.turn()
	send("DELETE", secrets+"w0-before", "")
	b.turn()
	send("GET", secrets+"w0-a", "")
	send("DELETE", secrets+"w0-a", "{}")
	send("DELETE", secrets+"w0-a", "{}")
	send("DELETE", secrets+"w0-missing", "{}")
	send("DELETE", secrets+"fence-1", "{}")
	p := b.page(0)
	if want := "DELETE v1 Secret n/a\n"; p.text() != want || p.repeated() != 1 || p.refused != 1 {
		t.Errorf("noted are %q, %d repeated, %d refused", p.text(), p.repeated(), p.refused)
	}
	if len(arrived) != 6 || arrived[2] != "DELETE "+secrets+"w0-a {}" {
		t.Errorf("arrived are %q", arrived)
	}
}

// An end is possible when one schedule leads to both the state and the requests;
// a request that none of them sends makes it impossible.
func TestRequestsDecide(t *testing.T) {
	world, err := scenario.ParseWorld(`v1 Secret n/a uid=a
v1 Secret n/b uid=b owners=[a!]
v1 Secret n/c uid=c owners=[a!,v1:Secret:gone:g]`, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	on := platform{Resources: scenario.Resources()}
	a := scenario.Act{Ref: world[0].Ref, Policy: metav1.DeletePropagationBackground}
	predicted, err := predict(t.Context(), world, on, []scenario.Act{a})
	if err != nil {
		t.Fatal(err)
	}
	const want = `DELETE v1 Secret n/b policy=Background uid=b rv
DELETE v1 Secret n/c policy=Background uid=c rv
PATCH strategic v1 Secret n/c uid=c without=g
`
	if predicted.state != "" || predicted.requests != want {
		t.Fatalf("predicted is\n%s\nby\n%s", predicted.state, predicted.requests)
	}
	for _, tt := range []struct {
		name, old, new string
		want           bool
	}{
		{"the same", "", "", true},
		{"whatever version it has", "uid=b rv", "uid=b", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := predicted
			now.requests = strings.Replace(now.requests, tt.old, tt.new, 1)
			r := run{acts: [][]scenario.Act{{a}}, settled: true}
			got, err := possible(t.Context(), world, on, r, nil, newSought(now), 1)
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("possible: %t, want %t:\n%s", got, tt.want, now.requests)
			}
		})
	}
}

// Where no one schedule leads to all of an end, each object has to be found in one,
// and the state as a whole.
func TestSought(t *testing.T) {
	const state = "v1 Secret n/a uid=a\nv1 Secret n/b uid=b\n"
	const a, b = "PATCH merge v1 Secret n/a rv finalizers=\n", "DELETE v1 Secret n/b policy=Background\n"
	for _, tt := range []struct {
		name string
		ends []end
		want bool
	}{
		{"at once", []end{{state, b + a}}, true},
		{"one after the other", []end{{state, a}, {"v1 Secret n/b uid=b\n", b}}, true},
		{"one of them", []end{{state, a}, {state, a}}, false},
		{"its request, but not its state", []end{{state, a}, {"v1 Secret n/b uid=b deleting\n", b}}, false},
		{"never the state of both", []end{{"v1 Secret n/a uid=a\n", a}, {"v1 Secret n/b uid=b\n", b}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSought(end{state, b + a})
			got := false
			for _, e := range tt.ends {
				got = s.found(e)
			}
			if got != tt.want {
				t.Errorf("found: %t, want %t; left are %v", got, tt.want, s.objects)
			}
		})
	}
}
