package etcd

import "github.com/kubectl-gc/kubectl-gc/internal/message"

// RenewTime is when a Lease was renewed last, in seconds since 1970; 0 for never, and for one
// that is not protobuf. No clock is in a file of etcd, but what is renewed all the time tells it.
func RenewTime(value []byte) (int64, error) {
	var seconds uint64
	e, err := message.Open(value)
	if err != nil {
		return 0, nil //nolint:nilerr // it says nothing
	}
	// The numbers are those of coordination/v1 generated.proto: spec and its renewTime.
	err = message.Each(e.Raw, func(tag uint64, spec []byte, _ uint64) error {
		if tag != message.BytesTag(2) {
			return nil
		}
		return message.Each(spec, func(tag uint64, at []byte, _ uint64) error {
			if tag != message.BytesTag(4) {
				return nil
			}
			return message.Each(at, func(tag uint64, _ []byte, number uint64) error {
				if tag == message.VarintTag(1) {
					seconds = number
				}
				return nil
			})
		})
	})
	if err != nil || seconds > latest {
		return 0, err
	}
	return int64(seconds), nil
}

// latest is the last second of the year 9999, behind which a time has no form.
const latest = 253402300799
