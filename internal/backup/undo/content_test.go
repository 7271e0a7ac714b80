package undo

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// TestFinished: finished custom resources would run again, since they are recreated without their
// status. Those with the status in the object would not. A phase, or an invalid time, does not
// prove an end.
func TestFinished(t *testing.T) {
	ended := []Saved{
		saved("PipelineRun.tekton.dev succeeded", `{"status":{"conditions":[{"type":"Succeeded","status":"True"}]}}`),
		saved("PipelineRun.tekton.dev failed", `{"status":{"conditions":[{"type":"Succeeded","status":"False"}]}}`),
		saved("Backup.velero.io b", `{"status":{"phase":"Completed","completionTimestamp":"2026-11-24T13:58:00Z"}}`),
		saved("Workflow.argoproj.io w", `{"status":{"phase":"Failed","finishedAt":"2026-11-24T13:58:00Z"}}`),
		saved("Workload.kueue.x-k8s.io w", `{"status":{"conditions":[{"type":"Finished","status":"True"}]}}`),
		saved("TFJob.kubeflow.org j", `{"status":{"completionTime":"2026-11-24T13:58:00.123456Z"}}`),
		saved("Backup.postgresql.cnpg.io b", `{"status":{"stoppedAt":"2026-11-24T13:58:00Z"}}`),
		saved("Job.batch j", `{"status":{"conditions":[{"type":"Complete","status":"True"}]}}`),
	}
	runs := []Saved{
		saved("PipelineRun.tekton.dev runs", `{"status":{"conditions":[{"type":"Succeeded","status":"Unknown"}]}}`),
		saved("Workflow.argoproj.io runs", `{"status":{"phase":"Running","finishedAt":null,"startedAt":"2026-11-24T13:58:00Z"}}`),
		saved("ClusterServiceVersion.operators.coreos.com csv", `{"status":{"phase":"Succeeded","conditions":[{"type":"Ready","status":"True"}]}}`),
		saved("Backup.velero.io new", ``),
		saved("Scan.example.com s", `{"status":{"completed":true,"completionTime":""}}`),
		saved("Deployment.apps d", `{"status":{"conditions":[{"type":"Complete","status":"True"}]}}`),
	}
	c := clusterOf()
	for _, where := range []StatusAt{StatusUnknown, StatusApart, StatusInside} {
		for _, finished := range []bool{false, true} {
			p := Resume(append(slices.Clone(ended), runs...), Cluster{Lookup: c.lookup, Finished: finished, Status: func(string, string) StatusAt { return where }}, nil)
			left := 0
			for _, s := range p.Skipped {
				if s.Reason != reason.WouldRunAgain {
					t.Errorf("%+v", s)
				}
				left++
			}
			noted := 0
			for i := range p.Steps {
				if slices.Contains(p.Steps[i].Notes, reason.RunsAgain) {
					noted++
				}
			}
			want := len(ended)
			if where == StatusInside {
				want = 1 // the Job
			}
			if finished && (left != 0 || noted != want) || !finished && (left != want || noted != 0) {
				t.Errorf("status %d, finished %v: %d left, %d noted, want %d", where, finished, left, noted, want)
			}
		}
	}
}

// TestStrip: fields that a new object must not have are removed and reported; the rest is restored
// byte for byte.
func TestStrip(t *testing.T) {
	boundTo := func(claim, uid string) *object.Object {
		v := live("PersistentVolume disk")
		v.Edit().Facts = &object.PVFacts{Phase: "Released", ClaimNamespace: "shop", ClaimName: claim, ClaimUID: types.UID(uid)}
		return v
	}
	const claim = `{"metadata":{"annotations":{"pv.kubernetes.io/bind-completed":"yes","pv.kubernetes.io/bound-by-controller":"yes",` +
		`"volume.kubernetes.io/selected-node":"n1","a":"b"}},"spec":{"volumeName":"disk"}}`
	const claimBody = `"annotations":{"a":"b"}`
	const claimStripped = " -metadata.annotations.pv.kubernetes.io/bind-completed -metadata.annotations.pv.kubernetes.io/bound-by-controller" +
		" -metadata.annotations.volume.kubernetes.io/selected-node"
	for _, c := range []struct {
		name, in string
		live     []*object.Object
		body     string // of spec and metadata, without the identity
		says     string
	}{
		{"ConfigMap cm", `{"data":{"n":"<&>\u2028"},"immutable":true}`, nil, `"data":{"n":"<&>\u2028"},"immutable":true`, ""},
		{"Cart.example.com c", `{"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z","generation":3,"selfLink":"x","managedFields":[{}],` +
			`"labels":{"l":"v"},"generateName":"c-","finalizers":["orphan","x.io/f","foregroundDeletion"]},"status":{"x":1},"spec":{"status":{"kept":null}}}`, nil,
			`"finalizers":["x.io/f"],"generateName":"c-","labels":{"l":"v"}|"spec":{"status":{"kept":null}}`, " -metadata.finalizers of the garbage collector"},
		{"Cart.example.com c", `{"metadata":{"finalizers":["foregroundDeletion"],"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":0}}`,
			nil, ``, " -metadata.finalizers of the garbage collector !WasBeingDeleted"},
		{"Pod p", `{"spec":{"nodeName":"n1","ephemeralContainers":[{}],"containers":[]},"status":{"phase":"Running"}}`, nil,
			`"spec":{"containers":[]}`, " -status -spec.nodeName -spec.ephemeralContainers !StatusComputed"},
		{"Service s", `{"spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"healthCheckNodePort":30000,"ports":[{"nodePort":30001,"port":80}]}}`, nil,
			`"spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"healthCheckNodePort":30000,"ports":[{"nodePort":30001,"port":80}]}`, ""},
		{"Service s", `{"spec":{"clusterIP":"None","clusterIPs":["None"],"ports":[{"port":80}]}}`, nil,
			`"spec":{"clusterIP":"None","clusterIPs":["None"],"ports":[{"port":80}]}`, ""},
		{"Service.example.com s", `{"spec":{"clusterIP":"10.0.0.1"}}`, nil, `"spec":{"clusterIP":"10.0.0.1"}`, ""},
		{"PersistentVolumeClaim c", claim, nil, claimBody + `|"spec":{"volumeName":"disk"}`, claimStripped + " !VolumeGone"},
		{"PersistentVolumeClaim c", claim, []*object.Object{boundTo("c", "u-c")}, claimBody + `|"spec":{"volumeName":"disk"}`, claimStripped + " !VolumeReleased"},
		{"PersistentVolumeClaim c", claim, []*object.Object{boundTo("c", "u-earlier")}, claimBody + `|"spec":{"volumeName":"disk"}`, claimStripped + " !VolumeReleased"},
		{"PersistentVolumeClaim c", claim, []*object.Object{boundTo("other", "u-other")}, claimBody + `|"spec":{"volumeName":"disk"}`, claimStripped + " !VolumeTaken"},
		{"PersistentVolumeClaim c", claim, []*object.Object{boundTo("c", "")}, claimBody + `|"spec":{"volumeName":"disk"}`, claimStripped},
		{"PersistentVolumeClaim c", claim, []*object.Object{live("PersistentVolume disk")}, claimBody + `|"spec":{"volumeName":"disk"}`, claimStripped + " !VolumeUnknown"},
		{"PersistentVolumeClaim c", `{"spec":{}}`, nil, `"spec":{}`, ""},
		{"PersistentVolume v", `{"spec":{"claimRef":{"name":"c","namespace":"shop","resourceVersion":"1","uid":"u-c"}}}`, nil,
			`"spec":{"claimRef":{"name":"c","namespace":"shop"}}`, " -spec.claimRef.uid -spec.claimRef.resourceVersion"},
		{"Job.batch j", `{"metadata":{"labels":{"controller-uid":"u-j","l":"v"}},"spec":{"selector":{"matchLabels":{}},` +
			`"template":{"metadata":{"labels":{"batch.kubernetes.io/controller-uid":"u-j","batch.kubernetes.io/job-name":"j","controller-uid":"u-j"}}}}}`, nil,
			`"labels":{"l":"v"}|"spec":{"template":{"metadata":{"labels":{"batch.kubernetes.io/job-name":"j"}}}}`,
			" -spec.selector -metadata.labels.controller-uid -spec.template.metadata.labels.controller-uid" +
				" -spec.template.metadata.labels.batch.kubernetes.io/controller-uid"},
		{"Job.batch j", `{"spec":{"manualSelector":true,"selector":{"matchLabels":{"a":"b"}}}}`, nil,
			`"spec":{"manualSelector":true,"selector":{"matchLabels":{"a":"b"}}}`, ""},
		{"Secret t", `{"type":"kubernetes.io/service-account-token","data":{"ca.crt":"Yw==","token":"dA=="},` +
			`"metadata":{"annotations":{"kubernetes.io/service-account.name":"sa","kubernetes.io/service-account.uid":"u"}}}`, nil,
			`"data":{"ca.crt":"Yw=="}|"annotations":{"kubernetes.io/service-account.name":"sa"}|"type":"kubernetes.io/service-account-token"`,
			" -metadata.annotations.kubernetes.io/service-account.uid -data.token !TokenDropped"},
	} {
		p := Make([]Saved{saved(c.name, c.in)}, clusterOf(c.live...).lookup)
		if len(p.Skipped) != 0 || p.Steps[0].Verb != Create {
			t.Errorf("%s %s: %v", c.name, c.in, lines(p))
			continue
		}
		s := &p.Steps[0]
		if says := joined(" -", fieldsOf(s.Stripped)) + joined(" !", s.Notes); says != c.says {
			t.Errorf("%s %s says\n\t%s\nwant\n\t%s", c.name, c.in, says, c.says)
		}
		body, _, err := s.Body(&Mapping{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(bodyOf(s.Object, c.body), string(body)); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

// bodyOf returns an object with sorted keys: its identity, and parts, which are split by bars.
func bodyOf(r object.Ref, parts string) string {
	var before, inside, after []string
	for part := range strings.SplitSeq(parts, "|") {
		switch {
		case part == "":
		case strings.HasPrefix(part, `"data"`):
			before = append(before, part)
		case strings.HasPrefix(part, `"spec"`), strings.HasPrefix(part, `"type"`):
			after = append(after, part)
		default:
			inside = append(inside, part)
		}
	}
	before = append([]string{`"apiVersion":"` + r.APIVersion + `"`}, before...)
	kind := `"kind":"` + r.Kind + `"`
	name := `"name":"` + r.Name + `"`
	if r.Namespace != "" {
		name += `,"namespace":"` + r.Namespace + `"`
	}
	inside = append(inside, name)
	all := append(append(before, kind, `"metadata":{`+strings.Join(inside, ",")+"}"), after...)
	return "{" + strings.Join(all, ",") + "}"
}

// TestNumbersKeepTheirDigits (N21): no number goes through a float.
func TestNumbersKeepTheirDigits(t *testing.T) {
	s := saved("ConfigMap cm", "")
	const numbers = `"spec":[9007199254740993,1e400,0.10,-0,1E+2]`
	s.Raw = []byte(`{"metadata":{"name":"cm","namespace":"shop","uid":"u-cm"},` + numbers + `}`)
	p := Make([]Saved{s}, clusterOf().lookup)
	body, _, err := p.Steps[0].Body(&Mapping{})
	if err != nil || string(body) != `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cm","namespace":"shop"},`+numbers+`}` {
		t.Errorf("%s, %v", body, err)
	}
}

// TestDropAddresses: a Service keeps its addresses unless the server says that they are taken; then
// only those are removed.
func TestDropAddresses(t *testing.T) {
	const service = `{"spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"healthCheckNodePort":30000,"ports":[{"nodePort":30001,"port":80}]}}`
	for _, c := range []struct{ refused, body, says string }{
		{"spec.clusterIPs", `"spec":{"healthCheckNodePort":30000,"ports":[{"nodePort":30001,"port":80}]}`, " -spec.clusterIP -spec.clusterIPs !AddressesDropped"},
		{"spec.ports[0].nodePort", `"spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"healthCheckNodePort":30000,"ports":[{"port":80}]}`, " -spec.ports.nodePort !AddressesDropped"},
		{"spec.healthCheckNodePort", `"spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ports":[{"nodePort":30001,"port":80}]}`, " -spec.healthCheckNodePort !AddressesDropped"},
		{"spec.selector", `"spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"healthCheckNodePort":30000,"ports":[{"nodePort":30001,"port":80}]}`, ""},
	} {
		s := &Make([]Saved{saved("Service s", service)}, clusterOf().lookup).Steps[0]
		if got := s.DropAddresses([]string{c.refused}); got != (c.says != "") || s.DropAddresses([]string{c.refused}) {
			t.Errorf("%s: %v", c.refused, got)
		}
		if says := joined(" -", fieldsOf(s.Stripped)) + joined(" !", s.Notes); says != c.says {
			t.Errorf("%s: %s", c.refused, says)
		}
		body, _, err := s.Body(&Mapping{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(bodyOf(s.Object, c.body), string(body)); diff != "" {
			t.Errorf("%s:\n%s", c.refused, diff)
		}
	}
}

func fieldsOf(list []Stripped) []string {
	var fields []string
	for _, s := range list {
		fields = append(fields, s.Field)
	}
	return fields
}
