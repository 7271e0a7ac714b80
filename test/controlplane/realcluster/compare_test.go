package realcluster

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// at are the coordinates of an object: its identity without the UID.
func at(r object.Ref) object.Ref {
	r.UID = ""
	return r
}

// differences compares every object that ever was in the story with a state of
// the file.
func (s *story) differences(state string) string {
	s.t.Helper()
	if state == "empty" {
		state = ""
	}
	said := map[object.Ref]*object.Object{}
	objects, err := scenario.ParseWorld(state, s.env.Names)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, o := range objects {
		said[at(o.Ref)] = o
		s.known[at(o.Ref)] = true
	}
	var wrong []string
	for ref := range s.known {
		if why := s.compare(ref, said[ref]); why != "" {
			wrong = append(wrong, why)
		}
	}
	slices.Sort(wrong)
	return strings.Join(wrong, "\n")
}

// differs compares an object with one line of the file that has no UID.
func (s *story) differs(line string, gone bool) string {
	s.t.Helper()
	said, err := scenario.ParseObject(strings.Fields(line), s.env.Names)
	if err != nil {
		s.t.Fatal(err)
	}
	for uid, ref := range s.env.Names {
		if at(ref) == at(said.Ref) {
			said.UID = uid
		}
	}
	s.known[at(said.Ref)] = true
	if gone {
		return s.compare(at(said.Ref), nil)
	}
	return s.compare(at(said.Ref), said)
}

// compare compares a real object with what the file says of it, which is nil when
// the file says that it is gone.
func (s *story) compare(ref object.Ref, said *object.Object) string {
	s.t.Helper()
	r := ask(s.t, "", http.MethodGet, s.path(ref), "", nil)
	switch {
	case r.code == http.StatusNotFound && said == nil:
		return ""
	case r.code == http.StatusNotFound:
		return fmt.Sprintf("%s is there in the file, and gone on the real server", ref)
	case r.code != http.StatusOK:
		s.t.Fatal(r.refusal.Message)
	}
	var real *object.Object
	if err := manifest.Read(bytes.NewReader(r.body), manifest.Options{}, manifest.Handler{
		Object: func(o *object.Object, _ bool, _ manifest.Position) error {
			real = o
			return nil
		},
	}); err != nil {
		s.t.Fatal(err)
	}
	if said == nil {
		return fmt.Sprintf("%s is gone in the file, and there on the real server:\n  %s", ref, scenario.Format(real, s.env.Names))
	}
	want, have := s.text(said, said), s.text(s.untranslate(said, real), said)
	if want != have {
		return fmt.Sprintf("file: %s\nreal: %s", want, have)
	}
	return ""
}

// text is an object as far as the file speaks of it.
func (s *story) text(o, said *object.Object) string {
	c := o.Clone()
	c.ResourceVersion, c.Created = "", 0
	if said.Generation == 0 {
		c.Generation = 0
	}
	if said.Revision() == 0 && c.Revision() != 0 {
		c.Edit().Revision = 0
	}
	labels := map[string]string{}
	for k, v := range o.Labels.All {
		if said.Labels.Has(k) {
			labels[k] = v
		}
	}
	c.Labels = object.LabelsOf(labels)
	life := c.Edit()
	life.Facts = nil
	if p, f := said.Pod(), o.Pod(); p != nil && f != nil {
		pod := &object.PodFacts{NodeName: f.NodeName, Mirror: f.Mirror}
		if p.Phase != "" {
			pod.Phase = f.Phase
		}
		if p.TerminationGracePeriod != nil {
			pod.TerminationGracePeriod = f.TerminationGracePeriod
		}
		if p.VolumesKnown {
			pod.VolumesKnown, pod.Claims = f.VolumesKnown, f.Claims
		}
		life.Facts = pod
	}
	if d, f := said.Definition(), o.Definition(); d != nil && f != nil {
		life.Facts = &object.CRDFacts{Namespaced: f.Namespaced, Established: f.Established, Terminating: f.Terminating}
	}
	if said.NamespaceFacts() != nil || said.Job() != nil || said.Volume() != nil {
		life.Facts = o.Facts()
	}
	return scenario.Format(c, s.env.Names)
}

// translate is an object of the file with the names of the real server.
func (s *story) translate(o *object.Object) *object.Object {
	c := o.Clone()
	c.Name, c.UID, c.Owners = s.nameOf(at(o.Ref)), s.uid(o.UID), s.owners(o.Owners)
	if o.Namespace != "" {
		c.Namespace = s.name + "-" + o.Namespace
	}
	if o.Lifecycle == nil {
		return c
	}
	life := c.Edit()
	if p := o.Pod(); p != nil && p.NodeName != "" {
		pod := *p
		pod.NodeName = s.name + "-" + p.NodeName
		life.Facts = &pod
	}
	if v := o.Volume(); v != nil && v.ClaimName != "" {
		volume := *v
		volume.ClaimNamespace, volume.ClaimUID = s.name+"-"+v.ClaimNamespace, s.uid(v.ClaimUID)
		life.Facts = &volume
	}
	if o.BeingDeleted() {
		life.DeletionTimestamp += s.began - scenario.Start
	}
	return c
}

// untranslate is a real object with the names and times of the file.
func (s *story) untranslate(said, real *object.Object) *object.Object {
	c := real.Clone()
	c.APIVersion, c.Name, c.Namespace, c.UID = said.APIVersion, said.Name, said.Namespace, s.back(real.UID)
	c.Owners = slices.Clone(real.Owners)
	for i, r := range real.Owners {
		c.Owners[i].UID, c.Owners[i].Name = s.back(r.UID), s.nameBack(r)
	}
	life := c.Edit()
	if p := real.Pod(); p != nil {
		pod := *p
		pod.NodeName = strings.TrimPrefix(p.NodeName, s.name+"-")
		life.Facts = &pod
	}
	if v := real.Volume(); v != nil {
		volume := *v
		volume.ClaimNamespace, volume.ClaimUID = strings.TrimPrefix(v.ClaimNamespace, s.name+"-"), s.back(v.ClaimUID)
		life.Facts = &volume
	}
	if real.BeingDeleted() && said.BeingDeleted() {
		// The file takes no time, the real server does.
		since := real.DeletionTimestamp() - s.began - (said.DeletionTimestamp() - scenario.Start)
		life.DeletionTimestamp = scenario.Start + since
		if since >= 0 && since <= time.Now().Unix()-s.began+1 {
			life.DeletionTimestamp = said.DeletionTimestamp()
		}
	}
	return c
}

// nameOf is the real name of an object of the file.
func (s *story) nameOf(ref object.Ref) string {
	if name, ok := s.called[ref]; ok {
		return name
	}
	r, err := s.env.Resources.For(ref.APIVersion, ref.Kind)
	if err != nil || r.Namespaced || r.Name == "customresourcedefinitions" {
		return ref.Name
	}
	return s.name + "-" + ref.Name
}

func (s *story) nameBack(r object.OwnerReference) string {
	for ref, name := range s.called {
		if ref.Kind == r.Kind && name == r.Name {
			return ref.Name
		}
	}
	return strings.TrimPrefix(r.Name, s.name+"-")
}

// uid is the real UID of an object of the file.
func (s *story) uid(u types.UID) types.UID {
	if real, ok := s.uids[u]; ok || u == "" {
		return real
	}
	return u + "-" + types.UID(s.name)
}

func (s *story) back(u types.UID) types.UID {
	for said, real := range s.uids {
		if real == u {
			return said
		}
	}
	return types.UID(strings.TrimSuffix(string(u), "-"+s.name))
}

// owners are references of the file with the names of the real server.
func (s *story) owners(owners []object.OwnerReference) []object.OwnerReference {
	owners = slices.Clone(owners)
	for i, r := range owners {
		ref := object.Ref{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name}
		owners[i].UID = s.uid(r.UID)
		for have := range s.called {
			if have.Kind == r.Kind && have.Name == r.Name {
				ref.Namespace = have.Namespace
			}
		}
		owners[i].Name = s.nameOf(ref)
	}
	return owners
}
