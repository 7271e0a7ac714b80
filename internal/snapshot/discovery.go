package snapshot

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// documents are the discovery documents of a dump, aggregated or not.
type documents struct {
	// groups are those of group lists, in the order of the server.
	groups []metav1.APIGroup
	// lists are the resources of single group versions.
	lists []metav1.APIResourceList
	// aggregated are the groups and versions of aggregated documents, in order.
	aggregated []metav1.APIGroup
	stale      []string
}

// discoveryDocument is the union of all kinds of discovery documents.
type discoveryDocument struct {
	metav1.APIResourceList
	// APIGroupList
	Groups []metav1.APIGroup `json:"groups"`
	// APIGroupDiscoveryList of apidiscovery.k8s.io/v2 and v2beta1
	Items []aggregatedGroup `json:"items"`
	// version.Info, plain or wrapped
	GitVersion string       `json:"gitVersion"`
	Info       version.Info `json:"info"`
	Server     version.Info `json:"serverVersion"`
}

type aggregatedGroup struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Versions []struct {
		Version   string `json:"version"`
		Freshness string `json:"freshness"`
		Resources []struct {
			Resource     string `json:"resource"`
			ResponseKind struct {
				Kind string `json:"kind"`
			} `json:"responseKind"`
			Scope      string   `json:"scope"`
			Singular   string   `json:"singularResource"`
			Verbs      []string `json:"verbs"`
			ShortNames []string `json:"shortNames"`
			Categories []string `json:"categories"`
		} `json:"resources"`
	} `json:"versions"`
}

// looksLikeDiscovery reports whether a text begins like a discovery document.
func looksLikeDiscovery(start []byte) bool {
	head := bytes.TrimLeft(start, " \t\r\n")
	if len(head) == 0 || head[0] != '{' && head[0] != '[' {
		return false
	}
	head = head[:min(len(head), 600)]
	for _, mark := range []string{`"APIGroupDiscoveryList"`, `"APIGroupList"`, `"APIResourceList"`} {
		if i := bytes.Index(head, []byte(mark)); i >= 0 && bytes.HasSuffix(bytes.TrimRight(head[:i], ": \t\r\n"), []byte(`"kind"`)) {
			return true
		}
	}
	return bytes.Contains(head, []byte(`"gitVersion"`)) && bytes.Contains(head, []byte(`"major"`)) ||
		head[0] == '[' && (bytes.Contains(head, []byte(`"groupVersion"`)) || bytes.Contains(head, []byte(`"preferredVersion"`)))
}

// readDocument reads a small document that is no list of objects.
func (r *reader) readDocument(in *input, l location, content io.Reader) error {
	raw, err := readAll(content, r.limits.scaled(16<<20), "a document that is not a list of objects")
	if err != nil {
		return err
	}
	if err := r.limits.checkDecoding(raw); err != nil {
		return err
	}
	if err := r.reserve(manifest.Weight(raw), 0); err != nil {
		return err
	}
	switch l.role {
	case failures:
		return r.readFailures(l, raw)
	case customFailures:
		return r.readCustomFailures(in.bundle(l.bundle), raw)
	case queries:
		return r.readQueries(in.run(l.sonobuoy), raw)
	case settings:
		return in.run(l.sonobuoy).readSettings(raw)
	default: // discovery, or a text that looks like it
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' && raw[0] != '[' {
		r.ignore()
		return nil
	}
	found, err := r.documents.add(raw, &r.source)
	if err != nil {
		return fmt.Errorf("discovery document: %w", err)
	}
	switch found {
	case groupsOrVersion:
	case unknownDocument:
		r.ignore()
	case resourceLists:
		if l.role == discovery {
			in.discoveries[rootName(l.directory)] = true
		}
	}
	return nil
}

// merge adds the documents of another file.
func (d *documents) merge(one *documents) {
	d.groups = append(d.groups, one.groups...)
	d.lists = append(d.lists, one.lists...)
	d.aggregated = append(d.aggregated, one.aggregated...)
	d.stale = append(d.stale, one.stale...)
}

// documentKind is the kind of a discovery document.
type documentKind uint8

const (
	unknownDocument documentKind = iota
	// groupsOrVersion describes the server, but not its resources.
	groupsOrVersion
	resourceLists
)

// add adds one document.
func (d *documents) add(raw []byte, source *Source) (documentKind, error) {
	if raw[0] == '[' {
		return d.addArray(raw)
	}
	var doc discoveryDocument
	if err := json.Unmarshal(raw, &doc); err != nil {
		return unknownDocument, err
	}
	gitVersion := cmp.Or(doc.GitVersion, doc.Info.GitVersion, doc.Server.GitVersion)
	switch {
	case gitVersion != "":
		source.KubernetesVersion = newer(source.KubernetesVersion, gitVersion)
		return groupsOrVersion, nil
	case doc.Kind == "APIGroupDiscoveryList":
		d.addAggregated(doc.Items)
	case doc.Groups != nil:
		d.groups = append(d.groups, doc.Groups...)
		return groupsOrVersion, nil
	case doc.GroupVersion != "":
		d.lists = append(d.lists, doc.APIResourceList)
	default:
		return unknownDocument, nil
	}
	return resourceLists, nil
}

// addArray adds the arrays in support bundles: of groups or of resource lists.
func (d *documents) addArray(raw []byte) (found documentKind, err error) {
	var elements []struct {
		metav1.APIGroup
		GroupVersion string               `json:"groupVersion"`
		APIResources []metav1.APIResource `json:"resources"`
	}
	if err := json.Unmarshal(raw, &elements); err != nil {
		return unknownDocument, err
	}
	for _, e := range elements {
		switch {
		case e.GroupVersion != "":
			d.lists = append(d.lists, metav1.APIResourceList{GroupVersion: e.GroupVersion, APIResources: e.APIResources})
			found = resourceLists
		case e.Versions != nil:
			d.groups = append(d.groups, e.APIGroup)
			found = max(found, groupsOrVersion)
		}
	}
	return found, nil
}

func (d *documents) addAggregated(items []aggregatedGroup) {
	for _, item := range items {
		g := metav1.APIGroup{Name: item.Metadata.Name}
		for _, v := range item.Versions {
			list := metav1.APIResourceList{GroupVersion: groupVersion(g.Name, v.Version)}
			for _, res := range v.Resources {
				list.APIResources = append(list.APIResources, metav1.APIResource{
					Name: res.Resource, SingularName: res.Singular, Namespaced: res.Scope == "Namespaced",
					Kind: res.ResponseKind.Kind, Verbs: res.Verbs, ShortNames: res.ShortNames, Categories: res.Categories,
				})
			}
			if v.Freshness == "Stale" {
				d.stale = append(d.stale, list.GroupVersion)
			}
			d.lists = append(d.lists, list)
			g.Versions = append(g.Versions, metav1.GroupVersionForDiscovery{GroupVersion: list.GroupVersion, Version: v.Version})
		}
		d.aggregated = append(d.aggregated, g)
	}
}

func groupVersion(group, version string) string {
	return schema.GroupVersion{Group: group, Version: version}.String()
}

// resources returns the served resources in the order of discovery: groups as the server lists
// them, and the preferred version of a group first. It returns nil if the dump has no resource
// lists.
//
// Upstream: client-go/discovery/discovery_client.go ServerPreferredResources.
// Rule: spec §3.3.
func (d *documents) resources(problems *[]Problem) *object.Resources {
	if len(d.lists) == 0 {
		return nil
	}
	lists := map[string]metav1.APIResourceList{}
	var order []string
	for _, l := range d.lists {
		if _, ok := lists[l.GroupVersion]; !ok {
			lists[l.GroupVersion] = l
			order = append(order, l.GroupVersion)
		}
	}
	rs := &object.Resources{}
	added := map[string]bool{}
	for _, gv := range append(d.versionsInOrder(), order...) {
		l, ok := lists[gv]
		switch {
		case added[gv]:
		case !ok:
			d.stale = append(d.stale, gv)
		default:
			addResourceList(rs, l)
		}
		added[gv] = true
	}
	slices.Sort(d.stale)
	for _, gv := range slices.Compact(d.stale) {
		*problems = append(*problems, Problem{Kind: StaleDiscovery, Object: object.Ref{APIVersion: gv}, Message: fmt.Sprintf("the resources of %q are missing from the discovery documents", gv)})
	}
	if !added["v1"] {
		for _, r := range builtinResources().All() {
			if r.Group == "" {
				rs.Add(r)
			}
		}
		*problems = append(*problems, Problem{Kind: StaleDiscovery, Message: "the core resources are missing from the discovery documents; those of Kubernetes 1.37 are taken"})
	}
	return rs
}

// versionsInOrder returns the group versions by group, the preferred one first. The core group, which the list of
// /apis lacks, is the first: `nodes` are those of Kubernetes, and not those of Longhorn.
//
// Upstream: client-go/discovery/discovery_client.go DiscoveryClient.ServerGroups.
func (d *documents) versionsInOrder() []string {
	var order []string
	if slices.ContainsFunc(d.lists, func(l metav1.APIResourceList) bool { return l.GroupVersion == "v1" }) {
		order = append(order, "v1")
	}
	for _, g := range append(slices.Clone(d.aggregated), d.groups...) {
		if g.PreferredVersion.GroupVersion != "" {
			order = append(order, g.PreferredVersion.GroupVersion)
		}
		for _, v := range g.Versions {
			order = append(order, v.GroupVersion)
		}
	}
	return order
}

// groupVersions returns all group versions in the documents.
func (d *documents) groupVersions() []string {
	all := d.versionsInOrder()
	all = append(all, object.Mapped(d.lists, func(l metav1.APIResourceList) string { return l.GroupVersion })...)
	return all
}

func addResourceList(rs *object.Resources, l metav1.APIResourceList) {
	group, version := object.SplitAPIVersion(l.GroupVersion)
	for _, r := range l.APIResources {
		if r.Name == "" || r.Kind == "" || version == "" || strings.Contains(r.Name, "/") {
			continue
		}
		rs.Add(object.Resource{
			Group: group, Version: version, Name: r.Name, Kind: r.Kind, Singular: r.SingularName,
			ShortNames: r.ShortNames, Categories: r.Categories, Namespaced: r.Namespaced,
			Verbs: object.VerbsOf(r.Verbs),
		})
	}
}
