package realcluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

const (
	ofCollector   = "../../../internal/engine/testdata/scenarios/"
	ofControllers = "../../../internal/apisim/controllers/testdata/scenarios/"
)

// story is a scenario file that is lived through. On the real server its
// namespaces, its cluster-scoped objects and its UIDs have names of their own, so
// that the stories do not meet, nor what a collector remembers of them.
type story struct {
	t *testing.T
	// name is the number, in small letters.
	name string
	told []block
	env  *scenario.Env
	// uids are the real ones of objects that the server made.
	uids map[types.UID]types.UID
	// called are the real names of objects that controllers made.
	called map[object.Ref]string
	known  map[object.Ref]bool
	began  int64
}

// block is a directive with what the file says of its outcome.
type block struct{ directive, input, outcome string }

func begin(t *testing.T, file string) *story {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(filepath.Base(file), "_")
	s := &story{
		t: t, name: name, env: scenario.New(), uids: map[types.UID]types.UID{},
		called: map[object.Ref]string{}, known: map[object.Ref]bool{}, began: time.Now().Unix(),
	}
	for part := range strings.SplitSeq(string(text), "\n\n") {
		lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(part), "\n"), func(l string) bool { return strings.HasPrefix(l, "#") })
		if end := slices.Index(lines, "----"); end > 0 {
			s.told = append(s.told, block{lines[0], strings.Join(lines[1:end], "\n"), strings.Join(lines[end+1:], "\n")})
		}
	}
	t.Cleanup(s.clear)
	return s
}

// nth is a directive of the file; the first is 1.
func (s *story) nth(directive string, n int) block {
	s.t.Helper()
	for _, b := range s.told {
		if b.directive == directive {
			if n--; n == 0 {
				return b
			}
		}
	}
	s.t.Fatalf("the file has not as many directives %q", directive)
	return block{}
}

// cluster puts the nth world of the file into storage. A new world is not the one
// before: its UIDs are others.
func (s *story) cluster(n int) {
	s.t.Helper()
	s.clear()
	if n > 1 {
		s.name += "x"
	}
	s.env.Names = scenario.Names{}
	objects, err := scenario.ParseWorld(s.nth("cluster", n).input, s.env.Names)
	if err != nil {
		s.t.Fatal(err)
	}
	lists := slices.ContainsFunc(objects, func(o *object.Object) bool { return o.Kind == "Namespace" })
	var all []cluster.Stored
	for _, o := range objects {
		s.known[at(o.Ref)] = true
		if o.Namespace != "" && !lists {
			s.namespace(o.Namespace)
		}
		if o.Kind == "CustomResourceDefinition" {
			plural, _, _ := strings.Cut(o.Name, ".")
			define(s.t, o.Name, strings.ToUpper(plural[:1])+strings.TrimSuffix(plural[1:], "s"), "Namespaced")
			s.meet(o.Ref, o.Name)
			continue
		}
		one, err := stored(s.resource(o.Ref), s.translate(o))
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, one)
	}
	if err := plane.Store(all); err != nil {
		s.t.Fatal(err)
	}
	for _, o := range objects {
		await(s.t, func() string {
			if !exists(s.t, s.path(o.Ref)) {
				return o.Ref.String() + " is not there"
			}
			return ""
		})
	}
}

// namespace makes a namespace of the file unless it is there.
func (s *story) namespace(name string) {
	s.t.Helper()
	r := ask(s.t, "", http.MethodPost, "/api/v1/namespaces", "application/json", fmt.Sprintf(`{"metadata":{"name":"%s-%s"}}`, s.name, name))
	if r.code != http.StatusCreated && r.code != http.StatusConflict {
		s.t.Fatal(r.refusal.Message)
	}
}

// clear removes what is left of the story from storage.
func (s *story) clear() {
	for ref := range s.known {
		if ref.Kind == "CustomResourceDefinition" {
			continue // it goes by itself
		}
		one, err := stored(s.resource(ref), s.translate(&object.Object{Ref: ref}))
		if err == nil {
			err = plane.Wipe(one.Key)
		}
		if err != nil {
			s.t.Error(err)
		}
	}
	s.known = map[object.Ref]bool{}
}

// do makes a request that the file has, in the words of the file, and gets the
// answer that the file has.
func (s *story) do(directive string) reply {
	s.t.Helper()
	at := slices.IndexFunc(s.told, func(b block) bool { return b.directive == directive })
	if at < 0 {
		s.t.Fatalf("the file does not say %q", directive)
	}
	words := strings.Fields(directive)
	r := reply{}
	switch words[0] {
	case "create":
		r = s.create(words[1:])
	case "delete":
		r = s.remove(words[1:])
	case "patch":
		r = s.patch(words[1:])
	default:
		s.t.Fatalf("%q is no request", directive)
	}
	answer, _, _ := strings.Cut(s.told[at].outcome, "\n")
	if (r.code < http.StatusBadRequest) != (answer == "ok") {
		s.t.Fatalf("%s: the file says %s, the server %d %s", directive, answer, r.code, r.refusal.Message)
	}
	return r
}

func (s *story) create(words []string) reply {
	s.t.Helper()
	o, err := scenario.ParseObject(words, s.env.Names)
	if err != nil {
		s.t.Fatal(err)
	}
	said := o.UID
	o.UID = ""
	if o.Namespace != "" {
		s.namespace(o.Namespace)
	}
	c := s.translate(o)
	text, err := whole(o, metadataOf(c))
	if err != nil {
		s.t.Fatal(err)
	}
	path := strings.TrimSuffix(s.path(o.Ref), "/"+c.Name)
	r := ask(s.t, "", http.MethodPost, path, "application/json", string(text))
	var made metav1.PartialObjectMetadata
	if err := json.Unmarshal(r.body, &made); err != nil {
		s.t.Fatal(err)
	}
	s.uids[said] = made.UID
	s.known[at(o.Ref)] = true
	o.UID = said
	s.env.Names.Learn(o)
	return r
}

func (s *story) remove(words []string) reply {
	s.t.Helper()
	ref, rest, err := s.env.Target(words)
	if err != nil {
		s.t.Fatal(err)
	}
	o, err := scenario.ParseDelete(rest)
	if err != nil {
		s.t.Fatal(err)
	}
	o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}
	return ask(s.t, "", http.MethodDelete, s.path(ref), "application/json", o)
}

func (s *story) patch(words []string) reply {
	s.t.Helper()
	ref, p, err := s.env.ParsePatch(words)
	if err != nil {
		s.t.Fatal(err)
	}
	p.MergeOwners = s.owners(p.MergeOwners)
	if p.Owners != nil {
		p.Owners = new(s.owners(*p.Owners))
	}
	return ask(s.t, "", http.MethodPatch, s.path(ref), p.Type.String(), string(p.Body()))
}

// meet takes an object that the server or a controller made, under any name, for
// one of the file.
func (s *story) meet(ref object.Ref, name string) {
	s.t.Helper()
	s.called[at(ref)] = name
	s.uids[ref.UID] = read[metav1.PartialObjectMetadata](s.t, s.path(ref)).UID
	s.env.Names.Learn(&object.Object{Ref: ref})
	s.known[at(ref)] = true
}

// kubelet does what a kubelet does when the containers of a pod have ended.
func (s *story) kubelet(target ...string) {
	s.t.Helper()
	ref, _, err := s.env.Target(target)
	if err != nil {
		s.t.Fatal(err)
	}
	remove(s.t, s.path(ref), `{"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":0}`)
}

func (s *story) resource(ref object.Ref) object.Resource {
	s.t.Helper()
	r, err := s.env.Resources.For(ref.APIVersion, ref.Kind)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// path is the address of an object of the file.
func (s *story) path(ref object.Ref) string {
	s.t.Helper()
	r := s.resource(ref)
	c := s.translate(&object.Object{Ref: ref})
	path := "/api/" + r.Version
	if r.Group != "" {
		path = "/apis/" + r.Group + "/" + r.Version
	}
	if c.Namespace != "" {
		path += "/namespaces/" + c.Namespace
	}
	return path + "/" + r.Name + "/" + c.Name
}

var versions = regexp.MustCompile(` rv=\d*`)

// rest waits until the world is what the file says at its nth `state`, and makes
// sure that it stays so.
func (s *story) rest(n int) {
	s.t.Helper()
	s.restsAs(s.nth("state", n).outcome)
}

func (s *story) restsAs(state string) {
	s.t.Helper()
	wrong := func() string { return s.differences(state) }
	await(s.t, wrong)
	if slices.Contains(plane.running, collector) {
		fence(s.t)
	}
	quiet := time.NewTimer(calm)
	defer quiet.Stop()
	<-quiet.C
	if why := wrong(); why != "" {
		s.t.Errorf("it did not stay so: %s", why)
	}
}

// sees waits until an object is what the file says in one of its lines.
func (s *story) sees(line string) {
	s.t.Helper()
	s.says(line)
	verb, object, _ := strings.Cut(line, " ")
	await(s.t, func() string { return s.differs(object, verb == "DELETED") })
}

// stays makes sure that an object is now what the file says in one of its lines.
func (s *story) stays(line string) {
	s.t.Helper()
	s.says(line)
	verb, object, _ := strings.Cut(line, " ")
	if why := s.differs(object, verb == "DELETED"); why != "" {
		s.t.Error(why)
	}
}

func (s *story) says(line string) {
	s.t.Helper()
	if !slices.ContainsFunc(s.told, func(b block) bool {
		return slices.ContainsFunc(strings.Split(b.outcome, "\n"), func(l string) bool { return versions.ReplaceAllString(l, "") == line })
	}) {
		s.t.Fatalf("the file does not say %q", line)
	}
}

// recorded waits for an event of the collector that says what the file says.
func (s *story) recorded(namespace, message string) {
	s.t.Helper()
	if !slices.ContainsFunc(s.told, func(b block) bool { return b.directive == "recorded" && strings.HasSuffix(b.outcome, ": "+message) }) {
		s.t.Fatalf("the file does not say %q", message)
	}
	where := namespace
	if namespace != "default" {
		where = s.name + "-" + namespace
	}
	await(s.t, func() string {
		events := read[corev1.EventList](s.t, "/api/v1/namespaces/"+where+"/events")
		for _, e := range events.Items {
			text := strings.NewReplacer("-"+s.name, "", s.name+"-", "").Replace(e.Message)
			if e.Reason == "OwnerRefInvalidNamespace" && text == message {
				return ""
			}
		}
		return fmt.Sprintf("no event %q among %d", message, len(events.Items))
	})
}
