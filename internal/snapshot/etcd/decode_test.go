package etcd

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// stored is an object as an API server stores it.
func stored(t testing.TB, apiVersion, kind string, o interface{ Marshal() ([]byte, error) }) []byte {
	t.Helper()
	raw, err := o.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
	b, err := u.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append(manifest.Magic[:4:4], b...)
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: "shop", UID: "u-" + "1", Generation: 3, CreationTimestamp: metav1.Unix(1e9, 0),
		Labels: map[string]string{"app": "web"}, Finalizers: []string{"example.com/x"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "r", Controller: new(true)}},
	}
}

func decoder(wants func(*object.Object) *manifest.Fields, raw func(*object.Object, []byte) error) *Decoder {
	return NewDecoder(DecoderOptions{Strings: manifest.NewInterner(), Limits: manifest.Limits{ParsedBytes: 128 << 20}, Wants: wants, Raw: raw})
}

// TestDecode: the object decoded from storage equals the one decoded from its text.
func TestDecode(t *testing.T) {
	account := meta("token")
	account.Annotations = map[string]string{object.AccountNameAnnotation: "default"}
	volume := meta("disk")
	volume.Namespace = ""
	volume.Annotations = map[string]string{object.ProvisionerAnnotation: "csi"}
	for what, c := range map[string]struct {
		apiVersion, kind string
		o                interface{ Marshal() ([]byte, error) }
	}{
		"a pod": {"v1", "Pod", &corev1.Pod{ObjectMeta: meta("web"), Spec: corev1.PodSpec{NodeName: "n1", Volumes: []corev1.Volume{
			{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "disk"}}},
		}}, Status: corev1.PodStatus{Phase: "Running"}}},
		"a Secret":  {"v1", "Secret", &corev1.Secret{ObjectMeta: account, Type: "Opaque", Data: map[string][]byte{"a": []byte("b")}}},
		"a token":   {"v1", "Secret", &corev1.Secret{ObjectMeta: account, Type: object.TokenType}},
		"a volume":  {"v1", "PersistentVolume", &corev1.PersistentVolume{ObjectMeta: volume, Status: corev1.PersistentVolumeStatus{Phase: "Bound"}}},
		"metadata":  {"apps/v1", "Deployment", &appsv1.Deployment{ObjectMeta: meta("web")}},
		"its facts": {"apps/v1", "StatefulSet", &appsv1.StatefulSet{ObjectMeta: meta("db"), Spec: appsv1.StatefulSetSpec{ServiceName: "db"}}},
	} {
		t.Run(what, func(t *testing.T) {
			text, err := json.Marshal(c.o)
			if err != nil {
				t.Fatal(err)
			}
			text = []byte(strings.Replace(string(text), "{", `{"apiVersion":"`+c.apiVersion+`","kind":"`+c.kind+`",`, 1))
			var raw []byte
			d := decoder(nil, func(_ *object.Object, text []byte) error {
				raw = append([]byte(nil), text...)
				return nil
			})
			want, err := d.text(text)
			if err != nil {
				t.Fatal(err)
			}
			want.ResourceVersion = "7"
			entry := Entry{Value: stored(t, c.apiVersion, c.kind, c.o), Revision: 7}
			got, err := d.Decode(entry)
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(object.Object{})); diff != "" || err != nil {
				t.Error(err, diff)
			}
			var a, b any
			if err := errors.Join(json.Unmarshal(text, &a), json.Unmarshal(raw, &b)); err != nil || !cmp.Equal(a, b) {
				t.Error(err, cmp.Diff(a, b))
			}
		})
	}
}

func TestDecodeOthers(t *testing.T) {
	widget := `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","uid":"u","finalizers":["x"]},"spec":[1]}`
	o, err := decoder(nil, nil).Decode(Entry{Value: []byte(widget + "\n"), Revision: 9})
	if err != nil || o.Ref != (object.Ref{APIVersion: "example.com/v1", Kind: "Widget", Name: "w", UID: "u"}) || o.ResourceVersion != "9" {
		t.Errorf("%+v, %v", o, err)
	}
	var sealed SealedError
	if _, err := decoder(nil, nil).Decode(Entry{Value: []byte("k8s:enc:aescbc:v1:key1:\x01\x02")}); !errors.As(err, &sealed) || sealed.By != "aescbc" {
		t.Error(err)
	}
	pod := stored(t, "v1", "Pod", &corev1.Pod{ObjectMeta: meta("web")})
	for value, want := range map[string]string{
		"":                 "neither protobuf nor JSON",
		"\xd9\xd9\xf7\xa1": "neither protobuf nor JSON",
		widget + widget:    "it holds 2 objects",
		widget[:40]:        "ends in the middle",
		`{"kind":"PodList","apiVersion":"v1","items":[]}`:                                  "it holds 0 objects",
		`{"kind":"List","apiVersion":"v1","items":[` + widget + `]}`:                       "it is a list",
		string(pod[:len(pod)-3]):                                                           "within a field",
		string(stored(t, "v1", "", &corev1.Pod{ObjectMeta: meta("web")})):                  "its kind is missing",
		string(stored(t, "v1", "Pod", &corev1.Pod{})):                                      "metadata.name is missing",
		"k8s\x00" + "\x12\xff\xff\xff\xff\x7f":                                             "within a field",
		string(stored(t, "v1", "PersistentVolume", &raw{0x0a, 0xff, 0xff, 0xff, 0xff, 7})): "EOF",
	} {
		if o, err := decoder(nil, nil).Decode(Entry{Value: []byte(value)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", value, o, err)
		}
	}
}

// TestDecodeBomb: two bytes in storage may take a thousand in memory.
func TestDecodeBomb(t *testing.T) {
	containers := bytes.Repeat([]byte{0x12, 0}, 5_000_000)
	pod := protowire.AppendBytes([]byte{0x12}, containers)
	spec := protowire.AppendBytes([]byte{0x1a}, pod)
	message := append([]byte{0x0a, 3, 0x0a, 1, 'w'}, protowire.AppendBytes([]byte{0x12}, spec)...)
	if o, err := decoder(nil, nil).Decode(Entry{Value: stored(t, "apps/v1", "StatefulSet", (*raw)(&message))}); !errors.Is(err, manifest.ErrLimit) {
		t.Errorf("%+v, %v", o, err)
	}
	given := 0
	d := decoder(nil, func(_ *object.Object, text []byte) error {
		given += 1 + len(text)
		return nil
	})
	if _, err := d.Decode(Entry{Value: stored(t, "apps/v1", "Deployment", (*raw)(&message))}); err != nil || given != 1 {
		t.Error(err, given)
	}
}

// raw is a message as it is.
type raw []byte

func (r *raw) Marshal() ([]byte, error) { return *r, nil }

func TestRenewTime(t *testing.T) {
	lease := stored(t, "coordination.k8s.io/v1", "Lease", &raw{0x12, 8, 0x22, 6, 0x08, 0x80, 0x94, 0xeb, 0xdc, 0x03})
	if at, err := RenewTime(lease); at != 1e9 || err != nil {
		t.Error(at, err)
	}
	if at, err := RenewTime([]byte("{}")); at != 0 || err != nil {
		t.Error(at, err)
	}
}

func TestKubeletVersion(t *testing.T) {
	node := stored(t, "v1", "Node", &corev1.Node{ObjectMeta: meta("n1"), Status: corev1.NodeStatus{
		NodeInfo: corev1.NodeSystemInfo{MachineID: "m", KubeletVersion: "v1.33.1"}}})
	if version, err := KubeletVersion(node); version != "v1.33.1" || err != nil {
		t.Error(version, err)
	}
	for _, value := range [][]byte{[]byte("{}"), stored(t, "v1", "Pod", &corev1.Pod{ObjectMeta: meta("web")})} {
		if version, err := KubeletVersion(value); version != "" || err != nil {
			t.Error(version, err)
		}
	}
}

// FuzzDecode: no value panics, and every decoded object has a kind and a name.
func FuzzDecode(f *testing.F) {
	f.Add(stored(f, "v1", "Pod", &corev1.Pod{ObjectMeta: meta("web")}))
	f.Add(stored(f, "v1", "Secret", &corev1.Secret{ObjectMeta: meta("web")}))
	f.Add(stored(f, "v1", "Namespace", &corev1.Namespace{ObjectMeta: meta("shop")}))
	f.Add([]byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}}`))
	f.Add([]byte("k8s:enc:kms:v2:x:y"))
	f.Fuzz(func(t *testing.T, value []byte) {
		texts := 0
		o, err := decoder(nil, func(*object.Object, []byte) error { texts++; return nil }).Decode(Entry{Value: value})
		_, _ = decoder(nil, nil).Text(Entry{Value: value})
		_, _ = RenewTime(value)
		_, _ = KubeletVersion(value)
		if err == nil && (o.Name == "" || o.Kind == "" || texts > 1) {
			t.Errorf("%+v, %d texts", o, texts)
		}
	})
}

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
