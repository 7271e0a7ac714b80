package snapshot

import (
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Tools write errors in different forms. All of them remove coverage.
func TestErrorFiles(t *testing.T) {
	tests := map[string]struct {
		content string
		pay     string // why pods in pay are not covered; empty if they are
		shop    string
	}{
		"by namespace":      {`{"shop":"pods is forbidden: no"}`, "", "Forbidden: pods is forbidden: no"},
		"several":           {`{"shop":["a","b"]}`, "", "ListFailed: a; b"},
		"a status":          {`{"shop":{"ErrStatus":{"message":"Unauthorized"}}}`, "", "Forbidden: Unauthorized"},
		"unknown structure": {`{"shop":{"y":1,"x":2}}`, "", "ListFailed: x; y"},
		"for all":           {`["timed out"]`, "ListFailed: timed out", "ListFailed: timed out"},
		"a text":            {`"timed out"`, "ListFailed: timed out", "ListFailed: timed out"},
		"no errors":         {`null`, "", ""},
		"empty list":        {`[]`, "", ""},
		"empty text":        {`{"shop":""}`, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := readBytes(tarOf(t, []txtar.File{
				{Name: "cluster-resources/pods/shop.json", Data: []byte(podList)},
				{Name: "cluster-resources/pods-errors.json", Data: []byte(test.content)},
				{Name: "cluster-resources/pods/pay.json", Data: []byte(strings.ReplaceAll(podList, "shop", "pay"))},
			}), Options{})
			if err != nil {
				t.Fatal(err)
			}
			r := preferred(t, s, pods)
			if got := s.Why(r, "pay"); got != test.pay {
				t.Errorf("pay: %q, want %q", got, test.pay)
			}
			if got := s.Why(r, "shop"); got != test.shop {
				t.Errorf("shop: %q, want %q", got, test.shop)
			}
		})
	}
	if _, err := readBytes(tarOf(t, []txtar.File{{Name: "cluster-resources/pods-errors.json", Data: []byte(`{"shop"`)}}), Options{}); err == nil {
		t.Error("a broken list of errors must be an error: it may say that everything is missing")
	}
}

func TestErrorsOfDiscoveryAndCustomResources(t *testing.T) {
	s, err := readBytes(tarOf(t, []txtar.File{
		{Name: "cluster-resources/groups-resources-errors.json", Data: []byte(`["unable to retrieve metrics.k8s.io/v1beta1"]`)},
		{Name: "cluster-resources/custom-resources/carts.example.com/shop.yaml", Data: []byte("apiVersion: example.com/v1\nkind: CartList\nitems:\n- apiVersion: example.com/v1\n  kind: Cart\n  metadata: {name: a, namespace: shop, uid: '1'}\n")},
		{Name: "cluster-resources/custom-resources/carts.example.com-errors.json", Data: []byte(`["forbidden"]`)},
	}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Problems) != 1 || s.Problems[0].Kind != StaleDiscovery {
		t.Errorf("problems %v", s.Problems)
	}
	r := preferred(t, s, schema.GroupResource{Group: "example.com", Resource: "carts"})
	if got := s.Why(r, "shop"); got != "Forbidden: forbidden" {
		t.Errorf("why %q", got)
	}
}

// A broken file removes the proof of all lists in it and of every kind in it.
func TestBrokenFileProvesNothing(t *testing.T) {
	content := podList + "\n" + `{"apiVersion":"v1","kind":"SecretList","items":[{"metadata":{"name":"s","namespace":"shop","uid":"2"}},{"metadata":`
	s, err := readBytes([]byte(content), Options{AllowPartial: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pods", "secrets"} {
		r := preferred(t, s, schema.GroupResource{Resource: name})
		if s.Covers(r, "shop") || !strings.HasPrefix(s.Why(r, "shop"), "Truncated: ") {
			t.Errorf("%s: covered %v, why %q", name, s.Covers(r, "shop"), s.Why(r, "shop"))
		}
	}
	if len(s.Objects) != 2 {
		t.Errorf("%d objects, want the two that were read", len(s.Objects))
	}
}

// TestCutOff: a missing file may have been in the lost rest of a truncated archive. Its absence
// proves nothing, whatever queries the dump logs.
func TestCutOff(t *testing.T) {
	for name, questions := range map[string][]string{
		"support_bundle_custom": {"regions.example.com", "carts.example.com pay"},
	} {
		t.Run(name, func(t *testing.T) {
			d := readDump(t, "testdata/dumps/"+name+".txtar")
			last := txtar.File{Name: "zz/core_v1_secrets.json", Data: []byte(strings.Repeat(" ", 4096))}
			whole := tarOf(t, append(slices.Clone(d.files), last))
			for cut, want := range map[int]bool{0: true, 3000: false} {
				s, err := readBytes(whole[:len(whole)-cut], Options{AllowPartial: true})
				if err != nil {
					t.Fatal(err)
				}
				for _, q := range questions {
					if got := strings.Contains(answer(s, q), ": covered"); got != want {
						t.Errorf("%d bytes missing: %s", cut, answer(s, q))
					}
				}
			}
		})
	}
}
