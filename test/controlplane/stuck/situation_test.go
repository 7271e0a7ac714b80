package stuck

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// situation is something that is stuck: how it comes about, and what the program has
// to say of it. In all texts $NS is its namespace, which bears its name, and $G an
// API group of its own.
type situation struct {
	Name string `json:"name"`
	// Tells says in a sentence what has happened.
	Tells string `json:"tells"`
	// Quiet ones are asked about before any controller runs, broken ones are built
	// last, because they disturb the whole cluster.
	Quiet  bool `json:"quiet"`
	Broken bool `json:"broken"`
	// WithoutNamespace ones make their namespace themselves.
	WithoutNamespace bool `json:"without-namespace"`
	// Made is what is done before controllers run, Then what is done while they do,
	// or still do not.
	Made []step `json:"made"`
	Then []step `json:"then"`
	// After is what is done when the question has been asked.
	After []step `json:"after"`
	// Until says what has to be so before somebody asks.
	Until []state `json:"until"`
	// Ask are the objects that are asked about; As is who asks, if not the
	// administrator.
	Ask   []string  `json:"ask"`
	As    string    `json:"as"`
	Finds []finding `json:"finds"`
	// Young ones have only just begun to be deleted; the others have an hour ago.
	Young bool `json:"young"`

	// About is the theme, the file's name.
	About string `json:"-"`
	// places and uids are those of the objects, by kind and name.
	places, uids map[string]string
	answer       *answer
	foretold     []report.Effect
}

// step is one thing that is done. Exactly one of the pointers and names is set.
type step struct {
	Create   map[string]any `json:"create"`
	Define   string         `json:"define"`
	Unserve  string         `json:"unserve"`
	Convert  string         `json:"convert"`
	Operator *operator      `json:"operator"`
	Webhook  *webhook       `json:"webhook"`
	Reader   *reader        `json:"reader"`
	Claim    string         `json:"claim"`
	Pod      *pod           `json:"pod"`
	Node     *node          `json:"node"`
	Patch    string         `json:"patch"`
	Delete   string         `json:"delete"`
	Store    string         `json:"store"`

	// With is the body of a patch, Object what is stored.
	With   map[string]any `json:"with"`
	Object map[string]any `json:"object"`
	// Manager is who writes, for managedFields.
	Manager string `json:"manager"`
	// Policy and Grace are those of a delete.
	Policy string `json:"policy"`
	// Foretell is what dry-run has to say before a delete, by kind and name: an outcome
	// and its reason. All that it says has to come about.
	Foretell map[string]string `json:"foretell"`
	Grace    *int              `json:"grace"`
	// Volume and Finalizers are those of a claim.
	Volume     string   `json:"volume"`
	Finalizers []string `json:"finalizers"`
}

// state is what an object has to look like.
type state struct {
	Object string `json:"object"`
	// Has and Lacks are texts of its JSON.
	Has   string `json:"has"`
	Lacks string `json:"lacks"`
	Gone  bool   `json:"gone"`
}

// finding is what has to be found; an empty field is not looked at.
type finding struct {
	Object string `json:"object"`
	// Code and Severity are those of the finding.
	Code     string `json:"code"`
	Severity string `json:"severity"`
	// Leaf is what stands at the end of the chain of waiting.
	Leaf      string `json:"leaf"`
	Finalizer string `json:"finalizer"`
	Verdict   string `json:"verdict"`
	// Remedy is a part of a command.
	Remedy string `json:"remedy"`
}

var only = flag.String("only", "", "the situations to build, as a regular expression")

// situations reads all of them, in the order of their files and names.
func situations(t testing.TB) []*situation {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no situations", err)
	}
	var all []*situation
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range read(t, file, text) {
			if ok, err := regexp.MatchString(*only, s.Name); err != nil || !ok {
				continue
			}
			s.About = strings.TrimSuffix(filepath.Base(file), ".yaml")
			if slices.ContainsFunc(all, func(o *situation) bool { return o.Name == s.Name }) {
				t.Fatalf("%s: two situations %s", file, s.Name)
			}
			all = append(all, s)
		}
	}
	return all
}

func read(t testing.TB, file string, text []byte) []*situation {
	t.Helper()
	var raw []map[string]any
	if err := yaml.Unmarshal(text, &raw); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var list []*situation
	for _, one := range raw {
		name := fmt.Sprint(one["name"])
		text, err := yaml.ToJSON(marshal(t, one))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		text = bytes.ReplaceAll(text, []byte("$NS"), []byte(name))
		text = bytes.ReplaceAll(text, []byte("$G"), []byte(name+".example.com"))
		s := &situation{places: map[string]string{}, uids: map[string]string{}}
		if err := strictly(text, s); err != nil {
			t.Fatalf("%s: %s: %v", file, name, err)
		}
		list = append(list, s)
	}
	return list
}

// Every situation is built and asked about: those that need the controllers away
// first, those that disturb the whole cluster last.
func TestSituations(t *testing.T) {
	all := situations(t)
	s := &stage{T: t, ctx: context.WithoutCancel(t.Context())}
	var quiet, usual, broken []*situation
	for _, one := range all {
		switch {
		case one.Quiet:
			quiet = append(quiet, one)
		case one.Broken:
			broken = append(broken, one)
		default:
			usual = append(usual, one)
		}
	}
	// What can be repaired afterwards comes first.
	slices.SortStableFunc(broken, func(a, b *situation) int { return cmp.Compare(len(b.After), len(a.After)) })
	s.prepare(all)
	made := func(ctx context.Context, one *situation) error { return one.do(ctx, one.Made) }
	then := func(ctx context.Context, one *situation) error { return one.do(ctx, one.Then) }
	wait := func(ctx context.Context, one *situation) error { return one.await(ctx) }
	age := func(ctx context.Context, one *situation) error { return one.age(ctx) }

	phase := s.stopwatch()
	s.each(append(quiet, usual...), made)
	s.each(quiet, then)
	s.each(quiet, wait)
	s.each(quiet, age)
	for _, one := range quiet {
		s.ask(one, false)
	}
	phase("without controllers")
	s.control()
	s.each(usual, then)
	s.each(usual, wait)
	s.fence("usual")
	s.each(usual, age)
	s.fence("aged")
	phase("built")
	for _, one := range usual {
		s.ask(one, true)
	}
	s.askAll(usual)
	s.saved(usual)
	phase("asked")
	for _, one := range append(quiet, usual...) {
		s.cameAbout(one)
	}
	for _, one := range broken {
		alone := []*situation{one}
		s.each(alone, made)
		s.each(alone, then)
		s.each(alone, wait)
		s.each(alone, age)
		s.ask(one, true)
		s.cameAbout(one)
		s.each(alone, func(ctx context.Context, one *situation) error { return one.do(ctx, one.After) })
	}
	phase("broken")
	s.tell(all)
}

// clusterScoped are the kinds of Kubernetes without namespace that situations use.
var clusterScoped = map[string]bool{
	"Namespace": true, "Node": true, "PersistentVolume": true, "CustomResourceDefinition": true, "APIService": true,
	"ClusterRole": true, "ClusterRoleBinding": true, "ValidatingWebhookConfiguration": true, "VolumeAttachment": true,
}

// collection is the path of the objects of a kind.
func collection(apiVersion, kind, namespace string) string {
	path := "/apis/" + apiVersion
	if !strings.Contains(apiVersion, "/") {
		path = "/api/" + apiVersion
	}
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	return path + "/" + strings.ToLower(kind) + "s"
}

// place is where an object of a manifest is, and remembers that under its kind and
// name.
func (s *situation) place(o map[string]any) (all, one string) {
	m := o["metadata"].(map[string]any)
	kind, name := fmt.Sprint(o["kind"]), fmt.Sprint(m["name"])
	namespace, given := m["namespace"].(string)
	switch {
	case clusterScoped[kind]:
		namespace = ""
	case !given:
		namespace = s.Name
	}
	all = collection(fmt.Sprint(o["apiVersion"]), kind, namespace)
	s.places[kind+"/"+name] = all + "/" + name
	return all, all + "/" + name
}

// at is the path of an object of the situation, by kind and name.
func (s *situation) at(name string) (string, error) {
	if path, ok := s.places[name]; ok {
		return path, nil
	}
	kind, rest, _ := strings.Cut(name, "/")
	switch kind {
	case "Namespace":
		return "/api/v1/namespaces/" + rest, nil
	case "CustomResourceDefinition":
		return definitions + "/" + rest, nil
	}
	return "", fmt.Errorf("%s: the situation has not made %s", s.Name, name)
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// definition is the manifest of a kind, by the name of its definition.
func definition(name string) map[string]any {
	plural, group, _ := strings.Cut(name, ".")
	kind := strings.ToUpper(plural[:1]) + strings.TrimSuffix(plural[1:], "s")
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": name, "annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, a test"}},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced",
			"names":    map[string]any{"plural": plural, "singular": strings.ToLower(kind), "kind": kind, "listKind": kind + "List"},
			"versions": []any{version("v1", true, true)},
		},
	}
}

func version(name string, served, storage bool) map[string]any {
	return map[string]any{"name": name, "served": served, "storage": storage, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}
}
