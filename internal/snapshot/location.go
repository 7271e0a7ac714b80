package snapshot

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// role is what a file is for.
type role uint8

const (
	// foreign files hold no objects: logs, tables, formats of other tools.
	foreign role = iota
	// objects in any text format.
	objects
	// perhapsObjects is text without a known place. It is read only if it looks
	// like Kubernetes objects.
	perhapsObjects
	// discovery documents and the server's version.
	discovery
	// perhapsDiscovery has the name of a discovery document; its content decides.
	perhapsDiscovery
	// failures says which lists could not be made.
	failures
	// customFailures says which lists of custom resources could not be made.
	customFailures
	// queries is the log of a dump: what was asked, and which questions failed.
	queries
	// settings of a dump say what was to be asked.
	settings
)

// scope is how far a complete list in a file reaches.
type scope uint8

const (
	// shown: only the namespaces that its items show. `kubectl get -A` and
	// `kubectl get -n` cannot be told apart.
	shown scope = iota
	// inNamespace: the namespace that the path names.
	inNamespace
	// inCluster: the path is the place of cluster-scoped kinds.
	inCluster
	// byDirectory: the other files of the directory decide.
	byDirectory
	// everywhere: all namespaces.
	everywhere
)

// location is what the path of a file says about its content.
type location struct {
	role  role
	scope scope
	// resource is the plural; empty when the path does not name it.
	resource string
	// group is meaningful only when grouped.
	group, version string
	grouped        bool
	namespace      string
	// layout is the name of the layout that knows the path; empty for none.
	layout string
	// directory holds the file; it is the root of the dump for discovery.
	directory string
	// archive: it may be an archive, which is told by its content. Any text in it is foreign.
	archive bool
	// sonobuoy is the root of the run of sonobuoy that the file belongs to.
	sonobuoy string
	// bundle is the root of the support bundle that the file belongs to; custom tells that it
	// is one of its lists of custom resources.
	bundle string
	custom bool
}

// locate says what a file of a directory or archive is, by its path alone.
// Archives are read once and in their own order, so that no file can wait for
// another; what only the neighbours can tell is decided later (byDirectory).
func locate(name string) location {
	dir, file := path.Split(name)
	base, ok := textName(file)
	if !ok {
		return location{role: foreign, archive: archiveName(file) && !strings.Contains("/"+dir, "/podlogs/")}
	}
	var dirs []string
	if dir = strings.Trim(dir, "/"); dir != "" {
		dirs = strings.Split(dir, "/")
	}
	for _, layout := range layouts {
		if l, ok := layout.locate(dirs, base); ok {
			l.layout = layout.name
			if l.directory == "" {
				l.directory = dir
			}
			return l
		}
	}
	return location{role: perhapsObjects, directory: dir}
}

// textName strips the extension of a file that may hold objects.
func textName(file string) (base string, ok bool) {
	if strings.HasPrefix(file, "._") {
		return "", false
	}
	file = withoutCompression(file)
	for _, ext := range []string{".json", ".yaml", ".yml", ".jsonl", ".ndjson"} {
		if base, ok := strings.CutSuffix(file, ext); ok && base != "" {
			return base, true
		}
	}
	return "", false
}

// withoutCompression strips the extension of a compressed file.
func withoutCompression(file string) string {
	for _, ext := range []string{".gz", ".zst", ".xz", ".bz2", ".lz4"} {
		file = strings.TrimSuffix(file, ext)
	}
	return file
}

// archiveName reports whether a file may be an archive by its name.
func archiveName(file string) bool {
	switch path.Ext(withoutCompression(file)) {
	case ".tar", ".tgz", ".txz", ".tbz", ".tbz2", ".tzst", ".zip":
		return !strings.HasPrefix(file, "._")
	}
	return false
}

// cleanName turns the name of an archive entry into a relative slash path.
// Nothing is ever written under it; the dots are dropped so that directories
// compare equal.
func cleanName(name string) string {
	name = path.Clean("/" + strings.ReplaceAll(name, `\`, "/"))
	return strings.TrimPrefix(name, "/")
}

// named sets the resource of a location from `plural`, `plural.group` or
// `plural.version.group`, as kubectl writes resources.
func (l location) named(name string) location {
	plural, rest, dotted := strings.Cut(name, ".")
	l.resource = plural
	if !dotted {
		return l
	}
	l.grouped = true
	if v, group, ok := strings.Cut(rest, "."); ok && versionName.MatchString(v) {
		l.version, l.group = v, group
		return l
	}
	if versionName.MatchString(rest) {
		l.version = rest
		return l
	}
	l.group = rest
	return l
}

var versionName = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

// nameTable finds resources by the names that dumps use for files.
type nameTable struct {
	full map[schema.GroupResource]object.Resource
	bare map[string]object.Resource
}

// builtinNames is the table of names, built once.
var builtinNames = sync.OnceValue(newNameTable)

// newNameTable knows the built-in resources, those of older releases included.
func newNameTable() *nameTable {
	t := &nameTable{full: map[schema.GroupResource]object.Resource{}, bare: map[string]object.Resource{}}
	all := BuiltinResources().All()
	for _, o := range olderVersions {
		all = append(all, o.resource())
	}
	for _, r := range all {
		if _, ok := t.full[r.GroupResource()]; !ok {
			t.full[r.GroupResource()] = r
		}
	}
	for _, names := range []func(object.Resource) []string{
		func(r object.Resource) []string { return []string{r.Name} },
		func(r object.Resource) []string { return []string{r.Singular} },
		func(r object.Resource) []string { return r.ShortNames },
		func(r object.Resource) []string {
			var plural []string
			for _, s := range r.ShortNames {
				plural = append(plural, s+"s")
			}
			return plural
		},
	} {
		for _, r := range all {
			for _, name := range names(r) {
				if _, ok := t.bare[name]; !ok {
					t.bare[name] = r
				}
			}
		}
	}
	return t
}

// resource finds what a location names: `pvcs`, `network-policy` and
// `ReplicaSets` as well as `replicasets`.
func (t *nameTable) resource(l location) (object.Resource, bool) {
	if l.resource == "" {
		return object.Resource{}, false
	}
	if l.grouped {
		r, ok := t.full[schema.GroupResource{Group: l.group, Resource: l.resource}]
		return r, ok
	}
	r, ok := t.bare[strings.ReplaceAll(strings.ToLower(l.resource), "-", "")]
	return r, ok
}

// isPlural reports whether a bare file name is the plural of a built-in resource.
func (t *nameTable) isPlural(name string) bool {
	r, ok := t.bare[strings.ReplaceAll(name, "-", "")]
	return ok && r.Name == strings.ReplaceAll(name, "-", "")
}
