package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// play is one scenario file on its way over the stage. The simulated server of the
// file runs beside the real one, by the rules of the release that is on the stage: where
// the file speaks of that release, it is what the file says, object by object.
type play struct {
	*stage
	env *scenario.Env
	// apart are objects that the real server does not get, by coordinates.
	apart map[string]string
	// base is the second at which the scenario started.
	base int64
	// uids are the real ones of objects that were created.
	uids map[types.UID]types.UID
	// real are the real resourceVersions, by object and resourceVersion of the file.
	real map[version]string
	// last are the resourceVersions before the current directive.
	last map[object.Ref]pair
	// known are the coordinates of everything that ever was in the world.
	known    map[object.Ref]bool
	warnings []string
	denial   *denial
	// rest is the directive after which the world is at rest; empty when no
	// controllers act. With controllers only a world at rest is compared, and
	// resourceVersions are not.
	rest    string
	working bool
	// told is the release that the file speaks of; the newest one unless it says so.
	told  release.Minor
	tally tally
}

// tally counts what was compared.
type tally struct{ directives, requests, objects int }

type version struct {
	ref  object.Ref
	said string
}

type pair struct{ said, real string }

// newPlay has the simulated server follow the rules of the release on the stage, in every
// world of the file.
func newPlay(s *stage, file string) *play {
	p := &play{stage: s, env: scenario.New(), apart: apart[file], told: release.Newest}
	p.env.Release = s.Minor()
	p.env.Handle("release", func(_ *scenario.Env, d *datadriven.TestData) (string, error) {
		p.told = release.MinorOf(d.CmdArgs[0].Key)
		return "", nil
	})
	return p
}

// at are the coordinates of an object: its identity without the UID.
func at(r object.Ref) object.Ref {
	r.UID = ""
	return r
}

// raise starts over with a world.
func (p *play) raise(ctx context.Context, d *datadriven.TestData) error {
	names := scenario.Names{}
	objects, err := scenario.ParseWorld(d.Input, names)
	if err != nil {
		return err
	}
	resources := scenario.Resources()
	for _, arg := range d.CmdArgs {
		if arg.Key == "resources" {
			// Only the simulated server needs to be told; the paths are the same.
			resources = p.env.Resources
		}
	}
	if err := errors.Join(p.allow(ctx), p.dismiss()); err != nil {
		return err
	}
	p.base = time.Now().Unix()
	p.uids, p.real, p.last, p.known, p.warnings = map[types.UID]types.UID{}, map[version]string{}, map[object.Ref]pair{}, map[object.Ref]bool{}, nil
	shifted := make([]*object.Object, 0, len(objects))
	for _, o := range objects {
		if p.apart[o.Ref.String()] != "" {
			continue
		}
		p.known[at(o.Ref)] = true
		c := o.Clone()
		if o.BeingDeleted() {
			c.Edit().DeletionTimestamp += p.base - scenario.Start
		}
		shifted = append(shifted, c)
	}
	return p.set(ctx, shifted, resources)
}

// request makes the request of a directive. It returns errClient when the client
// would not make it, and a nil error with ok false when there is nothing to ask.
func (p *play) request(ctx context.Context, d *datadriven.TestData) (r reply, asked bool, err error) {
	words := scenario.Words(d)
	if p.rest != "" && (d.Cmd == "observe" || resting[d.Cmd] != nil) {
		return reply{}, false, p.hire(ctx)
	}
	if p.isApart(d, words) {
		return reply{}, false, nil
	}
	switch d.Cmd {
	case "create":
		r, err = p.create(ctx, words)
	case "update":
		r, err = p.update(ctx, words)
	case "finalize":
		r, err = p.finalize(ctx, words)
	case "patch":
		r, err = p.patch(ctx, words)
	case "delete":
		r, err = p.remove(ctx, words)
	case "deletecollection":
		r, err = p.removeCollection(ctx, words)
	case "get":
		r, err = p.get(ctx, words)
	case "deny":
		return reply{}, false, p.deny(ctx, words)
	case "tick":
		seconds, err := strconv.Atoi(words[0])
		if err != nil {
			return reply{}, false, err
		}
		return reply{}, false, pause(ctx, time.Duration(seconds)*time.Second)
	default:
		return reply{}, false, nil
	}
	return r, true, err
}

// isApart reports whether a directive is about an object that the real server does
// not have.
func (p *play) isApart(d *datadriven.TestData, words []string) bool {
	if d.Cmd == "patch" {
		words = words[1:]
	}
	ref, _, err := p.env.Target(words)
	return err == nil && p.apart[ref.String()] != ""
}

// target is the object that a directive names, its address, and what else is said.
func (p *play) target(words []string) (ref object.Ref, path string, rest []string, err error) {
	if ref, rest, err = p.env.Target(words); err != nil {
		return ref, "", nil, err
	}
	path, _, err = pathOf(p.env, ref)
	return ref, path, rest, err
}

func (p *play) create(ctx context.Context, words []string) (reply, error) {
	o, err := scenario.ParseObject(words, p.env.Names)
	if err != nil {
		return reply{}, err
	}
	collection := o.Ref
	collection.Name = ""
	path, _, err := pathOf(p.env, collection)
	if err != nil {
		return reply{}, err
	}
	if r, _ := p.env.Server.Resource(o.APIVersion, o.Kind); r.Namespaced && o.Namespace == "" {
		return reply{}, errClient
	}
	o = p.translate(o)
	text, err := manifestOf(o, metadataOf(o))
	if err != nil {
		return reply{}, err
	}
	r, err := p.ask(ctx, http.MethodPost, path, "application/json", text)
	if err == nil && !r.refused() && o.Kind == "CustomResourceDefinition" && p.rest != "" {
		plural, group, _ := strings.Cut(o.Name, ".")
		err = p.await(ctx, "/apis/"+group+"/v1/"+plural)
	}
	return r, err
}

// update puts an object as the directive says it; what a directive cannot say is
// taken from the server.
func (p *play) update(ctx context.Context, words []string) (reply, error) {
	o, err := scenario.ParseObject(words, p.env.Names)
	if err != nil {
		return reply{}, err
	}
	path, _, err := pathOf(p.env, o.Ref)
	if err != nil {
		return reply{}, err
	}
	body, err := p.remainder(ctx, path, o)
	if err != nil {
		return reply{}, err
	}
	body["metadata"] = metadataOf(p.translate(o))
	return p.put(ctx, path, body)
}

// remainder is the object as the server has it, or any valid one.
func (p *play) remainder(ctx context.Context, path string, o *object.Object) (map[string]any, error) {
	have, err := p.ask(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return nil, err
	}
	text := have.body
	if have.refused() {
		if text, err = manifestOf(o, metadata{}); err != nil {
			return nil, err
		}
	}
	var body map[string]any
	return body, json.Unmarshal(text, &body)
}

func (p *play) put(ctx context.Context, path string, body map[string]any) (reply, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return reply{}, err
	}
	return p.ask(ctx, http.MethodPut, path, "application/json", text)
}

func (p *play) finalize(ctx context.Context, words []string) (reply, error) {
	ref, path, rest, err := p.target(words)
	if err != nil {
		return reply{}, err
	}
	finalizers := []string{}
	for _, w := range rest {
		if list, ok := strings.CutPrefix(w, "spec="); ok && list != "" {
			finalizers = strings.Split(list, ",")
		}
	}
	body, err := p.remainder(ctx, path, &object.Object{Ref: ref})
	if err != nil {
		return reply{}, err
	}
	body["spec"] = map[string]any{"finalizers": finalizers}
	return p.put(ctx, path+"/finalize", body)
}

func (p *play) patch(ctx context.Context, words []string) (reply, error) {
	ref, patch, err := p.env.ParsePatch(words)
	if err != nil {
		return reply{}, err
	}
	path, _, err := pathOf(p.env, ref)
	if err != nil {
		return reply{}, err
	}
	patch.UID, patch.ResourceVersion = p.uid(patch.UID), p.rv(ref, patch.ResourceVersion)
	for i, u := range patch.DeleteOwners {
		patch.DeleteOwners[i] = p.uid(u)
	}
	patch.MergeOwners = p.owners(patch.MergeOwners)
	if patch.Owners != nil {
		patch.Owners = new(p.owners(*patch.Owners))
	}
	body := patch.Body()
	if at := patch.DeletionTimestamp; at != nil {
		// The one thing that a Patch can say and nobody sends.
		var text map[string]map[string]any
		if err := json.Unmarshal(body, &text); err != nil {
			return reply{}, err
		}
		text["metadata"]["deletionTimestamp"] = any(nil)
		if *at != 0 {
			text["metadata"]["deletionTimestamp"] = time.Unix(*at, 0).UTC().Format(time.RFC3339)
		}
		if body, err = json.Marshal(text); err != nil {
			return reply{}, err
		}
	}
	return p.ask(ctx, http.MethodPatch, path, patch.Type.String(), body)
}

func (p *play) remove(ctx context.Context, words []string) (reply, error) {
	ref, path, rest, err := p.target(words)
	if err != nil {
		return reply{}, err
	}
	o, err := scenario.ParseDelete(rest)
	if err != nil {
		return reply{}, err
	}
	return p.delete(ctx, path, ref, o)
}

func (p *play) removeCollection(ctx context.Context, words []string) (reply, error) {
	c, err := scenario.ParseCollection(words)
	if err != nil {
		return reply{}, err
	}
	path, _, err := pathOf(p.env, object.Ref{APIVersion: c.APIVersion, Kind: c.Kind, Namespace: c.Namespace})
	if err != nil {
		return reply{}, err
	}
	if s := c.Selector.String(); s != "" {
		path += "?labelSelector=" + strings.ReplaceAll(s, "=", "%3D")
	}
	return p.delete(ctx, path, object.Ref{}, c.Options)
}

func (p *play) delete(ctx context.Context, path string, ref object.Ref, o metav1.DeleteOptions) (reply, error) {
	o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}
	if o.Preconditions != nil {
		if u := o.Preconditions.UID; u != nil {
			o.Preconditions.UID = new(p.uid(*u))
		}
		if v := o.Preconditions.ResourceVersion; v != nil {
			o.Preconditions.ResourceVersion = new(p.rv(ref, *v))
		}
	}
	body, err := json.Marshal(o)
	if err != nil {
		return reply{}, err
	}
	return p.ask(ctx, http.MethodDelete, path, "application/json", body)
}

func (p *play) get(ctx context.Context, words []string) (reply, error) {
	_, path, _, err := p.target(words)
	if err != nil {
		return reply{}, err
	}
	return p.ask(ctx, http.MethodGet, path, "", nil)
}

// translate is an object of the file as the real server has to see it. Times stay:
// what a client says of them is refused or ignored.
func (p *play) translate(o *object.Object) *object.Object {
	c := o.Clone()
	c.UID, c.ResourceVersion, c.Owners = p.uid(o.UID), p.rv(o.Ref, o.ResourceVersion), p.owners(o.Owners)
	return c
}

func (p *play) uid(u types.UID) types.UID {
	if real, ok := p.uids[u]; ok {
		return real
	}
	return u
}

// rv is the real resourceVersion. One that the object never had stays as it is: no
// object of a real server has such a small one.
func (p *play) rv(ref object.Ref, said string) string {
	if real, ok := p.real[version{at(ref), said}]; ok {
		return real
	}
	return said
}

func (p *play) owners(owners []object.OwnerReference) []object.OwnerReference {
	owners = slices.Clone(owners)
	for i := range owners {
		owners[i].UID = p.uid(owners[i].UID)
	}
	return owners
}

var storageWords = regexp.MustCompile(`StorageError: invalid object, Code: 4, Key: \S+, ResourceVersion: 0, AdditionalErrorMsg: `)

// said turns the real names in a message into those of the file.
func (p *play) said(message string) string {
	// How storage words a failed precondition: with the key, which is no client's.
	message = strings.ReplaceAll(storageWords.ReplaceAllString(message, ""), denied, "")
	for v, real := range p.real {
		message = strings.ReplaceAll(message, real, v.said)
	}
	for said, real := range p.uids {
		message = strings.ReplaceAll(message, string(real), string(said))
	}
	return message
}

// answer is the reply as files write it.
func (p *play) answer(r reply) string {
	if !r.refused() {
		return "ok"
	}
	text := fmt.Sprintf("%d %s: %s", r.status.Code, r.status.Reason, p.said(r.status.Message))
	if d := r.status.Details; d != nil && len(d.Causes) == 1 && d.Causes[0].Type == "NamespaceTerminating" {
		text += " (cause NamespaceTerminating)"
	}
	return text
}
