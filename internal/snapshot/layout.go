package snapshot

// layout is a format of dumps, recognised by their paths.
type layout struct {
	// name is the one in the table of docs/offline.md.
	name string
	// locate returns what a file is; false if it is not of this layout.
	locate func(dirs []string, base string) (location, bool)
	// proof returns what a list in it proves.
	proof func(s *sighting) proof
}

// proof is the value of a list: whether an object that is not on it is absent.
type proof uint8

const (
	// nothing: the list is a selection.
	nothing proof = iota
	// taken: a person took it with kubectl, perhaps with a selector. It is complete for the
	// namespaces of its items, unless it looks like a selection.
	taken
	// whole: a program listed all objects of a kind, in the scope of the path or, without one, in
	// the namespaces of its items.
	whole
)

// layouts are the known ones. The first one that recognises a path decides.
var layouts = []layout{
	{"sonobuoy", locateSonobuoy, wholeList},
	{"troubleshoot", locateBundle, bundleList},
	{"must-gather", locateMustGather, anyList},
	{"Insights", locateInsights, noList},
	{"sonobuoy's results", locateAside, noList},
	{"discovery", locateDiscovery, anyList},
	{"named", locateByName, namedList},
}

// proof returns the proof of a list by its layout.
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

// anyList judges a list by its form. kubectl and oc write `kind: List` for any request, and an
// array was cut out of a list. Programs write lists as the server returns them, with their kind, or
// at least a resourceVersion.
func anyList(s *sighting) proof {
	if s.list.Kind == "List" || s.list.Kind == "" && s.list.ResourceVersion == "" && !s.stream {
		return taken
	}
	return whole
}

// bundleList: a bundle of some namespaces has these in a list without a kind.
func bundleList(s *sighting) proof {
	if s.resource == "namespaces" && s.list.Kind == "" {
		return nothing
	}
	return whole
}

// namedList: decideDirectories has decided whether a program wrote the file.
func namedList(s *sighting) proof {
	if s.scope == shown {
		return anyList(s)
	}
	return whole
}
