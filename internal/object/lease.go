package object

// HolderState says whether the holder of a lease is alive.
type HolderState uint8

// The states of a holder.
const (
	// HolderUnclear: unknown. The lease has no holder or no renew time, or it has just expired.
	HolderUnclear HolderState = iota
	// HolderAlive: the holder is alive.
	HolderAlive
	// HolderGone: the holder no longer renews the lease.
	HolderGone
)

// clockSlack is the tolerated difference of the clocks of a holder and a server, in seconds.
const clockSlack = 60

// HolderStateOf judges a lease by its holder, its last renewal, its duration and the time of
// reading. Times are in seconds since 1970, 0 if unknown. The lease may have been read up to late
// seconds before that time, as in a dump that took a while.
func HolderStateOf(holder string, renewed, duration, read, late int64) HolderState {
	over := read - renewed - duration
	switch {
	case renewed == 0 || read == 0:
		return HolderUnclear
	case over > clockSlack+late:
		return HolderGone
	case over < clockSlack && holder != "":
		return HolderAlive
	}
	return HolderUnclear
}
