package render

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// words are the title and advice of a finding.
type words struct {
	title, advice string
	// said prefers the message of the findings as title, if it is the same for all.
	said bool
}

const (
	asGarbage   = "The garbage collector deletes what has no other owner. To keep it, remove the reference."
	notTaken    = "The garbage collector never deletes it. Remove or repair the reference."
	notUpdated  = "The API server refuses every later update of it. Remove the reference."
	otherObject = "The owner counts as absent, and what has no other owner is deleted. Repair the reference."
)

// checkWords are the texts for the findings of check.
var checkWords = map[reason.Code]words{
	reason.OwnerNotFound:            {title: "Owner does not exist", advice: asGarbage},
	reason.OwnerUIDMismatch:         {title: "Owner has another UID, as after a restore", advice: asGarbage},
	reason.OwnerKindMismatch:        {title: "Owner is of another kind", advice: otherObject, said: true},
	reason.OwnerNameMismatch:        {title: "Owner has another name", advice: otherObject, said: true},
	reason.OwnerNamespaceMismatch:   {title: "Owner is in another namespace", advice: otherObject, said: true},
	reason.OwnerNamespaced:          {title: "Cluster-scoped, and the owner is in a namespace", advice: notTaken},
	reason.OwnerKindUnknown:         {title: "Owner is of a kind that is not served", advice: notTaken, said: true},
	reason.OwnerVersionNotServed:    {title: "Owner is named in a version that is not served", advice: notTaken, said: true},
	reason.OwnerKindNotServed:       {title: "Owner is of a kind that has no objects", advice: asGarbage, said: true},
	reason.OwnerNotCovered:          {title: "Whether the owner exists is not known", advice: "Nothing is known to be wrong. Ask the cluster itself, or a dump that has the owner's kind."},
	reason.OwnerKindCase:            {title: "Kind of the owner is not written as it is", advice: "The garbage collector accepts that, other tools may not.", said: true},
	reason.OwnerVersionNotPreferred: {title: "Owner is named in a version that is not the preferred one", advice: "Right while that version is served; check --without-version answers as if it were not.", said: true},
	reason.OwnerBanned:              {title: "Owner is an Event", advice: notUpdated},
	reason.ReferenceIncomplete:      {title: "Reference has an empty field", advice: notUpdated},
	reason.TwoControllers:           {title: "Two owners with controller: true", advice: notUpdated},
	reason.SelfOwner:                {title: "Owns itself", advice: notTaken},
	reason.SelfOwnerBlocks:          {title: "Owns itself, and blocks its own deletion", advice: "A foreground delete of it never ends. Remove the reference."},
	reason.OwnerCycle:               {title: "Objects own one another in a circle", advice: "The garbage collector deletes none of them. Remove one of the references."},
	reason.OwnerCycleBlocks:         {title: "Objects own and block one another in a circle", advice: "The garbage collector deletes none, and foreground deletes may hang. Remove a reference."},
	reason.SharedUID:                {title: "Another object has the same UID", advice: "The garbage collector cannot tell them apart. The API server that serves them must give each its own UID."},
	reason.NoUID:                    {title: "No UID", advice: "Its dependents are unknown. Use the cluster or a dump of it instead of a manifest."},
}

// calico is the group of Calico's API server. It showed its objects under the UIDs of its own CRDs,
// of Namespaces and of ServiceAccounts.
const calico = "projectcalico.org"

var calicoWords = words{
	title:  "Same UID as another object: a known bug of Calico's API server",
	advice: "Update Calico (projectcalico/calico#5715), then restart kube-controller-manager.",
}

// wordsOf returns the texts for a cause. A code without texts is its own title.
func wordsOf(c *cause) words {
	if c.code == string(reason.SharedUID) && object.GroupOf(c.objects[0].APIVersion) == calico {
		return calicoWords
	}
	if w, ok := checkWords[reason.Code(c.code)]; ok {
		return w
	}
	return words{title: c.code, said: true}
}

// causeBlock returns a cause in three lines: title, objects and advice.
func causeBlock(s Style, c *cause) block {
	w := wordsOf(c)
	title := s.text(w.title)
	if w.said && c.message != "" {
		title = s.text(c.message)
		if first, _, _ := strings.Cut(title, " "); !strings.ContainsFunc(first, func(r rune) bool { return !letter(r) }) {
			title = sentenceCase(title)
		}
	}
	if owners := ownersText(s, c); owners != "" {
		title += ": " + owners
	}
	concerned := c.objects
	if isCircle(c) {
		concerned = each(slices.Concat(c.objects, c.owners))
	}
	b := block{severity: c.severity, lines: []string{title, s.crowd(concerned, s.limit()-severityColumn)}, brief: title + " (" + s.brief(concerned) + ")"}
	if w.advice != "" {
		b.lines = append(b.lines, w.advice)
	}
	return b
}

// isCircle reports whether the owners of a cause are among its objects.
func isCircle(c *cause) bool {
	return slices.Contains([]reason.Code{reason.OwnerCycle, reason.OwnerCycleBlocks, reason.SelfOwner, reason.SelfOwnerBlocks}, reason.Code(c.code))
}

// ownersText names the owners without their namespace, which is that of their dependents.
func ownersText(s Style, c *cause) string {
	switch {
	case len(c.owners) == 0 || isCircle(c):
		return ""
	case len(c.owners) <= fewNames:
		names := make([]string, len(c.owners))
		for i, o := range c.owners {
			names[i] = s.name(o)
		}
		return strings.Join(names, ", ")
	}
	return s.countKinds(byKind(c.owners), fewKinds)
}
