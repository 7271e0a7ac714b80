package snapshot

import (
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/etcdfile"
)

// BenchmarkEtcd reads an etcd snapshot of 100,000 objects of about 2 KB each: pods, Secrets and
// ConfigMaps with realistic managed fields, and custom resources.
func BenchmarkEtcd(b *testing.B) {
	const objects = 100_000
	fields := strings.Repeat(`{"f:metadata":{"f:labels":{".":{},"f:app":{}},"f:ownerReferences":{".":{}}},`, 10)
	writes := storedShop(b)
	for i := range objects {
		name := fmt.Sprintf("web-%06d", i)
		meta := metav1.ObjectMeta{
			Name: name, Namespace: "shop", UID: types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", i)),
			CreationTimestamp: metav1.Unix(1e9, 0), Labels: map[string]string{"app": "web", "tier": "front"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: fmt.Sprintf("web-%d", i/10), UID: types.UID(fmt.Sprint(i / 10)), Controller: new(true)}},
			ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "kubelet", Operation: "Update", FieldsV1: metav1.NewFieldsV1(fields)}},
		}
		switch i % 5 {
		case 0:
			writes = append(writes, etcdfile.Write{"example.com/widgets/shop/" + name, fmt.Sprintf(
				`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":%q,"namespace":"shop","uid":%q,"annotations":{"a":%q}},"spec":{"text":%q}}`,
				name, meta.UID, fields, strings.Repeat("x", 1000))})
		case 1:
			writes = append(writes, etcdfile.Write{"secrets/shop/" + name, etcdfile.Message(b, "v1", "Secret",
				&corev1.Secret{ObjectMeta: meta, Type: "Opaque", Data: map[string][]byte{"a": make([]byte, 1000)}})})
		case 2:
			writes = append(writes, etcdfile.Write{"configmaps/shop/" + name, etcdfile.Message(b, "v1", "ConfigMap",
				&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"a": strings.Repeat("x", 1000)}})})
		default:
			container := corev1.Container{Name: "c", Image: "registry.example.com/shop/web:1.2.3", Env: make([]corev1.EnvVar, 20)}
			writes = append(writes, etcdfile.Write{"pods/shop/" + name, etcdfile.Message(b, "v1", "Pod",
				&corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{container, container}}})})
		}
	}
	path := etcdfile.Create(b, 0, writes...)
	stat, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	writes = nil
	b.SetBytes(stat.Size())
	b.ReportAllocs()
	for b.Loop() {
		s, err := ReadFiles([]string{path}, Options{})
		if err != nil || len(s.Objects) < objects {
			b.Fatal(err, len(s.Objects))
		}
	}
}
