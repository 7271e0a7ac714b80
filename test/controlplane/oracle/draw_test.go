package oracle

import (
	"fmt"
	"slices"
	"testing"
)

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
