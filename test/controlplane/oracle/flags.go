package oracle

import (
	"flag"

	"github.com/kubectl-gc/kubectl-gc/test/extent"
)

var (
	number  = flag.Int("runs", extent.Of(40, 2000), "the number of runs")
	first   = flag.Uint64("seed", 1, "the first seed")
	atOnce  = flag.Int("batch", 60, "the number of worlds that stand there at a time")
	workers = flag.Int("workers", 30, "the number of runs at a time")
	small   = flag.Int("shrink", 2, "how many rounds a story that went wrong is made smaller")
	strict  = flag.Bool("strict", false, "fail for what is known to be wrong, too")
	verbose = flag.Bool("say", false, "print what the program said")
	judged  = flag.String("program", "", "the program to judge, instead of the one of this repository")
)
