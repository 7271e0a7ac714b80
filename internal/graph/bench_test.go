package graph

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// fan returns one owner with n dependents.
func fan(n int) []*object.Object {
	objects := []*object.Object{named("owner")}
	for i := range n {
		objects = append(objects, named(fmt.Sprintf("d%07d", i), blockingTo("owner")))
	}
	return objects
}

// BenchmarkLink adds and links one object per round.
func BenchmarkLink(b *testing.B) {
	objects := fan(100_000)
	var g *Graph
	var owner ID
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if i%100_000 == 0 {
			g = WithCapacity(100_001)
			owner = g.Add(objects[0])
		}
		g.Link(g.Add(objects[1+i%100_000]), owner)
		i++
	}
}

// BenchmarkRemoveAndAdd measures the churn of a busy cluster on a long-lived graph.
func BenchmarkRemoveAndAdd(b *testing.B) {
	objects := fan(100_000)
	g := linked(b, objects...)
	owner := find(b, g, "owner")
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		o := objects[1+i%100_000]
		id, _ := g.Find(o.UID)
		g.Remove(id)
		g.Free(id)
		g.Link(g.Add(o), owner)
		i++
	}
}

func BenchmarkCompareUnchanged(b *testing.B) {
	old := []object.OwnerReference{blockingTo("a"), to("b")}
	same := []object.OwnerReference{blockingTo("a"), to("b")}
	b.ReportAllocs()
	for b.Loop() {
		if !Compare(old, same).Empty() {
			b.Fatal("a change")
		}
	}
}

func BenchmarkWalk100k(b *testing.B) {
	g := linked(b, chain(100_000)...)
	start := []ID{find(b, g, "000000")}
	b.ReportAllocs()
	for b.Loop() {
		g.Walk(start, ToDependents, 0)
	}
}

func BenchmarkCycles30k(b *testing.B) {
	g := linked(b, manyCycles(10_000)...)
	b.ReportAllocs()
	for b.Loop() {
		g.Cycles()
	}
}

func BenchmarkPartition100k(b *testing.B) {
	g := linked(b, fan(100_000)...)
	owner := find(b, g, "owner")
	identity := identity("owner")
	identity.Kind = "Secret"
	b.ReportAllocs()
	for b.Loop() {
		g.Partition(owner, identity)
	}
}
