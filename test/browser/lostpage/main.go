// Command lostpage prints what `lost` says of a made-up namespace of so many objects that was
// deleted, as a page or as JSON: lostpage 250 html.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/draw"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // a main may
	}
}

func run(args []string) error {
	const wanted = 2
	if len(args) != wanted {
		return fmt.Errorf("usage: lostpage NUMBER html|json")
	}
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	d := document(n)
	if args[1] == "json" {
		return json.NewEncoder(os.Stdout).Encode(d)
	}
	return draw.WriteTimeline(os.Stdout, d, nil)
}

// story is an account that is being made up. Each second has a thousand revisions.
type story struct {
	account  *past.Account
	revision uint64
	request  int
}

const (
	began     = 1_795_528_630 // 2026-11-24T13:57:10Z
	perSecond = 1000
)

func document(n int) *report.Lost {
	resources := &object.Resources{}
	resources.Add(object.Resource{Group: "example.com", Version: "v1", Name: "databases", Kind: "Database", Namespaced: true, Verbs: object.AllVerbs, Custom: true})
	var ticks []past.Moment
	for second := range uint64(441) {
		ticks = append(ticks, past.Moment{Revision: (second + 1) * perSecond, Time: began + int64(second)})
	}
	clock := past.NewClock(ticks)
	s := &story{account: &past.Account{Past: &past.Record{
		From: clock.First(), To: clock.Last(), Clock: clock, Resources: resources,
		Limits: []past.Limit{{Resource: object.Resource{Group: "", Version: "v1", Name: "pods", Kind: "Pod", Namespaced: true}, From: clock.At(101 * perSecond), Why: "too old"}},
	}}, request: -1}
	s.tell(n)
	return past.LostDocument(s.account, past.LostQuestion{Source: report.Source{
		Type: "cluster", Context: "production", Server: "https://prod.example.com", KubernetesVersion: "v1.36.3",
	}, Undo: true})
}

// tell is what happened: a rollout, a pod of which nobody knows who took it, a Deployment that was
// deleted without its dependents, and a namespace with all that it had.
func (s *story) tell(n int) {
	web := ref("apps/v1", "ReplicaSet", "shop", "web-5d47c484f4")
	s.at(150)
	for i := range 3 {
		s.lose(ref("v1", "Pod", "shop", fmt.Sprintf("web-5d47c484f4-%c", 'a'+i)), reason.ControllerChanged, web, -1)
	}
	s.at(205)
	s.lose(ref("v1", "Pod", "jobs", "import-7"), reason.OwnerGone, ref("batch/v1", "Job", "jobs", "import"), -1)
	s.at(240)
	s.ask(ref("apps/v1", "Deployment", "shop", "web"), metav1.DeletePropagationOrphan, true)
	s.step(30)
	s.lose(web, reason.OwnerOrphans, ref("apps/v1", "Deployment", "shop", "web"), s.request).Orphaned = true
	s.at(290)
	s.ask(ref("v1", "Pod", "shop", "cart-0"), metav1.DeletePropagationBackground, false)
	last := &s.account.Losses[len(s.account.Losses)-1]
	last.Or = []past.Cause{{Code: reason.Controller, By: ref("apps/v1", "StatefulSet", "shop", "cart"), Request: -1}}
	s.at(321)
	payments := ref("v1", "Namespace", "", "payments")
	s.ask(payments, metav1.DeletePropagationBackground, true)
	kinds := []object.Ref{
		ref("v1", "Secret", "payments", "token"), ref("apps/v1", "Deployment", "payments", "api"), ref("v1", "ConfigMap", "payments", "settings"),
		ref("v1", "PersistentVolumeClaim", "payments", "data"), ref("example.com/v1", "Database", "payments", "orders"),
		ref("v1", "Service", "payments", "api"), ref("v1", "Event", "payments", "api"), ref("apps/v1", "ReplicaSet", "payments", "api"),
		ref("v1", "Pod", "payments", "api"), ref("v1", "Pod", "payments", "worker"),
	}
	for i := range n {
		kind := kinds[i*len(kinds)/n]
		kind.Name = fmt.Sprintf("%s-%d", kind.Name, i)
		kind.UID = types.UID(kind.Name)
		s.step(25_000 / uint64(n))
		switch kind.Kind {
		case "ReplicaSet":
			s.lose(kind, reason.OwnerGone, ref("apps/v1", "Deployment", "payments", "api"), s.request)
		default:
			s.lose(kind, reason.NamespaceDeleted, payments, s.request)
		}
	}
	s.account.Losses[len(s.account.Losses)-1].Gone = 0
}

func (s *story) at(second uint64)     { s.revision = (second + 1) * perSecond }
func (s *story) step(revision uint64) { s.revision += max(1, revision) }

func (s *story) ask(o object.Ref, policy metav1.DeletionPropagation, certain bool) {
	s.request = len(s.account.Requests)
	l := s.lose(o, reason.Requested, object.Ref{}, s.request)
	l.Policy = policy
	s.account.Requests = append(s.account.Requests, past.Request{
		Losses: []int{len(s.account.Losses) - 1}, Policy: policy, At: s.account.Past.Clock.At(s.revision), Explains: 1, Certain: certain,
	})
	s.account.Requests[s.request].At.Revision = s.revision
}

func (s *story) lose(o object.Ref, code reason.Code, by object.Ref, request int) *past.Loss {
	l := past.Loss{Object: &object.Object{Ref: o}, Began: s.revision, Gone: s.revision, Cause: past.Cause{Code: code, By: by, Request: request}}
	if l.Owners = nil; code == reason.OwnerOrphans {
		l.Gone, l.Owners = 0, []object.Ref{by}
	}
	s.account.Losses = append(s.account.Losses, l)
	if request >= 0 && code != reason.Requested {
		s.account.Requests[request].Explains++
	}
	return &s.account.Losses[len(s.account.Losses)-1]
}

func ref(apiVersion, kind, namespace, name string) object.Ref {
	return object.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name, UID: types.UID(name)}
}
