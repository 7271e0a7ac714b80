package outcome

// pass is one step from the recorded tracks to the outcomes.
type pass struct {
	name string
	// why is the reason for the position of the pass.
	why string
	run func(*Judge, *Outcomes)
}

// passes run in this order. Each reads the results of the earlier ones: it adds objects that have no
// outcome yet, or derives outcomes from others.
var passes = []pass{
	{"tracked", "first, for it needs no outcome: each object is judged by what was recorded of it alone",
		(*Judge).addTracked},
	{"ambiguous", "before anything is concluded from one object about another, for it may have been taken for another one",
		(*Judge).markAmbiguous},
	{"terminating", "after the tracked, for it adds what has no outcome yet",
		(*Judge).addTerminating},
	{"unresolved", "after the tracked, for it adds what has no outcome yet",
		(*Judge).addUnresolved},
	{"left alone", "after all that judges an object by itself, for it replaces what this run says by what the run said that wanted to write to it",
		(*Judge).addLeftAlone},
	{"other release", "after all that judges an object by itself, and before what follows from what is unknown",
		(*Judge).markOtherRelease},
	{"late", "after all that says what an object waits for, for it adds what is waited for",
		(*Judge).addLate},
	{"dependents", "after all that is unknown by itself, for it follows that down the owner references",
		(*Judge).markDependents},
	{"waiting", "after the dependents, for what is waited for may be one that is unknown because of its owner",
		(*Judge).spreadWaiting},
	{"followers", "after the waiting, for a claim or an account that waits may be unknown, and what goes with it then is",
		(*Judge).markFollowers},
	{"kept by blocked", "after all that may turn what is blocked into unknown, for it names what lives as long as that is blocked",
		(*Judge).addKeptByBlocked},
	{"left behind", "after it is settled which StatefulSets go, for it names the claims that they leave; only those that nothing else is known of",
		(*Judge).addLeft},
	{"rewritten", "after it is settled what goes, for it names what a controller changes because of that",
		(*Judge).AddRewritten},
	{"elsewhere", "last, for what is not asked for may have decided about what is",
		(*Judge).leaveOutElsewhere},
}

// Outcomes judges every object at quiescence.
func (j *Judge) Outcomes() *Outcomes {
	all := &Outcomes{}
	j.child = nil // which kinds are served may have changed since
	for _, p := range passes {
		p.run(j, all)
	}
	return all
}
