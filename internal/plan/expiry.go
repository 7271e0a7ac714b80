package plan

import (
	"cmp"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// expiryRule says which objects a controller or server deletes in time, although no object that they
// depend on goes. It must not read the clock: an expiry in the past is as certain as one in the future.
type expiryRule struct {
	reason reason.Code
	by     string
	// ofManager is true if the controller is a part of kube-controller-manager.
	ofManager bool
	// when returns when the object is deleted. ok is false if the rule does not hold for the object.
	when func(snap *snapshot.Snapshot, o *object.Object) (e expiry, ok bool)
}

// expiry is the answer of a rule about one object.
type expiry struct {
	certainty report.Certainty
	// at is the earliest time of the delete, in seconds since 1970; 0 if unknown.
	at int64
	// text follows "CONTROLLER deletes it".
	text string
}

// The kinds of certificate requests.
var (
	signingRequest        = schema.GroupKind{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}
	podCertificateRequest = schema.GroupKind{Group: "certificates.k8s.io", Kind: "PodCertificateRequest"}
)

// expiryRules are the known deletes by time, limitRules those by number. The first rule that holds decides.
var expiryRules = []expiryRule{
	// Upstream: pkg/controller/ttlafterfinished/ttlafterfinished_controller.go Controller.processJob,
	// Controller.processTTL, needsCleanup, jobFinishTime.
	{reason.TTLAfterFinished, "the TTL-after-finished controller", true, jobExpiry},
	// Upstream: pkg/controller/certificates/cleaner/cleaner.go CSRCleanerController.handle, approvedExpiration,
	// deniedExpiration, pendingExpiration.
	{reason.RequestExpires, "the cleaner of kube-controller-manager", true, ofKind(signingRequest, expiry{
		certainty: report.Sure, text: "an hour after it is issued, denied or failed, and a day after its creation or approval otherwise",
	})},
	// Upstream: pkg/controller/certificates/cleaner/pcrcleaner.go PCRCleanerController.handle.
	{reason.RequestExpires, "the cleaner of kube-controller-manager", true, ofKind(podCertificateRequest, expiry{
		certainty: report.Sure, text: "15 minutes after its creation",
	})},
	// Upstream: pkg/registry/core/event/storage/storage.go NewREST.
	{reason.EventExpires, "the API server", false, eventExpiry},
	// Upstream: pkg/controller/bootstrap/tokencleaner.go TokenCleaner.evalSecret.
	{reason.BootstrapTokenExpires, "the token cleaner", true, bootstrapTokenExpiry},
	// Upstream: pkg/controller/serviceaccount/legacy_serviceaccount_token_cleaner.go LegacySATokenCleaner.evaluateSATokens.
	{reason.UnusedTokenCleaned, "the cleaner of kube-controller-manager", true, labelled(object.Secret, "kubernetes.io/legacy-token-invalid-since", "", expiry{
		certainty: report.Possible, text: "a year after it was last used, unless it is used again",
	})},
	// Source: kyverno, pkg/controllers/ttl/controller.go controller.reconcile; pkg/controllers/ttl/utils.go parseDeletionTime.
	{reason.KyvernoTTL, "Kyverno's cleanup controller", false, kyvernoExpiry},
	// Upstream: pkg/controlplane/controller/apiserverleasegc/gc_controller.go isLeaseExpired.
	{reason.LeaseExpires, "the API server", false, labelled(object.Lease, "apiserver.kubernetes.io/identity", "kube-system", expiry{
		certainty: report.Possible, text: "once its API server no longer renews it",
	})},
}

var limitRules = []expiryRule{
	// Upstream: pkg/controller/podgc/gc_controller.go PodGCController.gcTerminated.
	{reason.FinishedPodLimit, "pod GC", true, finishedPodExpiry},
	// Upstream: pkg/controller/cronjob/cronjob_controllerv2.go ControllerV2.cleanupFinishedJobs.
	// Upstream: pkg/controller/deployment/sync.go DeploymentController.cleanupDeployment.
	{reason.HistoryLimit, "the controller of its owner", true, historyExpiry},
}

// ExpiryOf returns the delete by time or number that an object expects; nil if none is known. One that is being
// deleted expects none.
func ExpiryOf(snap *snapshot.Snapshot, assessment *health.Assessment, o *object.Object) *report.Expiry {
	return expiryOf(snap, assessment, o, func(by string) string { return by + " deletes it " })
}

// ExpiryWith returns the expiry of an object that goes with its owner o; nil if none is known of that.
func ExpiryWith(snap *snapshot.Snapshot, assessment *health.Assessment, o *object.Object) *report.Expiry {
	e := expiryOf(snap, assessment, o, func(by string) string { return "it goes with " + o.ShortName() + ", which " + by + " deletes " })
	if e != nil {
		e.With = &o.Ref
	}
	return e
}

func expiryOf(snap *snapshot.Snapshot, assessment *health.Assessment, o *object.Object, lead func(by string) string) *report.Expiry {
	return cmp.Or(expiryBy(expiryRules, snap, assessment, o, lead), expiryBy(limitRules, snap, assessment, o, lead))
}

// expiryBy returns the expiry by the first rule that holds. lead is the start of its message.
func expiryBy(rules []expiryRule, snap *snapshot.Snapshot, assessment *health.Assessment, o *object.Object, lead func(by string) string) *report.Expiry {
	if o.BeingDeleted() {
		return nil
	}
	for i := range rules {
		r := &rules[i]
		x, ok := r.when(snap, o)
		if !ok {
			continue
		}
		e := &report.Expiry{Reason: string(r.reason), By: r.by, Certainty: x.certainty, Message: lead(r.by) + x.text}
		if x.at != 0 {
			e.NotBefore = metav1.Unix(x.at, 0).UTC().Format("2006-01-02T15:04:05Z")
			e.Message += ", not before " + e.NotBefore
		}
		if r.ofManager && assessment != nil && assessment.ManagerLeaseExpired() {
			e.Certainty = report.Possible
			e.Message += ", once kube-controller-manager renews its lease again"
		}
		return e
	}
	return nil
}

// addExpiry adds to an effect on an object that stays when it is deleted after all.
func (s *simulation) addExpiry(e *report.Effect, o *object.Object) {
	switch e.Outcome {
	case report.Orphaned, report.Pruned, report.Kept:
	default:
		return
	}
	e.Expiry = expiryBy(expiryRules, s.snap, s.options.Health, o, func(by string) string { return by + " deletes it " })
	if e.Expiry != nil {
		e.Message += "; " + e.Expiry.Message
	}
}

func jobExpiry(_ *snapshot.Snapshot, o *object.Object) (e expiry, ok bool) {
	job := o.Job()
	switch {
	case !o.Is(object.Job):
		return e, false
	case job == nil:
		return expiry{certainty: report.Undecided, text: "if it has a ttlSecondsAfterFinished, which was not read"}, true
	case job.TTL == nil:
		return e, false
	}
	seconds := strconv.FormatInt(*job.TTL, 10) + " s after it "
	if !job.Finished {
		return expiry{certainty: report.Possible, text: seconds + "finishes"}, true
	}
	e = expiry{certainty: report.Sure, text: seconds + "finished"}
	if job.FinishedAt != 0 {
		e.at = job.FinishedAt + *job.TTL
	}
	return e, true
}

func eventExpiry(_ *snapshot.Snapshot, o *object.Object) (expiry, bool) {
	return expiry{certainty: report.Sure, text: "an hour after it was last written, unless its --event-ttl differs"}, o.IsEvent()
}

// bootstrapTokenExpiry knows bootstrap tokens by their names. Their type and expiration are not read.
func bootstrapTokenExpiry(_ *snapshot.Snapshot, o *object.Object) (expiry, bool) {
	is := o.Is(object.Secret) && o.Namespace == "kube-system" && strings.HasPrefix(o.Name, "bootstrap-token-")
	return expiry{certainty: report.Undecided, text: "when it expires, if it has an expiration and that controller is enabled, which was not read"}, is
}

// The label of Kyverno, and the layout of a time in it.
const (
	kyvernoTTL        = "cleanup.kyverno.io/ttl"
	kyvernoTimeLayout = "2006-01-02T150405Z"
	kyvernoDateLayout = "2006-01-02"
)

// kyvernoExpiry returns the expiry by Kyverno's label. Whether that controller runs and may delete the kind is
// not read.
func kyvernoExpiry(_ *snapshot.Snapshot, o *object.Object) (expiry, bool) {
	value, labelled := o.Labels.Lookup(kyvernoTTL)
	if !labelled {
		return expiry{}, false
	}
	return expiry{
		certainty: report.Undecided, at: kyvernoTime(value, o.Created),
		text: "by its label " + kyvernoTTL + "=" + value + ", if it runs and may do so, which was not read",
	}, true
}

// kyvernoTime returns the time in a value of the label, in seconds since 1970; 0 if it is not known. A duration
// counts from the creation.
func kyvernoTime(value string, created int64) int64 {
	switch {
	case len(value) == len(kyvernoTimeLayout) && value[10] == 'T':
		value = value[:13] + ":" + value[13:15] + ":" + value[15:]
	case len(value) == len(kyvernoDateLayout) && value[4] == '-':
		value += "T00:00:00Z"
	default:
		seconds, ok := kyvernoDuration(value)
		if !ok || created == 0 {
			return 0
		}
		return created + seconds
	}
	var at metav1.Time
	if at.UnmarshalQueryParameter(value) != nil {
		return 0
	}
	return at.Unix()
}

// kyvernoDuration returns the seconds of a duration such as 90s, 1h30m, 1d or 2w.
func kyvernoDuration(value string) (seconds int64, ok bool) {
	const day = 24 * 60 * 60
	number, of := value, int64(0)
	switch {
	case strings.HasSuffix(value, "d"):
		number, of = value[:len(value)-1], day
	case strings.HasSuffix(value, "w"):
		number, of = value[:len(value)-1], 7*day
	}
	if of != 0 {
		n, err := strconv.ParseInt(number, 10, 32)
		return n * of, err == nil
	}
	var d metav1.Duration
	if d.UnmarshalJSON([]byte(strconv.Quote(value))) != nil {
		return 0, false
	}
	return int64(d.Seconds()), true
}

func finishedPodExpiry(_ *snapshot.Snapshot, o *object.Object) (expiry, bool) {
	pod := o.Pod()
	return expiry{certainty: report.Possible, text: "when there are more finished pods than its --terminated-pod-gc-threshold, the oldest first"}, pod != nil && pod.Finished()
}

// historyExpiry holds for finished Jobs of a CronJob and old ReplicaSets of a Deployment.
func historyExpiry(snap *snapshot.Snapshot, o *object.Object) (expiry, bool) {
	owner, controlled := o.Controller()
	if !controlled {
		return expiry{}, false
	}
	of := snap.ObjectAt(owner.In(o.Namespace).Coordinates())
	switch {
	case of == nil || of.UID != owner.UID || of.BeingDeleted():
	case o.Is(object.Job) && of.Is(object.CronJob) && o.Job() != nil && o.Job().Finished:
		return expiry{certainty: report.Possible, text: "when newer ones exceed its history limit"}, true
	case o.Is(object.ReplicaSet) && of.Is(object.Deployment) && o.Revision() != 0 && o.Revision() < of.Revision():
		return expiry{certainty: report.Possible, text: "when newer ones exceed its revisionHistoryLimit"}, true
	}
	return expiry{}, false
}

// ofKind returns a rule for every object of a kind.
func ofKind(kind schema.GroupKind, e expiry) func(*snapshot.Snapshot, *object.Object) (expiry, bool) {
	return func(_ *snapshot.Snapshot, o *object.Object) (expiry, bool) { return e, o.GroupKind() == kind }
}

// labelled returns a rule for the objects of a kind with a label, in a namespace unless that is empty.
func labelled(kind object.Kind, label, namespace string, e expiry) func(*snapshot.Snapshot, *object.Object) (expiry, bool) {
	return func(_ *snapshot.Snapshot, o *object.Object) (expiry, bool) {
		return e, o.Is(kind) && (namespace == "" || o.Namespace == namespace) && o.Labels.Has(label)
	}
}
