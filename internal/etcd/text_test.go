package etcd

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
)

// TestText: the text has the whole object, with its resourceVersion.
func TestText(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: meta("web"), Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "c", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("1.50")}}},
	}}}
	widget := `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","uid":"u"},"spec":{"n":12345678901234567890,"t":"<a>"}}`
	want := func(o any, apiVersion, kind string) map[string]any {
		text, err := json.Marshal(o)
		if s, ok := o.(string); ok {
			text, err = []byte(s), nil
		}
		var m map[string]any
		if err := errors.Join(err, json.Unmarshal(text, &m)); err != nil {
			t.Fatal(err)
		}
		m["apiVersion"], m["kind"] = apiVersion, kind
		m["metadata"].(map[string]any)["resourceVersion"] = "7"
		return m
	}
	for value, want := range map[string]map[string]any{
		string(stored(t, "v1", "Pod", pod)): want(pod, "v1", "Pod"),
		widget + "\n":                       want(widget, "example.com/v1", "Widget"),
	} {
		text, err := decoder(nil, nil).Text(Entry{Value: []byte(value), Revision: 7})
		var got map[string]any
		if err := errors.Join(err, json.Unmarshal(text, &got)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if strings.Contains(value, "Widget") && !strings.Contains(string(text), "12345678901234567890") {
			t.Errorf("%s", text)
		}
	}
}

// TestTextOfOthers: an object that can't be shown whole is an error.
func TestTextOfOthers(t *testing.T) {
	pod, err := (&corev1.Pod{ObjectMeta: meta("web"), Spec: corev1.PodSpec{NodeName: "n"}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	field := func(number protowire.Number, content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
	}
	with := func(more ...byte) string {
		b := raw(append(append([]byte{}, pod...), more...))
		return string(stored(t, "v1", "Pod", &b))
	}
	for value, want := range map[string]string{
		with():                             "",
		with(field(999, nil)...):           "",
		with(field(999, []byte("new"))...): "it has fields of v1 Pod that this program does not know",
		with(append(protowire.AppendTag(nil, 999, 0), 1)...):     "it has fields of v1 Pod that this program does not know",
		with(append(protowire.AppendTag(nil, 999, 0), 0)...):     "",
		string(stored(t, "example.com/v1", "New", (*raw)(&pod))): "the fields of example.com/v1 New are not known",
		"k8s:enc:kms:v2:x:y":                                     "it is encrypted (kms)",
		`{"apiVersion":"v1","kind":"ConfigMap"}`:                 "its metadata",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":null}`: "its metadata is missing",
		`{"kind":`: "unexpected end",
		"nonsense": "neither protobuf nor JSON",
	} {
		_, err := decoder(nil, nil).Text(Entry{Value: []byte(value)})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", value, err, want)
		}
	}
	nested := raw(field(2, field(15, field(999, []byte("new")))))
	if _, err := decoder(nil, nil).Text(Entry{Value: stored(t, "v1", "Pod", &nested)}); err == nil || !strings.Contains(err.Error(), "does not know") {
		t.Error(err)
	}
	bomb := raw(strings.Repeat("\x12\x00", 5_000_000))
	if _, err := decoder(nil, nil).Text(Entry{Value: stored(t, "v1", "Pod", &bomb)}); !errors.Is(err, manifest.ErrLimit) {
		t.Error(err)
	}
}
