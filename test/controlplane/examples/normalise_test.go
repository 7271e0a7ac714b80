package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// telling is how one run of a story went: what was left to chance.
type telling struct {
	pods      [2]string // the one on worker-1 and the one on worker-2
	service   string
	uids      [6]string
	start     time.Time
	revisions [5]int
	host      string
	port      string
	slow      int // seconds that the second chapter took
}

var tellings = []telling{
	{
		pods: [2]string{"b7w4q", "x2k9d"}, service: "10.0.0.183", host: "alpha", port: "41675", revisions: [5]int{20, 31, 32, 30, 15},
		uids:  [6]string{"30e05adf-cc60-4493-a378-976aeb471bbc", "14f0d4a7-605b-4791-a6c9-7f169ee40a2b", "72a4d9c9-f7a8-4c04-a500-582666372a55", "470dc099-8262-4e5c-807a-1e29b6d396e4", "088a406b-2217-4a9f-9f99-34237280cdd8", "9cf447b2-46eb-4c23-ad32-619b42092491"},
		start: time.Date(2030, 5, 5, 5, 5, 5, 0, time.UTC),
	},
	{
		pods: [2]string{"zz8fk", "c4df2"}, service: "10.0.0.7", host: "omega", port: "33333", revisions: [5]int{120, 150, 148, 149, 152}, slow: 3,
		uids:  [6]string{"d034f8bf-c243-441b-8b09-9cc4f24eb02a", "acdf7c48-e5b6-4cd7-9fd9-a8e8c3acd429", "5d5bb71a-d158-4dc5-86c9-83f8c047140c", "c99efd17-cbd1-4c4c-a9de-b67e4a22b65d", "f2b5e24d-ef1d-4019-9493-9c1e816d6c2b", "6471c4ac-7679-4cea-82e0-a7a49bc7044a"},
		start: time.Date(2031, 12, 31, 23, 59, 58, 0, time.UTC),
	},
}

func (l telling) timeline() timeline {
	return timeline{chapters: []chapter{
		{at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		{at: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), from: l.start.Add(10 * time.Second), after: int64(l.revisions[0])},
	}}
}

// story is a dump with what is left to chance in brackets.
const story = `
- apiVersion: apps/v1
  kind: ReplicaSet
  metadata: {creationTimestamp: "[start]", name: web-5d47c484f4, namespace: shop, resourceVersion: "[set-rv]", uid: [set]}
- apiVersion: coordination.k8s.io/v1
  kind: Lease
  metadata:
    labels: {apiserver.kubernetes.io/identity: kube-apiserver, kubernetes.io/hostname: [host]}
    name: apiserver-[host]
    resourceVersion: "[lease-rv]"
    uid: [lease]
  spec: {holderIdentity: apiserver-[host]_[process], renewTime: "[renewed]"}
- apiVersion: v1
  kind: Service
  metadata: {creationTimestamp: "[later]", name: web, namespace: shop, resourceVersion: "[service-rv]", uid: [service]}
  spec:
    ca: "-----BEGIN CERTIFICATE-----[process]"
    clusterIP: [address]
    clusterIPs: [ [address] ]
    note: none
    ports: [{targetPort: [port]}]
`

const storyPod = `
- apiVersion: v1
  kind: Pod
  metadata:
    creationTimestamp: "[later]"
    generateName: web-5d47c484f4-
    name: web-5d47c484f4-[suffix]
    namespace: shop
    ownerReferences: [{kind: ReplicaSet, name: web-5d47c484f4, uid: [set]}]
    resourceVersion: "[pod-rv]"
    uid: [pod]
  spec:
    nodeName: worker-[node]
    volumes: [{name: kube-api-access-[suffix]}]`

// fill fills in what the telling says, and whatever else is given.
func (l telling) fill(text string, more ...string) string {
	return strings.NewReplacer(append(more,
		"[set]", l.uids[0], "[service]", l.uids[3], "[lease]", l.uids[4], "[process]", l.uids[5],
		"[set-rv]", fmt.Sprint(l.revisions[0]), "[service-rv]", fmt.Sprint(l.revisions[3]), "[lease-rv]", fmt.Sprint(l.revisions[4]),
		"[start]", l.start.Format(time.RFC3339), "[later]", l.start.Add(time.Duration(10+l.slow)*time.Second).Format(time.RFC3339),
		"[renewed]", l.start.Add(5*time.Second).Format("2006-01-02T15:04:05.000000Z07:00"),
		"[host]", l.host, "[port]", l.port, "[address]", l.service)...).Replace(text)
}

func (l telling) pod(i int) string {
	return l.fill(storyPod, "[suffix]", l.pods[i], "[pod]", l.uids[i+1], "[pod-rv]", fmt.Sprint(l.revisions[i+1]), "[node]", fmt.Sprint(i+1))
}

// text is the dump: pods in the order of their names, as always.
func (l telling) text() string {
	if l.pods[1] < l.pods[0] {
		return l.pod(1) + l.pod(0) + l.fill(story)
	}
	return l.pod(0) + l.pod(1) + l.fill(story)
}

// rewrite normalises a dump of items.
func rewrite(t *testing.T, items string, l telling) (string, error) {
	t.Helper()
	d := &dump{file: "x.yaml", chapter: 1}
	if err := yaml.Unmarshal([]byte("items:"+items), &d.list); err != nil {
		t.Fatalf("%v\n%s", err, items)
	}
	err := normalise([]*dump{d}, l.timeline(), local{host: l.host, port: l.port})
	text, marshalErr := yaml.Marshal(d.list)
	if marshalErr != nil {
		t.Fatal(marshalErr)
	}
	return string(text), err
}

// Two runs of one story become the same bytes, although names, addresses, uids,
// versions and times of the one are not those of the other, nor their order.
func TestSameBytes(t *testing.T) {
	first, err := rewrite(t, tellings[0].text(), tellings[0])
	if err != nil {
		t.Fatal(err)
	}
	second, err := rewrite(t, tellings[1].text(), tellings[1])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{
		"creationTimestamp: \"2026-01-01T00:00:00Z\"\n    name: web-5d47c484f4\n    namespace: shop\n    resourceVersion: \"1\"\n    uid: 00000003-0000-4000-8000-000000000000\n",
		"      name: web-5d47c484f4\n      uid: 00000003-0000-4000-8000-000000000000\n    resourceVersion: \"2\"\n    uid: 00000001-0000-4000-8000-000000000000\n",
		"    clusterIP: 10.0.0.11\n    clusterIPs:\n    - 10.0.0.11\n    note: none\n    ports:\n    - targetPort: 6443\n",
		"      kubernetes.io/hostname: control-plane\n    name: apiserver-",
		"renewTime: \"2026-01-02T00:00:00.000000Z\"\n",
		"    ca: |\n      -----BEGIN CERTIFICATE-----\n      VGhl",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("there is no\n%s\nin\n%s", want, first)
		}
	}
}

// What cannot be rewritten is not written at all.
func TestRefused(t *testing.T) {
	l := tellings[0]
	for name, c := range map[string]struct{ old, replacement, want string }{
		"a uid of nobody":              {"web-5d47c484f4, uid: " + l.uids[0], "web-5d47c484f4, uid: " + tellings[1].uids[0], "belongs to nothing"},
		"a uid in a text":              {"note: none", "note: the one of " + tellings[1].uids[0], "belongs to nothing"},
		"no uid":                       {"uid: " + l.uids[3] + "}", "about: x}", "its uid is"},
		"a time in a text":             {"note: none", "note: since 2030-05-05T05:05:05Z", "was not rewritten"},
		"a machine in a text":          {"note: none", "note: on alpha", "alpha is the name of this machine"},
		"a pod in a key":               {"note: none", "web-5d47c484f4-" + l.pods[0] + ": 1", "was not replaced"},
		"a token elsewhere":            {"note: none", "note: kube-api-access-" + l.pods[0], "was not replaced"},
		"a port elsewhere":             {"note: none", "port: " + l.port, "is the port of the API server"},
		"pods that cannot be told":     {"nodeName: worker-2", "nodeName: worker-1", "differ in nothing but chance"},
		"a version without an object":  {"note: none", `resourceVersion: "7"`, "is not named"},
		"a version that is no number":  {`resourceVersion: "30"`, "resourceVersion: x", "invalid syntax"},
		"one address twice":            {"ports: [", "ports: []\n- {apiVersion: v1, kind: Service, metadata: {name: other, uid: x}, spec: {clusterIP: 10.0.0.183}}\n- [", "had the address before"},
		"a Job not called by its time": {"kind: ReplicaSet\n  metadata: {", "kind: Job\n  metadata: {annotations: {batch.kubernetes.io/cronjob-scheduled-timestamp: '2030-05-05T05:05:00Z'}, ", "not called after"},
	} {
		t.Run(name, func(t *testing.T) {
			text := l.text()
			if !strings.Contains(text, c.old) {
				t.Fatalf("there is no %s in\n%s", c.old, text)
			}
			text = strings.Replace(text, c.old, c.replacement, 1)
			if _, err := rewrite(t, text, l); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// A Job of a CronJob is called after the minute in which it was due, also in the
// examples; so are its pods.
func TestDueJobs(t *testing.T) {
	l := tellings[0]
	due := l.start.Truncate(time.Minute)
	line := l.timeline()
	line.moments = map[int64]time.Time{due.Unix(): time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)}
	d := &dump{chapter: 1}
	if err := yaml.Unmarshal(fmt.Appendf(nil, `
items:
- kind: Job
  metadata:
    annotations: {batch.kubernetes.io/cronjob-scheduled-timestamp: %q}
    name: report-%d
    resourceVersion: "40"
    uid: %s
- kind: Pod
  metadata: {generateName: report-%[2]d-, name: report-%[2]d-8jskl, resourceVersion: "41", uid: %[4]s}
`, due.Format(time.RFC3339), due.Unix()/60, l.uids[0], l.uids[1]), &d.list); err != nil {
		t.Fatal(err)
	}
	if err := normalise([]*dump{d}, line, local{host: l.host, port: l.port}); err != nil {
		t.Fatal(err)
	}
	const want = "report-29453940"
	if job := d.items()[0]; text(job, "metadata", "name") != want ||
		text(job, "metadata", "annotations", "batch.kubernetes.io/cronjob-scheduled-timestamp") != "2026-01-01T03:00:00Z" {
		t.Errorf("Job %v, want %s", job, want)
	}
	if name := text(d.items()[1], "metadata", "name"); !strings.HasPrefix(name, want+"-") || strings.HasSuffix(name, "8jskl") {
		t.Errorf("pod %s, want %s-…", name, want)
	}
}

// A time is that of its chapter, and keeps its precision.
func TestRewrittenTime(t *testing.T) {
	line := tellings[0].timeline()
	start := tellings[0].start
	for written, want := range map[string]string{
		start.Add(9 * time.Second).Format(time.RFC3339):                   "2026-01-01T00:00:00Z",
		start.Add(10 * time.Second).Format(time.RFC3339):                  "2026-01-02T00:00:00Z",
		start.Add(time.Hour).Format("2006-01-02T15:04:05.000000Z07:00"):   "2026-01-02T00:00:00.000000Z",
		start.Add(10 * time.Second).In(time.FixedZone("", 3600)).String(): "",
		start.Add(10*time.Second).In(time.UTC).Format(time.RFC3339) + "x": "",
	} {
		got, err := line.rewritten(written)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", written, got, err, want)
		}
	}
}
