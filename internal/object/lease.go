package object

// Pulse is what a lease says of its holder.
type Pulse uint8

// What a lease says.
const (
	// PulseUnclear is nothing: the lease has no holder, does not say when it was renewed, or has just ended.
	PulseUnclear Pulse = iota
	// PulseBeats says that the holder works.
	PulseBeats
	// PulseStopped says that the holder no longer renews the lease.
	PulseStopped
)

// clockSlack is how far the clocks of a holder and of a server may differ, in seconds.
const clockSlack = 60

// PulseOf judges a lease that its holder renewed last at a time, for a number of seconds, and that was
// read at another time. Times are in seconds since 1970, and 0 if they are not known. late is how
// many seconds before that time the lease may have been read, as in a dump that took a while.
func PulseOf(holder string, renewed, duration, read, late int64) Pulse {
	over := read - renewed - duration
	switch {
	case renewed == 0 || read == 0:
		return PulseUnclear
	case over > clockSlack+late:
		return PulseStopped
	case over < clockSlack && holder != "":
		return PulseBeats
	}
	return PulseUnclear
}
