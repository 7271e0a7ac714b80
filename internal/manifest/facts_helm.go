package manifest

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Helm records each revision of a release in a Secret, or in a ConfigMap with HELM_DRIVER=configmap.
// The field release of its data is JSON in gzip in base64. The names in it are kept and nothing else.
// A record that cannot be read is no Problem: it says so itself.

// helmData is the field with the record.
var helmData = factField{path: "data", keep: keepFields(nil, "release"), read: func(l *lexer, it *item, path string, _ bool) error {
	if l.token() != '{' {
		return l.skip()
	}
	it.facts.helm.decode = l.rd.decodeHelm
	return l.members(path, false, func() (err error) {
		if string(l.key) != "release" || l.token() != '"' || len(it.facts.helm.text) > 0 {
			return l.skip()
		}
		if it.facts.helm.text, err = l.appendString(nil); err == nil {
			err = l.charge(len(it.facts.helm.text))
		}
		return err
	})
}}

var helmSecretFacts = &factKind{
	kind: object.Secret, lenient: true, dumpsOnly: true, fields: []factField{helmData},
	facts: func(f *facts, o *object.Object) object.Facts {
		// The API encodes the data of Secrets.
		return f.helm.facts(o, base64.NewDecoder(base64.StdEncoding, bytes.NewReader(f.helm.text)))
	},
}

var helmConfigMapFacts = &factKind{
	kind: object.ConfigMap, lenient: true, dumpsOnly: true, fields: []factField{helmData},
	facts: func(f *facts, o *object.Object) object.Facts { return f.helm.facts(o, bytes.NewReader(f.helm.text)) },
}

// helmRecord is a record before it is decoded.
type helmRecord struct {
	// text is the field of the data as it was read.
	text []byte
	// decode is reading.decodeHelm.
	decode func(io.Reader) (*object.HelmReleaseFacts, error)
}

// facts returns the facts of an object from what Helm has written to its data; nil if it is no record.
// Helm uninstalls only the newest revision of a release, which is never superseded.
func (r *helmRecord) facts(o *object.Object, written io.Reader) object.Facts {
	name, revision, ok := object.HelmRecordOf(o)
	if !ok || len(r.text) == 0 || o.Labels.Get("status") == "superseded" {
		return nil
	}
	f, err := r.decode(written)
	switch {
	case err == nil && (f.Name != name || f.Revision != revision):
		err = errors.New("it is about another release or revision")
	case err == nil && f.Namespace != o.Namespace:
		err = errors.New("it is about a release in another namespace")
	}
	if err != nil {
		why := err.Error()
		if p, ok := errors.AsType[*Problem](err); ok {
			why = p.Message // without the position in the record, which is no text that people see
		}
		return &object.HelmReleaseFacts{Name: name, Namespace: o.Namespace, Revision: revision, Unread: "its record cannot be read: " + why}
	}
	return f
}

// decodeHelm decodes what Helm has written to a record.
func decodeHelm(written io.Reader, limits Limits) (*object.HelmReleaseFacts, error) {
	d := helmDecoder{limits: limits, to: &object.HelmReleaseFacts{}}
	return d.to, d.decode(written)
}

// helmDecoder decodes a record.
type helmDecoder struct {
	limits   Limits
	to       *object.HelmReleaseFacts
	manifest []byte
	// objects counts the objects of the manifest and of the hooks.
	objects int
}

// decode reads a release. Records from before Helm compressed them are plain JSON.
//
// Source: helm, pkg/storage/driver/util.go decodeRelease.
func (d *helmDecoder) decode(encoded io.Reader) error {
	in := bufio.NewReader(base64.NewDecoder(base64.StdEncoding, encoded))
	decoded := io.Reader(in)
	if start, _ := in.Peek(3); bytes.Equal(start, []byte{0x1f, 0x8b, 8}) {
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		decoded = unzipped
	}
	bounded := &io.LimitedReader{R: decoded, N: int64(d.limits.ValueBytes)}
	l := newLexer(newReading(Options{Limits: d.limits}, Handler{}), bounded)
	err := d.release(l)
	if err == nil && (l.token() != 0 || l.pos < l.end || l.failed != nil) {
		err = l.unexpected("the end of the record")
	}
	if bounded.N <= 0 {
		return AboveLimit(d.limits.ValueBytes, "a record of Helm")
	}
	if err != nil {
		return err
	}
	if err := d.readManifest(); err != nil {
		return err
	}
	// Hooks are in the order in which they run.
	//
	// Source: helm, pkg/action/hooks.go hookByWeight.
	slices.SortStableFunc(d.to.Hooks, func(a, b object.HelmHook) int {
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), strings.Compare(a.Name, b.Name))
	})
	return nil
}

// release reads the JSON of a release.
//
// Source: helm, pkg/release/v1/release.go Release; pkg/chart/v2/chart.go Chart.
func (d *helmDecoder) release(l *lexer) error {
	var chart, version string
	err := l.each("the record", map[string]func() error{
		"name":      l.into(&d.to.Name),
		"namespace": l.into(&d.to.Namespace),
		"version": func() (err error) {
			d.to.Revision, _, err = l.integer("version")
			return err
		},
		"info": func() error { return l.each("info", map[string]func() error{"status": l.into(&d.to.Status)}) },
		"chart": func() error {
			return l.each("chart", map[string]func() error{
				"metadata": func() error {
					return l.each("chart.metadata", map[string]func() error{"name": l.into(&chart), "version": l.into(&version)})
				},
				"files": func() error { return d.files(l) },
			})
		},
		"manifest": func() (err error) {
			d.manifest, err = l.text(nil, "manifest")
			return err
		},
		"hooks": func() error { return l.entries("hooks", func() error { return d.hook(l) }) },
	})
	if chart != "" {
		d.to.Chart = chart + "-" + version
	}
	return err
}

// each reads a mapping with the functions of its known members, and skips the other ones.
func (l *lexer) each(path string, read map[string]func() error) error {
	return l.members(path, false, func() error {
		if f := read[string(l.key)]; f != nil {
			return f()
		}
		return l.skip()
	})
}

// into returns a function that reads a string.
func (l *lexer) into(to *string) func() error {
	return func() error {
		text, err := l.text(nil, "a name")
		*to = string(text)
		return err
	}
}

// files looks for files in the directory crds of the chart.
func (d *helmDecoder) files(l *lexer) error {
	return l.entries("chart.files", func() error {
		var name string
		err := l.each("chart.files", map[string]func() error{"name": l.into(&name)})
		d.to.CRDs = d.to.CRDs || strings.HasPrefix(path.Clean(name), "crds/")
		return err
	})
}

// hook reads a hook. One without a delete policy has before-hook-creation.
//
// Source: helm, pkg/action/hooks.go hookSetDeletePolicy.
func (d *helmDecoder) hook(l *lexer) error {
	h := object.HelmHook{}
	var text []byte
	err := l.each("hooks", map[string]func() error{
		"events":          func() (err error) { h.Events, err = l.strings("hooks.events"); return err },
		"delete_policies": func() (err error) { h.DeletePolicies, err = l.strings("hooks.delete_policies"); return err },
		"weight": func() error {
			weight, _, err := l.integer("hooks.weight")
			h.Weight = int(weight)
			return err
		},
		"manifest": func() (err error) { text, err = l.text(nil, "hooks.manifest"); return err },
	})
	if err != nil {
		return err
	}
	if len(h.DeletePolicies) == 0 {
		h.DeletePolicies = []string{"before-hook-creation"}
	}
	list, _, err := d.read(text)
	for _, o := range list {
		h.HelmObject = o
		d.to.Hooks = append(d.to.Hooks, h)
	}
	return err
}

// helmSeparator separates the documents of a manifest. YAML would not separate those of
// `---apiVersion: v1`.
//
// Source: helm, pkg/release/v1/util/manifest.go SplitManifests.
var helmSeparator = regexp.MustCompile(`(?m)^---[ \t]*`)

// helmDocument is a document of a manifest. place is its place in the order of Helm's names for
// documents: manifest-10 comes before manifest-2.
type helmDocument struct {
	place, kind string
	objects     []object.HelmObject
}

// readManifest reads the objects of the manifest in the order in which Helm deletes them.
//
// Source: helm, pkg/release/v1/util/manifest_sorter.go SortManifests.
func (d *helmDecoder) readManifest() error {
	var documents []helmDocument
	for _, text := range helmSeparator.Split(string(d.manifest), -1) {
		if strings.TrimSpace(text) == "" {
			continue
		}
		list, kind, err := d.read([]byte(text))
		if err != nil {
			return err
		}
		documents = append(documents, helmDocument{strconv.Itoa(len(documents)), kind, list})
	}
	slices.SortStableFunc(documents, func(a, b helmDocument) int { return strings.Compare(a.place, b.place) })
	slices.SortStableFunc(documents, func(a, b helmDocument) int { return compareUninstalled(a.kind, b.kind) })
	for _, x := range documents {
		d.to.Objects = append(d.to.Objects, x.objects...)
	}
	return nil
}

// read reads the objects of one document, and its kind, which may be that of a list.
func (d *helmDecoder) read(text []byte) (list []object.HelmObject, kind string, err error) {
	var head struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	fields := FieldsOf(head)
	inList := false
	err = Read(bytes.NewReader(append(text, '\n')), Options{Limits: d.limits}, Handler{
		Object: func(o *object.Object, in bool, _ Position) error {
			if d.objects++; d.objects > d.limits.ObjectBytes/(4*entryBytes) {
				return AboveLimit(d.limits.ObjectBytes, "the objects of a release")
			}
			inList, kind = inList || in, o.Kind
			list = append(list, object.HelmObject{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
			return nil
		},
		List:  func(l List) error { kind = l.Kind; return nil },
		Wants: func(*object.Object) *Fields { return fields },
		Raw: func(_ *object.Object, text []byte) error {
			if inList { // Helm asks the annotations of the list
				return nil
			}
			return json.Unmarshal(text, &head)
		},
	})
	// An annotation with another value than keep keeps, too: filterManifestsToKeep drops the object from
	// both of its results. So does the annotation of a hook.
	//
	// Source: helm, pkg/action/resource_policy.go filterManifestsToKeep.
	_, policy := head.Metadata.Annotations[object.ResourcePolicyAnnotation]
	_, hook := head.Metadata.Annotations["helm.sh/hook"]
	for i := range list {
		list[i].Keeps = policy || hook
	}
	return list, kind, err
}

// uninstallOrder are the kinds in the order in which Helm deletes them. Other kinds follow by name.
//
// Source: helm, pkg/release/v1/util/kind_sorter.go UninstallOrder, lessByKind.
var uninstallOrder = strings.Fields(`
	ValidatingWebhookConfiguration MutatingWebhookConfiguration APIService Ingress IngressClass Service CronJob Job
	StatefulSet HorizontalPodAutoscaler Deployment ReplicaSet ReplicationController Pod DaemonSet RoleBindingList
	RoleBinding RoleList Role ClusterRoleBindingList ClusterRoleBinding ClusterRoleList ClusterRole
	CustomResourceDefinition PersistentVolumeClaim PersistentVolume StorageClass ConfigMap SecretList Secret
	ServiceAccount PodDisruptionBudget PodSecurityPolicy LimitRange ResourceQuota NetworkPolicy Namespace PriorityClass`)

func compareUninstalled(a, b string) int {
	rank := func(kind string) int {
		if i := slices.Index(uninstallOrder, kind); i >= 0 {
			return i
		}
		return len(uninstallOrder)
	}
	return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
}
