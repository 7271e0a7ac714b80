package etcd

import "github.com/kubectl-gc/kubectl-gc/internal/message"

// KubeletVersion returns the kubelet's version in a Node; "" for none, and for a Node that is not
// protobuf. An etcd file lacks the version of its API server, but no kubelet is newer.
func KubeletVersion(value []byte) (string, error) {
	e, err := message.Open(value)
	if err != nil {
		return "", nil //nolint:nilerr // it says nothing
	}
	// The numbers are those of core/v1 generated.proto: status, nodeInfo, kubeletVersion.
	text := e.Raw
	for _, tag := range []uint64{message.BytesTag(3), message.BytesTag(7), message.BytesTag(7)} {
		var found []byte
		err := message.Each(text, func(at uint64, part []byte, _ uint64) error {
			if at == tag {
				found = part
			}
			return nil
		})
		if err != nil {
			return "", err
		}
		text = found
	}
	return string(text), nil
}
