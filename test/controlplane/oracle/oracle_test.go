// Package oracle asks the server what a run of the program has done. Any world, any
// command, any rights and any answer, and others who do something meanwhile: what the
// run changes there, and would not have changed otherwise, has to be in the account that
// the plan gives, and the account in what was shown, allowed and copied. The API server
// writes every write down.
package oracle

import (
	"flag"
	"fmt"
	"os"
	"slices"
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

// A seed is one story, whenever it is drawn, and everything in it has what it needs.
func TestSeedsAreStories(t *testing.T) {
	for seed := range uint64(300) {
		a, b := draw(seed), draw(seed)
		if a.String() != b.String() {
			t.Errorf("seed %d is drawn as\n%sand as\n%s", seed, a, b)
		}
		if c := a.clone(); !a.whole() {
			t.Errorf("seed %d cannot be played:\n%s", seed, a)
		} else if c.mend(); c.String() != a.String() {
			t.Errorf("seed %d has something about what is not there:\n%sit is mended to\n%s", seed, a, c)
		}
		for _, less := range simpler(a) {
			if less.size() >= a.size() || !less.whole() {
				t.Errorf("seed %d: this is no smaller story:\n%s", seed, less)
			}
		}
	}
}

// Whatever can be drawn is, in the number of runs that are made before a release.
func TestEverythingIsDrawn(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(2000) {
		s := draw(seed)
		for _, what := range []string{
			s.command.verb, string(s.controllers), string(s.rights), string(s.answer), string(s.fault), s.command.value("--cascade"),
			fmt.Sprintf("selector=%t", s.command.selector != ""),
		} {
			seen[what]++
		}
		for _, p := range s.steps {
			seen[string(p.do)]++
			seen[string(p.when)]++
		}
		for _, f := range s.command.flags {
			seen[f]++
		}
		for _, x := range s.things {
			seen[x.kind]++
			seen[guarded] += len(x.labels[guarded])
			seen["deleting"] += len(slices.DeleteFunc([]bool{x.deleting}, func(is bool) bool { return !is }))
			for _, o := range x.owners {
				seen[fmt.Sprintf("ghost=%t", o.ghost)]++
			}
		}
	}
	for _, what := range []string{
		"delete", "collect", "remove-finalizer", "background", "foreground", "orphan", "selector=true", "ghost=true", "ghost=false", "deleting",
		string(everybody), string(noCollector), string(nobody),
		string(everything), string(ownNamespace), string(readOnly), string(someKinds), string(impersonated),
		string(rightDigest), string(wrongDigest), string(nobodyThere), string(saidYes), string(saidNo), string(saidWrong), string(hungUp),
		string(interrupted), string(killed), string(answerLost), string(serverLost), string(unserved), string(beforeRun), string(atQuestion), string(atRehearsal), string(atWrite), string(afterRun), string(atUndo),
		string(protects), string(annotates), string(holds), string(releases), string(deletes), string(adds), string(replaces), string(renews), guarded,
		"--max-deletes=0", "--no-backup", "--backup-secrets", "--wait", "--wait=false", "--unlock=leak", "--unlock=gc", "--unlock=in-use", "--unlock=content",
	} {
		if seen["--cascade="+what] == 0 && seen[what] < 5 {
			t.Errorf("%s is drawn %d times", what, seen[what])
		}
	}
	for _, k := range kinds {
		if seen[k.name] < 5 && k.name != "ControllerRevision" {
			t.Errorf("%s is drawn %d times", k.name, seen[k.name])
		}
	}
}
