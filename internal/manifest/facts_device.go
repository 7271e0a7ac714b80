package manifest

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

var resourceClaimFacts = &factKind{
	kind: object.ResourceClaim,
	fields: []factField{
		{path: "status.reservedFor", keep: &keep{each: keepFields(nil, "apiGroup", "resource", "name", "uid")}, read: (*lexer).reservations},
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.stated {
			return nil
		}
		return new(f.claim)
	},
}

// reservations reads the users of a ResourceClaim.
func (l *lexer) reservations(it *item, path string, _ bool) error {
	return l.entries(path, func() error {
		if err := l.charge(2 * entryBytes); err != nil {
			return err
		}
		var r object.Reservation
		err := l.reservation(&r)
		it.facts.claim.Reserved = append(it.facts.claim.Reserved, r)
		return err
	})
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
