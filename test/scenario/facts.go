package scenario

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// own gives the caller a copy of facts that may be shared with a server.
func own[T any](facts *T) *T {
	var c T
	if facts != nil {
		c = *facts
	}
	return &c
}

// setFact sets what only one kind knows.
func setFact(o *object.Object, key, value string) (err error) {
	rare := o.Edit()
	switch o.Kind {
	case "Pod":
		rare.Pod = own(rare.Pod)
		switch key {
		case "node":
			rare.Pod.NodeName = value
			return nil
		case "phase":
			rare.Pod.Phase = value
			return nil
		case "mirror":
			rare.Pod.Mirror = true
			return nil
		case "period":
			rare.Pod.TerminationGracePeriod, err = parseOptional(key, value)
			return err
		case "claims":
			rare.Pod.VolumesKnown, rare.Pod.Claims = true, claims(value)
			return nil
		}
	case "Namespace":
		rare.Namespace = own(rare.Namespace)
		switch key {
		case "phase":
			rare.Namespace.Phase = value
			return nil
		case "spec":
			rare.Namespace.Finalizers = list(value)
			return nil
		}
	case "CustomResourceDefinition":
		if rare.Definition == nil {
			rare.Definition = &object.CRDFacts{Namespaced: true}
		}
		rare.Definition = own(rare.Definition)
		if ok, err := setDefinition(rare.Definition, key, value); ok {
			return err
		}
	case "Job":
		rare.Job = own(rare.Job)
		switch key {
		case "finished":
			rare.Job.Finished = value == "" || value == "true"
			return nil
		case "managed":
			rare.Job.ManagedBy = value
			return nil
		}
	case "PersistentVolume":
		rare.Volume = own(rare.Volume)
		switch key {
		case "phase":
			rare.Volume.Phase = value
			return nil
		case "claim":
			return setClaim(rare.Volume, value)
		case "reclaim":
			rare.Volume.ReclaimPolicy = value
			return nil
		case "by":
			rare.Volume.Provisioner = value
			return nil
		case "to":
			rare.Volume.MigratedTo = value
			return nil
		case "csi":
			rare.Volume.CSI = true
			return nil
		}
	case "ResourceClaim":
		if key == "reserved" {
			rare.Seldom, err = reserved(value)
			return err
		}
	case "IPAddress":
		if namespace, name, ok := strings.Cut(value, "/"); key == "of" && ok {
			rare.Seldom = &object.Seldom{IPAddress: &object.IPAddressFacts{Resource: "services", Namespace: namespace, Name: name}}
			return nil
		}
	case "StatefulSet":
		if key == "templates" {
			rare.Seldom = &object.Seldom{StatefulSet: &object.StatefulSetFacts{ClaimTemplates: list(value)}}
			return nil
		}
	case "Secret":
		if key == "token" || key == "token?" {
			account, uid, _ := strings.Cut(value, ":")
			rare.Seldom = &object.Seldom{Token: &object.Token{Account: account, AccountUID: types.UID(uid), Sure: key == "token"}}
			return nil
		}
	case "ServiceCIDR":
		if key == "cidrs" {
			rare.Seldom = &object.Seldom{ServiceCIDR: &object.ServiceCIDRFacts{CIDRs: list(value)}}
			return nil
		}
	}
	return fmt.Errorf("there is no attribute %q", key)
}

func setDefinition(d *object.CRDFacts, key, value string) (bool, error) {
	switch key {
	case "defines":
		words := strings.Split(value, ":")
		if len(words) != 3 {
			return true, fmt.Errorf("defines=%s: want apiVersion:Kind:plural", value)
		}
		group, version := object.SplitAPIVersion(words[0])
		d.Group, d.Kind, d.Plural = group, words[1], words[2]
		d.Versions = []object.CRDVersion{{Name: version, Served: true, Storage: true}}
	case "scope":
		d.Namespaced = value != "Cluster"
	case "established":
		d.Established = true
	case "terminating":
		d.Terminating = true
	default:
		return false, nil
	}
	return true, nil
}

// claims are the names of claims; a tilde in front marks the claim of an ephemeral
// volume.
func claims(value string) []object.Claim {
	var all []object.Claim
	for _, name := range list(value) {
		name, ephemeral := strings.CutPrefix(name, "~")
		all = append(all, object.Claim{Name: name, Ephemeral: ephemeral})
	}
	return all
}

// setClaim reads namespace/name:uid.
func setClaim(v *object.PVFacts, value string) error {
	at, uid, ok := strings.Cut(value, ":")
	namespace, name, named := strings.Cut(at, "/")
	if !ok || !named {
		return fmt.Errorf("claim=%s: want namespace/name:uid", value)
	}
	v.ClaimNamespace, v.ClaimName, v.ClaimUID = namespace, name, types.UID(uid)
	return nil
}

// reserved reads resource:name:uid, several with commas.
func reserved(value string) (*object.Seldom, error) {
	claim := &object.ResourceClaimFacts{}
	for _, user := range list(value) {
		words := strings.Split(user, ":")
		if len(words) != 3 {
			return nil, fmt.Errorf("reserved=%s: want resource:name:uid", value)
		}
		claim.Reserved = append(claim.Reserved, object.Reservation{Resource: words[0], Name: words[1], UID: types.UID(words[2])})
	}
	return &object.Seldom{ResourceClaim: claim}, nil
}
