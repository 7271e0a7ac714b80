package main

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/shapes"
)

var objects = flag.Int("objects", 100_000, "how many objects a cluster of BenchmarkShapes has")

// BenchmarkShapes measures the least CPU time of every command on clusters of all shapes.
func BenchmarkShapes(b *testing.B) {
	for _, shape := range shapes.All() {
		b.Run(shape.Name, func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "cluster.zst")
			c := shape.Cluster(*objects, 1)
			if err := c.Save(file); err != nil {
				b.Fatal(err)
			}
			for _, command := range c.Commands() {
				b.Run(strings.Join(command, " "), func(b *testing.B) {
					from := len(command)
					if command[0] == "__complete" {
						from-- // the word to complete comes last
					}
					args := slices.Insert(slices.Clone(command), from, "--from", file)
					var took time.Duration
					for b.Loop() {
						took = least(took, processor(b, args...))
					}
					b.ReportMetric(float64(took)/1e6, "cpu-ms")
				})
			}
		})
	}
}
