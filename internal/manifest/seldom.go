package manifest

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// reservations reads who uses a ResourceClaim.
func (l *lexer) reservations(it *item) error {
	if err := l.once(it, hasReserved, "status.reservedFor"); err != nil {
		return err
	}
	in, err := l.array("status.reservedFor")
	for first := true; in && err == nil; first = false {
		if in, err = l.element(first); !in || err != nil {
			break
		}
		if l.token() != '{' {
			return l.mistyped("an entry of status.reservedFor", "a mapping")
		}
		var r object.Reservation
		if err = l.charge(2 * entryBytes); err == nil {
			err = l.reservation(&r)
		}
		it.facts.claim.Reserved = append(it.facts.claim.Reserved, r)
	}
	return err
}

func (l *lexer) reservation(r *object.Reservation) error {
	in, err := l.object("an entry of status.reservedFor")
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		switch string(l.key) {
		case "apiGroup":
			err = l.repeated(&r.Group, "status.reservedFor.apiGroup")
		case "resource":
			err = l.repeated(&r.Resource, "status.reservedFor.resource")
		case "name":
			err = l.own(&r.Name, "status.reservedFor.name")
		case "uid":
			uid := string(r.UID)
			err = l.own(&uid, "status.reservedFor.uid")
			r.UID = types.UID(uid)
		default:
			err = l.skip()
		}
	}
	return err
}

// setSpecField reads a field of the spec of a StatefulSet.
func (l *lexer) setSpecField(it *item, flat bool) error {
	const templates = "spec.volumeClaimTemplates"
	if string(l.key) != "volumeClaimTemplates" {
		return l.skip()
	}
	if err := l.once(it, hasTemplates, templates); err != nil {
		return err
	}
	in, err := l.array(templates)
	for first := true; in && err == nil; first = false {
		if in, err = l.element(first); !in || err != nil {
			break
		}
		if l.token() != '{' {
			return l.mistyped("an entry of "+templates, "a mapping")
		}
		err = l.claimTemplate(it, flat)
	}
	return err
}

// claimTemplate reads the name of one template.
func (l *lexer) claimTemplate(it *item, flat bool) error {
	const template = "an entry of spec.volumeClaimTemplates"
	var name span
	found := false
	in, err := l.object(template)
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		if flat {
			lowerFirst(l.key)
		}
		switch {
		case string(l.key) != "metadata":
			err = l.skip()
		case found:
			return l.wrong("%s has metadata twice", template)
		default:
			found = true
			name, err = l.named(it, "name", template+".metadata", flat)
		}
	}
	if text := it.bytes(name); len(text) > 0 {
		it.facts.set.ClaimTemplates = append(it.facts.set.ClaimTemplates, l.rd.in.Bytes(text))
	}
	return err
}

// secretType reads the type of a Secret. What other kinds have under that name is theirs.
func (l *lexer) secretType(it *item) error {
	if l.token() != '"' || it.seen&hasKind != 0 && string(it.bytes(it.kind)) != secretKind {
		return l.skip()
	}
	return l.metadataString(it, hasType, &it.typed, "type")
}

// token is what a Secret says of its account; nil for nothing.
func (it *item) token() *object.Token {
	return object.TokenBy(string(it.bytes(it.account)), types.UID(it.bytes(it.accountUID)), string(it.bytes(it.typed)))
}

// setToken adds to o, if it is a Secret, what it says of its account.
func setToken(o *object.Object, token *object.Token) {
	if token != nil && o.Kind == secretKind && o.Group() == "" {
		o.Edit().Facts = token
	}
}

// cidrSpecField reads a field of the spec of a ServiceCIDR.
func (l *lexer) cidrSpecField(it *item) error {
	if string(l.key) != "cidrs" {
		return l.skip()
	}
	err := l.once(it, hasCIDRs, "spec.cidrs")
	if err == nil {
		it.facts.cidr.CIDRs, err = l.strings("spec.cidrs")
	}
	return err
}

// addressSpecField reads a field of the spec of an IPAddress.
func (l *lexer) addressSpecField(it *item) error {
	if string(l.key) != "parentRef" {
		return l.skip()
	}
	if err := l.once(it, hasParent, "spec.parentRef"); err != nil {
		return err
	}
	a := &it.facts.address
	in, err := l.object("spec.parentRef")
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		switch string(l.key) {
		case "group":
			err = l.repeated(&a.Group, "spec.parentRef.group")
		case "resource":
			err = l.repeated(&a.Resource, "spec.parentRef.resource")
		case "namespace":
			err = l.repeated(&a.Namespace, "spec.parentRef.namespace")
		case "name":
			err = l.own(&a.Name, "spec.parentRef.name")
		default:
			err = l.skip()
		}
	}
	return err
}
