// Package oracle asks the server what a run of the program has done. Any world, any
// command, any rights and any answer, and others who do something meanwhile: what the
// run changes there, and would not have changed otherwise, has to be in the account that
// the plan gives, and the account in what was shown, allowed and copied. The API server
// writes every write down.
package oracle

import (
	"flag"
	"os"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(m.Run())
}

func TestOracle(t *testing.T) {
	began := time.Now()
	s, err := raise(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	t.Logf("the control plane stands after %s", time.Since(began).Round(time.Millisecond))
	byController := map[controllers][]*trial{}
	for i := range *number {
		st := draw(*first + uint64(i))
		byController[st.controllers] = append(byController[st.controllers], &trial{stage: s, story: st})
	}
	var c census
	var worst []*trial // one for each rule, to be made smaller
	shrunk := map[rule]bool{}
	for _, who := range []controllers{everybody, noCollector, nobody} {
		for all := byController[who]; len(all) > 0; {
			n := min(*atOnce, len(all))
			start := time.Now()
			if err := s.batch(t.Context(), all[:n], who); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d runs, controllers: %s, %s", n, who, time.Since(start).Round(time.Millisecond))
			for _, x := range all[:n] {
				c.add(x)
				switch {
				case len(x.wrong) > 0:
					t.Error(x.tell(*verbose))
					if worst = append(worst, x); shrunk[x.wrong[0].rule] {
						worst = worst[:len(worst)-1]
					}
					shrunk[x.wrong[0].rule] = true
				case *verbose:
					t.Log(x.tell(true))
				}
			}
			all = all[n:]
		}
	}
	for _, x := range worst {
		least, err := s.smallest(t.Context(), x, *small)
		if err != nil {
			t.Fatal(err)
		}
		if least != x {
			t.Errorf("seed %d, made smaller: %s", x.story.seed, least.tell(*verbose))
		}
	}
	t.Logf("%s\n%d runs from seed %d in %s", c.table(), *number, *first, time.Since(began).Round(time.Millisecond))
}
