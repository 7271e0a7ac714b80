package health_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// The time of the question, and objects with their deletion timestamps.
const (
	lateNoon = 1777636800 // 2026-05-01T12:00:00Z
	atTen    = "2026-05-01T10:00:00Z"
	latest   = "2026-05-01T11:55:00Z" // exactly Patience before noon
	tooLate  = "2026-05-01T11:54:59Z"
	justNow  = "2026-05-01T11:59:58Z"
	inGrace  = "2026-05-01T12:00:30Z"
)

func lease(renewed string) string {
	return `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"namespace":"kube-system","name":"kube-controller-manager"},"spec":{"holderIdentity":"m","renewTime":"` + renewed + `","leaseDurationSeconds":15}}`
}

func deleted(apiVersion, kind, since, rest string) string {
	namespace := `"namespace":"shop",`
	if kind == "Namespace" || kind == "CustomResourceDefinition" {
		namespace = ""
	}
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{%s"name":"x.example.com","uid":"u","deletionTimestamp":%q}%s}`, apiVersion, kind, namespace, since, rest)
}

func conditions(list ...string) string {
	return `,"status":{"conditions":[` + strings.Join(list, ",") + `]}`
}

func condition(typ, reason, message string) string {
	return fmt.Sprintf(`{"type":%q,"status":"True","reason":%q,"message":%q}`, typ, reason, message)
}

// lateCase is one question about the object in the first body.
type lateCase struct {
	since  string
	kind   string // a ConfigMap unless it says otherwise
	by     health.Component
	rest   string // of the body
	beside []string
	unread health.Part
	// timeless is true if the time of the question is unknown.
	timeless bool
	want     string // reason, and whether it is proven; empty for not late
}

// TestLate: a controller that waits for nothing is late after Patience, not a second earlier, and
// by the snapshot's clock only. Only the lease proves that it does not work.
func TestLate(t *testing.T) {
	runs, over := lease(justNow), lease(atTen)
	for name, c := range map[string]lateCase{
		"collector, unknown":         {since: tooLate, by: health.Collector, want: "CollectorNotWorking"},
		"collector, runs":            {since: tooLate, by: health.Collector, beside: []string{runs}, want: "DeletionForgotten"},
		"collector, runs, for hours": {since: atTen, by: health.Collector, beside: []string{runs}, want: "DeletionForgotten"},
		"collector, gone":            {since: tooLate, by: health.Collector, beside: []string{over}, want: "CollectorNotWorking proven"},
		"collector, gone, not all read": {
			since: tooLate, by: health.Collector, beside: []string{over}, unread: health.Pods, want: "CollectorNotWorking",
		},
		"collector, in time":       {since: latest, by: health.Collector},
		"collector, runs, in time": {since: latest, by: health.Collector, beside: []string{runs}},
		"collector, gone, at once": {since: justNow, by: health.Collector, beside: []string{over}, want: "CollectorNotWorking proven"},
		"namespace, gone, at once": {since: justNow, kind: "Namespace", by: health.NamespaceController, beside: []string{over}, want: "ControllerNotWorking proven"},
		"kubelet, no manager, yet": {since: latest, by: health.Kubelet, beside: []string{over}},
		"collector, timeless":      {since: atTen, by: health.Collector, beside: []string{over}, timeless: true},
		"controller, unknown":      {since: tooLate, by: health.Manager, want: "ControllerNotWorking"},
		"controller, runs":         {since: tooLate, by: health.Manager, beside: []string{runs}, want: "ControllerNotWorking"},
		"controller, gone":         {since: tooLate, by: health.Manager, beside: []string{over}, want: "ControllerNotWorking proven"},
		"controller, in time":      {since: latest, by: health.Manager},
		"kubelet":                  {since: tooLate, by: health.Kubelet, want: "PodNotFinished"},
		"kubelet, no manager":      {since: tooLate, by: health.Kubelet, beside: []string{over}, want: "PodNotFinished"},
		"kubelet, in time":         {since: latest, by: health.Kubelet},
		"kubelet, in grace":        {since: inGrace, by: health.Kubelet},
		"kubelet, timeless":        {since: atTen, by: health.Kubelet, timeless: true},
		"definition":               {since: tooLate, kind: crd, by: health.CRDController, want: "CRDCleanupFails"},
		"CRD, in time":             {since: latest, kind: crd, by: health.CRDController},
		"namespace":                {since: tooLate, kind: "Namespace", by: health.NamespaceController, want: "ControllerNotWorking"},
		"namespace, in time":       {since: justNow, kind: "Namespace", by: health.NamespaceController},
		"not being deleted at all": {by: health.Collector, beside: []string{over}},

		"CRD that fails": {
			since: justNow, kind: crd, by: health.CRDController,
			rest: conditions(condition("Terminating", "InstanceDeletionFailed", "could not list")), want: "CRDCleanupFails: could not list",
		},
		"CRD under way": {
			since: justNow, kind: crd, by: health.CRDController, rest: conditions(condition("Terminating", "InstanceDeletionInProgress", "some")),
		},
		"namespace that fails": {
			since: justNow, kind: "Namespace", by: health.NamespaceController,
			rest: conditions(condition("NamespaceDeletionContentFailure", "ContentDeletionFailed", "Failed to delete")), want: "NamespaceDeletionFails: Failed to delete",
		},
		"namespace that fails, timeless": {
			since: justNow, kind: "Namespace", by: health.NamespaceController, timeless: true,
			rest: conditions(condition("NamespaceDeletionGroupVersionParsingFailure", "GroupVersionParsingFailed", "a/b/c")), want: "NamespaceDeletionFails: a/b/c",
		},
		"namespace with content left": {
			since: justNow, kind: "Namespace", by: health.NamespaceController,
			rest: conditions(condition("NamespaceDeletionContentFailure", "ContentDeletionFailed", "Failed to delete all resource types, 1 remaining: "+still)),
		},
		"discovery failed, and works again": {
			since: atTen, kind: "Namespace", by: health.NamespaceController, beside: []string{runs},
			rest: conditions(condition("NamespaceDeletionDiscoveryFailure", "DiscoveryFailed", "v1.far")),
		},
		"discovery failed, works again, nobody tries": {
			since: atTen, kind: "Namespace", by: health.NamespaceController, beside: []string{over},
			rest: conditions(condition("NamespaceDeletionDiscoveryFailure", "DiscoveryFailed", "v1.far")), want: "ControllerNotWorking proven",
		},
		"discovery failed, and may still": {
			since: justNow, kind: "Namespace", by: health.NamespaceController, unread: health.APIServices,
			rest: conditions(condition("NamespaceDeletionDiscoveryFailure", "DiscoveryFailed", "v1.far")), want: "NamespaceDeletionFails: v1.far",
		},
		"another one's conditions": {
			since: justNow, by: health.Collector, rest: conditions(condition("NamespaceDeletionContentFailure", "ContentDeletionFailed", "Failed")),
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, around := c.around(t)
			l, late := around.Late(o, c.by)
			got := string(l.Reason)
			if l.Proven {
				got += " proven"
			}
			if l.Detail != "" {
				got += ": " + l.Detail
			}
			if got != c.want || late != (c.want != "") {
				t.Errorf("%v %q, want %q", late, got, c.want)
			}
			if inManager := slices.Contains([]reason.Code{reason.CollectorNotWorking, reason.DeletionForgotten, reason.ControllerNotWorking}, l.Reason); inManager != (l.Manager.State != "") {
				t.Errorf("kube-controller-manager: %q", l.Manager.State)
			}
		})
	}
}

const (
	crd   = "CustomResourceDefinition"
	still = "unexpected items still remain in namespace: shop for gvr: /v1, Resource=pods"
)

func (c lateCase) around(t *testing.T) (*object.Object, *health.Assessment) {
	t.Helper()
	apiVersion := "v1"
	switch c.kind {
	case "":
		c.kind = "ConfigMap"
	case crd:
		apiVersion = "apiextensions.k8s.io/v1"
	}
	body := deleted(apiVersion, c.kind, c.since, c.rest)
	if c.since == "" {
		body = strings.Replace(body, `,"deletionTimestamp":""`, "", 1)
	}
	snap, err := snapshot.ReadFiles([]string{"-"}, snapshot.Options{Stdin: strings.NewReader(body), TreatMissingAsAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	seen := &health.Evidence{}
	for _, raw := range append([]string{body}, c.beside...) {
		if err := seen.Add("", "", []byte(raw)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range health.Parts() {
		why := ""
		if p == c.unread {
			why = "Forbidden: not for you"
		}
		seen.Mark(p, "", why)
	}
	snap.Source.Discovered = true // as a cluster's is, whose every kind is known
	return snap.Objects[0], health.New(snap, seen, c.clock())
}

// clock returns noon, or 0 for a timeless case.
func (c lateCase) clock() int64 {
	if c.timeless {
		return 0
	}
	return lateNoon
}

// TestLateUnseen: without evidence only the age counts, and nothing is proven.
func TestLateUnseen(t *testing.T) {
	snap, err := snapshot.ReadFiles([]string{"-"}, snapshot.Options{Stdin: strings.NewReader(deleted("v1", "Namespace", tooLate, "")), TreatMissingAsAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	around := health.New(snap, nil, lateNoon)
	for _, by := range []health.Component{health.Collector, health.NamespaceController, health.Manager, health.CRDController, health.Kubelet} {
		l, late := around.Late(snap.Objects[0], by)
		if !late || l.Proven {
			t.Errorf("%v: %+v", by, l)
		}
	}
	if l, _ := around.Late(snap.Objects[0], health.Collector); l.Manager.State != report.FinalizerControllerUnknown {
		t.Errorf("%+v", l)
	}
}

// TestRecent: no controller is overdue for an object that may have been created within Patience.
func TestRecent(t *testing.T) {
	around := health.New(&snapshot.Snapshot{Resources: &object.Resources{}}, nil, lateNoon)
	for created, want := range map[int64]bool{0: false, lateNoon - 301: false, lateNoon - 300: true, lateNoon: true, lateNoon + 5: true} {
		if got := around.Recent(&object.Object{Created: created}); got != want {
			t.Errorf("created at %d: %v", created, got)
		}
	}
}

// TestOnlyRemains: the namespace controller reports remaining content as a failure. Only other
// failures are real.
func TestOnlyRemains(t *testing.T) {
	for message, want := range map[string]bool{
		"Failed to delete all resource types, 1 remaining: " + still:                                                  true,
		"Failed to delete all resource types, 2 remaining: " + still + ", " + still:                                   true,
		"Failed to delete all resource types, 2 remaining: " + still + ", conversion webhook for a/v1, Kind=B failed": false,
		"Failed to delete all resource types, 2 remaining: conversion webhook for a/v1, Kind=B failed: x, " + still:   false,
		"Failed to delete all resource types, 1 remaining: Internal error occurred: failed calling webhook \"a\"":     false,
		"something else": false,
	} {
		if got := health.OnlyRemains(message); got != want {
			t.Errorf("%q: %v", message, got)
		}
	}
}
