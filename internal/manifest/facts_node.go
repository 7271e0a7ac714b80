package manifest

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// Nothing is kept of a Node. Its last heartbeat is a moment, and its kubelet's version bounds the
// version of the API server.
var nodeFacts = &factKind{kind: object.Node, fields: []factField{conditions, {
	path: "status.nodeInfo", keep: keepFields(nil, "kubeletVersion", "KubeletVersion"),
	read: func(l *lexer, it *item, _ string, flat bool) error { return l.nodeInfo(it, flat) },
}}}

// nodeInfo reads the version of a kubelet and ignores a value that is no string.
func (l *lexer) nodeInfo(it *item, flat bool) error {
	if l.token() != '{' {
		return l.skip()
	}
	in, err := l.object("status.nodeInfo")
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		if flat {
			lowerFirst(l.key)
		}
		if string(l.key) != "kubeletVersion" || l.token() != '"' || it.facts.kubelet != "" {
			err = l.skip()
			continue
		}
		err = l.repeated(&it.facts.kubelet, "status.nodeInfo.kubeletVersion")
	}
	return err
}
