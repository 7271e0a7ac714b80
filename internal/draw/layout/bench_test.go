package layout

import "testing"

// workloads returns deployments with replica sets and pods in many namespaces. Some pods have a
// second owner.
func workloads(n int) Input {
	in := Input{Header: 32, Anchor: 23}
	for len(in.Boxes) < n {
		group := len(in.Boxes) / 200
		in.Groups = group + 1
		first := len(in.Boxes)
		for range 10 {
			in.Boxes = append(in.Boxes, Box{W: 136 + len(in.Boxes)%90, H: 46, Group: group})
		}
		in.Edges = append(in.Edges, Edge{first, first + 1}, Edge{first, first + 2})
		for i := 3; i < 10; i++ {
			in.Edges = append(in.Edges, Edge{first + 1 + i%2, first + i})
		}
		if first%200 > 0 && first%40 == 0 {
			in.Edges = append(in.Edges, Edge{first - 10, first + 9})
		}
	}
	return in
}

func BenchmarkArrange(b *testing.B) {
	for _, size := range []struct {
		name  string
		boxes int
	}{{"10000", 10_000}, {"50000", 50_000}} {
		in := workloads(size.boxes)
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Arrange(in)
			}
		})
	}
}
