package etcd

import "github.com/kubectl-gc/kubectl-gc/internal/message"

// RenewTime returns the last renewal of a Lease in seconds since 1970; 0 for none, and for a Lease
// that is not protobuf. An etcd file has no clock, but regularly renewed objects tell the time.
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

// latest is the last second of the year 9999. Later times can't be formatted.
const latest = 253402300799
