package kube

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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
