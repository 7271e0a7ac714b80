package breaking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// taking is a delete that takes what the API server calls.
type taking struct {
	name string
	// objects are created after fill, first those that the API server calls.
	called, callers string
	target          []string
	// outcomes has a line for each object of interest: its path, outcome and reason, and a star if that depends on
	// timing.
	outcomes string
	// condition is that of the namespace while it hangs. Empty if it does not.
	condition string
}

const (
	node    = next + "{apiVersion: v1, kind: Node, metadata: {name: taking}}"
	setting = next + "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}"
	behind  = "{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: NAMESPACE}, spec: {selector: {app: hook}, ports: [{port: PORT}]}}"
)

// podBehind returns a pod of the Service of behind, whose kubelet needs a few seconds to stop it.
func podBehind(name string) string {
	return next + "{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", labels: {app: hook}}, spec: {nodeName: taking, terminationGracePeriodSeconds: 3, containers: [{name: c, image: c}]}}"
}

// deletes returns a webhook that must admit the deletes of a resource of the namespace.
func deletes(resource string) string {
	return next + "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: taking}, webhooks: [{name: hook.example.com, failurePolicy: Fail, " +
		"sideEffects: None, admissionReviewVersions: [v1], timeoutSeconds: 5, clientConfig: {caBundle: CABUNDLE, service: {name: hook, namespace: NAMESPACE, port: PORT}}, " +
		"namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}, " +
		`rules: [{operations: [DELETE], apiGroups: [""], apiVersions: [v1], resources: [` + resource + `]}]}]}`
}

const aggregated = next + "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.called.example.com}, spec: {group: called.example.com, version: v1, " +
	"groupPriorityMinimum: 10, versionPriority: 10, caBundle: CABUNDLE, service: {namespace: NAMESPACE, name: hook, port: PORT}}}"

var takings = []taking{
	{
		"a webhook for content of its namespace", behind + node + podBehind("a") + setting, deletes("configmaps"), []string{"namespace/NAMESPACE"},
		"configmaps/settings Kept WebhookUnreachable\nnamespace Blocked WebhookUnreachable\npods/a Deleted DeletedByController", "NamespaceDeletionContentFailure",
	},
	{
		"a webhook whose endpoints are no pods", hook + setting, deletes("configmaps"), []string{"namespace/NAMESPACE"},
		"configmaps/settings Deleted DeletedByController *\nnamespace Deleted Requested *", "",
	},
	{
		"a webhook for its own pod", behind + node + podBehind("a"), deletes("pods"), []string{"pod/a"}, "pods/a Blocked WebhookUnreachable", "",
	},
	{
		"a webhook for its own pods", behind + node + podBehind("a") + podBehind("b"), deletes("pods"), []string{"pod/a", "pod/b"},
		"pods/a Deleted Requested *\npods/b Blocked WebhookUnreachable *", "",
	},
	{
		"an aggregated API served in its namespace", behind + node + podBehind("a") + setting, aggregated, []string{"namespace/NAMESPACE"},
		"configmaps/settings Deleted DeletedByController\nnamespace Blocked DiscoveryFails\npods/a Deleted DeletedByController", "NamespaceDeletionDiscoveryFailure",
	},
	{
		"an aggregated API whose endpoints are no pods", hook + setting, aggregated, []string{"namespace/NAMESPACE"},
		"configmaps/settings Deleted DeletedByController\nnamespace Deleted Requested *", "",
	},
}

func TestTakings(t *testing.T) {
	if err := controllers(); err != nil {
		t.Fatal(err)
	}
	r := newReader(t)
	for n := range takings {
		t.Run(takings[n].name, func(t *testing.T) { takings[n].run(t, r, namespace(len(situations)+n)) })
	}
}

func (s *taking) run(t *testing.T, r *reader, ns string) {
	kubectl := func(input string, args ...string) {
		t.Helper()
		if _, err := stage.Kubectl(context.WithoutCancel(t.Context()), []byte(input), args...); err != nil {
			t.Fatal(err)
		}
	}
	called, callers := fill(s.called, ns), fill(s.callers, ns)
	target := make([]string, len(s.target))
	for i := range target {
		target[i] = fill(s.target[i], ns)
	}
	kubectl("", "create", "namespace", ns)
	kubectl(called, "create", "-n", ns, "-f", "-")
	kubelet := startKubelet(t, ns)
	t.Cleanup(func() {
		kubectl(callers, "delete", "--ignore-not-found", "--wait=false", "-f", "-")
		kubectl("", "delete", "namespace", ns, "--ignore-not-found", "--wait=false")
		cluster.Until(t, "the namespace goes without its caller", func() bool { return cluster.Code(exists(context.WithoutCancel(t.Context()), ns, "namespace")) == 404 })
		kubectl("", "delete", "node", "taking", "--ignore-not-found", "--wait=false")
	})
	cluster.Until(t, "the Service has an endpoint", func() bool {
		text, err := stage.Do(t.Context(), "GET", "/apis/discovery.k8s.io/v1/namespaces/"+ns+"/endpointslices", "", nil)
		return err == nil && strings.Contains(string(text), address)
	})
	kubectl(callers, "create", "-f", "-")
	cluster.Until(t, "the API server calls it", func() bool {
		if s.callers == aggregated {
			text, err := stage.Do(t.Context(), "GET", "/apis/apiregistration.k8s.io/v1/apiservices/v1.called.example.com", "", nil)
			return err == nil && strings.Contains(string(text), `"reason":"Passed"`) && serves("/apis/called.example.com/v1")(t.Context(), ns) == nil
		}
		before := calls.Load()
		return s.tryDelete(t, ns) && calls.Load() > before
	})
	if got := s.predicted(t, r, target, ns); got != s.outcomes {
		t.Errorf("predicted\n%s\nwant\n%s", got, s.outcomes)
	}
	kubectl("", append([]string{"delete", "-n", ns, "--wait=false"}, target...)...)
	s.compare(t, ns, kubelet)
	t.Logf("the kubelet: %v", kubelet.refusal())
}

// tryDelete lets the API server call the webhook for a delete that does nothing.
func (s *taking) tryDelete(t *testing.T, ns string) bool {
	path := "pods/a"
	if strings.Contains(s.callers, "configmaps") {
		path = "configmaps/settings"
	}
	_, err := stage.Do(t.Context(), "DELETE", "/api/v1/namespaces/"+ns+"/"+path+"?dryRun=All", "", nil)
	return err == nil
}

// compare waits for what is predicted. What stays is looked at once the server has refused to delete it: the
// namespace controller has said so in the condition, or the kubelet has got the answer.
func (s *taking) compare(t *testing.T, ns string, k *kubelet) {
	t.Helper()
	var stay, open []string
	for line := range strings.Lines(s.outcomes) {
		words := strings.Fields(line)
		switch {
		case len(words) > 3:
			open = append(open, words[0])
		case words[1] != string(report.Deleted):
			stay = append(stay, words[0])
		default:
			cluster.Until(t, words[0]+" goes", func() bool { return cluster.Code(exists(t.Context(), ns, words[0])) == 404 })
		}
	}
	if s.condition != "" {
		cluster.Until(t, s.condition, func() bool {
			text, err := stage.Do(t.Context(), "GET", "/api/v1/namespaces/"+ns, "", nil)
			return err == nil && strings.Contains(string(text), `{"type":"`+s.condition+`","status":"True"`)
		})
	} else if len(stay) > 0 {
		cluster.Until(t, "the kubelet is refused", func() bool { return k.refusal() != nil })
	}
	for _, path := range stay {
		if err := exists(t.Context(), ns, path); err != nil {
			t.Errorf("%s goes: %v", path, err)
		}
	}
	for _, path := range open {
		t.Logf("%s: %.80v", path, exists(t.Context(), ns, path))
	}
}

func exists(ctx context.Context, ns, path string) error {
	_, err := stage.Do(ctx, "GET", strings.TrimSuffix("/api/v1/namespaces/"+ns+"/"+strings.TrimPrefix(path, "namespace"), "/"), "", nil)
	return err
}

// predicted returns the outcomes of a plan for the objects of interest.
func (s *taking) predicted(t *testing.T, r *reader, target []string, ns string) string {
	t.Helper()
	var p report.Plan
	if err := json.Unmarshal(r.program(t, append([]string{"dry-run", "delete", "-n", ns, "-o", "json"}, target...)...), &p); err != nil {
		t.Fatal(err)
	}
	if len(p.UnreadReferrers) > 0 { // also of what goes only because of the evidence
		t.Errorf("what refers to it is not read: %+v", p.UnreadReferrers)
	}
	var lines []string
	for i := range p.Effects {
		e := &p.Effects[i]
		path := strings.ToLower(e.Object.Kind) + "s/" + e.Object.Name
		if e.Object.Kind == "Namespace" {
			path = "namespace"
		}
		if !strings.Contains("\n"+s.outcomes, "\n"+path+" ") {
			continue
		}
		line := fmt.Sprintf("%s %s %s", path, e.Outcome, e.Reason)
		if e.DependsOnTiming {
			line += " *"
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// kubelet plays the kubelets of the pods of a namespace: they are ready and answer at the address of the server, and
// once their grace period is over, they are deleted.
type kubelet struct {
	namespace string
	mu        sync.Mutex
	last      error
}

type podList struct {
	Items []struct {
		Metadata struct {
			Name              string
			DeletionTimestamp *time.Time
		}
	}
}

// refusal returns the error of the last delete.
func (k *kubelet) refusal() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last
}

// startKubelet makes the pods ready, and deletes them later until the test ends.
func startKubelet(t *testing.T, ns string) *kubelet {
	t.Helper()
	k := &kubelet{namespace: ns}
	if err := k.makeReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.Tick(200 * time.Millisecond); ctx.Err() == nil; {
			k.finish(ctx)
			select {
			case <-tick:
			case <-ctx.Done():
			}
		}
	}()
	t.Cleanup(func() { stop(); <-done })
	return k
}

func (k *kubelet) makeReady(ctx context.Context) error {
	list, err := read[podList](ctx, "/api/v1/namespaces/"+k.namespace+"/pods")
	if err != nil || len(list.Items) == 0 {
		return err
	}
	patch := func(path, status string) error {
		_, err := stage.Do(ctx, "PATCH", "/api/v1/"+path+"/status", "application/merge-patch+json", []byte(`{"status":`+status+`}`))
		return err
	}
	for _, p := range list.Items {
		status := fmt.Sprintf(`{"phase":"Running","podIP":%[1]q,"podIPs":[{"ip":%[1]q}],"conditions":[{"type":"Ready","status":"True"}]}`, address)
		err = errors.Join(err, patch("namespaces/"+k.namespace+"/pods/"+p.Metadata.Name, status))
	}
	now := time.Now().UTC().Format(time.RFC3339)
	return errors.Join(err, patch("nodes/taking", fmt.Sprintf(`{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":%[1]q,"lastTransitionTime":%[1]q}]}`, now)))
}

// finish deletes the pods whose grace period is over.
func (k *kubelet) finish(ctx context.Context) {
	list, err := read[podList](ctx, "/api/v1/namespaces/"+k.namespace+"/pods")
	if err != nil {
		return
	}
	for _, p := range list.Items {
		if at := p.Metadata.DeletionTimestamp; at == nil || time.Now().Before(*at) {
			continue
		}
		_, err := stage.Do(ctx, "DELETE", "/api/v1/namespaces/"+k.namespace+"/pods/"+p.Metadata.Name, "application/json", []byte(`{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0}`))
		k.mu.Lock()
		k.last = err
		k.mu.Unlock()
	}
}
