package deleters

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// An object that is recreated after every delete is the reason why nothing settles, and is reported
// first.
func TestRemade(t *testing.T) {
	shop := &object.Object{Ref: object.Namespace.Ref("", "shop")}
	shop.UID = "shop"
	s := start(t, shop)
	times := 0
	again := func() {
		err := s.Change(func() error {
			times++
			made := configMap("again", "nobody")
			made.UID = types.UID(fmt.Sprint("uid-again-", times))
			_, err := s.Sim.Create(t.Context(), made)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	s.deleted.Store(&again)
	again()
	text := s.unsettled("times since: something creates it again")
	s.deleted.Store(nil)
	lines := strings.Split(text, "\n")
	if len(lines) < 2 || !strings.HasPrefix(lines[1], "  left to do: v1 ConfigMap shop/again was deleted ") || strings.Contains(text, "no answer yet") {
		t.Errorf("it is said:\n%s", text)
	}
	s.settled()
}

// Only the deletes since a moment count, by kind and name, and their number is limited.
func TestDeletes(t *testing.T) {
	deleted := func(name, uid string) engine.Record {
		ref := named(name)
		ref.UID = types.UID(uid)
		return engine.Record{Exchanges: []engine.Exchange{{Verb: object.Get, Ref: ref}, {Verb: object.Delete, Ref: ref}}}
	}
	var d deletes
	d.note(deleted("a", "1"))
	since := d.sofar()
	d.note(deleted("a", "2"))
	d.note(deleted("a", "3"))
	d.note(deleted("b", "4"))
	for range often { // repeated deletes of one object
		d.note(deleted("b", "4"))
	}
	if got := d.remade(since); len(got) > 0 {
		t.Errorf("after two deletes each: %q", got)
	}
	if got := d.remade(0); len(got) != 1 || got[0] != "v1 ConfigMap shop/a was deleted 3 times since: something creates it again" {
		t.Errorf("from the beginning: %q", got)
	}
	for i := range mostDeletes {
		d.note(deleted("c", fmt.Sprint("c", i)))
	}
	if got := d.remade(0); len(d.last) != mostDeletes || len(got) != 1 || !strings.Contains(got[0], "shop/c") {
		t.Errorf("%d are remembered: %q", len(d.last), got)
	}
}
