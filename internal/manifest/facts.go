package manifest

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// The kinds of whose spec and status something is kept.
const (
	podKind        = "Pod"
	namespaceKind  = "Namespace"
	definitionKind = "CustomResourceDefinition"
	jobKind        = "Job"
	volumeKind     = "PersistentVolume"
	claimKind      = "ResourceClaim"
	cidrKind       = "ServiceCIDR"
	addressKind    = "IPAddress"
	setKind        = "StatefulSet"
)

// secretKind is the kind of whose type something is kept.
const secretKind = "Secret"

// factsKind is kind when something of its spec and status is kept in the group
// of apiVersion, and empty otherwise.
func factsKind(apiVersion, kind string) string {
	switch kind {
	case podKind, namespaceKind, volumeKind:
		if object.GroupOf(apiVersion) == "" {
			return kind
		}
	case definitionKind:
		if object.GroupOf(apiVersion) == "apiextensions.k8s.io" {
			return kind
		}
	case jobKind:
		if object.GroupOf(apiVersion) == "batch" {
			return kind
		}
	case setKind:
		if object.GroupOf(apiVersion) == "apps" {
			return kind
		}
	case claimKind:
		if object.GroupOf(apiVersion) == "resource.k8s.io" {
			return kind
		}
	case cidrKind, addressKind:
		if object.GroupOf(apiVersion) == "networking.k8s.io" {
			return kind
		}
	}
	return ""
}

// HasFacts tells whether something of the spec or status of a kind is kept: its
// metadata alone would not do.
func HasFacts(apiVersion, kind string) bool { return factsKind(apiVersion, kind) != "" }

// spec reads what is kept of the spec of kind.
func (l *lexer) spec(it *item, kind string, flat bool) error {
	in, err := l.object("spec")
	it.facts.specified = in
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		if flat {
			lowerFirst(l.key)
		}
		switch kind {
		case podKind:
			err = l.podSpecField(it, flat)
		case namespaceKind:
			err = l.namespaceSpecField(it)
		case definitionKind:
			err = l.definitionSpecField(it)
		case jobKind:
			err = l.jobSpecField(it)
		case volumeKind:
			err = l.volumeSpecField(it, flat)
		case cidrKind:
			err = l.cidrSpecField(it)
		case addressKind:
			err = l.addressSpecField(it)
		case setKind:
			err = l.setSpecField(it, flat)
		default:
			err = l.skip()
		}
	}
	return err
}

func (l *lexer) podSpecField(it *item, flat bool) error {
	switch string(l.key) {
	case "volumes":
		return l.podVolumes(it, flat)
	case "containers":
		// A spec that shows containers is a whole one.
		it.facts.pod.VolumesKnown = true
		return l.skip()
	case "nodeName":
		return l.fact(it, hasNodeName, &it.facts.pod.NodeName, "spec.nodeName")
	case "terminationGracePeriodSeconds":
		const name = "spec.terminationGracePeriodSeconds"
		err := l.once(it, hasPodGrace, name)
		if err == nil {
			it.facts.grace, it.facts.hasGrace, err = l.integer(name)
		}
		return err
	}
	return l.skip()
}

func (l *lexer) namespaceSpecField(it *item) error {
	if string(l.key) != "finalizers" {
		return l.skip()
	}
	err := l.once(it, hasSpecFinalizers, "spec.finalizers")
	if err == nil {
		it.facts.finalizers, err = l.strings("spec.finalizers")
	}
	return err
}

// status reads what is kept of the status of kind.
func (l *lexer) status(it *item, kind string, flat bool) error {
	in, err := l.object("status")
	it.facts.stated = in
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		if flat {
			lowerFirst(l.key)
		}
		err = l.statusField(it, kind)
	}
	return err
}

func (l *lexer) statusField(it *item, kind string) error {
	switch kind {
	case definitionKind, jobKind:
		if string(l.key) == "conditions" {
			return l.conditions(it)
		}
		if kind == definitionKind && string(l.key) == "storedVersions" {
			if err := l.once(it, hasStoredVersions, "status.storedVersions"); err != nil {
				return err
			}
			var err error
			it.facts.definition.Stored, err = l.strings("status.storedVersions")
			return err
		}
	case claimKind:
		if string(l.key) == "reservedFor" {
			return l.reservations(it)
		}
	case podKind, namespaceKind, volumeKind:
		if string(l.key) == "phase" {
			return l.fact(it, hasPhase, &it.facts.pod.Phase, "status.phase")
		}
	}
	return l.skip()
}

// fact reads a string that many objects have in common.
func (l *lexer) fact(it *item, f field, to *string, name string) error {
	if err := l.once(it, f, name); err != nil {
		return err
	}
	var s span
	if err := l.string(it, &s, name); err != nil {
		return err
	}
	*to = l.rd.in.Bytes(it.bytes(s))
	return nil
}

// strings reads a list of strings; null is empty.
func (l *lexer) strings(name string) ([]string, error) {
	var list []string
	in, err := l.array(name)
	for first := true; in && err == nil; first = false {
		if in, err = l.element(first); !in || err != nil {
			break
		}
		if l.token() != '"' {
			return nil, l.mistyped("an entry of "+name, "a string")
		}
		var text []byte
		if text, err = l.appendString(nil); err == nil {
			err = l.charge(len(text) + entryBytes)
		}
		list = append(list, l.rd.in.Bytes(text))
	}
	return list, err
}

// lowerFirst turns the name of a Go field into the name that JSON has for it.
func lowerFirst(key []byte) {
	if len(key) > 0 && key[0] >= 'A' && key[0] <= 'Z' {
		key[0] += 'a' - 'A'
	}
}
