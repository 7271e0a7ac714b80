package undo

import (
	"slices"
	"testing"

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
