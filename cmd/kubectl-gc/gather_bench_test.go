package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// BenchmarkMustGather measures the least CPU time of commands over a must-gather of 8,000 objects.
// Each command reads the dump once.
func BenchmarkMustGather(b *testing.B) {
	dump := b.TempDir()
	writeMustGather(b, dump)
	for _, args := range [][]string{
		{"check"}, {"explain", "pod/web-3-1", "-n", "shop-7"}, {"stuck"},
	} {
		b.Run(args[0], func(b *testing.B) {
			var took time.Duration
			for b.Loop() {
				took = least(took, processor(b, append(args, "--from", dump)...))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(took)/1e6, "cpu-ms")
		})
	}
}

// writeMustGather writes the files of `oc adm inspect` for 40 namespaces with 200 objects each. 80
// of them are pods, which are in the list of their namespace and in a file of their own.
func writeMustGather(tb testing.TB, dir string) {
	tb.Helper()
	write := func(name string, content []byte) {
		path := filepath.Join(dir, "quay-io-sha256-abc", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			tb.Fatal(err)
		}
		asYAML, err := yaml.JSONToYAML(content)
		if err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, append([]byte("---\n"), asYAML...), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	for n := range 40 {
		ns := fmt.Sprintf("shop-%d", n)
		write("cluster-scoped-resources/core/namespaces/"+ns+".yaml", gathered("v1", "Namespace", "", ns, "", `"status":{"phase":"Active"}`))
		for _, k := range []struct {
			apiVersion, kind, file string
			count                  int
			more                   string
		}{
			{"v1", "Pod", "core/pods.yaml", 80, gatheredPod},
			{"apps/v1", "ReplicaSet", "apps/replicasets.yaml", 40, `"spec":{"replicas":2,"template":{"metadata":{"labels":{"app":"web"}},` + gatheredPodSpec + `}},"status":{"replicas":2}`},
			{"apps/v1", "Deployment", "apps/deployments.yaml", 10, `"spec":{"replicas":8,"template":{"metadata":{"labels":{"app":"web"}},` + gatheredPodSpec + `}},"status":{"readyReplicas":8}`},
			{"v1", "ConfigMap", "core/configmaps.yaml", 30, `"data":{"ca.crt":"-----BEGIN CERTIFICATE-----\n` + strings.Repeat("MIIDUTCCAjmgAwIBAgIIWt7/kCSp\\n", 30) + `"}`},
			{"v1", "Service", "core/services.yaml", 10, `"spec":{"type":"ClusterIP","ports":[{"port":80}]}`},
			{"v1", "Endpoints", "core/endpoints.yaml", 10, `"subsets":[{"addresses":[{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}],"ports":[{"port":80}]}]`},
			{"v1", "Event", "core/events.yaml", 20, `"involvedObject":{"apiVersion":"v1","kind":"Pod","name":"web-1-1"},"type":"Normal","reason":"Pulled","message":"Container image \"registry.example.com/web:1\" already present on machine","lastTimestamp":"2026-11-21T12:34:21Z"`},
		} {
			var items []string
			for i := range k.count {
				name, owner := fmt.Sprintf("web-%d", i), ""
				switch k.kind {
				case "Pod":
					name, owner = fmt.Sprintf("web-%d-%d", i/2, i%2), gatheredOwner("ReplicaSet", ns, fmt.Sprintf("web-%d", i/2))
				case "ReplicaSet":
					owner = gatheredOwner("Deployment", ns, fmt.Sprintf("web-%d", i/4))
				}
				one := gathered(k.apiVersion, k.kind, ns, name, owner, k.more)
				items = append(items, string(one))
				if k.kind == "Pod" {
					write("namespaces/"+ns+"/pods/"+name+"/"+name+".yaml", one)
				}
			}
			write("namespaces/"+ns+"/"+k.file, []byte(`{"apiVersion":"`+k.apiVersion+`","kind":"`+k.kind+`List","metadata":{"resourceVersion":"9"},"items":[`+strings.Join(items, ",")+`]}`))
		}
	}
}

func gathered(apiVersion, kind, namespace, name, owner, more string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"namespace":%q,"uid":%q,"resourceVersion":"7","creationTimestamp":"2026-11-21T12:00:00Z",
		"labels":{"app":"web","pod-template-hash":"5d47c484f4"},"annotations":{"openshift.io/scc":"restricted-v2",
			"k8s.v1.cni.cncf.io/network-status":"[{\n    \"name\": \"openshift-sdn\",\n    \"interface\": \"eth0\",\n    \"ips\": [\n        \"10.1.7.1\"\n    ],\n    \"default\": true\n}]"},
		"ownerReferences":[%s],"managedFields":[%s]},%s}`, apiVersion, kind, name, namespace, gatheredUID(kind, namespace, name), owner, gatheredFields, more)
}

func gatheredUID(kind, namespace, name string) string { return kind + "-" + namespace + "-" + name }

func gatheredOwner(kind, namespace, name string) string {
	return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":%q,"name":%q,"uid":%q,"controller":true,"blockOwnerDeletion":true}`, kind, name, gatheredUID(kind, namespace, name))
}

const (
	gatheredFields = `{"apiVersion":"v1","fieldsType":"FieldsV1","manager":"kube-controller-manager","operation":"Update","time":"2026-11-21T12:34:21Z",
		"fieldsV1":{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"1ac5b9a2-6bc9-49db-8a46-0698a2e9dc19\"}":{}}},
		"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{},"f:terminationMessagePath":{}}},"f:dnsPolicy":{},"f:restartPolicy":{}}}},
		{"apiVersion":"v1","fieldsType":"FieldsV1","manager":"kubelet","operation":"Update","subresource":"status","time":"2026-11-21T12:35:00Z",
		"fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:phase":{},"f:podIP":{}}}}`
	gatheredPodSpec = `"spec":{"containers":[{"name":"web","image":"registry.example.com/shop/web@sha256:6c1b2f0d9b0a7c5536c1b2f0d9b0a7c553","command":["/bin/sh","-c","while true; do\n  echo serving\n  sleep 10\ndone\n"],
		"env":[{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}},{"name":"LEVEL","value":"debug"},{"name":"PORT","value":"8080"}],
		"imagePullPolicy":"IfNotPresent","livenessProbe":{"failureThreshold":3,"httpGet":{"path":"/healthz","port":8080,"scheme":"HTTP"},"periodSeconds":10,"successThreshold":1,"timeoutSeconds":1},
		"ports":[{"containerPort":8080,"protocol":"TCP"}],"resources":{"limits":{"memory":"128Mi"},"requests":{"cpu":"100m","memory":"64Mi"}},
		"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","volumeMounts":[{"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount","name":"kube-api-access-x7k2p","readOnly":true}]}],
		"dnsPolicy":"ClusterFirst","nodeName":"node-7","restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},"serviceAccountName":"web",
		"terminationGracePeriodSeconds":30,"tolerations":[{"effect":"NoExecute","key":"node.kubernetes.io/not-ready","operator":"Exists","tolerationSeconds":300}],
		"volumes":[{"name":"kube-api-access-x7k2p","projected":{"defaultMode":420,"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}}]}}]}`
	gatheredPod = gatheredPodSpec + `,"status":{"conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-11-21T12:34:21Z","status":"True","type":"Initialized"},
		{"lastProbeTime":null,"lastTransitionTime":"2026-11-21T12:35:00Z","message":"containers with unready status: [web], and more words so that it is a long line of text","reason":"ContainersNotReady","status":"False","type":"Ready"}],
		"containerStatuses":[{"containerID":"cri-o://6c1b2f0d9b0a7c5536c1b2f0d9b0a7c553","image":"registry.example.com/shop/web:1.2.3","lastState":{},"name":"web","ready":true,"restartCount":0,"started":true,"state":{"running":{"startedAt":"2026-11-21T12:34:59Z"}}}],
		"hostIP":"10.0.0.7","phase":"Running","podIP":"10.1.7.1","qosClass":"Burstable","startTime":"2026-11-21T12:34:21Z"}`
)
