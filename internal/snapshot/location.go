package snapshot

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// role is the kind of content of a file.
type role uint8

const (
	// foreign files have no objects: logs, tables, formats of other tools.
	foreign role = iota
	// objects in any text format.
	objects
	// perhapsObjects is text at an unknown path. It is read only if it looks like Kubernetes
	// objects.
	perhapsObjects
	// discovery documents and the server's version.
	discovery
	// perhapsDiscovery has the name of a discovery document. Its content decides.
	perhapsDiscovery
	// failures lists the lists that failed.
	failures
	// customFailures lists the lists of custom resources that failed.
	customFailures
	// queries is the log of a dump: its requests, and which of them failed.
	queries
	// settings of a dump say which requests it makes.
	settings
)

// scope is the part of the cluster that a complete list in a file covers.
type scope uint8

const (
	// shown: only the namespaces of its items. `kubectl get -A` and `kubectl get -n` can't be
	// distinguished.
	shown scope = iota
	// inNamespace: the namespace in the path.
	inNamespace
	// inCluster: the path is for cluster-scoped kinds.
	inCluster
	// byDirectory: the other files of the directory decide.
	byDirectory
	// everywhere: all namespaces.
	everywhere
)

// location is what the path of a file tells about its content.
type location struct {
	role  role
	scope scope
	// resource is the plural; "" if the path doesn't have it.
	resource string
	// group is valid only if grouped is true.
	group, version string
	grouped        bool
	namespace      string
	// layout is the name of the layout that recognised the path; "" for none.
	layout string
	// directory is the file's directory; for discovery it is the root of the dump.
	directory string
	// archive is true if the file may be an archive, by its name. Its content decides. Text in it
	// is foreign.
	archive bool
	// sonobuoy is the root of the sonobuoy run that the file belongs to.
	sonobuoy string
	// bundle is the root of the support bundle that the file belongs to. custom is true for its
	// lists of custom resources.
	bundle string
	custom bool
}

// locate returns what a file of a directory or archive is, by its path alone. Archives are read
// once and in their order, so that no file can wait for another. What depends on other files is
// decided later (byDirectory).
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

// textName returns the name without its extension; false if the file can't have objects.
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

// withoutCompression removes the extension of a compressed file.
func withoutCompression(file string) string {
	for _, ext := range []string{".gz", ".zst", ".xz", ".bz2", ".lz4"} {
		file = strings.TrimSuffix(file, ext)
	}
	return file
}

// archiveName reports whether a file may be an archive, by its name.
func archiveName(file string) bool {
	switch path.Ext(withoutCompression(file)) {
	case ".tar", ".tgz", ".txz", ".tbz", ".tbz2", ".tzst", ".zip":
		return !strings.HasPrefix(file, "._")
	}
	return false
}

// cleanName turns the name of an archive entry into a clean relative slash path, so that
// directories compare equal. No file is ever written under it.
func cleanName(name string) string {
	name = path.Clean("/" + strings.ReplaceAll(name, `\`, "/"))
	return strings.TrimPrefix(name, "/")
}

// named returns the location with the resource `plural`, `plural.group` or `plural.version.group`,
// as kubectl writes resources.
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

// builtinNames is the table of names, built on first use.
var builtinNames = sync.OnceValue(newNameTable)

// newNameTable returns a table of the built-in resources, including those of older releases.
func newNameTable() *nameTable {
	t := &nameTable{full: map[schema.GroupResource]object.Resource{}, bare: map[string]object.Resource{}}
	all := BuiltinResources().All()
	all = append(all, object.Mapped(olderVersions, olderVersion.resource)...)
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
			return object.Mapped(r.ShortNames, func(s string) string { return s + "s" })
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

// resource returns the resource that a location names: `pvcs`, `network-policy` and `ReplicaSets`
// as well as `replicasets`.
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
