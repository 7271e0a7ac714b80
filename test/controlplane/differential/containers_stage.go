package differential

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// deleters are the controllers that delete, or let go of what is being deleted. The
// definitions are the API server's own business, and kubelets are played.
var deleters = []string{
	"garbage-collector-controller", "namespace-controller", "job-controller", "pod-garbage-collector-controller",
	"persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller", "persistentvolume-binder-controller",
}

// stage is a real control plane with all deleters, and the worlds that stand there.
type stage struct {
	*live
	places []place
	// emptied counts the namespaces made to see whether the namespace controller is
	// up to date, and emptying is the path of the last one, until it has gone.
	emptied  int
	emptying string
}

// raise starts a control plane without any world.
func raise() (*stage, error) {
	c, err := cluster.Start()
	if err != nil {
		return nil, err
	}
	return &stage{live: &live{Cluster: c, namespaces: map[string]bool{}, discovery: map[string][]byte{}}}, nil
}

// set stores worlds, each at its place, and waits until the kinds of their definitions
// are served and discovered.
func (s *stage) set(ctx context.Context, places []place, stories []story) error {
	s.places = places
	var containers, content []cluster.Stored
	for i, w := range stories {
		volumes := map[string]string{}
		for _, o := range w.objects {
			if v := o.Volume(); v != nil && v.ClaimName != "" {
				uid := string(places[i]) + string(v.ClaimUID)
				volumes[uid] = string(places[i]) + o.Name + " " + uid
			}
		}
		for _, o := range w.objects {
			one, err := places[i].keep(places[i].enter(o), volumes)
			switch {
			case err != nil:
				return err
			case o.NamespaceFacts() != nil, o.Definition() != nil:
				containers = append(containers, one)
			default:
				content = append(content, one)
			}
		}
	}
	if err := s.Store(append(containers, content...)); err != nil {
		return err
	}
	return s.served(ctx, stories)
}

// served waits for the kinds of all definitions.
func (s *stage) served(ctx context.Context, stories []story) error {
	for i, w := range stories {
		for _, o := range w.objects {
			if d := o.Definition(); d != nil {
				if err := s.Serves(ctx, s.places[i].group(), d.Plural, "v1"); err != nil {
					return err
				}
			}
		}
	}
	return s.discover(ctx)
}

// resourcesOf are the kinds that the control plane serves now, as the world at a place
// knows them: those of the definitions of other worlds are none of its business.
func (s *stage) resourcesOf(p place) *object.Resources {
	rs := &object.Resources{}
	for _, r := range s.resources.All() {
		switch {
		case r.Group == p.group():
			r.Group = drawnGroup
		case strings.HasSuffix(r.Group, "."+drawnGroup):
			continue
		}
		rs.Add(r)
	}
	return rs
}

// seen is what a look at the control plane shows of one world.
type seen struct {
	objects []*object.Object
	// conditions are the types of the conditions that hold, of each namespace that is
	// being deleted.
	conditions map[string][]string
}

// look lists everything.
func (s *stage) look(ctx context.Context) ([]seen, error) {
	worlds := make([]seen, len(s.places))
	index := map[string]int{}
	for i, p := range s.places {
		worlds[i].conditions, index[string(p)] = map[string][]string{}, i
	}
	defined := map[string]bool{}
	texts := make([][]byte, len(containerKinds))
	err := each(len(texts), func(i int) (err error) {
		texts[i], err = s.Do(ctx, http.MethodGet, containerKinds[i].path+"/"+containerKinds[i].plural, "", nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	take := func(text []byte) error {
		return manifest.Read(bytes.NewReader(text), manifest.Options{}, manifest.Handler{
			Object: func(o *object.Object, _ bool, _ manifest.Position) error {
				at, _, _ := strings.Cut(string(o.UID), "-")
				if i, ok := index[at+"-"]; ok {
					worlds[i].objects = append(worlds[i].objects, s.places[i].leave(o))
					if o.Definition() != nil {
						defined[o.Name] = true
					}
				}
				return nil
			},
		})
	}
	for i, text := range texts {
		if err := take(text); err != nil {
			return nil, err
		}
		if containerKinds[i].name == "Namespace" {
			if err := s.conditions(text, func(slot string) map[string][]string {
				if i, ok := index[slot]; ok {
					return worlds[i].conditions
				}
				return nil
			}); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(defined)) {
		plural, group, _ := strings.Cut(name, ".")
		text, err := s.Do(ctx, http.MethodGet, "/apis/"+group+"/v1/"+plural, "", nil)
		if cluster.Code(err) == http.StatusNotFound {
			continue // it went with its definition meanwhile
		}
		if err != nil {
			return nil, err
		}
		if err := take(text); err != nil {
			return nil, err
		}
	}
	return worlds, nil
}

// conditions reads what namespaces say of their deletion, into the world that at finds
// by the beginning of a uid.
func (s *stage) conditions(text []byte, at func(slot string) map[string][]string) error {
	var list struct {
		Items []struct {
			Metadata struct{ Name, UID, DeletionTimestamp string }
			Status   struct {
				Conditions []struct{ Type, Status string }
			}
		}
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for _, n := range list.Items {
		slot, _, _ := strings.Cut(n.Metadata.UID, "-")
		into := at(slot + "-")
		if into == nil || n.Metadata.DeletionTimestamp == "" {
			continue
		}
		var hold []string
		for _, c := range n.Status.Conditions {
			if c.Status == "True" {
				hold = append(hold, c.Type)
			}
		}
		slices.Sort(hold)
		into[place(slot+"-").cut(n.Metadata.Name)] = hold
	}
	return nil
}

// address is where an object of the world at a place is served.
func (p place) address(r object.Ref) (string, error) {
	in := p.refIn(r)
	k, err := p.kindIn(in)
	if err != nil {
		return "", err
	}
	return k.pathOf(in), nil
}

// carryOut does what a user does at a place. What the server answers is of no concern,
// as long as it is an answer.
func (s *stage) carryOut(ctx context.Context, p place, a scenario.Act) error {
	path, err := p.address(a.Ref)
	if err != nil {
		return err
	}
	if a.Drop == "" {
		return s.remove(ctx, path, metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}, PropagationPolicy: &a.Policy})
	}
	if err := s.drop(ctx, path, a.Drop); err != nil || a.Ref.Kind != "Namespace" {
		return err
	}
	return s.finalize(ctx, path, a.Drop)
}

// drop takes a finalizer off an object. Another finalizer may go between the look and
// the request, which would put it back and is refused then: it is made again.
func (s *stage) drop(ctx context.Context, path, finalizer string) error {
	var before []string
	return cluster.Await(ctx, path+" is without "+finalizer, func(ctx context.Context) (bool, error) {
		var have struct {
			Metadata struct {
				Finalizers []string `json:"finalizers"`
			} `json:"metadata"`
		}
		if ok, err := s.get(ctx, path, &have); !ok || err != nil {
			return err == nil, err
		}
		now := have.Metadata.Finalizers
		if !slices.Contains(now, finalizer) || before != nil && slices.Equal(before, now) {
			return true, nil
		}
		before = now
		left := slices.DeleteFunc(append([]string{}, now...), func(f string) bool { return f == finalizer })
		p := object.Patch{Type: object.Merge, Finalizers: &left}
		_, err := s.Do(ctx, http.MethodPatch, path, p.Type.String(), p.Body())
		return cluster.Code(err) != http.StatusUnprocessableEntity, unlessAnswer(err)
	})
}

// finalize takes a finalizer out of the spec of a namespace. The namespace controller
// may write at the same time.
func (s *stage) finalize(ctx context.Context, path, finalizer string) error {
	return cluster.Await(ctx, path+" is finalized", func(ctx context.Context) (bool, error) {
		var have map[string]any
		if ok, err := s.get(ctx, path, &have); !ok || err != nil {
			return err == nil, err
		}
		spec, _ := have["spec"].(map[string]any)
		tokens, _ := spec["finalizers"].([]any)
		if !slices.Contains(tokens, any(finalizer)) {
			return true, nil
		}
		spec["finalizers"] = slices.DeleteFunc(tokens, func(t any) bool { return t == finalizer })
		text, err := json.Marshal(have)
		if err != nil {
			return false, err
		}
		_, err = s.Do(ctx, http.MethodPut, path+"/finalize", "application/json", text)
		if cluster.Code(err) == http.StatusConflict {
			return false, nil
		}
		return true, unlessAnswer(err)
	})
}

// get reads an object; ok is false when it is not there.
func (s *stage) get(ctx context.Context, path string, into any) (ok bool, err error) {
	text, err := s.Do(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return false, unlessAnswer(err)
	}
	return true, json.Unmarshal(text, into)
}

// empty begins to delete a namespace with something in it, after which the namespace
// controller has looked at whatever was deleted before.
func (s *stage) empty(ctx context.Context) error {
	s.emptied++
	s.emptying = fmt.Sprintf("/api/v1/namespaces/fence-%d", s.emptied)
	body := fmt.Appendf(nil, `{"metadata":{"name":"fence-%d"}}`, s.emptied)
	if _, err := s.Do(ctx, http.MethodPost, "/api/v1/namespaces", "application/json", body); err != nil {
		return err
	}
	if _, err := s.Do(ctx, http.MethodPost, s.emptying+"/configmaps", "application/json", []byte(`{"metadata":{"name":"c"}}`)); err != nil {
		return err
	}
	_, err := s.Do(ctx, http.MethodDelete, s.emptying, "", nil)
	return err
}

// hasEmptied reports whether no such namespace is there.
func (s *stage) hasEmptied(ctx context.Context) (bool, error) {
	if s.emptying == "" {
		return true, nil
	}
	_, err := s.Do(ctx, http.MethodGet, s.emptying, "", nil)
	if cluster.Code(err) == http.StatusNotFound {
		s.emptying = ""
		return true, nil
	}
	return false, err
}

// strike ends the controllers and removes all worlds: first the instances, so that
// the API server is through with the definitions that it waits for.
func (s *stage) strike(ctx context.Context) error {
	if err := s.Controllers(); err != nil {
		return err
	}
	var content, rest []string
	for _, p := range s.places {
		content = append(content, p.group()+"/", "events/"+string(p))
		for _, k := range containerKinds {
			switch k.name {
			case "CustomResourceDefinition":
				for _, i := range []drawnKind{namespacedInstance, clusterInstance} {
					rest = append(rest, k.key+"/"+pluralOf(i.kind)+"."+p.group())
				}
			case "Namespace":
				rest = append(rest, k.key+"/"+string(p))
			default:
				content = append(content, k.key+"/"+string(p))
			}
		}
	}
	if err := s.Wipe(content...); err != nil {
		return err
	}
	err := cluster.Await(ctx, "the API server is through with all CRDs", func(ctx context.Context) (bool, error) {
		worlds, err := s.look(ctx)
		if err != nil {
			return false, err
		}
		return !slices.ContainsFunc(worlds, func(w seen) bool {
			return slices.ContainsFunc(w.objects, func(o *object.Object) bool {
				return o.BeingDeleted() && slices.Equal(o.Finalizers(), []string{definitionClean})
			})
		}), nil
	})
	if err != nil {
		return err
	}
	return s.Wipe(rest...)
}
