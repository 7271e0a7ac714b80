package object

// Pulse is whether the holder of a lease is alive.
type Pulse uint8

// The states of a holder.
const (
	// PulseUnclear: unknown. The lease has no holder or no renew time, or it has just expired.
	PulseUnclear Pulse = iota
	// PulseBeats: the holder is alive.
	PulseBeats
	// PulseStopped: the holder no longer renews the lease.
	PulseStopped
)

// clockSlack is the tolerated difference of the clocks of a holder and a server, in seconds.
const clockSlack = 60

// PulseOf judges a lease by its holder, its last renewal, its duration and the time of reading.
// Times are in seconds since 1970, 0 if unknown. The lease may have been read up to late seconds
// before that time, as in a dump that took a while.
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
