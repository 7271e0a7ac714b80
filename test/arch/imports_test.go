package arch

import (
	"fmt"
	"slices"
	"strings"
)

// mayImport is what each internal package may import of the others; docs/design.md says
// what each is. The nouns in object, the codes in reason and the rules in release are for
// everybody and not repeated.
var mayImport = map[string][]string{
	"object":             {},
	"reason":             {},
	"release":            {},
	"report":             {},
	"codec":              {},
	"codec/all":          {"codec"},
	"manifest":           {},
	"snapshot/etcd":      {"codec", "manifest"},
	"graph":              {},
	"cel":                {},
	"health":             {"cel", "finalizer", "manifest", "report", "snapshot", "uses"},
	"uses":               {"manifest", "report"},
	"apisim/controllers": {},
	"apisim":             {}, // never engine, graph, snapshot: a second opinion has to be independent
	"snapshot":           {"codec", "snapshot/etcd", "manifest"},
	"engine":             {"graph"},
	"past":               {"apisim", "apisim/controllers", "codec", "engine", "manifest", "report", "snapshot", "snapshot/etcd"},
	"kube":               {"engine", "past", "snapshot", "manifest", "health"},
	"finalizer":          {"report", "snapshot"},
	"plan":               {"plan/outcome", "report", "engine", "graph", "apisim", "apisim/controllers", "snapshot", "finalizer", "reach", "health", "uses"},
	"plan/outcome":       {"report", "engine", "graph", "apisim", "apisim/controllers", "snapshot", "finalizer", "health"},
	"reach":              {"finalizer", "graph", "report", "snapshot"},
	"diagnose":           {"report", "engine", "finalizer", "graph", "apisim", "snapshot", "plan", "reach", "health"},
	"draw":               {"graph", "render", "report"},
	"render":             {"report"},
	"backup/undo":        {},
	"backup":             {"backup/undo", "past", "kube", "manifest", "report"},
	"apply":              {"report", "engine", "snapshot", "finalizer", "plan", "backup", "kube"},
	"deleters":           {"apisim/controllers", "diagnose", "engine", "kube", "report", "snapshot"},
	"controller":         {"apply", "engine", "kube", "render", "report"},
	"cli/command": {
		"codec/all", "diagnose", "draw", "health", "kube", "manifest", "past", "plan", "render", "report", "snapshot", "snapshot/etcd",
	},
	"cli": {anything},
}

// libraries is what each internal package may import from other projects.
// Apimachinery is for everybody and not repeated.
var libraries = map[string][]string{
	"report": {"github.com/go-json-experiment/json", "k8s.io/apimachinery"},
	"apply":  {"gopkg.in/evanphx/json-patch.v4", "golang.org/x/sync"},
	"engine": {"golang.org/x/sync"},
	"health": {"github.com/go-json-experiment/json", "k8s.io/api/authentication", "sigs.k8s.io/json"},
	"manifest": {"github.com/go-json-experiment/json", "go.yaml.in/yaml", "sigs.k8s.io/yaml", "sigs.k8s.io/json",
		"k8s.io/api/core", "google.golang.org/protobuf/encoding/protowire"},
	// The types of Kubernetes, of which client-go has the register.
	"snapshot/etcd": {"google.golang.org/protobuf/encoding/protowire", "k8s.io/client-go/kubernetes/scheme"},
	"snapshot":      {"github.com/go-json-experiment/json", "go.yaml.in/yaml", "sigs.k8s.io/yaml"},
	"codec/all":     {"github.com/klauspost/compress", "github.com/pierrec/lz4", "github.com/ulikunitz/xz", "go.etcd.io/bbolt"},
	"render": {
		"github.com/emicklei/dot", "github.com/mattn/go-runewidth", "github.com/olekukonko/tablewriter",
		"github.com/go-json-experiment/json", "go.yaml.in/yaml", "sigs.k8s.io/yaml",
		// The printers of kubectl, so that -o means what it means there.
		"k8s.io/cli-runtime/pkg/genericclioptions", "k8s.io/cli-runtime/pkg/printers", "k8s.io/kubectl/pkg/cmd/get",
	},
	"draw":       {"github.com/go-json-experiment/json", "github.com/mattn/go-runewidth", "github.com/klauspost/compress/gzip"},
	"kube":       {"github.com/go-json-experiment/json", "k8s.io/client-go", "k8s.io/api/", "k8s.io/kube-openapi", "k8s.io/klog/v2", "golang.org/x/sync", "google.golang.org/protobuf/encoding/protowire"},
	"backup":     {"github.com/go-json-experiment/json"},
	"past":       {"github.com/go-json-experiment/json"},
	"uses":       {"github.com/go-json-experiment/json"},
	"controller": {"k8s.io/"},
	"deleters":   {"golang.org/x/sync", "k8s.io/client-go/rest"},

	"cli/command": {"github.com/agnivade/levenshtein", "github.com/spf13", "k8s.io/cli-runtime", "k8s.io/client-go/rest", "k8s.io/client-go/util/jsonpath", "k8s.io/kubectl"},
	"cli":         {anything},
}

const anything = "*"

// importTable reports imports that the two tables do not have.
func importTable(sources []source) []string {
	var bad []string
	for _, s := range sources {
		if s.isTest() || s.house() == "" {
			continue
		}
		if _, ok := mayImport[s.house()]; !ok {
			bad = append(bad, fmt.Sprintf("%s: package %s is not in the import table (and belongs into that of docs/design.md, too)", s.path, s.house()))
			continue
		}
		for _, p := range s.imports() {
			if !s.mayImport(p) {
				bad = append(bad, fmt.Sprintf("%s: %s may not import %s", s.path, s.house(), p))
			}
		}
	}
	return bad
}

// mayImport reports whether the file, which is in internal, may import p.
func (s source) mayImport(p string) bool {
	if ours, ok := strings.CutPrefix(p, module); ok {
		name := room(strings.TrimPrefix(ours, "internal/"))
		allowed := mayImport[s.house()]
		return strings.HasPrefix(ours, "internal/") &&
			(name == "object" || name == "reason" || name == "release" || name == s.house() || slices.Contains(allowed, name) || slices.Contains(allowed, anything))
	}
	if first, _, _ := strings.Cut(p, "/"); !strings.Contains(first, ".") {
		return true // the standard library
	}
	return slices.ContainsFunc(append([]string{"k8s.io/apimachinery"}, libraries[s.house()]...), func(prefix string) bool {
		return prefix == anything || strings.HasPrefix(p, prefix)
	})
}

// commandImports reports imports of the command beyond the package cli. Only
// the authentication plugins, which register themselves, are an exception.
func commandImports(sources []source) []string {
	var bad []string
	for _, s := range sources {
		if s.isTest() || !s.in("cmd") {
			continue
		}
		for _, p := range s.imports() {
			if ours, ok := strings.CutPrefix(p, module); ok && ours != "internal/cli" {
				bad = append(bad, fmt.Sprintf("%s: the command may import internal/cli only, not %s", s.path, ours))
			}
		}
	}
	return bad
}

// clientGo reports imports of client-go outside the packages that talk to a
// cluster. Tests are included: a test of a pure package needs no cluster.
func clientGo(sources []source) []string {
	var bad []string
	for _, s := range sources {
		for _, p := range s.imports() {
			if !strings.HasPrefix(p, "k8s.io/client-go") || p == "k8s.io/client-go/kubernetes/scheme" && s.in("internal/snapshot") || s.in("internal/kube") || s.in("internal/cli") || s.in("test") {
				continue
			}
			// The lease, the events and the limiter of the controller are client-go's.
			if s.in("internal/controller") {
				continue
			}
			// A client is made from a rest.Config, by who has one.
			if (s.in("internal/deleters") || s.in("gctest")) && (p == "k8s.io/client-go/rest" || p == "k8s.io/client-go/kubernetes/scheme") {
				continue
			}
			// Where its server is, a test says to kube.Connect.
			if s.isTest() && p == "k8s.io/client-go/rest" && (s.in("internal/apply") || s.in("internal/backup") || s.in("internal/reach")) {
				continue
			}
			if s.in("cmd") && strings.HasPrefix(p, "k8s.io/client-go/plugin/pkg/client/auth") {
				continue
			}
			bad = append(bad, fmt.Sprintf("%s: client-go belongs to internal/kube, internal/controller and internal/cli, not %s", s.path, p))
		}
	}
	return bad
}
