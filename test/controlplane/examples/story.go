package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

//go:embed *.yaml
var manifests embed.FS

// patience is how long kubectl waits for something that has to happen.
const patience = "--timeout=5m"

// collector is the garbage collector's name as a controller.
const collector = "garbage-collector-controller"

// others are the other controllers. Nothing judges the health of nodes: their
// kubelets are not real.
var others = []string{
	"clusterrole-aggregation-controller", "namespace-controller", "serviceaccount-controller", "root-ca-certificate-publisher-controller",
	"deployment-controller", "replicaset-controller", "statefulset-controller", "daemonset-controller",
	"job-controller", "cronjob-controller", "endpoints-controller", "endpointslice-controller",
	"persistentvolume-binder-controller", "persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller",
}

// stage is where the story takes place.
type stage struct {
	*cluster.Cluster
	timeline timeline
	dumps    []*dump
	listed   map[bool][]string // what can be listed at all, and in namespaces
	pods     int               // that kubelets have started so far
}

// due is when the report of the month is due in the examples.
var due = time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)

// play tells the story, from an empty cluster to the last dump.
func (s *stage) play(ctx context.Context) error {
	var err error
	step := func(act func(context.Context) error) {
		if err == nil {
			err = act(ctx)
		}
	}
	chapter := func(at string) {
		step(func(ctx context.Context) error { return s.begin(ctx, at) })
	}
	kubectl := func(arguments ...string) {
		step(func(ctx context.Context) error { _, err := s.Kubectl(ctx, nil, arguments...); return err })
	}
	do := func(verb string, manifests ...string) {
		step(func(ctx context.Context) error { return s.send(ctx, verb, manifests...) })
	}
	appears := func(paths ...string) {
		step(func(ctx context.Context) error { return s.appears(ctx, paths...) })
	}
	dump := func(file, heading, namespace string) {
		step(func(ctx context.Context) error { return s.dump(ctx, file, heading, namespace) })
	}
	pods := func(n int) {
		step(func(ctx context.Context) error { return s.runPods(ctx, n) })
	}

	chapter("2026-02-23T08:00:00Z") // the cluster
	do("apply", "definition.yaml")
	kubectl("wait", "--for=condition=Established", "customresourcedefinition/databases.example.com")
	// The collector learns at its start which kinds there are, and later only now and then.
	step(func(context.Context) error { return s.employ(append([]string{collector}, others...)...) })
	do("create", "nodes.yaml")
	step(s.startNodes)
	appears("default/serviceaccounts/default", "default/configmaps/kube-root-ca.crt")

	chapter("2026-02-24T09:30:00Z") // what users apply
	do("apply", "namespaces.yaml", "volumes.yaml")
	for _, namespace := range []string{"shop", "payments"} {
		appears(namespace+"/serviceaccounts/default", namespace+"/configmaps/kube-root-ca.crt")
	}
	do("apply", "shop.yaml", "databases.yaml")
	do("create", "operator.yaml")
	kubectl("wait", "--for=jsonpath={.status.phase}=Bound", patience, "pvc/data-db-0", "pvc/data-db-1", "-n", "shop")
	chapter("2026-02-24T09:30:20Z") // their pods come up
	pods(8)
	for _, workload := range []string{"deployment/web", "statefulset/db", "daemonset/log-shipper"} {
		kubectl("rollout", "status", workload, "-n", "shop", patience)
	}
	kubectl("rollout", "status", "statefulset/orders", "-n", "payments", patience)
	do("apply", "services.yaml") // now, so that their slices are written once
	appears("shop/endpoints/web", "shop/endpoints/db")

	chapter("2026-03-01T03:00:00Z") // the report is due
	step(s.reportIsDue)
	pods(1)
	chapter("2026-03-01T03:02:10Z")
	step(s.endPods)
	kubectl("wait", "--for=condition=Complete", patience, "job", "--all", "-n", "shop")
	kubectl("wait", "--for=jsonpath={.status.lastSuccessfulTime}", patience, "cronjob/report", "-n", "shop")
	chapter("2026-03-02T10:15:00Z") // somebody wants another one
	kubectl("create", "job", "report-by-hand", "--from=cronjob/report", "-n", "shop")
	pods(1)
	kubectl("wait", "--for=jsonpath={.status.ready}=1", patience, "job/report-by-hand", "-n", "shop")
	step(s.settle)
	dump("cluster.yaml", "A whole cluster.", "")
	dump("shop.yaml", "Namespace shop and what stands around it.", "shop")

	chapter("2026-03-02T11:00:00Z")
	kubectl("delete", "database", "orders", "-n", "payments", "--cascade=foreground", "--wait=false")
	step(func(ctx context.Context) error { return s.stopPods(ctx, 1) })
	kubectl("wait", "--for=delete", patience, "statefulset/orders", "secret/orders-credentials", "-n", "payments")
	kubectl("wait", "--for=jsonpath={.metadata.deletionTimestamp}", patience, "configmap/orders-archive", "-n", "payments")
	kubectl("wait", "--for=jsonpath={.metadata.ownerReferences[0].name}=ledger", patience, "configmap/shared-settings", "-n", "payments")
	step(s.settle)
	dump("payments-stuck.yaml", "Namespace payments after `kubectl delete database orders --cascade=foreground`.", "payments")

	chapter("2026-03-03T09:00:00Z") // archive copied, operator repaired, Database made anew
	release := func(object string) {
		kubectl("patch", object, "-n", "payments", "--type=json", `--patch=[{"op":"remove","path":"/metadata/finalizers/0"}]`)
	}
	release("configmap/orders-archive")
	release("database/orders")
	kubectl("wait", "--for=delete", patience, "database/orders", "configmap/orders-archive", "-n", "payments")
	kubectl("delete", "configmap", "shared-settings", "-n", "payments")
	do("apply", "databases.yaml")
	do("create", "operator.yaml")
	pods(1)
	kubectl("rollout", "status", "statefulset/orders", "-n", "payments", patience)
	dump("", "", "payments")        // or nobody would know later whose uid the dependents mention
	chapter("2026-03-04T16:00:00Z") // a delete, and no collector
	kubectl("create", "configmap", "incident-17", "-n", "payments")
	step(func(context.Context) error { return s.employ(others...) })
	kubectl("delete", "database", "orders", "-n", "payments", "--wait=false")
	release("database/orders")
	step(s.settle)
	dump("garbage.yaml", "Namespace payments after `kubectl delete database orders`, when the garbage collector was down.", "payments")
	return err
}

// begin begins a chapter, when the one before has settled and its last second
// is over.
func (s *stage) begin(ctx context.Context, at string) error {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return err
	}
	c := chapter{at: t}
	if len(s.timeline.chapters) > 0 {
		if err := s.settle(ctx); err != nil {
			return err
		}
		last := time.Now().Unix()
		if err := until(ctx, "the next second begins", func() (bool, error) { return time.Now().Unix() > last, nil }); err != nil {
			return err
		}
		if c.after, err = s.revision(ctx); err != nil {
			return err
		}
		c.from = time.Unix(time.Now().Unix(), 0)
	}
	s.timeline.chapters = append(s.timeline.chapters, c)
	return nil
}

func (s *stage) get(ctx context.Context, path string, into any) error {
	text, err := s.Do(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// lookup is a uid that a manifest leaves open.
var lookup = regexp.MustCompile(`\[\w+/[\w-]+\]`)

// send gives manifests to kubectl, with the uids that they leave open filled in.
func (s *stage) send(ctx context.Context, verb string, names ...string) error {
	var all []byte
	for _, name := range names {
		text, err := manifests.ReadFile(name)
		if err != nil {
			return err
		}
		all = append(append(all, "---\n"...), text...)
	}
	var failed error
	all = lookup.ReplaceAllFunc(all, func(name []byte) []byte {
		var o struct{ Metadata struct{ UID string } }
		if err := s.get(ctx, "/apis/example.com/v1/namespaces/payments/"+strings.Trim(string(name), "[]"), &o); err != nil {
			failed = err
		}
		return []byte(o.Metadata.UID)
	})
	if failed == nil {
		_, failed = s.Kubectl(ctx, all, verb, "-f", "-")
	}
	return failed
}

// appears waits until objects are there.
func (s *stage) appears(ctx context.Context, paths ...string) error {
	for _, path := range paths {
		err := until(ctx, path+" is there", func() (bool, error) {
			_, err := s.Do(ctx, http.MethodGet, "/api/v1/namespaces/"+path, "", nil)
			if cluster.Code(err) == http.StatusNotFound {
				return false, nil
			}
			return true, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reportIsDue lets the CronJob believe that it ran two months ago, so that the
// report of this month is due at once.
func (s *stage) reportIsDue(ctx context.Context) error {
	before := time.Now().UTC().AddDate(0, 0, -59).Format(time.RFC3339)
	if _, err := s.Kubectl(ctx, nil, "patch", "cronjob/report", "-n", "shop", "--subresource=status", "--type=merge",
		fmt.Sprintf(`--patch={"status":{"lastScheduleTime":%q}}`, before)); err != nil {
		return err
	}
	const annotation = "batch.kubernetes.io/cronjob-scheduled-timestamp"
	return until(ctx, "a Job is made", func() (bool, error) {
		var jobs struct {
			Items []struct {
				Metadata struct {
					Annotations map[string]string `json:"annotations"`
				} `json:"metadata"`
			} `json:"items"`
		}
		if err := s.get(ctx, "/apis/batch/v1/namespaces/shop/jobs", &jobs); err != nil || len(jobs.Items) == 0 {
			return false, err
		}
		at, err := time.Parse(time.RFC3339, jobs.Items[0].Metadata.Annotations[annotation])
		s.timeline.moments = map[int64]time.Time{at.Unix(): due}
		return true, err
	})
}

// local is what of this machine could show in a dump. A name that the story has
// too, such as web, would not be noticed.
func (s *stage) local() (local, error) {
	host, err := os.Hostname()
	if err != nil {
		return local{}, err
	}
	u, err := url.Parse(s.URL)
	return local{host: host, port: u.Port()}, err
}

// until waits for something to come true.
func until(ctx context.Context, what string, holds func() (bool, error)) error {
	return cluster.Await(ctx, what, func(context.Context) (bool, error) { return holds() })
}

// employ has controllers work. The lease that tests have is taken away: it says that it holds for a day.
func (s *stage) employ(names ...string) error {
	if err := s.Controllers(names...); err != nil {
		return err
	}
	return s.Wipe("leases/kube-system/kube-controller-manager")
}
