package manifest

import "github.com/kubectl-gc/kubectl-gc/internal/object"

var jobFacts = &factKind{
	kind: object.Job,
	fields: []factField{
		sharedText("spec.managedBy", func(f *facts) *string { return &f.job.ManagedBy }),
		conditions,
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified {
			return nil
		}
		return new(f.job)
	},
}

// conditions are those of a CustomResourceDefinition, a Job or a Node.
var conditions = factField{
	path: "status.conditions", keep: &keep{each: keepFields(nil, "type", "status", "lastHeartbeatTime", "LastHeartbeatTime")}, read: (*lexer).conditions,
}

// conditions reads the two conditions of a CustomResourceDefinition that its instances depend on,
// the conditions of a finished Job, or the heartbeats of a Node.
//
// Upstream: pkg/controller/job/util/utils.go FinishedCondition.
func (l *lexer) conditions(it *item, path string, _ bool) error {
	it.facts.conditioned = true
	return l.entries(path, func() error {
		kind, status, err := l.condition(it)
		if err != nil {
			return err
		}
		switch kind {
		case "Established":
			it.facts.definition.Established = status == "True"
		case "Terminating":
			it.facts.definition.Terminating = status == "True"
		case "Complete", "Failed":
			it.facts.job.Finished = it.facts.job.Finished || status == "True"
		}
		return nil
	})
}

func (l *lexer) condition(it *item) (kind, status string, err error) {
	in, err := l.object("an entry of status.conditions")
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		switch string(l.key) {
		case "type":
			err = l.repeated(&kind, "status.conditions.type")
		case "status":
			err = l.repeated(&status, "status.conditions.status")
		case "lastHeartbeatTime", "LastHeartbeatTime":
			err = l.moment(it)
		default:
			err = l.skip()
		}
	}
	return kind, status, err
}
