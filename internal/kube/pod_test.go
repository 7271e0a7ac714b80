package kube

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/message"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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
	o, err := readPartial(wrapped("v1", "Pod", &p), message.NewPods(pods))
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
	sh := message.NewPods(pods)
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
		if _, err := readPartialList(bytes.NewReader(text), message.NewPods(pods), func(*object.Object) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
