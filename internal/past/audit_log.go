package past

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/codec"
)

// AuditLog is the content of audit logs. It may be incomplete: a log may omit requests, and each
// API server has its own. The absence of a request proves nothing.
type AuditLog struct {
	// Requests are ordered by the time when they were received.
	Requests []AuditedRequest
	// First and Last are the times when the first and the last request of any kind was received, in
	// microseconds since 1970; 0 for empty logs.
	First, Last int64
	// Truncated are logs with an incomplete last event, for example because it is still being
	// written.
	Truncated []string

	seen map[requestKey]bool
}

// requestKey identifies a request across several logs.
type requestKey struct {
	id, uri  string
	received int64
}

// AuditedRequest is a delete or an eviction that an API server has carried out.
type AuditedRequest struct {
	ID   string
	Verb Verb
	Sender
	// Resource, Namespace and Name are its target. A Collection has no name.
	Resource        schema.GroupResource
	Namespace, Name string
	// Labels and Fields are the selectors of a Collection.
	Labels labels.Selector
	Fields fields.Selector
	// UIDs are the uids of its objects; nil if the log has none.
	UIDs []types.UID
	// Removed is true if the response says that the object is gone, instead of returning the
	// object.
	Removed bool
	// Options are its options; nil if the log does not have them.
	Options *DeleteOptions
	// Received and Answered are in microseconds since 1970 by the clock of the server.
	Received, Answered int64
}

// Verb is the kind of a request.
type Verb string

// The verbs.
const (
	Delete           Verb = "delete"
	DeleteCollection Verb = "deletecollection"
	// Eviction creates an Eviction of a pod.
	Eviction Verb = "evict"
)

// DeleteOptions are the options of a delete.
type DeleteOptions struct {
	// Policy is the propagation policy; empty if the request named none.
	Policy metav1.DeletionPropagation
	// Grace is the grace period in seconds; nil if the request named none.
	Grace *int64
}

// Equal reports whether two requests had the same options.
func (o *DeleteOptions) Equal(p *DeleteOptions) bool {
	if o == nil || p == nil {
		return o == p
	}
	return o.Policy == p.Policy && (o.Grace == p.Grace || o.Grace != nil && p.Grace != nil && *o.Grace == *p.Grace)
}

// Sender is the client that sent a request.
type Sender struct {
	User string
	// Impersonated is the impersonated user; empty without impersonation.
	Impersonated string
	// Agent is the User-Agent of the client.
	Agent string
	// Addresses are the client's address and those of its proxies. The client can forge all but the
	// last one.
	Addresses []string
}

// Equal reports whether two requests were sent by the same client.
func (s *Sender) Equal(o *Sender) bool {
	return s.User == o.User && s.Impersonated == o.Impersonated && s.Agent == o.Agent && slices.Equal(s.Addresses, o.Addresses)
}

const (
	accountPrefix         = "system:serviceaccount:kube-system:"
	controllerManagerUser = "system:kube-controller-manager"
)

// Controller returns the Kubernetes component that is the sender, by the name of its service
// account. It returns false for all other senders, such as people and operators.
func (s *Sender) Controller() (string, bool) {
	if s.Impersonated != "" {
		return "", false
	}
	if name, ok := strings.CutPrefix(s.User, accountPrefix); ok {
		return name, kubernetesControllers[name]
	}
	if s.User == controllerManagerUser { // the controllers have no accounts, but distinct user agents
		name := s.Agent[strings.LastIndex(s.Agent, "/")+1:]
		return strings.TrimPrefix(name, accountPrefix), true
	}
	for _, prefix := range []string{"system:kube-scheduler", "system:apiserver", "system:cloud-controller-manager", "system:node:"} {
		if strings.HasPrefix(s.User, prefix) {
			return strings.TrimPrefix(prefix, "system:"), true
		}
	}
	return "", false
}

const (
	// maxTokenBytes bounds a single string or number of a log, in bytes. An object has at most a
	// few MiB.
	maxTokenBytes = 16 << 20
	// maxRequests bounds the number of recorded requests.
	maxRequests = 500_000
)

// LogWindow is the requested range of time, in microseconds since 1970. A zero is an open end.
type LogWindow struct{ From, To int64 }

func (w LogWindow) overlaps(received, answered int64) bool {
	return (w.From == 0 || answered >= w.From) && (w.To == 0 || received <= w.To)
}

// Read adds the deletes and evictions of a log that were carried out within the window. The log is
// a sequence of JSON Events of audit.k8s.io, or of EventLists, as they are sent to a webhook. It
// may be gzipped. name is for errors, which also have the line.
func (l *AuditLog) Read(name string, in io.Reader, w LogWindow) error {
	text := bufio.NewReaderSize(in, 1<<16)
	if magic, _ := text.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := codec.NewReader(codec.Gzip, text, 0)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		text = bufio.NewReaderSize(z, 1<<16)
	}
	if l.seen == nil {
		l.seen = map[requestKey]bool{}
	}
	r := &auditReader{input: &input{in: text}, log: l, window: w}
	r.dec = jsontext.NewDecoder(r.input, jsontext.AllowDuplicateNames(true))
	r.input.parsed = r.dec.InputOffset
	switch err := r.readDocuments(); {
	case errors.Is(err, io.ErrUnexpectedEOF) && r.input.err == nil && r.events > 0 && r.dec.StackDepth() > 0: // within its last event
		l.Truncated = append(l.Truncated, name)
	case err != nil:
		return fmt.Errorf("%s, line %d: %w", name, r.lineOf(err), withoutOffset(err))
	}
	slices.SortStableFunc(l.Requests, func(a, b AuditedRequest) int {
		return cmp.Or(cmp.Compare(a.Received, b.Received), cmp.Compare(a.Answered, b.Answered), strings.Compare(a.ID, b.ID))
	})
	return nil
}

// auditReader reads one log.
type auditReader struct {
	input  *input
	dec    *jsontext.Decoder
	log    *AuditLog
	window LogWindow
	// events is the number of events that were read.
	events int
}

func (r *auditReader) readDocuments() error {
	for {
		switch kind := r.dec.PeekKind(); kind {
		case jsontext.KindBeginObject:
		case jsontext.KindInvalid:
			_, err := r.dec.ReadToken()
			if errors.Is(err, io.EOF) && r.input.err == nil {
				return nil
			}
			return err
		default:
			return fmt.Errorf("this is %s, not an audit event", kindText(kind))
		}
		if err := r.readDocument(); err != nil {
			return err
		}
	}
}

// lineOf returns the number of the line that an error is about.
func (r *auditReader) lineOf(err error) int {
	ahead := r.dec.UnreadBuffer()
	if syntax := (*jsontext.SyntacticError)(nil); errors.As(err, &syntax) {
		ahead = ahead[min(len(ahead), int(max(0, syntax.ByteOffset-r.dec.InputOffset()))):]
	}
	return 1 + r.input.newlines - bytes.Count(ahead, []byte("\n"))
}

// withoutOffset returns an error without its byte offset, which the line number replaces.
func withoutOffset(err error) error {
	if syntax := (*jsontext.SyntacticError)(nil); errors.As(err, &syntax) {
		return fmt.Errorf("this is not JSON: %w", syntax.Err)
	}
	return err
}

// addRequest records a request, unless another log had it.
func (r *auditReader) addRequest(q AuditedRequest, uri string) error {
	k := requestKey{q.ID, uri, q.Received}
	if r.log.seen[k] {
		return nil
	}
	if len(r.log.Requests) >= maxRequests {
		return fmt.Errorf("more than %d deletes in the requested time: shorten it with --since", maxRequests)
	}
	r.log.seen[k] = true
	r.log.Requests = append(r.log.Requests, q)
	return nil
}

// input counts the lines that are read, and limits the bytes that are buffered.
type input struct {
	in io.Reader
	// parsed returns the number of parsed bytes. read is the number of bytes read, and newlines the
	// number of line ends.
	parsed   func() int64
	read     int64
	newlines int
	err      error
}

func (i *input) Read(p []byte) (int, error) {
	if i.read-i.parsed() > maxTokenBytes {
		i.err = fmt.Errorf("a string of more than %d MiB", maxTokenBytes>>20)
		return 0, i.err
	}
	n, err := i.in.Read(p)
	i.read += int64(n)
	i.newlines += bytes.Count(p[:n], []byte("\n"))
	if err != nil && !errors.Is(err, io.EOF) {
		i.err = err
	}
	return n, err
}

// kubernetesControllers are the service accounts of Kubernetes' controllers in kube-system.
var kubernetesControllers = map[string]bool{
	"attachdetach-controller": true, "bootstrap-signer": true, "certificate-controller": true, "cloud-controller-manager": true,
	"clusterrole-aggregation-controller": true, "cronjob-controller": true, "daemon-set-controller": true,
	"deployment-controller": true, "device-taint-eviction-controller": true, "disruption-controller": true,
	"endpoint-controller": true, "endpointslice-controller": true, "endpointslicemirroring-controller": true,
	"ephemeral-volume-controller": true, "expand-controller": true, GarbageCollector: true, "horizontal-pod-autoscaler": true,
	"job-controller": true, "kube-apiserver-serving-clustertrustbundle-publisher": true,
	"legacy-service-account-token-cleaner": true, NamespaceController: true, "node-controller": true,
	"persistent-volume-binder": true, "pod-garbage-collector": true, "podcertificaterequestcleaner": true,
	"podgroup-protection-controller": true, "pv-protection-controller": true, "pvc-protection-controller": true,
	"replicaset-controller": true, "replication-controller": true, "resource-claim-controller": true,
	"resourcepoolstatusrequest-controller": true, "resourcequota-controller": true, "root-ca-cert-publisher": true,
	"route-controller": true, "selinux-warning-controller": true, "service-account-controller": true,
	"service-cidrs-controller": true, "service-controller": true, "statefulset-controller": true,
	"storage-version-garbage-collector": true, "storage-version-migrator-controller": true, "taint-eviction-controller": true,
	"token-cleaner": true, "tokens-controller": true, "ttl-after-finished-controller": true, "ttl-controller": true,
	"validatingadmissionpolicy-status-controller": true, "volumeattributesclass-protection-controller": true,
}

// The controllers that send most deletes.
const (
	GarbageCollector    = "generic-garbage-collector"
	NamespaceController = "namespace-controller"
)
