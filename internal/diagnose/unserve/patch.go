package unserve

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// patches migrates the references whose owner is known to live.
func (q *question) patches() error {
	target := q.subject.target()
	left := false
	for _, d := range q.dependents {
		var places []int
		for i := range d.facts {
			if !q.subject.through(d.facts[i].Reference) {
				continue
			}
			if q.alive(&d.facts[i]) && target != "" && !d.BeingDeleted() {
				places = append(places, i)
			} else {
				left = true
			}
		}
		if len(places) == 0 {
			continue
		}
		p, err := migrate(d.Object, places, target)
		if err != nil {
			return err
		}
		q.doc.Patches = append(q.doc.Patches, p)
	}
	if left && target != "" {
		q.note(reason.NotMigrated)
	}
	return nil
}

// alive reports whether the owner of a reference through the version lives, which is
// seen through another one when the version is not served.
func (q *question) alive(f *engine.OwnerFact) bool {
	if f.Evidence != engine.KindNotServed {
		return lives(f)
	}
	g := q.collector.Graph()
	id, ok := g.Find(f.Reference.UID)
	if !ok || g.Virtual(id) || g.WaitingForDependents(id) {
		return false
	}
	owner := g.Identity(id)
	_, same := q.subject.named(object.OwnerReference{APIVersion: owner.APIVersion, Kind: owner.Kind})
	return same && owner.Name == f.Reference.Name && (owner.Namespace == "" || owner.Namespace == f.Ref.Namespace)
}

// operation is one operation of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// reference is an owner reference as the server has it.
type reference struct {
	APIVersion         string `json:"apiVersion"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	UID                string `json:"uid"`
	Controller         *bool  `json:"controller,omitempty"`
	BlockOwnerDeletion *bool  `json:"blockOwnerDeletion,omitempty"`
}

// migrate is the patch that has the references at the places name the owner through
// another version. It takes effect only on the object and on the references that were
// seen, and changes nothing but their apiVersion.
func migrate(o *object.Object, places []int, target string) (report.ReferencePatch, error) {
	ops := []operation{{"test", "/metadata/uid", o.UID}}
	for _, i := range places {
		ref, path := o.Owners[i], fmt.Sprintf("/metadata/ownerReferences/%d", i)
		ops = append(ops,
			operation{"test", path, reference{
				APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, UID: string(ref.UID),
				Controller: ref.Controller.Bool(), BlockOwnerDeletion: ref.BlockOwnerDeletion.Bool(),
			}},
			operation{"replace", path + "/apiVersion", target})
	}
	patch, err := json.Marshal(ops)
	if err != nil {
		return report.ReferencePatch{}, err
	}
	p := report.ReferencePatch{Object: report.RefOf(o.Ref), Patch: string(patch)}
	p.Command = command(p)
	return p, nil
}

// command is the command that sends a patch; empty when something in it is nothing
// that can be pasted into a shell.
func command(p report.ReferencePatch) string {
	line := report.Act{Action: report.SendPatch, Target: p.Object, Patch: p.Patch}.CommandLine()
	if strings.HasPrefix(p.Object.Name, "-") || strings.ContainsFunc(line, unprintable) {
		return ""
	}
	return line
}

func unprintable(r rune) bool { return r < ' ' || r > '~' }
