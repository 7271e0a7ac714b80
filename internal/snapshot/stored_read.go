package snapshot

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// errFormat is in the chain of every error about a file in our own format. Its header claims
// coverage for the objects that follow, so a broken file is never read partially.
var errFormat = errors.New("not a whole snapshot")

// readStored reads a snapshot in our own format and checks that it is complete. It calls evidence,
// unless nil, for each line of evidence.
func readStored(lines *lineReader, intern *manifest.Interner, evidence func(line []byte) error) (*Snapshot, error) {
	header, err := readHeader(lines)
	if err != nil {
		return nil, err
	}
	s := header.snapshot()
	if header.lacksEvidence() {
		s.lacksEvidence()
	}
	if s.Objects, err = readStoredObjects(lines, header, intern); err != nil {
		return nil, err
	}
	if err := readEvidence(lines, header, evidence); err != nil {
		return nil, err
	}
	if err := checkTrailer(lines, len(s.Objects)); err != nil {
		return nil, err
	}
	if !slices.IsSortedFunc(s.Objects, compareObjects) {
		return nil, fmt.Errorf("%w: its objects are not sorted", errFormat)
	}
	if header.lacksEvidence() {
		s.listGaps()
	}
	s.number()
	return s, nil
}

// lacksEvidence reports whether a file has no state of its objects.
func (h *storedHeader) lacksEvidence() bool { return h.Format < firstWithEvidence || h.EvidenceUnread }

// lacksEvidence removes the coverage of the kinds with a state that decides about deletions of
// other objects: a file without that state only tells that they exist. A list of them in another
// input covers them again.
func (s *Snapshot) lacksEvidence() {
	s.conditionless = true
	for _, k := range []object.Kind{object.Node, object.APIService, object.ValidatingWebhookConfiguration, object.MutatingWebhookConfiguration,
		object.ValidatingAdmissionPolicy, object.ValidatingAdmissionPolicyBinding} {
		delete(s.coverage.places, object.Storage(k.GroupResource()))
	}
}

func readHeader(lines *lineReader) (*storedHeader, error) {
	line, err := lines.next()
	if err != nil {
		return nil, err
	}
	var version struct {
		Format int `json:"kubectlGCSnapshot"`
	}
	if err := json.Unmarshal(line, &version); err != nil {
		return nil, fmt.Errorf("%w: header: %w", errFormat, err)
	}
	if version.Format < 1 || version.Format > formatVersion {
		return nil, fmt.Errorf("%w that this version can read: it has format %d, and this is format %d", errFormat, version.Format, formatVersion)
	}
	header := &storedHeader{}
	if err := json.Unmarshal(line, header); err != nil {
		return nil, fmt.Errorf("%w: header: %w", errFormat, err)
	}
	if header.Objects < 0 || header.Evidence < 0 {
		return nil, fmt.Errorf("%w: header: %d objects, %d lines of evidence", errFormat, header.Objects, header.Evidence)
	}
	lines.take()
	return header, nil
}

func (h *storedHeader) snapshot() *Snapshot {
	s := &Snapshot{
		Resources: &object.Resources{}, Source: h.Source.source(), coverage: coverageOf(h.Coverage), Gaps: append([]Gap(nil), h.Gaps...), Problems: append([]Problem(nil), h.Problems...),
		missingIsAbsent: h.MissingIsAbsent, latest: h.Source.Moment,
	}
	for _, r := range h.Resources {
		s.Resources.Add(r)
	}
	return s
}

func readStoredObjects(lines *lineReader, header *storedHeader, intern *manifest.Interner) ([]*object.Object, error) {
	types := make([]typeName, len(header.Types))
	for i, t := range header.Types {
		types[i] = typeName{intern.String(t[0]), intern.String(t[1])}
	}
	plain := newPlainObjects(types, intern)
	// The count is a claim of the file; memory is allocated for actual objects.
	objects := make([]*object.Object, 0, min(header.Objects, 1<<12))
	for n := range header.Objects {
		lines.objects = n
		line, err := lines.next()
		if err != nil {
			return nil, err
		}
		o := plain.object(line)
		if o == nil {
			if o, err = wholeObject(line, types, intern); err != nil {
				return nil, fmt.Errorf("%w: line %d: %w", errFormat, n+2, err)
			}
		}
		lines.take()
		if len(objects) == cap(objects) {
			objects = slices.Grow(objects, min(len(objects), header.Objects-len(objects))) // doubling makes less garbage
		}
		objects = append(objects, o)
	}
	return objects, nil
}

// readEvidence passes on the lines of evidence.
func readEvidence(lines *lineReader, header *storedHeader, evidence func(line []byte) error) error {
	for range header.Evidence {
		line, err := lines.next()
		if err != nil {
			return err
		}
		if evidence != nil {
			if err := evidence(line); err != nil {
				return fmt.Errorf("%w: line %d: %w", errFormat, lines.number, err)
			}
		}
		lines.take()
	}
	return nil
}

// wholeObject decodes a line with the general JSON decoder.
func wholeObject(line []byte, types []typeName, intern *manifest.Interner) (*object.Object, error) {
	var stored storedObject
	if err := json.Unmarshal(line, &stored); err != nil {
		return nil, err
	}
	if stored.Type < 0 || stored.Type >= len(types) {
		return nil, fmt.Errorf("type %d of %d", stored.Type, len(types))
	}
	return stored.object(types[stored.Type], intern), nil
}

func checkTrailer(lines *lineReader, objects int) error {
	sum := hex.EncodeToString(lines.hash.Sum(nil))
	line, err := lines.read()
	if err != nil {
		return err
	}
	var trailer storedTrailer
	if err := json.Unmarshal(line, &trailer, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%w: trailer: %w", errFormat, err)
	}
	if trailer.Objects != objects || trailer.Hash != sum {
		return fmt.Errorf("%w: its hash does not match its content", errFormat)
	}
	return lines.ends()
}

// onlyStored returns the snapshot that was read back if it is the only content; nil otherwise.
func (r *reader) onlyStored() *Snapshot {
	if len(r.stored) != 1 || len(r.objects) > 0 || len(r.sightings) > 0 || len(r.failed) > 0 ||
		len(r.problems) > 0 || len(r.skipped.remarks()) > 0 || len(r.documents.lists) > 0 || r.source.KubernetesVersion != "" {
		return nil
	}
	return r.stored[0]
}

// takeStored merges a snapshot in our own format with the content of other files. Its resources
// count as discovery.
func (r *reader) takeStored(s *Snapshot, coverage *Coverage, discovered **object.Resources) {
	r.objects = append(r.objects, s.Objects...)
	for _, o := range s.Objects {
		r.see(spot{typeName{o.APIVersion, o.Kind}, o.Namespace}, location{})
	}
	coverage.merge(s.coverage)
	r.problems = append(r.problems, s.Problems...)
	r.at(cmp.Or(s.latest, s.Source.Seconds()))
	r.source.Ignored += s.Source.Ignored
	r.source.Discovered = r.source.Discovered || s.Source.Discovered
	r.source.KubernetesVersion = newer(r.source.KubernetesVersion, s.Source.KubernetesVersion)
	if len(r.source.VersionBounds.From) == 0 {
		r.source.VersionBounds = s.Source.VersionBounds
	}
	if r.source.ClusterUID == "" {
		r.source.ClusterUID = s.Source.ClusterUID
	}
	if r.source.TakenAt == "" || s.Source.TakenAt != "" && s.Source.TakenAt < r.source.TakenAt {
		r.source.TakenAt = s.Source.TakenAt
	}
	if *discovered == nil {
		*discovered = &object.Resources{}
	}
	for _, res := range s.Resources.All() {
		_, known := (*discovered).Preferred(res.GroupResource())
		same := func(have object.Resource) bool {
			return have.GroupResource() == res.GroupResource() && have.Version == res.Version
		}
		if !known || !slices.ContainsFunc((*discovered).All(), same) {
			(*discovered).Add(res)
		}
	}
}
