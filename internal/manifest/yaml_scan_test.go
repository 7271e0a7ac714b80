package manifest

import "testing"

// hardYAML are documents at the boundary of what the scan understands.
var hardYAML = []string{
	"",
	"# nothing\n",
	"---\n",
	"---\n---\n# x\n...\n",
	"\xef\xbb\xbfapiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n--- # b\napiVersion: v1\nkind: Pod\nmetadata:\n  name: b\n...\n",
	"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: |\n    ---\n    apiVersion: v1\n  y: |2-\n      z\n    z\n\n  z: >+\n    text\n\n",
	"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: |\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: b\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: 1234\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: true\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: on\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: ~\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: 1e3\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: 0x1f\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: 2001-01-01\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  name: b\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nmetadata:\n  name: b\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: 'it''s'\n  uid: \"a\\x41\"\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels: {a: b, \"c\": 'd'}\n",
	"apiVersion: v1\nkind: Pod\nmetadata: &m\n  name: a\n  labels: &l\n    x: y\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  <<: {name: b}\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n\tuid: b\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nstatus:\n  phase: Running\n  message: 'long\n    text\n\n    on'\n  reason: plain\n    goes on\nspec:\n  nodeName: n\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  annotations:\n    kubernetes.io/config.mirror: |\n      x\n",
	"apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n- kind: Pod\n  apiVersion: v1\n  metadata: {name: b}\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: c\nkind: List\nmetadata:\n  resourceVersion: \"\"\n",
	"apiVersion: v1\nkind: PodList\nitems:\n  - metadata:\n      name: a\n    spec:\n      nodeName: n\n  - metadata:\n      name: b\n",
	"apiVersion: v1\nitems:\n- metadata:\n    name: a\n  spec:\n    nodeName: n\nkind: PodList\n",
	"apiVersion: v1\nitems:\n- &x\n  apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n- *x\nkind: List\n",
	"apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n    labels:\n      \"x\n- y\": z\nkind: List\n",
	"apiVersion: v1\nitems: []\nkind: PodList\n",
	"apiVersion: v1\nitems:\nkind: PodList\n",
	"apiVersion: v1\nitems: null\nkind: PodList\nmetadata:\n  continue: abc\n",
	"apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - apiVersion: v1\n    kind: Pod\n    metadata:\n      name: a\nkind: List\n",
	"apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n# comment\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: b\nkind: List\n",
	"apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n    finalizers:\n    - x\n    - y/z\n    ownerReferences:\n    - apiVersion: v1\n      blockOwnerDeletion: true\n      controller: false\n      kind: Node\n      name: n\n      uid: 1ac5b9a2-6bc9-49db-8a46-0698a2e9dc19\nkind: List\n",
	"- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n",
	"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: a.b\nspec:\n  group: b\n  names:\n    kind: A\n    plural: a\n    shortNames:\n    - x\n  scope: Cluster\n  versions:\n  - name: v1\n    schema:\n      openAPIV3Schema:\n        type: object\n    served: true\n    storage: true\nstatus:\n  conditions:\n  - message: ok\n    status: \"True\"\n    type: Established\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  a: b: c\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n   a: b\n  c: d\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  - a\n  b: c\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  a:\n  - b\n  - - c\n    - d: e\n      f:\n      - g\n  h:\n    -\n      i: j\n    -\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\r---\rapiVersion: v1\rkind: Pod\rmetadata:\r  name: b\r",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: 10.0.0.1\n  labels:\n    a: 5d47c484f4\n    b: 1b\n    c: 0x1g\n    d: 5c:6\n    e: 1.2.3\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n    a: 66e774\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n    a: 0b11\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n    a: 12:30:45\n",
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n    a: 1_000.5\n",
	"apiVersion: v1\nkind: CRD\nmetadata:\n  name: a\nspec:\n  text: plain\n    \"quoted\" and\n    `so` on\n    [x] {y} *z &w !t |u >v %s @r =q <p ~o ,n\n",
	"%YAML 1.2\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n",
	"a: &a [x]\nb: &b [*a, *a]\n",
	"&a [*a]\n",
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}\n---\n{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"}}\n",
	"{apiVersion: v1, kind: Pod, metadata: {name: a}}\n",
}

func TestScanAgreesWithFullParser(t *testing.T) {
	for _, input := range hardYAML {
		fast, errFast := find(input, Options{})
		full, errFull := findFully([]byte(input))
		sameFound(t, input, fast, full, errFast, errFull)
	}
}
