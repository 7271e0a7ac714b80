package snapshot

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

var plainTypes = []typeName{{"v1", "Pod"}, {"v1", "Node"}, {"apps/v1", "Deployment"}, {"example.com/v1", "Cart"}}

// same returns the difference of two readings of one line, "" if there is none.
func same(plain, whole *object.Object) string {
	switch {
	case !object.Equal(plain, whole):
		return fmt.Sprintf("read as\n%+v %+v, wanted\n%+v %+v", plain, plain.Lifecycle, whole, whole.Lifecycle)
	case (plain.Lifecycle == nil) != (whole.Lifecycle == nil):
		return fmt.Sprintf("lifecycle %v, want %v", plain.Lifecycle, whole.Lifecycle)
	}
	return ""
}

func lineOf(t rapid.TB, o *object.Object, number int) []byte {
	var stored storedObject
	stored.take(o, number)
	line, err := json.Marshal(&stored, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// TestPlainObjects: the lines of any sequence of objects are decoded as by the JSON decoder. An
// object doesn't change when later lines are decoded into the same buffers.
func TestPlainObjects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPlainObjects(plainTypes, manifest.NewInterner())
		var room []byte
		var read, want []*object.Object
		for _, o := range rapid.SliceOfN(rapid.Custom(genObject), 1, 20).Draw(t, "objects") {
			line := lineOf(t, o, rapid.IntRange(0, len(plainTypes)-1).Draw(t, "type"))
			for range rapid.IntRange(1, 2).Draw(t, "times") {
				room = append(room[:0], line...)
				if plain := p.object(room); plain != nil {
					whole, err := wholeObject(line, plainTypes, manifest.NewInterner())
					if err != nil {
						t.Fatal(err)
					}
					read, want = append(read, plain), append(want, whole)
				}
			}
		}
		for i, plain := range read {
			if d := same(plain, want[i]); d != "" {
				t.Fatal(d)
			}
		}
	})
}

// TestPlainIsUsual: lines of realistic objects are not odd, except those of rare kinds.
func TestPlainIsUsual(t *testing.T) {
	usual := func(facts object.Facts) *object.Object {
		return &object.Object{
			Ref:             object.Ref{Namespace: "shop", Name: "web-1", UID: "57ef11b8-e4b0-4c06-9084-63f44d6d90a5"},
			ResourceVersion: "1000167", Created: 1778316042, Generation: 3,
			Labels: object.LabelsOf(map[string]string{"app.kubernetes.io/name": "web", "empty": ""}),
			Owners: []object.OwnerReference{
				{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "1", Controller: object.True, BlockOwnerDeletion: object.False},
				{APIVersion: "v1", Kind: "Node", Name: "n", UID: "2"},
			},
			Lifecycle: &object.Lifecycle{
				Finalizers: []string{"example.com/one", "two"}, DeletionTimestamp: 1778316043, GracePeriod: new(int64(0)),
				Protection: object.Protect, Revision: 7, Tracker: "web", Facts: facts,
			},
		}
	}
	for _, facts := range []object.Facts{
		nil, &object.PodFacts{},
		&object.PodFacts{NodeName: "n", Phase: "Running", TerminationGracePeriod: new(int64(30)), Mirror: true, VolumesKnown: true,
			Claims: []object.Claim{{Name: "a", Ephemeral: true}, {Name: "b"}}},
		&object.NamespaceFacts{Phase: "Active", Finalizers: []string{"kubernetes"}},
		&object.JobFacts{Finished: true, ManagedBy: "example.com/one"},
		&object.PVFacts{Phase: "Bound", ClaimNamespace: "shop", ClaimName: "a", ClaimUID: "1", ReclaimPolicy: "Delete", Provisioner: "p", MigratedTo: "m", CSI: true},
		&object.ResourceClaimFacts{Reserved: []object.Reservation{{Group: "g", Resource: "pods", Name: "p", UID: "1"}, {Resource: "r"}}},
		&object.IPAddressFacts{Group: "g", Resource: "services", Namespace: "shop", Name: "web"},
		&object.Token{Account: "default", AccountUID: "1", Sure: true},
		&object.StatefulSetFacts{ClaimTemplates: []string{"data", "log"}},
		&object.ServiceAccountFacts{Secrets: []string{"ci-token", "ci-pull"}},
		&object.ClusterRoleFacts{Rules: []string{"0123", "4567"}, Aggregates: []string{"a=b", "c"}},
	} {
		o := usual(facts)
		line := lineOf(t, o, 0)
		o.APIVersion, o.Kind = plainTypes[0].apiVersion, plainTypes[0].kind
		p := newPlainObjects(plainTypes, manifest.NewInterner())
		if plain := p.object(line); plain == nil {
			t.Errorf("odd: %s", line)
		} else if d := same(plain, o); d != "" {
			t.Error(d)
		}
		o.Lifecycle = nil
		if plain := p.object(lineOf(t, o, 0)); plain == nil || same(plain, o) != "" {
			t.Errorf("without a lifecycle: %+v", plain)
		}
	}
}

// FuzzPlainObject: a line that is not odd is decoded as by the JSON decoder.
func FuzzPlainObject(f *testing.F) {
	for _, seed := range []string{
		`{"t":0}`, `{"t":3,"s":"shop","n":"web","u":"1"}`, `{"t":3,"n":"a\"b","u":"1"}`, `{"t":-1}`, `{"t":4}`, `{"t":00}`, `{"t":0,}`, `{"t":0}}`, `{"t":0} `,
		`{"t":2,"n":"x","u":"1","v":"7","o":[{"a":"v1","k":"Pod","n":"p","u":"2","c":2,"b":256}],"l":"a\u0000b\u0000","c":-0,"g":01}`,
		`{"t":2,"o":[{"a":"v1"},{}],"l":"a\u0000b","c":-5,"g":1234567890123456789,"f":["x","y"],"d":5,"p":0,"k":3,"r":4294967295}`,
		`{"t":0,"n":"x","o":[]}`, `{"t":0,"n":"x","o":[{"n":"é"}]}`, `{"t":0,"f":["x",]}`, `{"t":0,"f":[,"x"]}`, `{"t":0,"d":0}`, `{"t":0,"n":null}`, `{"t":0,"t":1}`,
		`{"t":0,"n":"x","pod":{"node":"n","phase":"Running","grace":30,"mirror":true,"volumes":true,"claims":[{"n":"c","e":true},{"n":"d"}]}}`,
		`{"t":0,"pod":{"mirror":false}}`, `{"t":0,"pod":{},"ns":{}}`, `{"t":0,"ns":{"phase":"Active","finalizers":["kubernetes"]}}`, `{"t":0,"job":{"finished":true,"managedBy":"m"}}`,
		`{"t":0,"pv":{"phase":"Bound","s":"a","n":"b","u":"c","reclaim":"Delete","by":"d","to":"e","csi":true}}`, `{"t":0,"rc":{"for":[{"g":"g","r":"pods","n":"p","u":"1"}]}}`,
		`{"t":0,"ip":{"g":"g","r":"services","s":"shop","n":"web"}}`, `{"t":0,"token":{"n":"default","u":"1","sure":true}}`, `{"t":0,"sts":{"claims":["data"]}}`,
		`{"t":0,"crd":{"group":"g","kind":"K","plural":"ks"}}`, `{"t":0,"cidr":{"cidrs":["10.0.0.0/8"]}}`, `{"t":0,"new":1}`, `{"t":0,"f":["x"],"new":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		p := newPlainObjects(plainTypes, manifest.NewInterner())
		for range 2 { // the second time much is remembered
			plain := p.object(line)
			if plain == nil {
				continue
			}
			whole, err := wholeObject(line, plainTypes, manifest.NewInterner())
			if err != nil {
				t.Fatalf("%s: read in spite of: %v", line, err)
			}
			if d := same(plain, whole); d != "" {
				t.Fatalf("%s: %s", line, d)
			}
		}
	})
}
