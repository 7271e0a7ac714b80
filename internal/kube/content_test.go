package kube

import "testing"

// Two versions have the same content if only the cluster has written between them.
func TestContent(t *testing.T) {
	const was = `{"metadata":{"name":"a","resourceVersion":"1","generation":1,"labels":{"a":"b"},"ownerReferences":[{"uid":"1"}]},"spec":{"n":9007199254740993},"status":{"ready":true}}`
	for name, x := range map[string]struct {
		is   string
		same bool
	}{
		"version and references": {`{"metadata":{"name":"a","resourceVersion":"2","generation":1,"labels":{"a":"b"}},"spec":{"n":9007199254740993},"status":{"ready":true}}`, true},
		"being deleted":          {`{"metadata":{"name":"a","resourceVersion":"2","generation":2,"labels":{"a":"b"},"deletionTimestamp":"x","deletionGracePeriodSeconds":0,"finalizers":["f"]},"spec":{"n":9007199254740993},"status":{"ready":true}}`, true},
		"status":                 {`{"metadata":{"name":"a","labels":{"a":"b"},"managedFields":[]},"spec":{"n":9007199254740993},"status":{"ready":false}}`, true},
		"another order":          {`{"spec":{"n":9007199254740993},"metadata":{"labels":{"a":"b"},"name":"a"}}`, true},
		"spec":                   {`{"metadata":{"name":"a","labels":{"a":"b"}},"spec":{"n":9007199254740992}}`, false},
		"label":                  {`{"metadata":{"name":"a"},"spec":{"n":9007199254740993}}`, false},
		"annotation":             {`{"metadata":{"name":"a","labels":{"a":"b"},"annotations":{"a":"b"}},"spec":{"n":9007199254740993}}`, false},
		"another field":          {`{"metadata":{"name":"a","labels":{"a":"b"}},"spec":{"n":9007199254740993},"data":{}}`, false},
	} {
		a, err := ContentOf([]byte(was))
		if err != nil {
			t.Fatal(err)
		}
		b, err := ContentOf([]byte(x.is))
		if err != nil || (a == b) != x.same {
			t.Errorf("%s: the same %t, want %t; %v", name, a == b, x.same, err)
		}
	}
	for _, broken := range []string{"", "null", "[]", `{"metadata":1}`} {
		if c, err := ContentOf([]byte(broken)); err == nil {
			t.Errorf("%q has the content %x", broken, c)
		}
	}
}
