package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Start is the time at which every scenario starts, in seconds since 1970.
const Start int64 = 1893456000

// Names knows the coordinates of objects by their UID, so that references can
// be written and printed by UID alone.
type Names map[types.UID]object.Ref

// Learn remembers an object unless its UID is known already.
func (n Names) Learn(o *object.Object) {
	if _, ok := n[o.UID]; !ok {
		n[o.UID] = o.Ref
	}
}

// ParseWorld reads a world, one object a line. Blank lines and lines that start
// with # do not count. The names of all objects are added to names.
func ParseWorld(text string, names Names) ([]*object.Object, error) {
	type line struct {
		number int
		object *object.Object
		words  []string
	}
	var lines []line
	number := 0
	for l := range strings.Lines(text) {
		number++
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		o, words, err := parseHead(strings.Fields(l))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		o.UID, o.ResourceVersion = types.UID(o.Name), "1"
		for _, w := range words {
			if uid, ok := strings.CutPrefix(w, "uid="); ok {
				o.UID = types.UID(uid)
			}
		}
		names.Learn(o)
		lines = append(lines, line{number, o, words})
	}
	objects := make([]*object.Object, 0, len(lines))
	for _, l := range lines {
		if err := setAttributes(l.object, l.words, names); err != nil {
			return nil, fmt.Errorf("line %d: %w", l.number, err)
		}
		objects = append(objects, l.object)
	}
	return objects, nil
}

// ParseObject reads one object from its words. What is not written is empty: no
// UID and no resourceVersion are made up.
func ParseObject(words []string, names Names) (*object.Object, error) {
	o, rest, err := parseHead(words)
	if err != nil {
		return nil, err
	}
	if err := setAttributes(o, rest, names); err != nil {
		return nil, err
	}
	return o, nil
}

// parseHead reads apiVersion, kind and name and returns the words behind them.
func parseHead(words []string) (*object.Object, []string, error) {
	if len(words) < 3 {
		return nil, nil, fmt.Errorf("%q: want apiVersion, kind and [namespace/]name", strings.Join(words, " "))
	}
	for _, w := range words[:3] {
		if strings.Contains(w, "=") {
			return nil, nil, fmt.Errorf("%q stands where apiVersion, kind and [namespace/]name are wanted", w)
		}
	}
	o := &object.Object{}
	o.APIVersion, o.Kind, o.Name = words[0], words[1], words[2]
	if namespace, name, ok := strings.Cut(words[2], "/"); ok {
		o.Namespace, o.Name = namespace, name
	}
	return o, words[3:], nil
}

func setAttributes(o *object.Object, words []string, names Names) error {
	for _, word := range words {
		key, value, given := strings.Cut(word, "=")
		if !given && !flags[key] {
			return fmt.Errorf("%s: attribute %q wants a value", o.Ref, key)
		}
		if err := setAttribute(o, key, value, names); err != nil {
			return fmt.Errorf("%s: %w", o.Ref, err)
		}
	}
	return nil
}

// flags are the attributes that may stand without a value.
var flags = map[string]bool{"deleting": true, "mirror": true, "established": true, "terminating": true, "finished": true, "csi": true, "deletes": true, "keeps": true}

func setAttribute(o *object.Object, key, value string, names Names) (err error) {
	switch key {
	case "uid":
		o.UID = types.UID(value)
	case "rv":
		o.ResourceVersion = value
	case "gen":
		o.Generation, err = parseNumber(key, value)
	case "owners":
		o.Owners, err = parseOwners(value, names)
	case "labels":
		o.Labels, err = parseLabels(value)
	case "fin":
		o.Edit().Finalizers = list(value)
	case "deleting":
		var offset int64
		if value != "" {
			offset, err = parseNumber(key, value)
		}
		o.Edit().DeletionTimestamp = Start + offset
	case "revision":
		o.Edit().Revision = object.RevisionBy(value)
	case "grace":
		o.Edit().GracePeriod, err = parseOptional(key, value)
	default:
		return setFact(o, key, value)
	}
	return err
}

func parseNumber(key, value string) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s=%s is not a number", key, value)
	}
	return n, nil
}

func parseOptional(key, value string) (*int64, error) {
	n, err := parseNumber(key, value)
	if err != nil {
		return nil, err
	}
	return &n, nil
}

// list splits at commas; brackets around the whole do not count.
func list(value string) []string {
	value = strings.TrimSuffix(strings.TrimPrefix(value, "["), "]")
	if value == "" {
		return nil
	}
	return strings.Split(value, ",")
}

func parseLabels(value string) (object.Labels, error) {
	m := map[string]string{}
	for _, pair := range list(value) {
		k, v, ok := strings.Cut(pair, "=")
		if !ok {
			return "", fmt.Errorf("label %q is not of the form key=value", pair)
		}
		m[k] = v
	}
	return object.LabelsOf(m), nil
}

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

// Format writes an object on one line. The UID is left out of events, where it
// would only be noise.
func Format(o *object.Object, names Names) string { return format(o, names, true) }

// FormatEvent writes a watch event on one line.
func FormatEvent(e object.Event, names Names) string {
	return e.Type.String() + " " + format(e.Object, names, e.Type == object.Added)
}

func format(o *object.Object, names Names, uid bool) string {
	words := []string{o.Ref.String()}
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	if uid {
		add("uid=%s", o.UID)
	}
	if len(o.Owners) > 0 {
		owners := make([]string, 0, len(o.Owners))
		for _, ref := range o.Owners {
			owners = append(owners, FormatOwner(ref, names))
		}
		add("owners=[%s]", strings.Join(owners, ","))
	}
	if o.Labels != "" {
		var pairs []string
		for k, v := range o.Labels.All {
			pairs = append(pairs, k+"="+v)
		}
		add("labels=[%s]", strings.Join(pairs, ","))
	}
	if o.BeingDeleted() {
		switch offset := o.DeletionTimestamp() - Start; offset {
		case 0:
			add("deleting")
		default:
			add("deleting=%+d", offset)
		}
	}
	if grace := o.GracePeriod(); grace != nil {
		add("grace=%d", *grace)
	}
	if len(o.Finalizers()) > 0 {
		add("fin=[%s]", strings.Join(o.Finalizers(), ","))
	}
	if o.Revision() != 0 {
		add("revision=%d", o.Revision())
	}
	words = append(words, formatFacts(o)...)
	if o.Generation != 0 {
		add("gen=%d", o.Generation)
	}
	add("rv=%s", o.ResourceVersion)
	return strings.Join(words, " ")
}
