package past

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

// BenchmarkLost finds the losses in an etcd snapshot of 100,000 objects of some 2 KB, after the
// deletion of a namespace with 5,000.
func BenchmarkLost(b *testing.B) {
	const objects, lost = 100_000, 5_000
	text := strings.Repeat("x", 2000)
	object := func(i int) etcdfile.Write {
		ns := "shop"
		if i < lost {
			ns = "gone"
		}
		m := metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprint("object-", i), UID: types.UID(fmt.Sprint("u", i))}
		switch i % 5 {
		case 0:
			return etcdfile.Write{"secrets/" + ns + "/" + m.Name, etcdfile.Message(b, "v1", "Secret", &corev1.Secret{ObjectMeta: m, Data: map[string][]byte{"a": []byte(text)}})}
		case 1:
			return etcdfile.Write{"serviceaccounts/" + ns + "/" + m.Name, etcdfile.Message(b, "v1", "ServiceAccount", &corev1.ServiceAccount{ObjectMeta: m})}
		case 2:
			return etcdfile.Write{"services/specs/" + ns + "/" + m.Name, etcdfile.Message(b, "v1", "Service", &corev1.Service{ObjectMeta: m})}
		}
		m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ServiceAccount", Name: fmt.Sprint("object-", i/5*5+1), UID: types.UID(fmt.Sprint("u", i/5*5+1))}}
		return etcdfile.Write{"configmaps/" + ns + "/" + m.Name, etcdfile.Message(b, "v1", "ConfigMap", &corev1.ConfigMap{ObjectMeta: m, Data: map[string]string{"a": text}})}
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "gone", UID: "ns"}, Spec: corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{"kubernetes"}}}
	writes := []etcdfile.Write{lease(b, 1e9), {"namespaces/gone", etcdfile.Message(b, "v1", "Namespace", ns)}}
	for i := range objects {
		writes = append(writes, object(i))
	}
	now := metav1.Unix(1e9+1, 0)
	ns.DeletionTimestamp = &now
	compacted := len(writes)
	writes = append(writes, lease(b, 1e9+1), etcdfile.Write{"namespaces/gone", etcdfile.Message(b, "v1", "Namespace", ns)})
	for i := range lost {
		writes = append(writes, gone(object(i)))
	}
	path := etcdfile.Create(b, compacted, append(writes, etcdfile.Write{"namespaces/gone", ""})...)
	stat, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	writes = nil
	b.SetBytes(stat.Size())
	b.ReportAllocs()
	for b.Loop() {
		r := open(b, path)
		p, err := r.Past(b.Context(), Window{})
		if err != nil {
			b.Fatal(err)
		}
		if a := Trace(p); len(a.Losses) != lost+1 || len(a.Requests) != 1 {
			b.Fatal(len(a.Losses), len(a.Requests))
		}
		r.Close()
	}
}
