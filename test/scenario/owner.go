package scenario

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

func parseOwners(value string, names Names) ([]object.OwnerReference, error) {
	var owners []object.OwnerReference
	for _, text := range list(value) {
		o, err := parseOwner(text, names)
		if err != nil {
			return nil, err
		}
		owners = append(owners, o)
	}
	return owners, nil
}

// parseOwner reads `uid`, or `apiVersion:Kind:name:uid`, with marks behind it.
func parseOwner(text string, names Names) (object.OwnerReference, error) {
	var o object.OwnerReference
	end := strings.IndexAny(text, "!^")
	if end < 0 {
		end = len(text)
	}
	for marks := text[end:]; marks != ""; {
		flag := object.True
		mark, rest := marks[0], marks[1:]
		if strings.HasPrefix(rest, "f") {
			flag, rest = object.False, rest[1:]
		}
		switch mark {
		case '!':
			o.BlockOwnerDeletion = flag
		case '^':
			o.Controller = flag
		default:
			return o, fmt.Errorf("owner %q: there is no mark %q", text, mark)
		}
		marks = rest
	}
	words := strings.Split(text[:end], ":")
	if len(words) >= 4 {
		last := len(words) - 1
		o.APIVersion, o.Kind = words[0], words[1]
		o.Name, o.UID = strings.Join(words[2:last], ":"), types.UID(words[last])
		return o, nil
	}
	ref, ok := names[types.UID(text[:end])]
	if !ok {
		return o, fmt.Errorf("owner %q: no object of the scenario has this UID; write apiVersion:Kind:name:uid", text)
	}
	o.APIVersion, o.Kind, o.Name, o.UID = ref.APIVersion, ref.Kind, ref.Name, ref.UID
	return o, nil
}

// FormatOwner writes a reference by its UID when it has the coordinates of the
// object with that UID, and in full otherwise.
func FormatOwner(o object.OwnerReference, names Names) string {
	text := string(o.UID)
	if ref, ok := names[o.UID]; !ok || !o.Names(ref) {
		text = o.APIVersion + ":" + o.Kind + ":" + o.Name + ":" + string(o.UID)
	}
	return text + mark("!", o.BlockOwnerDeletion) + mark("^", o.Controller)
}

func mark(sign string, f object.Flag) string {
	switch f {
	case object.True:
		return sign
	case object.False:
		return sign + "f"
	default:
		return ""
	}
}
