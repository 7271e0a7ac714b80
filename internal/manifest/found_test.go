package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// found is everything that a Read has passed to its handler.
type found struct {
	Objects []*object.Object
	InList  []bool
	At      []Position
	Lists   []List
	Foreign []string
}

func (f *found) handler() Handler {
	return Handler{
		Object: func(o *object.Object, inList bool, at Position) error {
			f.Objects = append(f.Objects, o)
			f.InList = append(f.InList, inList)
			f.At = append(f.At, at)
			return nil
		},
		List: func(l List) error {
			f.Lists = append(f.Lists, l)
			return nil
		},
		Foreign: func(at Position, what string) error {
			f.Foreign = append(f.Foreign, at.String()+": "+what)
			return nil
		},
	}
}

func find(input string, o Options) (*found, error) {
	f := &found{}
	o.File = "in"
	err := Read(strings.NewReader(input), o, f.handler())
	return f, err
}

// findFully reads YAML with the full parser only.
func findFully(input []byte) (*found, error) {
	f := &found{}
	rd := newReading(Options{File: "in"}, f.handler())
	rd.fullOnly = true
	return f, rd.run(bytes.NewReader(input))
}

// lines formats the results, one line each.
func (f *found) lines() []string {
	var lines []string
	for i, o := range f.Objects {
		lines = append(lines, describe(o)+map[bool]string{true: " in list"}[f.InList[i]])
	}
	for _, l := range f.Lists {
		lines = append(lines, fmt.Sprintf("list %q %q %d partial=%v", l.APIVersion, l.Kind, l.Items, l.Partial))
	}
	for _, w := range f.Foreign {
		lines = append(lines, "foreign "+w)
	}
	return lines
}

// describe formats all fields of an object.
func describe(o *object.Object) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s uid=%s", o, o.UID)
	show := func(name string, value any, is bool) {
		if is {
			fmt.Fprintf(&b, " %s=%v", name, value)
		}
	}
	show("version", o.ResourceVersion, o.ResourceVersion != "")
	show("labels", strings.ReplaceAll(string(o.Labels), "\x00", "|"), o.Labels != "")
	show("created", o.Created, o.Created != 0)
	show("generation", o.Generation, o.Generation != 0)
	for _, w := range o.Owners {
		fmt.Fprintf(&b, " owner=%+v", w)
	}
	show("finalizers", o.Finalizers(), len(o.Finalizers()) > 0)
	show("deleted", o.DeletionTimestamp(), o.BeingDeleted())
	if g := o.GracePeriod(); g != nil {
		show("grace", *g, true)
	}
	if p := o.Protection(); p != 0 {
		fmt.Fprintf(&b, " protection=%b", p)
	}
	if p := o.Pod(); p != nil {
		fmt.Fprintf(&b, " pod={%s %s mirror=%v", p.NodeName, p.Phase, p.Mirror)
		if p.TerminationGracePeriod != nil {
			fmt.Fprintf(&b, " %d", *p.TerminationGracePeriod)
		}
		show("volumes", p.Claims, p.VolumesKnown)
		b.WriteString("}")
	}
	if n := o.NamespaceFacts(); n != nil {
		show("namespace", fmt.Sprintf("%+v", *n), true)
	}
	if d := o.Definition(); d != nil {
		show("definition", fmt.Sprintf("%+v", *d), true)
	}
	if j := o.Job(); j != nil {
		ttl := "-"
		if j.TTL != nil {
			ttl = strconv.FormatInt(*j.TTL, 10)
		}
		show("job", fmt.Sprintf("{Finished:%v FinishedAt:%d TTL:%s ManagedBy:%s NoRetry:%v}", j.Finished, j.FinishedAt, ttl, j.ManagedBy, j.NoRetry), true)
	}
	if v := o.Volume(); v != nil {
		show("volume", fmt.Sprintf("%+v", *v), true)
	}
	if c := o.ResourceClaim(); c != nil {
		show("reserved", fmt.Sprint(c.Reserved), true)
	}
	if c := o.ServiceCIDR(); c != nil {
		show("cidrs", fmt.Sprint(c.CIDRs), true)
	}
	if x := o.StatefulSet(); x != nil {
		show("templates", fmt.Sprint(x.ClaimTemplates), true)
		show("deletes", "true", x.DeletesClaims)
	}
	if a := o.ServiceAccount(); a != nil {
		show("secrets", fmt.Sprint(a.Secrets), true)
	}
	if r := o.ClusterRole(); r != nil {
		show("role", fmt.Sprintf("%d of %q", len(r.Rules), r.Aggregates), true)
	}
	if x := o.Token(); x != nil {
		show("token", fmt.Sprintf("%+v", *x), true)
	}
	if a := o.IPAddress(); a != nil {
		show("parent", fmt.Sprintf("%+v", *a), true)
	}
	show("revision", fmt.Sprint(o.Revision()), o.Revision() != 0)
	return b.String()
}

// wantLines compares the results with want.
func wantLines(t *testing.T, input string, o Options, want ...string) {
	t.Helper()
	f, err := find(input, o)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	if diff := cmp.Diff(want, f.lines()); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

// wantProblem expects a Problem with exactly this text.
func wantProblem(t *testing.T, input string, o Options, want string) {
	t.Helper()
	_, err := find(input, o)
	p, ok := errors.AsType[*Problem](err)
	if !ok {
		t.Fatalf("Read returned %v; want the Problem %q", err, want)
	}
	if p.Error() != want {
		t.Errorf("the Problem is\n\t%s\nwant\n\t%s", p, want)
	}
}

// sameFound compares two readings of the same input.
func sameFound(t *testing.T, how string, a, b *found, errA, errB error) {
	t.Helper()
	if (errA == nil) != (errB == nil) {
		t.Fatalf("%s: the errors differ:\n%v\n%v", how, errA, errB)
	}
	if errA != nil {
		return
	}
	if diff := cmp.Diff(a.lines(), b.lines()); diff != "" {
		t.Fatalf("%s: the objects differ:\n%s", how, diff)
	}
	if diff := cmp.Diff(a.At, b.At); diff != "" {
		t.Fatalf("%s: the positions differ:\n%s", how, diff)
	}
}

// indent formats JSON like kubectl: indented by four.
func indent(to *bytes.Buffer, text []byte) error { return json.Indent(to, text, "", "    ") }
