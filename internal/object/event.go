package object

// EventType is the type of a watch event.
type EventType uint8

// The watch events.
const (
	Added EventType = iota
	Modified
	Deleted
)

// String is the event type as it stands in a watch stream.
func (t EventType) String() string {
	switch t {
	case Modified:
		return "MODIFIED"
	case Deleted:
		return "DELETED"
	default:
		return "ADDED"
	}
}

// Event is one change of one object as a watch reports it. A Modified event
// carries the object before the change when the watcher knows it; a Deleted
// event carries the last state.
type Event struct {
	Type   EventType
	Object *Object
	Old    *Object
}
