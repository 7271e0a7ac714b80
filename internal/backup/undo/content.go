package undo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// decode parses and checks the bytes. Numbers keep their digits. (N21)
func (n *node) decode() error {
	d := json.NewDecoder(bytes.NewReader(n.Raw))
	d.UseNumber()
	if err := d.Decode(&n.content); err != nil {
		return fmt.Errorf("the bytes are no object: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind the object")
	}
	if _, ok := n.content["metadata"].(map[string]any); !ok {
		return errors.New("the object has no metadata")
	}
	for _, f := range []struct {
		want string
		path []string
	}{
		{n.Object.Name, []string{"metadata", "name"}}, {n.Object.Namespace, []string{"metadata", "namespace"}},
		{string(n.Object.UID), []string{"metadata", "uid"}},
	} {
		if got := textAt(n.content, f.path...); got != f.want {
			return fmt.Errorf("metadata.%s is %q, want %q", f.path[1], got, f.want)
		}
	}
	for key, want := range map[string]string{"apiVersion": n.Object.APIVersion, "kind": n.Object.Kind} {
		if got, there := n.content[key]; there && got != want {
			return fmt.Errorf("%s is not %q", key, want)
		}
		n.content[key] = want // items of a list have neither
	}
	n.owners = references(n.content)
	n.managers, _ = at(n.content, "metadata", "managedFields").([]any)
	return nil
}

// at returns the value at the end of a path of keys; nil if there is none.
func at(m map[string]any, path ...string) any {
	var value any = m
	for _, key := range path {
		below, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = below[key]
	}
	return value
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

func textAt(m map[string]any, path ...string) string {
	s, _ := at(m, path...).(string)
	return s
}

// texts returns the strings of a list.
func texts(m map[string]any, path ...string) []string {
	list, _ := at(m, path...).([]any)
	var all []string
	for _, entry := range list {
		if s, ok := entry.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// remove deletes the value at the end of a path, and reports whether it existed.
func remove(m map[string]any, path ...string) bool {
	last := len(path) - 1
	below, ok := at(m, path[:last]...).(map[string]any)
	if !ok {
		return false
	}
	_, there := below[path[last]]
	delete(below, path[last])
	return there
}

// condition reports whether one of the named conditions is True in the status.
func condition(m map[string]any, names ...string) bool {
	list, _ := at(m, "status", "conditions").([]any)
	return slices.ContainsFunc(list, func(entry any) bool {
		c, ok := entry.(map[string]any)
		return ok && slices.Contains(names, text(c, "type")) && text(c, "status") == "True"
	})
}

// endings are the conditions of finished work and their statuses. For those that may also be False,
// Unknown means that the work continues.
//
// Tekton's runs have Succeeded, Kueue's Workloads Finished, Kubeflow's jobs Succeeded and Failed,
// JobSets Completed and Failed.
var endings = map[string][]string{
	"Complete": {"True"}, "Completed": {"True"}, "Finished": {"True"}, "Failed": {"True"}, "Succeeded": {"True", "False"},
}

// endTimes are the status fields that hold the time when work finished.
//
// Velero has completionTimestamp, Tekton and Kubeflow completionTime, Argo Workflows finishedAt,
// Ray endTime, CloudNativePG stoppedAt, Percona's backups completed, Spark terminationTime.
var endTimes = []string{
	"completionTime", "completionTimestamp", "completedAt", "completed", "finishedAt", "finishTime", "finishTimestamp", "finishedTime",
	"endTime", "endTimestamp", "endedAt", "stoppedAt", "terminationTime",
}

// isTime matches RFC 3339 times.
var isTime = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}`)

// hasEnded reports whether a custom resource is finished work: its status has a finished condition
// or an end time. A phase is not enough: Succeeded also describes an installation that keeps
// running.
func (n *node) hasEnded() bool {
	list, _ := at(n.content, "status", "conditions").([]any)
	for _, entry := range list {
		c, _ := entry.(map[string]any)
		if slices.Contains(endings[text(c, "type")], text(c, "status")) {
			return true
		}
	}
	return slices.ContainsFunc(endTimes, func(field string) bool { return isTime.MatchString(textAt(n.content, "status", field)) })
}

// ranToItsEnd reports whether the object is finished work that its controller would run again. If
// the status of a custom resource is written with the object, its controller sees that the work is
// finished.
func (n *node) ranToItsEnd(p *planning) bool {
	switch {
	case n.Object.Is(object.Job):
		return condition(n.content, "Complete", "Failed")
	case n.Object.Is(object.CertificateSigningRequest):
		return condition(n.content, "Approved", "Denied", "Failed")
	case n.Object.Is(object.Pod):
		phase := textAt(n.content, "status", "phase")
		return phase == "Succeeded" || phase == "Failed"
	case BuiltIn(n.Object.Group()):
		return false
	default:
		return n.hasEnded() && p.statusAt(n) != StatusInside
	}
}
