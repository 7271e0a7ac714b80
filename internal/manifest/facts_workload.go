package manifest

import "github.com/kubectl-gc/kubectl-gc/internal/object"

var podFacts = &factKind{
	kind: object.Pod,
	fields: []factField{
		{path: "spec.volumes", keep: &keep{each: keepFields(map[string]*keep{
			"persistentVolumeClaim": keepFields(nil, "claimName"),
			"ephemeral":             keepFields(nil),
		}, "name")}, read: (*lexer).podVolumes},
		// A spec with containers is complete.
		{path: "spec.containers", keep: keepEntries, read: func(l *lexer, it *item, _ string, _ bool) error {
			it.facts.pod.VolumesKnown = true
			return l.skip()
		}},
		sharedText("spec.nodeName", func(f *facts) *string { return &f.pod.NodeName }),
		{path: "spec.terminationGracePeriodSeconds", keep: keepValue, read: func(l *lexer, it *item, path string, _ bool) error {
			grace, ok, err := l.integer(path)
			if ok {
				it.facts.pod.TerminationGracePeriod = l.rd.in.Number(grace)
			}
			return err
		}},
		sharedText("status.phase", func(f *facts) *string { return &f.pod.Phase }),
	},
	alike: func(f *facts) []byte {
		key := f.pod.AppendKey(f.key[:0])
		if key != nil {
			f.key = key
		}
		return key
	},
	facts: func(f *facts, o *object.Object) object.Facts { return f.pod.Of(o.Name) },
}

// podVolumes reads the claims that the volumes of a pod use.
func (l *lexer) podVolumes(it *item, path string, flat bool) error {
	it.facts.pod.VolumesKnown = true
	return l.entries(path, func() error {
		if err := l.charge(entryBytes); err != nil {
			return err
		}
		return l.podVolume(it, flat)
	})
}

// podVolume reads one volume. The claim of an ephemeral volume gets the name of the volume, because
// the pod's name may come later: PodFacts.Of prepends it.
func (l *lexer) podVolume(it *item, flat bool) error {
	var name, claim span
	ephemeral := false
	seen := [3]bool{}
	once := func(i int) error {
		if seen[i] {
			return l.wrong("an entry of spec.volumes has %s twice", l.key)
		}
		seen[i] = true
		return nil
	}
	err := l.members("an entry of spec.volumes", flat, func() (err error) {
		switch string(l.key) {
		case "name":
			if err = once(0); err == nil {
				err = l.string(it, &name, "spec.volumes.name")
			}
		case "persistentVolumeClaim":
			if err = once(1); err == nil {
				claim, err = l.named(it, "claimName", "spec.volumes.persistentVolumeClaim", flat)
			}
		case "ephemeral":
			if err = once(2); err == nil {
				ephemeral = l.token() != 'n'
				err = l.skip()
			}
		default:
			err = l.skip()
		}
		return err
	})
	if text := it.bytes(claim); len(text) > 0 {
		it.facts.pod.Claims = append(it.facts.pod.Claims, object.Claim{Name: string(text)})
	}
	if ephemeral {
		it.facts.pod.Claims = append(it.facts.pod.Claims, object.Claim{Name: string(it.bytes(name)), Ephemeral: true})
	}
	return err
}

// named reads the string under key in a mapping.
func (l *lexer) named(it *item, key, name string, flat bool) (text span, err error) {
	found := false
	err = l.members(name, flat, func() error {
		switch {
		case string(l.key) != key:
			return l.skip()
		case found:
			return l.wrong("%s has %s twice", name, key)
		default:
			found = true
			return l.string(it, &text, name+"."+key)
		}
	})
	return text, err
}

var jobFacts = &factKind{
	kind: object.Job,
	fields: []factField{
		sharedText("spec.managedBy", func(f *facts) *string { return &f.job.ManagedBy }),
		{path: "spec.ttlSecondsAfterFinished", flat: "tTLSecondsAfterFinished", keep: keepValue, read: func(l *lexer, it *item, path string, _ bool) error {
			ttl, ok, err := l.integer(path)
			if ok {
				it.facts.job.TTL = l.rd.in.Number(ttl)
			}
			return err
		}},
		{path: "spec.backoffLimit", keep: keepValue, read: func(l *lexer, it *item, path string, _ bool) (err error) {
			it.facts.retries.limit, it.facts.retries.limited, err = l.integer(path)
			return err
		}},
		existence("spec.podFailurePolicy", func(f *facts) *bool { return &f.retries.selective }),
		{path: "status.failed", keep: keepValue, read: func(l *lexer, it *item, path string, _ bool) (err error) {
			it.facts.retries.failed, _, err = l.integer(path)
			return err
		}},
		conditions,
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified {
			return nil
		}
		f.job.NoRetry = f.retries.usedUp()
		return new(f.job)
	},
}

// jobRetries are the fields of a Job that decide whether it replaces a failed pod.
type jobRetries struct {
	limit, failed int64
	limited       bool // limit is known
	// selective is true with a pod failure policy, which may ignore a failure.
	selective bool
}

// usedUp reports whether the Job fails with one more failed pod. Without a status, fewer failures are known.
//
// Upstream: pkg/controller/job/job_controller.go syncJob: exceedsBackoffLimit.
func (r jobRetries) usedUp() bool { return r.limited && !r.selective && r.failed >= r.limit }

// conditions are those of a CustomResourceDefinition, a Job or a Node.
var conditions = factField{
	path: "status.conditions", keep: &keep{each: keepFields(nil, "type", "status", "lastTransitionTime", "lastHeartbeatTime", "LastHeartbeatTime")}, read: (*lexer).conditions,
}

// conditions reads the two conditions of a CustomResourceDefinition that its instances depend on,
// the conditions of a finished Job, or the heartbeats of a Node.
//
// Upstream: pkg/controller/job/util/utils.go FinishedCondition.
func (l *lexer) conditions(it *item, path string, _ bool) error {
	it.facts.conditioned = true
	return l.entries(path, func() error {
		kind, status, changed, err := l.condition(it)
		if err != nil {
			return err
		}
		switch kind {
		case "Established":
			it.facts.definition.Established = status == "True"
		case "Terminating":
			it.facts.definition.Terminating = status == "True"
		case "Complete", "Failed":
			if job := &it.facts.job; status == "True" && !job.Finished {
				job.Finished, job.FinishedAt = true, changed
			}
		}
		return nil
	})
}

// condition reads a condition. changed is its last transition, in seconds since 1970; 0 if unknown.
func (l *lexer) condition(it *item) (kind, status string, changed int64, err error) {
	err = l.members("an entry of status.conditions", false, func() error {
		switch string(l.key) {
		case "type":
			return l.repeated(&kind, "status.conditions.type")
		case "status":
			return l.repeated(&status, "status.conditions.status")
		case "lastTransitionTime":
			changed, err = l.seconds(it)
			return err
		case "lastHeartbeatTime", "LastHeartbeatTime":
			return l.moment(it)
		default:
			return l.skip()
		}
	})
	return kind, status, changed, err
}

var pvFacts = &factKind{
	kind: object.PV,
	fields: []factField{
		{path: "spec.claimRef", keep: keepFields(nil, "namespace", "name", "uid", "uID"), read: (*lexer).claimRef},
		sharedText("spec.persistentVolumeReclaimPolicy", func(f *facts) *string { return &f.volume.ReclaimPolicy }),
		{path: "spec.csi", flat: "cSI", keep: keepFields(nil), read: func(l *lexer, it *item, _ string, _ bool) error {
			it.facts.volume.CSI = l.token() != 'n'
			return l.skip()
		}},
		sharedText("status.phase", func(f *facts) *string { return &f.volume.Phase }),
	},
	facts: func(f *facts, _ *object.Object) object.Facts { return new(f.volume) },
}

// claimRef reads the claim of a volume.
func (l *lexer) claimRef(it *item, path string, flat bool) error {
	v := &it.facts.volume
	uid := func(string) error { return l.own((*string)(&v.ClaimUID), path+".uid") }
	return l.wanted(path, path, flat, map[string]func(string) error{
		"namespace": l.repeatedInto(&v.ClaimNamespace), "name": l.ownInto(&v.ClaimName), "uid": uid, "uID": uid,
	})
}

var statefulSetFacts = &factKind{
	kind: object.StatefulSet,
	fields: []factField{
		{path: "spec.volumeClaimTemplates", keep: &keep{each: keepFields(map[string]*keep{"metadata": keepFields(nil, "name")})},
			read: func(l *lexer, it *item, path string, flat bool) error {
				return l.entries(path, func() error { return l.claimTemplate(it, flat) })
			}},
		{path: "spec.persistentVolumeClaimRetentionPolicy", keep: keepFields(nil, "whenDeleted"), read: func(l *lexer, it *item, path string, flat bool) error {
			policy, err := l.named(it, "whenDeleted", path, flat)
			it.facts.set.DeletesClaims = string(it.bytes(policy)) == "Delete"
			return err
		}},
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified {
			return nil
		}
		return new(f.set)
	},
}

// claimTemplate reads the name of one template.
func (l *lexer) claimTemplate(it *item, flat bool) error {
	const template = "an entry of spec.volumeClaimTemplates"
	var name span
	found := false
	err := l.members(template, flat, func() (err error) {
		switch {
		case string(l.key) != "metadata":
			err = l.skip()
		case found:
			return l.wrong("%s has metadata twice", template)
		default:
			found = true
			name, err = l.named(it, "name", template+".metadata", flat)
		}
		return err
	})
	if text := it.bytes(name); len(text) > 0 {
		it.facts.set.ClaimTemplates = append(it.facts.set.ClaimTemplates, l.rd.in.Bytes(text))
	}
	return err
}
