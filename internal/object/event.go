package object

// EventType is the type of a watch event.
type EventType uint8

// The watch events.
const (
	Added EventType = iota
	Modified
	Deleted
)

// String returns the event type as written in a watch stream.
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

// Event is one change of one object, as a watch reports it. Old is the object before a Modified
// event, nil if the watcher doesn't know it. Object of a Deleted event is the last state.
type Event struct {
	Type   EventType
	Object *Object
	Old    *Object
}
