package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	admission "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
)

// rbac is the command rbac.
type rbac struct {
	streams        genericiooptions.IOStreams
	cluster        command.Cluster
	from           []string
	command, mode  string
	leaseNamespace string
	output         command.Output
	kinds          bool
	owners         bool
}

func newRBAC(streams genericiooptions.IOStreams, config *genericclioptions.ConfigFlags) *cobra.Command {
	r := &rbac{streams: streams, cluster: command.Cluster{Config: config}}
	c := &cobra.Command{
		Use:   "rbac --for COMMAND",
		Short: "Print the least permissions that a command needs, as roles",
		Long: text(`
			Print the least permissions that a command needs, as roles.

			The commands are read, which stands for all that only look, stuck, lost, doctor,
			delete, collect, controller, remove-finalizer and undo. What every user of a
			cluster may do anyway is left out.

			protect prints an admission policy instead: with it the API server refuses every
			delete of an object with the annotation kubectl-gc.io/protect, whoever sends it.

			A wildcard covers kinds that come later, and subresources, too. With --kinds the
			kinds that the cluster serves, or a dump (--from), are named instead. Only metadata
			of Secrets is read, but whoever may list them may read all of them: RBAC knows no
			smaller right.`),
		Example: templates.Examples(`
			# A role for people who look
			kubectl gc rbac --for read

			# Have the API server keep what is annotated kubectl-gc.io/protect
			kubectl gc rbac --for protect

			# The controller, for the kinds of a dump
			kubectl gc rbac --for controller --mode enforce --kinds --from examples/cluster.yaml`),
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error { return r.run(c) },
	}
	f := c.Flags()
	r.output.AddFlags(f)
	f.StringVar(&r.command, "for", "", "The command: read, stuck, lost, doctor, delete, collect, controller, remove-finalizer or undo; or protect, for an admission policy.")
	command.AddChoice(f, &r.mode, "mode", "observe", "For the controller: its mode, observe or enforce.", "observe", "enforce")
	f.StringVar(&r.leaseNamespace, "leader-elect-namespace", "kubectl-gc", "For the controller: the namespace of its lease.")
	f.BoolVar(&r.owners, "owner-enforcement", false,
		"The cluster has the admission plugin OwnerReferencesPermissionEnforcement, as OpenShift has: an undo needs more permissions there.")
	f.BoolVar(&r.kinds, "kinds", false, "Name the kinds that the cluster serves, or a dump, instead of wildcards.")
	f.StringArrayVar(&r.from, "from", nil, "With --kinds: read a dump instead of a cluster.")
	return c
}

func (r *rbac) run(c *cobra.Command) error {
	if r.command == admissionPolicyName {
		return r.print(c, admissionPolicy())
	}
	of, err := parseRBACCommand(r.command)
	if err != nil {
		return command.Errorf(c, "--for: %w", err)
	}
	if len(r.from) > 0 && !r.kinds {
		return command.Errorf(c, "--from requires --kinds")
	}
	o := rbacOptions{Enforce: r.mode == "enforce", Namespace: r.leaseNamespace, OwnerEnforcement: r.owners}
	if r.kinds {
		if o.Kinds, err = r.served(c); err != nil {
			return err
		}
	}
	roles := []runtime.Object{clusterRole(of, o)}
	if role := namespacedRole(of, o); role != nil {
		roles = append(roles, role)
	}
	return r.print(c, roles)
}

// print prints objects as YAML documents or names. Other formats get several objects as a List.
func (r *rbac) print(c *cobra.Command, roles []runtime.Object) error {
	var printer printers.ResourcePrinter = &printers.YAMLPrinter{}
	switch r.output.Full() {
	case "", "wide", "yaml":
	case "name":
		printer = &printers.NamePrinter{}
	default:
		answer := roles[0]
		if len(roles) > 1 {
			list := &corev1.List{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "List"}}
			for _, role := range roles {
				list.Items = append(list.Items, runtime.RawExtension{Object: role})
			}
			answer = list
		}
		_, err := r.output.Print(c, r.streams.Out, answer)
		return err
	}
	var documents strings.Builder
	for _, role := range roles {
		if err := printer.PrintObj(role, &documents); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(r.streams.Out, documents.String())
	return err
}

// served returns the kinds of a dump or a cluster.
func (r *rbac) served(c *cobra.Command) ([]object.Resource, error) {
	if len(r.from) > 0 {
		w, err := (&command.Source{From: r.from}).ReadDump(c, r.streams)
		if err != nil {
			return nil, err
		}
		return w.Resources.Sorted(), nil
	}
	client, err := r.cluster.Connect(c)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	d, err := client.Discover(c.Context())
	if err != nil {
		return nil, err
	}
	for _, m := range d.Missing {
		fmt.Fprintf(r.streams.ErrOut, "warning: %s could not be discovered, so that its kinds are not in the role: %s\n",
			render.EscapeLines(m.GroupVersion), render.EscapeLines(m.Why))
	}
	return d.Resources.Sorted(), nil
}

// admissionPolicyName is the name of the admission policy for the rbac command.
const admissionPolicyName = "protect"

// admissionPolicy returns a ValidatingAdmissionPolicy and its binding. The API server then refuses
// every DELETE of an object that object.ProtectAnnotation protects, by the rule of
// object.ProtectionBy: any value but exactly `false`. This includes requests of the garbage
// collector and the namespace controller. Removing the annotation is an UPDATE, and allowed.
//
// A DELETE of a collection is admitted object by object. A policy never sees requests for
// admission policies and webhook configurations themselves.
//
// Upstream: apiserver/pkg/registry/generic/registry/store.go Store.DeleteCollection.
// Upstream: apiserver/pkg/admission/plugin/policy/generic/plugin.go Plugin.Dispatch.
func admissionPolicy() []runtime.Object {
	const name = "protect.kubectl-gc.io"
	fail, all := admission.Fail, admission.AllScopes
	forbidden := metav1.StatusReasonForbidden
	meta := metav1.ObjectMeta{Name: name}
	version := admission.SchemeGroupVersion.String()
	return []runtime.Object{
		&admission.ValidatingAdmissionPolicy{
			TypeMeta:   metav1.TypeMeta{APIVersion: version, Kind: "ValidatingAdmissionPolicy"},
			ObjectMeta: meta,
			Spec: admission.ValidatingAdmissionPolicySpec{
				FailurePolicy: &fail,
				MatchConstraints: &admission.MatchResources{ResourceRules: []admission.NamedRuleWithOperations{{
					RuleWithOperations: admission.RuleWithOperations{
						Operations: []admission.OperationType{admission.Delete},
						Rule:       admission.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}, Scope: &all},
					},
				}}},
				Validations: []admission.Validation{{
					Expression: object.ProtectExpression,
					Message:    "protected by its annotation " + object.ProtectAnnotation + ": remove the annotation first",
					Reason:     &forbidden,
				}},
			},
		},
		&admission.ValidatingAdmissionPolicyBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: version, Kind: "ValidatingAdmissionPolicyBinding"},
			ObjectMeta: meta,
			Spec: admission.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: name, ValidationActions: []admission.ValidationAction{admission.Deny},
			},
		},
	}
}
