package kube

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// drawMeta draws the metadata of one object.
func drawMeta(t *rapid.T) metav1.ObjectMeta {
	text := rapid.StringN(0, 8, 20)
	m := metav1.ObjectMeta{
		Name: rapid.StringMatching(`[a-z]{1,12}`).Draw(t, "name"), Namespace: rapid.SampledFrom([]string{"", "shop", "web"}).Draw(t, "namespace"),
		GenerateName: text.Draw(t, "generateName"), UID: types.UID(text.Draw(t, "uid")),
		ResourceVersion: rapid.StringMatching(`[0-9]{0,6}`).Draw(t, "version"), Generation: rapid.Int64().Draw(t, "generation"),
		Labels: rapid.MapOfN(rapid.StringMatching(`[a-z/.]{0,4}`), rapid.StringMatching(`[a-z]{0,3}`), 0, 4).Draw(t, "labels"),
		Annotations: rapid.MapOfN(
			rapid.OneOf(text, rapid.SampledFrom([]string{object.ProtectAnnotation, object.ResourcePolicyAnnotation, object.RevisionAnnotation})),
			rapid.OneOf(text, rapid.SampledFrom([]string{"keep", "false", "true", "7"})), 0, 3).Draw(t, "annotations"),
		Finalizers: rapid.SliceOfN(rapid.SampledFrom([]string{"orphan", "foregroundDeletion", "example.com/x"}), 0, 3).Draw(t, "finalizers"),
	}
	second := rapid.Int64Range(1, 4e9)
	if rapid.Bool().Draw(t, "created") {
		m.CreationTimestamp = metav1.Unix(second.Draw(t, "creationTimestamp"), 0)
	}
	if rapid.Bool().Draw(t, "deleted") {
		at := metav1.Unix(second.Draw(t, "deletionTimestamp"), 0)
		m.DeletionTimestamp = &at
	}
	m.DeletionGracePeriodSeconds = rapid.Ptr(rapid.Int64(), true).Draw(t, "grace")
	for range rapid.IntRange(0, 3).Draw(t, "owners") {
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{
			APIVersion: rapid.SampledFrom([]string{"v1", "apps/v1", ""}).Draw(t, "ownerVersion"), Kind: text.Draw(t, "ownerKind"),
			Name: text.Draw(t, "ownerName"), UID: types.UID(rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "ownerUID")),
			Controller: rapid.Ptr(rapid.Bool(), true).Draw(t, "controller"), BlockOwnerDeletion: rapid.Ptr(rapid.Bool(), true).Draw(t, "block"),
		})
	}
	if rapid.Bool().Draw(t, "managed") {
		m.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: text.Draw(t, "manager"), FieldsV1: &metav1.FieldsV1{Raw: []byte(strings.Repeat("f", rapid.IntRange(0, 200000).Draw(t, "fields")))}}}
	}
	return m
}

func read(r io.Reader) ([]*object.Object, listMeta, error) {
	var got []*object.Object
	meta, err := readPartialList(r, manifest.NewBuilder(configMaps), func(o *object.Object) error { got = append(got, o); return nil })
	return got, meta, err
}

// TestReaderAgrees compares the streaming reader with the decoder of apimachinery on random lists
// that arrive in random pieces. Every proper prefix of a list is refused.
func TestReaderAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "17", Continue: rapid.StringN(0, 3, 9).Draw(t, "continue"), RemainingItemCount: rapid.Ptr(rapid.Int64(), true).Draw(t, "remaining")}}
		for range rapid.IntRange(0, 5).Draw(t, "items") {
			list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: drawMeta(t)})
		}
		text := wrapped(metaVersion, partialList, &list)
		var want []*object.Object
		var decoded metav1.PartialObjectMetadataList
		var u kuberuntime.Unknown
		if err := u.Unmarshal(text[4:]); err != nil {
			t.Fatal(err)
		}
		if err := decoded.Unmarshal(u.Raw); err != nil {
			t.Fatal(err)
		}
		for i := range decoded.Items {
			want = append(want, ObjectOf(&decoded.Items[i], "v1", "ConfigMap"))
		}
		var source io.Reader = bytes.NewReader(text)
		switch rapid.IntRange(0, 2).Draw(t, "pieces") {
		case 0:
			source = iotest.HalfReader(source)
		case 1:
			source = iotest.DataErrReader(source)
		}
		got, meta, err := read(source)
		if err != nil {
			t.Fatal(err)
		}
		if meta.resourceVersion != "17" || meta.more != decoded.Continue {
			t.Errorf("the list says %+v", meta)
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(object.Equal)); diff != "" {
			t.Error(diff)
		}
		// The two empty fields after the list are not part of its content.
		cut := rapid.IntRange(0, len(text)-5).Draw(t, "cut")
		if _, _, err := read(bytes.NewReader(text[:cut])); err == nil {
			t.Errorf("the first %d of %d bytes passed for a list", cut, len(text))
		}
	})
}

func TestReaderRefuses(t *testing.T) {
	list := &metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{metaOf(named("a"), "1")}}
	nameless := &metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{{}}}
	nul := &metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{metaOf(named("a"), "1")}}
	nul.Items[0].Labels = map[string]string{"a": "b\x00c"}
	early := &metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{metaOf(named("a"), "1")}}
	early.Items[0].DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
	good := wrapped(metaVersion, partialList, list)
	for name, text := range map[string][]byte{
		"nothing":                nil,
		"only the mark":          []byte("k8s\x00"),
		"text":                   []byte("<html>"),
		"another kind":           wrapped("v1", "ConfigMapList", list),
		"one object":             wrapped(metaVersion, partialKind, list),
		"another group":          wrapped("v1", partialList, list),
		"an item without a name": wrapped(metaVersion, partialList, nameless),
		"a label with a NUL":     wrapped(metaVersion, partialList, nul),
		"a time that is no time": wrapped(metaVersion, partialList, early),
		"two lists":              append(bytes.Clone(good), good[4:]...),
		"a group field":          append(bytes.Clone(good), 0x2b),
		"a length beyond reason": binary.AppendUvarint(append([]byte("k8s\x00"), 0x12), 1<<62),
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := read(bytes.NewReader(text)); err == nil {
				t.Error("it passed for a list")
			}
		})
	}
}

// FuzzPartialList: no input makes the reader panic, and input that both it and apimachinery accept
// has the same meaning for both.
func FuzzPartialList(f *testing.F) {
	m := metaOf(named("a"), "5")
	m.Labels, m.Finalizers = map[string]string{"app": "web"}, []string{"orphan"}
	m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u", Controller: new(true)}}
	m.CreationTimestamp = metav1.Unix(1e9, 0)
	f.Add(wrapped(metaVersion, partialList, &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}, Items: []metav1.PartialObjectMetadata{m}}))
	f.Add(listBody("3", "more"))
	f.Add(wrapped(metaVersion, partialKind, &m))
	f.Add([]byte("k8s\x00\x12\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, _, err := read(bytes.NewReader(text))
		if _, frameErr := newFrameReader(configMaps).event(text); frameErr == nil && len(text) == 0 {
			t.Error("an empty frame is an event")
		}
		if err != nil {
			return
		}
		var u kuberuntime.Unknown
		var decoded metav1.PartialObjectMetadataList
		if u.Unmarshal(text[4:]) != nil || decoded.Unmarshal(u.Raw) != nil {
			return
		}
		if len(decoded.Items) != len(got) {
			t.Fatalf("%d items, and apimachinery reads %d", len(got), len(decoded.Items))
		}
		for i := range got {
			if want := ObjectOf(&decoded.Items[i], "v1", "ConfigMap"); !object.Equal(got[i], want) {
				t.Errorf("item %d: %s", i, cmp.Diff(want, got[i]))
			}
		}
	})
}

func BenchmarkPartialList(b *testing.B) {
	list := metav1.PartialObjectMetadataList{}
	for range 1000 {
		m := metaOf(named("object"), "12345")
		m.Labels = map[string]string{"app": "web", "tier": "front"}
		m.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", FieldsV1: &metav1.FieldsV1{Raw: []byte(strings.Repeat("f", 600))}}}
		list.Items = append(list.Items, m)
	}
	text := wrapped(metaVersion, partialList, &list)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readPartialList(bytes.NewReader(text), manifest.NewBuilder(configMaps), func(*object.Object) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// drawPod draws a pod as a server stores it.
func drawPod(t *rapid.T) corev1.Pod {
	p := corev1.Pod{ObjectMeta: drawMeta(t)}
	p.Namespace = "shop"
	p.Labels = map[string]string{"app": "web"}
	if p.CreationTimestamp.IsZero() {
		p.CreationTimestamp = metav1.Unix(1e9, 0)
	}
	for i := range p.OwnerReferences {
		p.OwnerReferences[i].APIVersion, p.OwnerReferences[i].Kind, p.OwnerReferences[i].Name = "apps/v1", "ReplicaSet", "web"
	}
	p.Annotations = rapid.MapOfN(rapid.SampledFrom([]string{"x", object.ProtectAnnotation, object.ResourcePolicyAnnotation, object.RevisionAnnotation}),
		rapid.SampledFrom([]string{"", "keep", "false", "3", "4"}), 0, 3).Draw(t, "podAnnotations")
	p.ManagedFields, p.GenerateName, p.UID = nil, "", "u"
	if rapid.Bool().Draw(t, "mirror") {
		p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x", object.ProtectAnnotation: "yes"}
	}
	p.Spec.NodeName = rapid.SampledFrom([]string{"", "n1", "n2"}).Draw(t, "node")
	p.Status.Phase = corev1.PodPhase(rapid.SampledFrom([]string{"", "Running", "Failed"}).Draw(t, "phase"))
	p.Spec.TerminationGracePeriodSeconds = rapid.Ptr(rapid.Int64Range(0, 2), true).Draw(t, "terminationGrace")
	p.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	for range rapid.IntRange(0, 3).Draw(t, "volumes") {
		v := corev1.Volume{Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "volume")}
		switch rapid.IntRange(0, 3).Draw(t, "source") {
		case 0:
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: rapid.SampledFrom([]string{"", "disk"}).Draw(t, "claim")}
		case 1:
			v.Ephemeral = &corev1.EphemeralVolumeSource{}
		case 2:
			v.EmptyDir = &corev1.EmptyDirVolumeSource{}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
	return p
}

// TestPodsAgree: pods have the same facts whether they come as protobuf or as the JSON that package
// manifest reads.
func TestPodsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, ListMeta: metav1.ListMeta{ResourceVersion: "7"}}
		for range rapid.IntRange(0, 5).Draw(t, "pods") {
			list.Items = append(list.Items, drawPod(t))
		}
		read := func(media string, body []byte) (got []*object.Object) {
			rd := newListReader(Place{Resource: pods}, Listing{Object: func(o *object.Object) error { got = append(got, o); return nil }})
			meta, err := rd.page(&answer{body: closed{bytes.NewReader(body)}, media: media})
			if err != nil || meta.resourceVersion != "7" {
				t.Fatalf("%s: %v, %+v", media, err, meta)
			}
			return got
		}
		text := read(jsonType, encode(&list))
		message := read(protobufType, wrapped("v1", "PodList", &list))
		if diff := cmp.Diff(text, message, cmp.Comparer(object.Equal)); diff != "" {
			t.Error(diff)
		}
		if len(list.Items) == 0 {
			return
		}
		pod := &list.Items[0]
		e, err := newFrameReader(pods).event(framed("ADDED", wrapped("v1", "Pod", pod))[4:])
		if err != nil || !object.Equal(e.Object, text[0]) {
			t.Errorf("in a watch: %v, %s", err, cmp.Diff(text[0], e.Object))
		}
	})
}

// TestEveryFactOfAPodIsRead: the pods of TestPodsAgree cover every fact that package manifest
// reads.
func TestEveryFactOfAPodIsRead(t *testing.T) {
	p := corev1.Pod{ObjectMeta: metaOf(named("p"), "1").ObjectMeta}
	p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
	p.Spec.NodeName, p.Spec.TerminationGracePeriodSeconds = "n1", new(int64(30))
	p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "disk"}}}}
	p.Status.Phase = corev1.PodRunning
	o, err := readPartial(wrapped("v1", "Pod", &p), manifest.NewPods(pods))
	if err != nil {
		t.Fatal(err)
	}
	for field, value := range reflect.ValueOf(o.Pod()).Elem().Fields() {
		if value.IsZero() {
			t.Errorf("PodFacts.%s is not read of the message, or the pod of this test does not say it", field.Name)
		}
	}
}

// closed is a body that needs no Close.
type closed struct{ *bytes.Reader }

// Close does nothing.
func (closed) Close() error { return nil }

// TestPodsShare: equal pods share their Lifecycle, and finalizers are never taken for pods.
func TestPodsShare(t *testing.T) {
	sh := manifest.NewPods(pods)
	build := func(change func(*corev1.Pod)) *object.Object {
		p := corev1.Pod{ObjectMeta: metaOf(named("p"), "1").ObjectMeta}
		p.Spec.NodeName = "n1"
		change(&p)
		o, err := readPartial(wrapped("v1", "Pod", &p), sh)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	a, b := build(func(*corev1.Pod) {}), build(func(*corev1.Pod) {})
	other := build(func(p *corev1.Pod) { p.Spec.NodeName = "n2" })
	held := build(func(p *corev1.Pod) { p.Finalizers = []string{"n1"} })
	if a.Lifecycle != b.Lifecycle || a.Lifecycle == other.Lifecycle || held.Lifecycle == a.Lifecycle || len(a.Finalizers()) > 0 || held.Pod().NodeName != "n1" {
		t.Errorf("%+v, %+v, %+v", a.Lifecycle, other.Lifecycle, held.Lifecycle)
	}
	odd := build(func(p *corev1.Pod) { p.Spec.NodeName = "n1\x00"; p.Finalizers = []string{"a\x00b"} })
	if split := build(func(p *corev1.Pod) { p.Spec.NodeName = "n1\x00"; p.Finalizers = []string{"a", "b"} }); odd.Lifecycle == split.Lifecycle || odd.Finalizers()[0] != "a\x00b" {
		t.Errorf("%+v, %+v", odd.Lifecycle, split.Lifecycle)
	}
}

func BenchmarkPodList(b *testing.B) {
	list := corev1.PodList{}
	for i := range 1000 {
		p := corev1.Pod{ObjectMeta: metaOf(named("p"), "12345").ObjectMeta}
		p.Labels = map[string]string{"app": "web", "tier": "front"}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "u", Controller: new(true)}}
		p.Spec.NodeName, p.Status.Phase, p.Spec.TerminationGracePeriodSeconds = fmt.Sprint("node-", i%50), "Running", new(int64(30))
		p.Spec.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}}}
		p.Spec.Containers = []corev1.Container{{Name: "c", Image: "example.com/image", Env: []corev1.EnvVar{{Name: "A", Value: "b"}}}}
		if i%10 == 0 {
			p.Finalizers = []string{"batch.kubernetes.io/job-tracking"}
		}
		if i%100 == 0 {
			p.Spec.Volumes[0].PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}
		}
		list.Items = append(list.Items, p)
	}
	text := wrapped("v1", "PodList", &list)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readPartialList(bytes.NewReader(text), manifest.NewPods(pods), func(*object.Object) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
