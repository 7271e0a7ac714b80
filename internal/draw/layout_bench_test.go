package draw

import "testing"

// manyWorkloads returns deployments with replica sets and pods in many namespaces. Some pods have a
// second owner.
func manyWorkloads(n int) layoutInput {
	in := layoutInput{Header: 32, Anchor: 23}
	for len(in.Boxes) < n {
		group := len(in.Boxes) / 200
		in.Groups = group + 1
		first := len(in.Boxes)
		for range 10 {
			in.Boxes = append(in.Boxes, layoutBox{W: 136 + len(in.Boxes)%90, H: 46, Group: group})
		}
		in.Edges = append(in.Edges, layoutEdge{first, first + 1}, layoutEdge{first, first + 2})
		for i := 3; i < 10; i++ {
			in.Edges = append(in.Edges, layoutEdge{first + 1 + i%2, first + i})
		}
		if first%200 > 0 && first%40 == 0 {
			in.Edges = append(in.Edges, layoutEdge{first - 10, first + 9})
		}
	}
	return in
}

func BenchmarkArrange(b *testing.B) {
	for _, size := range []struct {
		name  string
		boxes int
	}{{"10000", 10_000}, {"50000", 50_000}} {
		in := manyWorkloads(size.boxes)
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				arrange(in)
			}
		})
	}
}
