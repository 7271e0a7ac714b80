package manifest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Deployers list what they have applied in their own objects. Another version of a deployer may write
// other types: a value of an unexpected type leaves the inventory incomplete, and is no Problem.

// delivery has the fields of deployers, besides the inventory, that decide what is deleted with it.
type delivery struct {
	prune, suspended, remote, listed bool
	policy, server, cluster, storage string
}

// applicationFacts covers Argo CD. The controller deletes the live objects that it tracks, which are
// those of status.resources.
//
// Source: argo-cd, controller/appcontroller.go finalizeApplicationDeletion, and
// controller/state.go, which writes status.resources.
var applicationFacts = &factKind{
	kind: object.ArgoApplication,
	fields: []factField{
		{path: "spec.destination", keep: keepFields(nil, "server", "name"), read: (*lexer).destination},
		{path: "status.resources", keep: &keep{each: keepFields(nil, "group", "kind", "namespace", "name")}, read: (*lexer).managedResources},
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified || !f.stated {
			return nil
		}
		d, inventory := f.delivery, f.takeInventory()
		inventory.Remote = d.server != "" && d.server != inCluster || d.server == "" && d.cluster != "in-cluster"
		return inventory
	},
}

// inCluster is the server of an Argo CD destination that is Argo CD's own cluster.
const inCluster = "https://kubernetes.default.svc"

// kustomizationFacts covers Flux. Without an inventory, nothing has been applied.
//
// Source: kustomize-controller, internal/controller/kustomization_controller.go
// finalizerShouldDeleteResources.
var kustomizationFacts = &factKind{
	kind: object.FluxKustomization,
	fields: []factField{
		lenientBool("spec.prune", func(f *facts) *bool { return &f.delivery.prune }), suspended, kubeConfig,
		lenientText("spec.deletionPolicy", func(f *facts) *string { return &f.delivery.policy }),
		inventoryEntries,
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified || !f.stated {
			return nil
		}
		d, inventory := f.delivery, f.takeInventory()
		inventory.Remote = d.remote
		switch d.policy {
		case "", "MirrorPrune":
			inventory.Keeps = d.suspended || !d.prune
		case "Delete", "WaitForTermination":
			inventory.Keeps = d.suspended
		default:
			inventory.Keeps = true
		}
		return inventory
	},
}

// helmReleaseFacts covers Flux. Older versions of the controller write no inventory, and the manifest
// is only in the record of the release.
//
// Source: helm-controller, internal/controller/helmrelease_controller.go reconcileDelete.
var helmReleaseFacts = &factKind{
	kind: object.FluxHelmRelease,
	fields: []factField{
		suspended, kubeConfig, inventoryEntries,
		lenientText("status.storageNamespace", func(f *facts) *string { return &f.delivery.storage }),
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified || !f.stated {
			return nil
		}
		d, inventory := f.delivery, f.takeInventory()
		inventory.Keeps, inventory.Remote = d.suspended, d.remote
		if !d.listed && d.storage != "" {
			inventory.Unread = "it has no status.inventory, and the record of its Helm release in namespace " + d.storage + " is not read"
		}
		return inventory
	},
}

// takeInventory returns a copy of the inventory that was read.
func (f *facts) takeInventory() *object.InventoryFacts {
	inventory := f.inventory
	inventory.Entries = slices.Clone(inventory.Entries)
	return &inventory
}

// suspended and kubeConfig are fields of Kustomizations and HelmReleases.
var (
	suspended  = lenientBool("spec.suspend", func(f *facts) *bool { return &f.delivery.suspended })
	kubeConfig = factField{path: "spec.kubeConfig", keep: keepFields(nil), read: func(l *lexer, it *item, _ string, _ bool) error {
		it.facts.delivery.remote = l.token() != 'n'
		return l.skip()
	}}
)

// lenientBool is a boolean field. It is false if the value has another type.
func lenientBool(path string, at func(*facts) *bool) factField {
	return factField{path: path, keep: keepValue, read: func(l *lexer, it *item, path string, _ bool) (err error) {
		if c := l.token(); c != 't' && c != 'f' {
			return l.skip()
		}
		*at(&it.facts), _, err = l.boolean(path)
		return err
	}}
}

// lenientText is a string field. It is empty if the value has another type.
func lenientText(path string, at func(*facts) *string) factField {
	return factField{path: path, keep: keepValue, read: func(l *lexer, it *item, path string, _ bool) error {
		return l.lenient(at(&it.facts), path)
	}}
}

// lenient reads a string, and skips a value of another type or one that occurs again.
func (l *lexer) lenient(to *string, path string) error {
	if l.token() != '"' || *to != "" {
		return l.skip()
	}
	return l.repeated(to, path)
}

func (l *lexer) destination(it *item, path string, _ bool) error {
	if l.token() != '{' {
		return l.skip()
	}
	d := &it.facts.delivery
	return l.members(path, false, func() error {
		switch string(l.key) {
		case "server":
			return l.lenient(&d.server, path)
		case "name":
			return l.lenient(&d.cluster, path)
		default:
			return l.skip()
		}
	})
}

// managedResources reads status.resources of an Argo CD Application.
func (l *lexer) managedResources(it *item, path string, _ bool) error {
	return l.eachEntry(it, path, func() (e object.Coordinates, err error) {
		err = l.members(path, false, func() error {
			switch string(l.key) {
			case "group":
				return l.lenient(&e.Group, path)
			case "kind":
				return l.lenient(&e.Kind, path)
			case "namespace":
				return l.lenient(&e.Namespace, path)
			case "name":
				return l.lenient(&e.Name, path)
			default:
				return l.skip()
			}
		})
		return e, err
	})
}

// inventoryEntries is the field status.inventory of Flux: a mapping with the list entries.
var inventoryEntries = factField{
	path: "status.inventory",
	keep: keepFields(map[string]*keep{"entries": {each: keepFields(nil, "id")}}),
	read: func(l *lexer, it *item, path string, _ bool) error {
		if l.token() != '{' {
			return l.skip()
		}
		it.facts.delivery.listed = true
		return l.members(path, false, func() error {
			if string(l.key) != "entries" {
				return l.skip()
			}
			return l.eachEntry(it, path+".entries", func() (object.Coordinates, error) {
				id := ""
				err := l.members(path, false, func() error {
					if string(l.key) != "id" {
						return l.skip()
					}
					return l.lenient(&id, path)
				})
				return parseInventoryID(id), err
			})
		})
	},
}

// eachEntry adds what read returns for each entry of a list of mappings to the inventory. An entry
// without kind or name leaves the inventory incomplete.
func (l *lexer) eachEntry(it *item, path string, read func() (object.Coordinates, error)) error {
	inventory := &it.facts.inventory
	if l.token() != '[' {
		if l.token() != 'n' {
			inventory.Unread = path + " is not a list"
		}
		return l.skip()
	}
	n := 0
	in, err := l.array(path)
	for first := true; in && err == nil; first = false {
		if in, err = l.element(first); !in || err != nil {
			break
		}
		var e object.Coordinates
		if l.token() != '{' {
			err = l.skip()
		} else if err = l.charge(2 * entryBytes); err == nil {
			e, err = read()
		}
		switch {
		case err != nil:
		case e.Kind == "" || e.Name == "":
			inventory.Unread = "entry " + strconv.Itoa(n) + " of " + path + " names no object"
		default:
			inventory.Entries = append(inventory.Entries, e)
		}
		n++
	}
	return err
}

// parseInventoryID parses NAMESPACE_NAME_GROUP_KIND. The namespace of a cluster-scoped object is
// empty, and so is the core group. Names of RBAC objects have __ for a colon. It returns no kind for
// anything else.
//
// Source: cli-utils, pkg/object/objmetadata.go ParseObjMetadata.
func parseInventoryID(id string) (c object.Coordinates) {
	namespace, rest, ok := strings.Cut(id, "_")
	kind := strings.LastIndex(rest, "_")
	if !ok || kind < 0 {
		return c
	}
	group := strings.LastIndex(rest[:kind], "_")
	if group < 0 {
		return c
	}
	return object.Coordinates{
		Namespace: namespace, Name: strings.ReplaceAll(rest[:group], "__", ":"), Group: rest[group+1 : kind], Kind: rest[kind+1:],
	}
}
