package kube

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestReadOutside: a few objects are read one by one, and more of one kind and namespace with one
// list. Lists of a snapshot are of metadata alone unless it is written to a file.
func TestReadOutside(t *testing.T) {
	buckets := object.Resource{Group: "s3.aws.upbound.io", Version: "v1", Name: "buckets", Kind: "Bucket", Verbs: object.AllVerbs}
	const path = "/apis/s3.aws.upbound.io/v1/buckets"
	bucket := func(n int) string {
		return fmt.Sprintf(`{"apiVersion":"s3.aws.upbound.io/v1","kind":"Bucket","metadata":{"name":"b%d","uid":"u%d"},"spec":{"deletionPolicy":"Orphan"}}`, n, n)
	}
	respond := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(text))
		}
	}
	for _, c := range []struct {
		objects int
		want    []string
	}{
		{0, nil},
		{2, []string{"GET " + path + "/b0", "GET " + path + "/b1"}},
		{5, []string{"GET " + path}},
	} {
		s, client := serve(t)
		s.serves(nil, namespaces, buckets)
		items, objects := "", []*object.Object(nil)
		for n := range c.objects {
			s.on(fmt.Sprintf("%s/b%d", path, n), respond(bucket(n)))
			if items += bucket(n); n+1 < c.objects {
				items += ","
			}
			objects = append(objects, &object.Object{Ref: object.Ref{
				APIVersion: "s3.aws.upbound.io/v1", Kind: "Bucket", Name: fmt.Sprintf("b%d", n), UID: types.UID(fmt.Sprintf("u%d", n)),
			}})
		}
		s.on(path, respond(`{"apiVersion":"s3.aws.upbound.io/v1","kind":"BucketList","metadata":{"resourceVersion":"1"},"items":[`+items+`]}`))
		if _, err := client.Discover(context.Background()); err != nil {
			t.Fatal(err)
		}
		before := len(s.requests(path))
		got, err := client.ReadOutside(context.Background(), objects)
		if err != nil || len(got) != c.objects {
			t.Errorf("%d objects: %d read, %v", c.objects, len(got), err)
		}
		for uid, facts := range got {
			if policy, _ := facts.Value("spec.deletionPolicy"); policy != "Orphan" {
				t.Errorf("%s: %+v", uid, facts)
			}
		}
		asked := s.requests(path)[before:]
		if len(asked) != len(c.want) {
			t.Errorf("%d objects: %q, want %q", c.objects, asked, c.want)
		}
	}
}
