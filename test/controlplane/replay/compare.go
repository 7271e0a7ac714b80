package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/datadriven"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// notAsked are the answers of a client: what it does not know of it does not ask.
var notAsked = []string{"unknown kind:", "not covered:", "namespace required:"}

// refusedItem is the object that admission refuses to delete. In the middle of a
// collection it has no name for admission: the request is about the collection.
var refusedItem = regexp.MustCompile(`^(403 Forbidden: \S+ )"[^"]+"`)

// learn takes up the UID that the server gave an object.
func (p *play) learn(d *datadriven.TestData, r reply) error {
	if d.Cmd != "create" || r.refused() {
		return nil
	}
	var made struct {
		Metadata struct {
			UID types.UID `json:"uid"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(r.body, &made); err != nil {
		return err
	}
	o, err := scenario.ParseObject(scenario.Words(d), p.env.Names)
	if err != nil {
		return err
	}
	for s := range p.env.Server.List {
		if s.Kind == o.Kind && s.Namespace == o.Namespace && s.Name == o.Name && s.Group() == o.Group() {
			p.uids[s.UID] = made.Metadata.UID
		}
	}
	return nil
}

// differences compares an answer and the world after it with what the file says.
func (p *play) differences(ctx context.Context, d *datadriven.TestData, r reply, asked bool) ([]string, error) {
	var wrong []string
	want, _, _ := strings.Cut(d.Expected, "\n")
	if asked {
		p.tally.requests++
		have := p.answer(r)
		if d.Cmd == "get" && have == "ok" {
			have = want // the object itself is compared below
			if _, refused := strings.CutPrefix(want, "4"); refused {
				have = "ok"
			}
		}
		if d.Cmd == "deletecollection" {
			want = refusedItem.ReplaceAllString(want, `${1}"Unknown"`)
		}
		if have != want && !p.worded(have, want) {
			wrong = append(wrong, fmt.Sprintf("answer\n  file: %s\n  real: %s", want, have))
		}
		p.warnings = append(p.warnings, r.warnings...)
	}
	if d.Cmd == "warnings" {
		wrong = append(wrong, p.compareWarnings(d.Expected)...)
	}
	if p.rest != "" {
		if _, rest := resting[d.Cmd]; !rest {
			return wrong, nil
		}
		return wrong, p.settle(ctx, d)
	}
	objects, err := p.compareWorld(ctx)
	return append(wrong, objects...), err
}

// worded reports whether an older release says the same in other words: what is wrong with
// a field the simulated server says in the words of the newest one.
func (p *play) worded(have, want string) bool {
	const invalid = " is invalid: "
	h, _, field := strings.Cut(have, invalid)
	w, _, also := strings.Cut(want, invalid)
	return p.Minor() != 0 && p.Minor() != release.Newest && field && also && h == w
}

// compareWarnings compares the warnings since the last time.
func (p *play) compareWarnings(expected string) []string {
	var want []string
	for line := range strings.Lines(expected) {
		if _, text, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			want = append(want, text)
		}
	}
	var have []string
	for _, w := range p.warnings {
		have = append(have, p.said(w))
	}
	p.warnings = nil
	if slices.Equal(have, want) {
		return nil
	}
	return []string{fmt.Sprintf("warnings\n  file: %q\n  real: %q", want, have)}
}

// compareWorld compares every object that ever was in the world.
func (p *play) compareWorld(ctx context.Context) ([]string, error) {
	simulated := map[object.Ref]*object.Object{}
	for o := range p.env.Server.List {
		if p.apart[o.Ref.String()] != "" {
			continue
		}
		simulated[at(o.Ref)] = o
		p.known[at(o.Ref)] = true
	}
	var refs []object.Ref
	for ref := range p.known {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, object.Compare)
	var wrong []string
	for _, ref := range refs {
		have, err := p.find(ctx, ref)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, p.compareObject(ref, simulated[ref], have)...)
		p.tally.objects++
	}
	return wrong, nil
}

func (p *play) find(ctx context.Context, ref object.Ref) (*object.Object, error) {
	path, _, err := pathOf(p.env, ref)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	r, err := p.ask(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return nil, err
	}
	if r.status.Code == http.StatusNotFound {
		return nil, nil
	}
	if r.refused() {
		return nil, fmt.Errorf("%s: %s", ref, r.status.Message)
	}
	var found *object.Object
	err = manifest.Read(bytes.NewReader(r.body), manifest.Options{}, manifest.Handler{
		Object: func(o *object.Object, _ bool, _ manifest.Position) error {
			found = o
			return nil
		},
	})
	return found, err
}

// compareObject compares one object; either may be nil. It takes up the
// resourceVersions: they move together or not at all.
func (p *play) compareObject(ref object.Ref, said, real *object.Object) []string {
	switch {
	case said == nil && real == nil:
		delete(p.last, ref)
		return nil
	case said == nil:
		return []string{fmt.Sprintf("%s is gone in the file, and there on the real server:\n  %s", ref, scenario.Format(real, p.env.Names))}
	case real == nil:
		return []string{fmt.Sprintf("%s is there in the file, and gone on the real server", ref)}
	}
	var wrong []string
	now := pair{said.ResourceVersion, real.ResourceVersion}
	if before, ok := p.last[ref]; ok && p.rest == "" && (before.said == now.said) != (before.real == now.real) {
		wrong = append(wrong, fmt.Sprintf("%s: resourceVersion %s → %s in the file, %s → %s on the real server", ref, before.said, now.said, before.real, now.real))
	}
	p.last[ref] = now
	p.real[version{ref, now.said}] = now.real
	want, have := p.text(said, said), p.text(p.untranslate(said, real), said)
	if want != have {
		wrong = append(wrong, fmt.Sprintf("object\n  file: %s\n  real: %s", want, have))
	}
	return wrong
}

// untranslate is a real object with the names and times of the file.
func (p *play) untranslate(said, real *object.Object) *object.Object {
	back := func(u types.UID) types.UID {
		for s, r := range p.uids {
			if r == u {
				return s
			}
		}
		return u
	}
	c := real.Clone()
	c.APIVersion, c.UID = said.APIVersion, back(real.UID)
	c.Owners = slices.Clone(real.Owners)
	for i := range c.Owners {
		c.Owners[i].UID = back(c.Owners[i].UID)
	}
	if real.BeingDeleted() {
		at := real.DeletionTimestamp() - p.base + scenario.Start
		// The file takes no time, the real server does.
		late := time.Now().Unix() - p.base - (p.env.Server.Now() - scenario.Start)
		if lag := at - said.DeletionTimestamp(); said.BeingDeleted() && lag >= 0 && lag <= late+1 {
			at = said.DeletionTimestamp()
		}
		c.Edit().DeletionTimestamp = at
	}
	return c
}

// text is an object as far as the file speaks of it: without resourceVersion, and
// with those facts that the file has.
func (p *play) text(o, said *object.Object) string {
	c := o.Clone()
	c.ResourceVersion, c.Created = "", 0
	if said.Generation == 0 || p.rest != "" {
		c.Generation = 0
	}
	labels := map[string]string{}
	for k, v := range o.Labels.All {
		if k != nameLabel && k != "from" {
			labels[k] = v
		}
	}
	c.Labels = object.LabelsOf(labels)
	life := c.Edit()
	life.Facts = nil
	if s, f := said.Pod(), o.Pod(); s != nil && f != nil {
		pod := &object.PodFacts{NodeName: f.NodeName}
		if s.Phase != "" {
			pod.Phase = f.Phase
		}
		if s.TerminationGracePeriod != nil {
			pod.TerminationGracePeriod = f.TerminationGracePeriod
		}
		life.Facts = pod
	}
	if said.NamespaceFacts() != nil {
		life.Facts = o.Facts()
	}
	if said.Kind == "Namespace" && said.BeingDeleted() {
		// The server keeps them in a map while it sets its own.
		life.Finalizers = slices.Sorted(slices.Values(life.Finalizers))
	}
	if s, f := said.Definition(), o.Definition(); s != nil && f != nil {
		life.Facts = &object.CRDFacts{Namespaced: f.Namespaced, Established: f.Established, Terminating: f.Terminating}
	}
	if s, f := said.Token(), o.Token(); s != nil && f != nil && s.AccountUID == "" {
		// The tokens controller writes the uid of the account there.
		life.Facts = &object.Token{Account: f.Account, Sure: f.Sure}
	}
	return scenario.Format(c, p.env.Names)
}
