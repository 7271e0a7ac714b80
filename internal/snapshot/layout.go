package snapshot

// layout is a form that a dump has, which its paths show.
type layout struct {
	// name is the one of the table in docs/offline.md.
	name string
	// locate says what a file is; false if it is none of this layout.
	locate func(dirs []string, base string) (location, bool)
	// proof is what a list in it is worth.
	proof func(s *sighting) proof
}

// proof is what a list is worth: whether an object that is not on it is absent.
type proof uint8

const (
	// nothing: the list holds what somebody looked for.
	nothing proof = iota
	// taken: somebody took it with kubectl, maybe with a selector. It is whole for the
	// namespaces that it shows, unless it looks selected.
	taken
	// whole: a program listed all of a kind, in the place that the path names or, without
	// one, in the namespaces that it shows.
	whole
)

// layouts are the known ones. The first one that knows a path decides.
var layouts = []layout{
	{"sonobuoy", locateSonobuoy, wholeList},
	{"troubleshoot", locateBundle, bundleList},
	{"must-gather", locateMustGather, anyList},
	{"Insights", locateInsights, noList},
	{"sonobuoy's results", locateAside, noList},
	{"discovery", locateDiscovery, anyList},
	{"named", locateByName, namedList},
}

// proof is what the layout of a list makes of it.
func (s *sighting) proof() proof {
	for _, l := range layouts {
		if l.name == s.layout {
			return l.proof(s)
		}
	}
	return anyList(s)
}

func wholeList(*sighting) proof { return whole }

func noList(*sighting) proof { return nothing }

// anyList: a `kind: List` is what kubectl and oc write, whatever they were asked for, and an
// array what was cut out of one. Programs write lists as the server gives them, which say of
// what they are, or at least of which moment.
func anyList(s *sighting) proof {
	if s.list.Kind == "List" || s.list.Kind == "" && s.list.ResourceVersion == "" && !s.stream {
		return taken
	}
	return whole
}

// bundleList: a bundle of some namespaces holds those in a list without a kind.
func bundleList(s *sighting) proof {
	if s.resource == "namespaces" && s.list.Kind == "" {
		return nothing
	}
	return whole
}

// namedList: the directory has told whether a program wrote the file (see decideDirectories).
func namedList(s *sighting) proof {
	if s.scope == shown {
		return anyList(s)
	}
	return whole
}
