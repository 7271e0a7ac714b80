package main

import (
	"os"
	"path/filepath"
)

// recorded is what the API server writes down: every write, rehearsed ones too. Those of
// service accounts stand there before anything is done, and once more with what they
// asked for when it was answered; of everybody else only that they asked. Questions about
// rights are no writes, and Events tell nothing.
const recorded = `apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- {level: None, verbs: [get, list, watch]}
- {level: None, resources: [{group: "", resources: [events]}, {group: events.k8s.io}, {group: coordination.k8s.io}, {group: authorization.k8s.io}, {group: authentication.k8s.io}]}
- {level: Request, userGroups: [system:serviceaccounts]}
- {level: Metadata, omitStages: [RequestReceived]}
`

// auditing are the arguments with which the API server keeps its record, in one file
// however long it gets.
func (p *plane) auditing() ([]string, error) {
	policy := filepath.Join(p.dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(recorded), 0o600); err != nil {
		return nil, err
	}
	return []string{
		"--audit-policy-file=" + policy, "--audit-log-path=" + filepath.Join(p.dir, "audit.log"),
		"--audit-log-mode=blocking-strict", "--audit-log-maxsize=100000",
	}, nil
}
