package kube

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/message"
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
		m.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: text.Draw(t, "manager"), FieldsV1: metav1.NewFieldsV1(strings.Repeat("f", rapid.IntRange(0, 200000).Draw(t, "fields")))}}
	}
	return m
}

func read(r io.Reader) ([]*object.Object, listMeta, error) {
	var got []*object.Object
	meta, err := readPartialList(r, message.NewBuilder(configMaps), func(o *object.Object) error { got = append(got, o); return nil })
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
		m.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", FieldsV1: metav1.NewFieldsV1(strings.Repeat("f", 600))}}
		list.Items = append(list.Items, m)
	}
	text := wrapped(metaVersion, partialList, &list)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readPartialList(bytes.NewReader(text), message.NewBuilder(configMaps), func(*object.Object) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
