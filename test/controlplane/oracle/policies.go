package oracle

import (
	"context"
	"net/http"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// police has an admission policy deny every DELETE of what has the label, whoever asks: the
// collector and the namespace controller, too.
func (s *stage) police(ctx context.Context) error {
	const admission, name = "/apis/admissionregistration.k8s.io/v1/", "guarded." + group
	policy := fields{"metadata": fields{"name": name}, "spec": fields{
		"failurePolicy": "Fail",
		"matchConstraints": fields{"resourceRules": []fields{
			{"apiGroups": []string{"*"}, "apiVersions": []string{"*"}, "resources": []string{"*"}, "operations": []string{"DELETE"}},
		}},
		"validations": []fields{{
			"expression": "!has(oldObject.metadata.labels) || !('" + guarded + "' in oldObject.metadata.labels)", "message": "it is guarded",
		}},
	}}
	if _, err := s.send(ctx, http.MethodPost, admission+"validatingadmissionpolicies", policy); err != nil {
		return err
	}
	binding := fields{"metadata": fields{"name": name}, "spec": fields{"policyName": name, "validationActions": []string{"Deny"}}}
	if _, err := s.send(ctx, http.MethodPost, admission+"validatingadmissionpolicybindings", binding); err != nil {
		return err
	}
	probe := kindNamed("ConfigMap").path(accounts, "")
	return cluster.Await(ctx, "the policy denies", func(ctx context.Context) (bool, error) {
		_, err := s.send(ctx, http.MethodPost, probe, fields{"metadata": fields{"name": "probe", "labels": fields{guarded: "yes"}}})
		if err != nil && cluster.Code(err) != http.StatusConflict {
			return false, err
		}
		_, err = s.Do(ctx, http.MethodDelete, kindNamed("ConfigMap").path(accounts, "probe"), "", nil)
		switch code := cluster.Code(err); {
		case err == nil:
			return false, nil
		case code == http.StatusUnprocessableEntity || code == http.StatusForbidden:
			return true, nil
		}
		return false, err
	})
}
