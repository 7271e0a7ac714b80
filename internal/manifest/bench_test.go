package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// podText is one pod of a list as kubectl prints it in JSON with managedFields. %[1]d and %[2]d are
// the numbers of the pod and of its owner.
const podText = `{
 "apiVersion": "v1", "kind": "Pod",
 "metadata": {
  "annotations": {"checksum/config": "6c1b2f0d9b0a7c55%[1]d", "prometheus.io/scrape": "true"},
  "creationTimestamp": "2026-11-21T12:34:21Z",
  "generateName": "web-%[2]d-",
  "labels": {"app": "web", "pod-template-hash": "h%[2]d", "tier": "front"},
  "managedFields": [
   {"apiVersion": "v1", "fieldsType": "FieldsV1", "manager": "kube-controller-manager", "operation": "Update", "time": "2026-11-21T12:34:21Z",
    "fieldsV1": {"f:metadata": {"f:generateName": {}, "f:labels": {".": {}, "f:app": {}, "f:pod-template-hash": {}}, "f:ownerReferences": {".": {}, "k:{\"uid\":\"1ac5b9a2-6bc9-49db-8a46-0698a2e9dc19\"}": {}}},
     "f:spec": {"f:containers": {"k:{\"name\":\"web\"}": {".": {}, "f:image": {}, "f:imagePullPolicy": {}, "f:name": {}, "f:resources": {}, "f:terminationMessagePath": {}}}, "f:dnsPolicy": {}, "f:restartPolicy": {}, "f:schedulerName": {}}}},
   {"apiVersion": "v1", "fieldsType": "FieldsV1", "manager": "kubelet", "operation": "Update", "subresource": "status", "time": "2026-11-21T12:35:00Z",
    "fieldsV1": {"f:status": {"f:conditions": {"k:{\"type\":\"Ready\"}": {".": {}, "f:lastProbeTime": {}, "f:status": {}, "f:type": {}}}, "f:containerStatuses": {}, "f:phase": {}, "f:podIP": {}}}}],
  "name": "web-%[2]d-x%[1]d",
  "namespace": "shop",
  "ownerReferences": [{"apiVersion": "apps/v1", "blockOwnerDeletion": true, "controller": true, "kind": "ReplicaSet", "name": "web-%[2]d", "uid": "1ac5b9a2-6bc9-49db-8a46-%012[2]d"}],
  "resourceVersion": "%[1]d",
  "uid": "cf9db8fc-1756-447f-b108-%012[1]d"
 },
 "spec": {
  "containers": [{
   "command": ["/bin/sh", "-c", "while true; do echo serving; sleep 10; done\necho a very long line of text that makes kubectl fold the scalar over several lines of output\n"],
   "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}, {"name": "LEVEL", "value": "debug"}],
   "image": "registry.example.com/shop/web:1.2.3", "imagePullPolicy": "IfNotPresent",
   "livenessProbe": {"failureThreshold": 3, "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1},
   "name": "web", "ports": [{"containerPort": 8080, "protocol": "TCP"}],
   "resources": {"limits": {"memory": "128Mi"}, "requests": {"cpu": "100m", "memory": "64Mi"}},
   "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
   "volumeMounts": [{"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "kube-api-access-x7k2p", "readOnly": true}]}],
  "dnsPolicy": "ClusterFirst", "enableServiceLinks": true, "nodeName": "node-7", "preemptionPolicy": "PreemptLowerPriority", "priority": 0,
  "restartPolicy": "Always", "schedulerName": "default-scheduler", "securityContext": {}, "serviceAccountName": "default", "terminationGracePeriodSeconds": 30,
  "tolerations": [{"effect": "NoExecute", "key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 300}]
 },
 "status": {
  "conditions": [{"lastProbeTime": null, "lastTransitionTime": "2026-11-21T12:34:21Z", "status": "True", "type": "Initialized"}, {"lastProbeTime": null, "lastTransitionTime": "2026-11-21T12:35:00Z", "message": "containers with unready status: [web], and more words so that it is folded", "reason": "ContainersNotReady", "status": "False", "type": "Ready"}],
  "containerStatuses": [{"containerID": "containerd://6c1b2f0d9b0a7c5536c1b2f0d9b0a7c553", "image": "registry.example.com/shop/web:1.2.3", "lastState": {}, "name": "web", "ready": true, "restartCount": 0, "started": true, "state": {"running": {"startedAt": "2026-11-21T12:34:59Z"}}}],
  "hostIP": "10.0.0.7", "phase": "Running", "podIP": "10.1.7.%[1]d", "qosClass": "Burstable", "startTime": "2026-11-21T12:34:21Z"
 }
}`

// podList returns a list of n pods as `kubectl get pods -o json` prints it.
func podList(tb testing.TB, n int, perOwner int) []byte {
	var list, out bytes.Buffer
	list.WriteString(`{"apiVersion":"v1","items":[`)
	for i := range n {
		if i > 0 {
			list.WriteByte(',')
		}
		fmt.Fprintf(&list, podText, i, i/perOwner)
	}
	list.WriteString(`],"kind":"List","metadata":{"resourceVersion":""}}`)
	if err := indent(&out, list.Bytes()); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func countObjects(tb testing.TB, text []byte, want int) {
	n := 0
	err := Read(bytes.NewReader(text), Options{File: "in"}, Handler{
		Object: func(*object.Object, bool, Position) error { n++; return nil },
	})
	if err != nil || n != want {
		tb.Fatalf("%d objects, %v; want %d", n, err, want)
	}
}

func BenchmarkReadJSON(b *testing.B) {
	text := podList(b, 2000, 50)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		countObjects(b, text, 2000)
	}
}

func BenchmarkReadYAML(b *testing.B) {
	text, err := yaml.JSONToYAML(podList(b, 2000, 50))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		countObjects(b, text, 2000)
	}
}

func BenchmarkReadYAMLDocuments(b *testing.B) {
	text, err := yaml.JSONToYAML(podList(b, 2000, 50))
	if err != nil {
		b.Fatal(err)
	}
	documents := "---\n" + strings.ReplaceAll(string(text[bytes.Index(text, []byte("- ")):bytes.LastIndex(text, []byte("\nkind: List"))]), "\n  ", "\n")
	stream := []byte(strings.ReplaceAll("\n"+documents, "\n- apiVersion", "\n---\napiVersion") + "\n")
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		countObjects(b, stream, 2000)
	}
}

func BenchmarkReadYAMLFully(b *testing.B) {
	text, err := yaml.JSONToYAML(podList(b, 200, 50))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := findFully(text); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMemory reports the memory of one retained object.
func BenchmarkMemory(b *testing.B) {
	const n = 20000
	for _, perOwner := range []int{1, 50} {
		b.Run(fmt.Sprintf("perOwner=%d", perOwner), func(b *testing.B) {
			text := podList(b, n, perOwner)
			for b.Loop() {
				objects := make([]*object.Object, 0, n)
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				in := NewInterner()
				err := Read(bytes.NewReader(text), Options{Interner: in}, Handler{
					Object: func(o *object.Object, _ bool, _ Position) error { objects = append(objects, o); return nil },
				})
				if err != nil {
					b.Fatal(err)
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "heap-B/object")
				runtime.KeepAlive(objects)
				runtime.KeepAlive(in)
			}
		})
	}
}

// The peers of Read on the same input: a reader with the standard library, and kubectl's own
// decoder.

func BenchmarkPeerPartialObjectMetadata(b *testing.B) {
	input := podList(b, 2000, 50)
	b.SetBytes(int64(len(input)))
	b.ReportAllocs()
	for b.Loop() {
		d := json.NewDecoder(bytes.NewReader(input))
		for {
			token, err := d.Token()
			if err != nil {
				b.Fatal(err)
			}
			if token == "items" {
				break
			}
		}
		if _, err := d.Token(); err != nil {
			b.Fatal(err)
		}
		for d.More() {
			var o metav1.PartialObjectMetadata
			if err := d.Decode(&o); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkPeerUnstructuredList(b *testing.B) {
	input := podList(b, 2000, 50)
	b.SetBytes(int64(len(input)))
	b.ReportAllocs()
	for b.Loop() {
		var l unstructured.UnstructuredList
		if err := l.UnmarshalJSON(input); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPeerJSONText is the minimum for a reader over jsontext: it descends to our fields, skips
// all others, and keeps nothing.
func BenchmarkPeerJSONText(b *testing.B) {
	input := podList(b, 2000, 50)
	b.SetBytes(int64(len(input)))
	b.ReportAllocs()
	entered := map[string]bool{"items": true, "metadata": true, "labels": true, "annotations": true, "ownerReferences": true, "spec": true, "status": true}
	for b.Loop() {
		if err := walk(jsontext.NewDecoder(bytes.NewReader(input)), entered); err != nil {
			b.Fatal(err)
		}
	}
}

func walk(d *jsontext.Decoder, entered map[string]bool) error {
	if kind := d.PeekKind(); kind != '{' && kind != '[' {
		return d.SkipValue()
	}
	start, err := d.ReadToken()
	if err != nil {
		return err
	}
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		next := walk
		if start.Kind() == '{' {
			key, err := d.ReadToken()
			if err != nil {
				return err
			}
			if !entered[key.String()] {
				next = func(d *jsontext.Decoder, _ map[string]bool) error { return d.SkipValue() }
			}
		}
		if err := next(d, entered); err != nil {
			return err
		}
	}
	_, err = d.ReadToken()
	return err
}

// BenchmarkPeerJSONTextSkips measures how fast jsontext skips a list.
func BenchmarkPeerJSONTextSkips(b *testing.B) {
	input := podList(b, 2000, 50)
	b.SetBytes(int64(len(input)))
	for b.Loop() {
		if err := jsontext.NewDecoder(bytes.NewReader(input)).SkipValue(); err != nil {
			b.Fatal(err)
		}
	}
}
