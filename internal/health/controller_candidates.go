package health

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
)

// candidatesKey is the cache key of candidates: everything that decides which pods and workloads
// are connected to a finalizer.
type candidatesKey struct {
	writers     *mayWrite
	finalizer   string
	group, kind string
	program     string
	// byTool is true if a tool that people use wrote the finalizer. table is true if the
	// finalizer's controller is the one in the table of known finalizers.
	byTool, table bool
}

// candidates are the pods and workloads that may write an object, and those that have a name of the
// finalizer's controller.
type candidates struct {
	// connected may write the object and are connected to the finalizer. Those that wrote the
	// finalizer come first. why has the reason of each.
	connected []*Pod
	why       map[*Pod]string
	// workloads may write the object and are connected to the finalizer.
	workloads []*Workload
	// unconnected may write the object by rules that name its API group, powerful ones by rules for
	// all groups. Neither has a known connection to the finalizer.
	unconnected, powerful []*Pod
	// unauthorized have a name of the controller, but no known permission to write the object.
	unauthorized []*Pod
}

// candidatesOf sorts the pods and workloads that may write the object. The permission to write
// alone does not show that a controller removes the finalizer.
func (s *search) candidatesOf() *candidates {
	q := candidatesKey{s.writers, s.name, s.o.Group(), s.o.Kind, s.program, s.writtenByTool(), !s.other}
	if c, ok := s.candidatesCache[q]; ok {
		return c
	}
	c := &candidates{why: map[*Pod]string{}}
	s.candidatesCache[q] = c
	if s.evidence == nil {
		return c
	}
	known := s.knownControllers()
	packages := s.packagesOfCRDs()
	for _, w := range s.writers.workloads {
		if s.connection(Account{w.Ref.Namespace, w.ServiceAccount}, w.Programs, w.allNames(), w.Packages, known, packages) != "" {
			c.workloads = append(c.workloads, w)
		}
	}
	var wrote []*Pod
	for _, p := range s.writers.pods {
		a := Account{p.Ref.Namespace, p.ServiceAccount}
		switch why := s.connection(a, p.Programs, p.allNames(), s.programs.packages(p), known, packages); {
		case why != "" && s.isWriter(p.Programs):
			wrote, c.why[p] = append(wrote, p), why
		case why != "":
			c.connected, c.why[p] = append(c.connected, p), why
		case s.writers.accounts[a]:
			c.unconnected = append(c.unconnected, p)
		case s.writers.powerful[a]:
			c.powerful = append(c.powerful, p)
		}
	}
	called := s.programs.podsOf(known)
	if s.program != "" && !isCommon(s.program) {
		called = append(slices.Clip(called), s.programs.pods[strings.ToLower(s.program)]...)
	}
	for _, p := range called {
		if !s.writers.includes(Account{p.Ref.Namespace, p.ServiceAccount}) && !slices.Contains(c.unauthorized, p) {
			c.unauthorized = append(c.unauthorized, p)
		}
	}
	c.connected = append(wrote, c.connected...)
	return c
}

// connection returns why a controller that may write the object is connected to the finalizer. It
// returns "" if there is no connection.
func (s *search) connection(a Account, programs, names, packages []string, known []*finalizer.Controller, ofGroups map[string]string) string {
	_, isKnown := finalizer.Of(s.name)
	care := s.rights.managedGroups(a)
	groups := care.watched
	if len(known) > 0 { // a program of another name needs stronger evidence
		groups = care.controlled
	}
	switch {
	case hasKnownName(known, names):
		return "is named like " + known[0].Name
	case s.isWriter(programs) && (!isCommon(s.program) || slices.Contains(care.watched, s.o.Group())):
		return "is named like the program that wrote the finalizer"
	case !isKnown && s.writtenByTool():
		return "" // a person may have used the domain of a controller
	case len(known) > 0 && finalizer.IsOther(known, names):
		return "" // another program, which may manage the same kinds
	}
	for _, group := range groups {
		if s.belongsTo(group) {
			return "manages the kinds of " + group
		}
	}
	for _, p := range packages {
		if definition := ofGroups[p]; definition != "" {
			return "was installed with the CRD " + definition
		}
	}
	return ""
}

// belongsTo reports whether the finalizer belongs to an API group. A domain above the group, such
// as a company's, may have many controllers. Then the object must be of the group too.
func (s *search) belongsTo(group string) bool {
	return finalizer.IsOfGroup(s.name, group) || finalizer.IsAboveGroup(s.name, group) && s.o.Group() == group
}

// isWriter reports whether one of the programs has the name of the writer of the finalizer.
func (s *search) isWriter(programs []string) bool {
	return s.program != "" && slices.ContainsFunc(programs, func(p string) bool { return strings.EqualFold(p, s.program) })
}

// knownControllers returns the programs that remove the finalizer according to the table.
func (s *search) knownControllers() []*finalizer.Controller {
	k, known := finalizer.Of(s.name)
	if !known || s.other {
		return nil
	}
	return finalizer.ControllersOf(k, s.o)
}

func hasKnownName(known []*finalizer.Controller, names []string) bool {
	return slices.ContainsFunc(known, func(c *finalizer.Controller) bool { return c.IsCalled(names) })
}

// packagesOfCRDs maps each package that installed a CRD of the finalizer's API groups to one of
// these CRDs.
func (s *search) packagesOfCRDs() map[string]string {
	found := map[string]string{}
	for n := range s.evidence.Definitions {
		if d := &s.evidence.Definitions[n]; s.belongsTo(d.Group) {
			for _, p := range d.Packages {
				if found[p] == "" {
					found[p] = d.Ref.Name
				}
			}
		}
	}
	return found
}

// isOther reports whether a pod belongs to a controller of the table that does not remove the
// finalizer.
func (s *search) isOther(p *Pod) bool {
	if controllers := s.knownControllers(); len(controllers) > 0 {
		return finalizer.IsOther(controllers, p.allNames())
	}
	c, done := s.recognized[p]
	if !done {
		c = finalizer.Recognize(p.allNames())
		s.recognized[p] = c
	}
	k, known := finalizer.Of(s.name)
	return c != nil && (!known || c.Name != k.RemovedBy)
}

// Writer is an entry of managedFields that owns finalizers.
type Writer struct {
	// Name is the field manager, by default the name of the client's program.
	Name string `json:"name,omitzero"`
	// Operation is Apply or Update.
	Operation   string `json:"operation,omitzero"`
	Subresource string `json:"subresource,omitzero"`
	// Time is when it wrote last, in seconds since 1970. 0 if unknown.
	Time int64 `json:"time,omitzero"`
	// Finalizers are those that it owns, sorted.
	Finalizers []string `json:"finalizers,omitempty"`
}

type managed struct {
	Manager     string          `json:"manager"`
	Operation   string          `json:"operation"`
	Subresource string          `json:"subresource"`
	Time        timestamp       `json:"time"`
	Fields      json.RawMessage `json:"fieldsV1"`
}

// writers returns the entries that own finalizers.
//
// In fieldsV1 an element of a set is the key `v:` followed by its value as JSON. See
// fieldpath/serialize-pe.go of structured-merge-diff.
func writers(entries []managed) []Writer {
	var list []Writer
	for _, e := range entries {
		var fields struct {
			Metadata struct {
				Finalizers map[string]json.RawMessage `json:"f:finalizers"`
			} `json:"f:metadata"`
		}
		if decode(e.Fields, &fields) != nil {
			continue
		}
		owned := map[string]bool{}
		for key := range fields.Metadata.Finalizers {
			text, isValue := strings.CutPrefix(key, "v:")
			var name string
			if isValue && json.Unmarshal([]byte(text), &name) == nil {
				owned[name] = true
			}
		}
		if len(owned) > 0 {
			list = append(list, Writer{Name: e.Manager, Operation: e.Operation, Subresource: e.Subresource,
				Time: e.Time.seconds, Finalizers: sortedKeys(owned)})
		}
	}
	return list
}

// ofManager are the finalizers that kube-controller-manager removes.
// (spec §7.1)
var ofManager = map[string]bool{
	"kubernetes.io/pvc-protection":             true,
	"kubernetes.io/pv-protection":              true,
	"kubernetes.io/vac-protection":             true,
	"kubernetes.io/pv-controller":              true,
	"batch.kubernetes.io/job-tracking":         true,
	"resource.kubernetes.io/delete-protection": true,
	"networking.k8s.io/service-cidr-finalizer": true,
	"scheduling.k8s.io/podgroup-protection":    true,
	"kubernetes":                               true,
}

// OfManager reports whether kube-controller-manager removes a finalizer.
func OfManager(name string) bool { return ofManager[name] }

// isHosted reports whether a finalizer belongs to a controller that cloud providers run outside
// their customers' view, so that no pod shows it.
func isHosted(name string) bool {
	return slices.ContainsFunc([]string{
		"service.kubernetes.io/", "external-attacher/", "external-provisioner.volume.kubernetes.io/", "snapshot.storage.kubernetes.io/",
		"networking.k8s.aws/", "vpcresources.k8s.aws/",
		"karpenter.sh/", "karpenter.k8s.aws/", "eks.amazonaws.com/",
		"networking.gke.io/", "gke.networking.io/", "cloud.google.com/", "kubernetes.azure.com/",
	}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// appliers are controllers that apply manifests written by people. A finalizer that one of them
// wrote may be a person's.
var appliers = []string{
	"kustomize-controller", "helm-controller", "kapp-controller", "argocd-controller", "argocd-application-controller", "fleetagent", "fleet-agent",
	"configsync", "olm", "addon-manager", "work-agent", "klusterlet-agent",
}

// controllerWords are suffixes of controllers' names that no tool has.
var controllerWords = []string{"-controller", "-operator", "-manager", "controller-manager"}

// isTool reports whether a writer is a tool that people, or controllers that apply their manifests,
// use to write objects. Such a writer does not tell which controller removes the finalizer.
func isTool(writer string) bool {
	lower := strings.ToLower(writer)
	switch {
	case writer == "" || slices.Contains(appliers, lower):
		return true
	case slices.ContainsFunc(controllerWords, func(word string) bool { return strings.HasSuffix(lower, word) }):
		return false
	}
	return slices.ContainsFunc([]string{
		"kubectl", "oc", "helm", "k9s", "lens", "freelens", "mozilla", "curl", "terraform", "pulumi", "kapp", "kustomize", "argocd", "flux",
		"before-first-apply", "unknown", "ansible", "openapi-generator", "python", "go-http-client", "node-fetch", "okhttp",
	}, func(name string) bool {
		rest, ok := strings.CutPrefix(lower, name)
		return ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z')
	})
}

// isCommon reports whether the name is so generic that many unrelated programs have it.
func isCommon(program string) bool {
	return slices.Contains([]string{"manager", "controller", "operator", "main", "server", "app", "controller-manager", "java", "node", "bash", "sh"},
		strings.ToLower(program))
}

// stampText returns " at <time>", or "" for the unknown time 0.
func stampText(seconds int64) string {
	if seconds == 0 {
		return ""
	}
	return " at " + metav1.Unix(seconds, 0).UTC().Format("2006-01-02T15:04:05Z")
}
