package finalizer

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// OutsideRules returns all rules.
func OutsideRules() []OutsideRule { return slices.Clone(outsideRules) }

// OutsideOutcome is the outcome of an outside resource, and the field that decides.
type OutsideOutcome struct {
	// Outcome is report.Deleted, report.Kept or report.Unknown.
	Outcome report.Outcome
	// Field and Value are the deciding field. Value is the default if Default is true. Both are empty
	// if no field decides.
	Field, Value string
	Default      bool
	// Why is why the outcome is unknown; empty otherwise.
	Why string
}

// decide returns the outcome by the fields of an object. namespace is its namespace; nil if it has none
// or if that is unknown.
func (r *OutsideRule) decide(o, namespace *object.Object, facts *object.OutsideFacts) OutsideOutcome {
	switch {
	case r.Kept:
		return OutsideOutcome{Outcome: report.Kept}
	case len(r.Fields) == 0:
		return OutsideOutcome{Outcome: report.Unknown, Why: r.Depends}
	case facts == nil:
		why := r.Fields[len(r.Fields)-1].Name + " was not read"
		if r.Depends != "" && !object.HasOutsideFacts(o.Group(), o.Kind) {
			why = r.Depends
		}
		return OutsideOutcome{Outcome: report.Unknown, Why: why}
	}
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Default != "" || !f.passes(o, namespace, facts) {
			return f.decide(o, namespace, facts, r.Depends)
		}
	}
	last := &r.Fields[len(r.Fields)-1]
	return last.decide(o, namespace, facts, r.Depends)
}

// value returns the value of the field on the object, or on its namespace.
func (f *OutsideField) value(o, namespace *object.Object, facts *object.OutsideFacts) (value string, set bool) {
	if value, set = facts.Value(f.Name); set || !f.OnNamespace || namespace == nil || namespace.NamespaceFacts() == nil {
		return value, set
	}
	key := f.Name
	if key == object.ACKDeletionPolicy { // s3.services.k8s.aws/deletion-policy
		_, name, _ := strings.Cut(key, "/")
		key = o.Group() + "/" + name
	}
	return namespace.NamespaceFacts().OutsideValue(key)
}

// passes reports whether the next field decides.
func (f *OutsideField) passes(o, namespace *object.Object, facts *object.OutsideFacts) bool {
	value, set := f.value(o, namespace, facts)
	return !set || value == f.Any && f.Any != ""
}

// decide returns the outcome by the value of the field.
func (f *OutsideField) decide(o, namespace *object.Object, facts *object.OutsideFacts, depends string) OutsideOutcome {
	value, set := f.value(o, namespace, facts)
	result := OutsideOutcome{Outcome: report.Unknown, Field: f.Name, Value: value}
	if !set {
		result.Value, result.Default = f.Default, f.Default != ""
	}
	in := func(values []string) bool {
		return slices.ContainsFunc(strings.Split(result.Value, ","), func(v string) bool { return slices.Contains(values, v) })
	}
	switch {
	case !set && f.OnNamespace && (namespace == nil || namespace.NamespaceFacts() == nil):
		result = OutsideOutcome{Outcome: report.Unknown, Why: f.Name + " of its namespace was not read"}
	case !set && f.Default == "":
		result.Field, result.Why = "", f.Name+" is not set"
		if depends != "" {
			result.Why = depends
		}
	case in(f.Deleted):
		result.Outcome = report.Deleted
	case f.List || in(f.Kept):
		result.Outcome = report.Kept
	default:
		result.Why = "the value is not known"
	}
	return result
}

// Outside is the outside resource of an object: what it represents outside of the cluster.
type Outside struct {
	// Finalizer is the one behind which the controller deletes it; empty if the object has none.
	Finalizer string
	// What names the outside resource: a noun.
	What string
	// Data is true if it holds data.
	Data bool
	rule *OutsideRule
}

// OutsideOf returns the outside resource of an object; false if none is known. That of volumes is
// their storage, which a plan lists separately.
func OutsideOf(o *object.Object) (Outside, bool) {
	if slices.Contains(withoutOutside, o.Kind) {
		return Outside{}, false
	}
	for i := range outsideRules {
		if r := &outsideRules[i]; r.Finalizer == "" && o.GroupKind() == r.Kind {
			return Outside{What: r.What, Data: r.Data, rule: r}, true
		}
	}
	var found Outside
	for _, name := range o.Finalizers() {
		k, known := Of(name)
		if !known || k.Class != Cloud {
			continue
		}
		rule := outsideRuleOf(k)
		if found.Finalizer != "" && rule == nil {
			continue
		}
		what, _, _ := strings.Cut(k.Without, ", ")
		found = Outside{
			Finalizer: name, What: what, rule: rule,
			Data: slices.Contains(ofStorage, k) || slices.Contains(ofDatabases, k) || holdsData(o.Group(), o.Kind),
		}
		if rule != nil {
			if rule.What != "" {
				found.What = rule.What
			}
			found.Data = found.Data || rule.Data
			break
		}
	}
	return found, found.Finalizer != ""
}

// OutsidesOf returns what OutsideOf returns, and the DNS records of an object with the annotation of ExternalDNS.
func OutsidesOf(o *object.Object) (list []Outside) {
	if of, ok := OutsideOf(o); ok {
		list = append(list, of)
	}
	if o.Protection().Has(object.NamedInDNS) {
		i := slices.IndexFunc(outsideRules, func(r OutsideRule) bool { return r.Kind.Kind == "DNSEndpoint" })
		list = append(list, Outside{What: outsideRules[i].What, rule: &outsideRules[i]})
	}
	return list
}

// withoutOutside are kinds with finalizers of the class Cloud that represent nothing outside of the
// cluster by themselves, and volumes.
var withoutOutside = []string{
	"PersistentVolume", "VolumeAttachment", "Secret", "ConfigMap", "BucketAccess", "IngressClass", "MachineClass",
	"SecretBinding", "CredentialsBinding", "CloudProfile", "NamespacedCloudProfile", "ExposureClass", "ControllerRegistration", "ControllerDeployment", // of Gardener
}

func outsideRuleOf(k Known) *OutsideRule {
	for i := range outsideRules {
		if outsideRules[i].Finalizer == k.Name {
			return &outsideRules[i]
		}
	}
	return nil
}

// NeedsSpec reports whether fields of the object decide about the outside resource, so that its
// metadata is not enough.
func (x *Outside) NeedsSpec() bool { return x.rule != nil && len(x.rule.Fields) > 0 }

// ByFlag reports whether a flag of the controller decides about the outside resource.
func (x *Outside) ByFlag() bool {
	return x.rule != nil && len(x.rule.Fields) > 0 && x.rule.Fields[0].Name == DNSPolicy
}

// OutcomeOf returns the outcome of the outside resource of an object if its controller deletes it.
// namespace is the namespace of the object; nil if it has none, or if it was not read. facts may be
// nil, too.
func (x *Outside) OutcomeOf(o, namespace *object.Object, facts *object.OutsideFacts) OutsideOutcome {
	if x.rule == nil {
		return OutsideOutcome{Outcome: report.Deleted}
	}
	return x.rule.decide(o, namespace, facts)
}

// Source names the project and the function that decides.
func (x *Outside) Source() string {
	if x.rule == nil {
		return ""
	}
	return x.rule.Source
}

// LeftBehind says what becomes of an outside resource if something else than its controller removes
// the finalizer.
const LeftBehind = "left behind, and may cost money"

// Loss returns what is lost or left behind if something else than its controller removes the
// finalizer. It ends a sentence.
func (k Known) Loss() string {
	if k.Class != Cloud {
		return k.Without
	}
	return LeftBehind + ": " + k.Without
}

// LossOf returns the Loss of an object, by what is known about it.
func (k Known) LossOf(o *object.Object) string {
	k = k.on(o.Kind)
	switch v := o.Volume(); {
	case k.Name != volumeProtection || v == nil || v.Phase == "" || v.Bound():
		return k.Loss()
	case v.ReclaimPolicy == "Retain":
		return "" // no PVC is lost, and the storage stays anyway
	default:
		return "the storage behind the volume may not be deleted"
	}
}

// LeftBehindIf says when the outside resource behind a finalizer is left behind.
func LeftBehindIf(finalizer string) string {
	return LeftBehind + ", if finalizer " + finalizer + " is removed by hand"
}

// holdsData reports whether the outside resource of a kind holds data: a database, a bucket, a disk
// or a key without which data cannot be read.
func holdsData(group, kind string) bool {
	if slices.ContainsFunc(dataSuffixes, func(suffix string) bool { return strings.HasSuffix(kind, suffix) }) {
		return true
	}
	service, _, _ := strings.Cut(group, ".")
	return slices.Contains(dataServices, service) && slices.ContainsFunc(dataServiceSuffixes, func(suffix string) bool { return strings.HasSuffix(kind, suffix) })
}

// dataSuffixes end the kinds that hold data in any API group, dataServiceSuffixes those in the groups
// of dataServices: a Cluster of RDS holds data, and a Cluster of ECS does not.
var (
	dataSuffixes = []string{
		"Bucket", "Database", "DBInstance", "DBCluster", "RDSInstance", "SQLInstance", "DatabaseInstance", "SpannerInstance",
		"BigtableInstance", "RedisInstance", "FilestoreInstance", "Disk", "Volume", "FileSystem", "Filesystem", "Dataset", "FlexibleServer",
		"Snapshot", "Backup", "StorageAccount", "ServicesContainer", "ReplicationGroup", "CacheCluster", "DatabaseAccount", "CryptoKey",
	}
	dataServices = []string{
		"rds", "dynamodb", "docdb", "neptune", "memorydb", "redshift", "dax", "kms", "efs", "fsx", "opensearchservice", "elasticsearch",
		"sql", "spanner", "bigtable", "bigquery", "alloydb", "redis", "filestore", "dbforpostgresql", "dbformysql", "dbformariadb", "documentdb",
	}
	dataServiceSuffixes = []string{"Instance", "Cluster", "Table", "Server", "Key", "Domain"}
)
