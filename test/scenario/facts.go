package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// attribute is a word of what only one kind knows.
type attribute struct {
	kind object.Kind
	key  string
	set  func(o *object.Object, value string) error
	// show are the words that are written for an object, in the order of attributes.
	show func(o *object.Object) []string
}

// attributes are the words for facts: each is read and written by its entry.
var attributes = []attribute{
	text(object.Pod, "node", true, func(p *object.PodFacts) *string { return &p.NodeName }),
	text(object.Pod, "phase", false, func(p *object.PodFacts) *string { return &p.Phase }),
	fact(object.Pod, "period", func(p *object.PodFacts, value string) (err error) {
		p.TerminationGracePeriod, err = parseOptional("period", value)
		return err
	}, func(p *object.PodFacts) []string {
		if p.TerminationGracePeriod == nil {
			return nil
		}
		return []string{"period=" + strconv.FormatInt(*p.TerminationGracePeriod, 10)}
	}),
	marked(object.Pod, "mirror", func(p *object.PodFacts) *bool { return &p.Mirror }),
	fact(object.Pod, "claims", setClaims, showClaims),

	text(object.Namespace, "phase", true, func(n *object.NamespaceFacts) *string { return &n.Phase }),
	texts(object.Namespace, "spec", func(n *object.NamespaceFacts) *[]string { return &n.Finalizers }),

	fact(object.CRD, "defines", setDefines, func(d *object.CRDFacts) []string {
		var words []string
		for _, v := range d.Versions {
			words = append(words, "defines="+d.Group+"/"+v.Name+":"+d.Kind+":"+d.Plural)
		}
		return words
	}),
	fact(object.CRD, "scope", func(d *object.CRDFacts, value string) error {
		d.Namespaced = value != "Cluster"
		return nil
	}, func(d *object.CRDFacts) []string {
		if d.Namespaced {
			return nil
		}
		return []string{"scope=Cluster"}
	}),
	marked(object.CRD, "established", func(d *object.CRDFacts) *bool { return &d.Established }),
	marked(object.CRD, "terminating", func(d *object.CRDFacts) *bool { return &d.Terminating }),

	fact(object.Job, "finished", func(j *object.JobFacts, value string) error {
		j.Finished = value == "" || value == "true"
		return nil
	}, func(j *object.JobFacts) []string { return []string{fmt.Sprintf("finished=%v", j.Finished)} }),
	fact(object.Job, "ttl", func(j *object.JobFacts, value string) error {
		ttl, at, _ := strings.Cut(value, "@")
		seconds, err := strconv.ParseInt(ttl, 10, 64)
		if err == nil && at != "" {
			j.FinishedAt, err = strconv.ParseInt(at, 10, 64)
		}
		j.TTL = &seconds
		return err
	}, func(j *object.JobFacts) []string {
		switch {
		case j.TTL == nil:
			return nil
		case j.FinishedAt == 0:
			return []string{fmt.Sprintf("ttl=%d", *j.TTL)}
		default:
			return []string{fmt.Sprintf("ttl=%d@%d", *j.TTL, j.FinishedAt)}
		}
	}),
	text(object.Job, "managed", false, func(j *object.JobFacts) *string { return &j.ManagedBy }),

	text(object.PV, "phase", true, func(v *object.PVFacts) *string { return &v.Phase }),
	fact(object.PV, "claim", setClaim, func(v *object.PVFacts) []string {
		if v.ClaimName == "" {
			return nil
		}
		return []string{fmt.Sprintf("claim=%s/%s:%s", v.ClaimNamespace, v.ClaimName, v.ClaimUID)}
	}),
	text(object.PV, "reclaim", false, func(v *object.PVFacts) *string { return &v.ReclaimPolicy }),
	text(object.PV, "by", false, func(v *object.PVFacts) *string { return &v.Provisioner }),
	text(object.PV, "to", false, func(v *object.PVFacts) *string { return &v.MigratedTo }),
	marked(object.PV, "csi", func(v *object.PVFacts) *bool { return &v.CSI }),

	fact(object.ResourceClaim, "reserved", setReserved, showReserved),
	fact(object.IPAddress, "of", func(a *object.IPAddressFacts, value string) error {
		namespace, name, ok := strings.Cut(value, "/")
		if !ok {
			return fmt.Errorf("of=%s: want namespace/name", value)
		}
		*a = object.IPAddressFacts{Resource: "services", Namespace: namespace, Name: name}
		return nil
	}, func(a *object.IPAddressFacts) []string { return []string{"of=" + a.Namespace + "/" + a.Name} }),
	marked(object.StatefulSet, "deletes", func(s *object.StatefulSetFacts) *bool { return &s.DeletesClaims }),
	texts(object.StatefulSet, "templates", func(s *object.StatefulSetFacts) *[]string { return &s.ClaimTemplates }),
	texts(object.ServiceAccount, "secrets", func(a *object.ServiceAccountFacts) *[]string { return &a.Secrets }),
	texts(object.ClusterRole, "rules", func(r *object.ClusterRoleFacts) *[]string { return &r.Rules }),
	texts(object.ClusterRole, "aggregates", func(r *object.ClusterRoleFacts) *[]string { return &r.Aggregates }),
	token("token", true),
	token("token?", false),
	fact(object.ArgoApplication, "inventory", setInventory, showInventory),
	fact(object.FluxKustomization, "inventory", setInventory, showInventory),
	fact(object.VolumeSnapshot, "inventory", setInventory, showInventory),
	fact(object.VolumeSnapshotContent, "inventory", setInventory, showInventory),
	marked(object.VolumeSnapshotContent, "keeps", func(f *object.InventoryFacts) *bool { return &f.Keeps }),
	texts(object.ServiceCIDR, "cidrs", func(c *object.ServiceCIDRFacts) *[]string { return &c.CIDRs }),
}

// setFact sets what only one kind knows.
func setFact(o *object.Object, key, value string) error {
	for _, a := range attributes {
		if a.kind.Kind == o.Kind && a.key == key {
			return a.set(o, value)
		}
	}
	return fmt.Errorf("there is no attribute %q", key)
}

func formatFacts(o *object.Object) []string {
	var words []string
	for _, a := range attributes {
		words = append(words, a.show(o)...)
	}
	return words
}

// facts are facts of a kind, by pointer.
type facts[F any] interface {
	*F
	object.Facts
}

// fact is an attribute of the kind whose facts are of the type. Facts may be shared with a
// server: what is set is set in a copy.
func fact[F any, P facts[F]](kind object.Kind, key string, set func(P, string) error, show func(P) []string) attribute {
	return attribute{kind, key, func(o *object.Object, value string) error {
		c := P(new(F))
		if had, ok := o.Facts().(P); ok {
			*c = *had
		} else if d, ok := object.Facts(c).(*object.CRDFacts); ok {
			d.Namespaced = true
		}
		o.Edit().Facts = c
		return set(c, value)
	}, func(o *object.Object) []string {
		f, ok := o.Facts().(P)
		if !ok {
			return nil
		}
		return show(f)
	}}
}

// text is a string; unless it is always written, it is left out when it is empty.
func text[F any, P facts[F]](kind object.Kind, key string, always bool, at func(P) *string) attribute {
	return fact(kind, key, func(f P, value string) error {
		*at(f) = value
		return nil
	}, func(f P) []string {
		if *at(f) == "" && !always {
			return nil
		}
		return []string{key + "=" + *at(f)}
	})
}

// marked is true where its word stands.
func marked[F any, P facts[F]](kind object.Kind, key string, at func(P) *bool) attribute {
	return fact(kind, key, func(f P, _ string) error {
		*at(f) = true
		return nil
	}, func(f P) []string {
		if !*at(f) {
			return nil
		}
		return []string{key}
	})
}

func texts[F any, P facts[F]](kind object.Kind, key string, at func(P) *[]string) attribute {
	return fact(kind, key, func(f P, value string) error {
		*at(f) = list(value)
		return nil
	}, func(f P) []string { return []string{key + "=[" + strings.Join(*at(f), ",") + "]"} })
}

// token is account:uid of a Secret that is a token, or may be one.
func token(key string, sure bool) attribute {
	return fact(object.Secret, key, func(t *object.Token, value string) error {
		account, uid, _ := strings.Cut(value, ":")
		*t = object.Token{Account: account, AccountUID: types.UID(uid), Sure: sure}
		return nil
	}, func(t *object.Token) []string {
		if t.Sure != sure {
			return nil
		}
		return []string{key + "=" + strings.TrimSuffix(t.Account+":"+string(t.AccountUID), ":")}
	})
}

// setInventory reads group/Kind/namespace/name, several with commas.
func setInventory(f *object.InventoryFacts, value string) error {
	f.Entries = nil
	for _, entry := range list(value) {
		words := strings.Split(entry, "/")
		if len(words) != 4 {
			return fmt.Errorf("inventory=%s: want group/Kind/namespace/name", value)
		}
		f.Entries = append(f.Entries, object.InventoryEntry{Coordinates: object.Coordinates{Group: words[0], Kind: words[1], Namespace: words[2], Name: words[3]}})
	}
	return nil
}

func showInventory(f *object.InventoryFacts) []string {
	var entries []string
	for _, c := range f.Entries {
		entries = append(entries, strings.Join([]string{c.Group, c.Kind, c.Namespace, c.Name}, "/"))
	}
	return []string{"inventory=[" + strings.Join(entries, ",") + "]"}
}

// setDefines reads apiVersion:Kind:plural.
func setDefines(d *object.CRDFacts, value string) error {
	words := strings.Split(value, ":")
	if len(words) != 3 {
		return fmt.Errorf("defines=%s: want apiVersion:Kind:plural", value)
	}
	group, version := object.SplitAPIVersion(words[0])
	d.Group, d.Kind, d.Plural = group, words[1], words[2]
	d.Versions = []object.CRDVersion{{Name: version, Served: true, Storage: true}}
	return nil
}

// setClaims reads the names of claims; a tilde in front marks the claim of an ephemeral
// volume.
func setClaims(p *object.PodFacts, value string) error {
	p.VolumesKnown, p.Claims = true, nil
	for _, name := range list(value) {
		name, ephemeral := strings.CutPrefix(name, "~")
		p.Claims = append(p.Claims, object.Claim{Name: name, Ephemeral: ephemeral})
	}
	return nil
}

func showClaims(p *object.PodFacts) []string {
	if !p.VolumesKnown {
		return nil
	}
	names := make([]string, 0, len(p.Claims))
	for _, c := range p.Claims {
		names = append(names, map[bool]string{true: "~"}[c.Ephemeral]+c.Name)
	}
	return []string{"claims=[" + strings.Join(names, ",") + "]"}
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

// setReserved reads resource:name:uid, several with commas.
func setReserved(c *object.ResourceClaimFacts, value string) error {
	c.Reserved = nil
	for _, user := range list(value) {
		words := strings.Split(user, ":")
		if len(words) != 3 {
			return fmt.Errorf("reserved=%s: want resource:name:uid", value)
		}
		c.Reserved = append(c.Reserved, object.Reservation{Resource: words[0], Name: words[1], UID: types.UID(words[2])})
	}
	return nil
}

func showReserved(c *object.ResourceClaimFacts) []string {
	var users []string
	for _, r := range c.Reserved {
		users = append(users, r.Resource+":"+r.Name+":"+string(r.UID))
	}
	return []string{"reserved=[" + strings.Join(users, ",") + "]"}
}
