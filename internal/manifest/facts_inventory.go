package manifest

import (
	"cmp"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Deployers list what they have applied in their own objects. Another version of a deployer may write
// other types: a value of an unexpected type leaves the inventory incomplete, and is no Problem.

// delivery has the fields of deployers, besides the inventory, that decide what is deleted with it.
type delivery struct {
	prune, suspended, remote bool
	listedBefore             bool  // status.snapshot exists
	releasedBefore           int64 // status.lastReleaseRevision
	policy, storage, chart   string
	destination              struct {
		Server string `json:"server"`
		Name   string `json:"name"`
	}
	sync struct {
		Options   []string `json:"syncOptions"`
		Automated struct {
			SelfHeal bool  `json:"selfHeal"`
			Enabled  *bool `json:"enabled"`
		} `json:"automated"`
	}
	drift struct {
		Mode string `json:"mode"`
	}
	uninstall struct {
		KeepsHistory bool   `json:"keepHistory"`
		Propagation  string `json:"deletionPropagation"`
	}
	releases []release
	// resources are status.resources of Argo CD, listed is status.inventory of Flux; nil if there is none.
	resources *[]struct {
		Group     string `json:"group"`
		Kind      string `json:"kind"`
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
		Confirm   bool   `json:"requiresDeletionConfirmation"`
	}
	listed *struct {
		Entries []struct {
			ID      string `json:"id"`
			Version string `json:"v"`
		} `json:"entries"`
	}
	// content is the name of the content of a volume's snapshot, snapshot the snapshot of a content.
	content  string
	snapshot struct {
		Namespace string    `json:"namespace"`
		Name      string    `json:"name"`
		UID       types.UID `json:"uid"`
	}
}

// release is a revision of a Helm release.
type release struct {
	Name    string `json:"name"`
	Version int64  `json:"version"`
}

// record returns the Secret that records the revision.
func (r release) record(namespace string) object.Coordinates {
	return object.Coordinates{Kind: object.Secret.Kind, Namespace: namespace, Name: object.HelmRecordPrefix + r.Name + ".v" + strconv.FormatInt(r.Version, 10)}
}

// applicationFacts covers Argo CD. The controller deletes the live objects that it tracks, which are
// those of status.resources.
//
// Source: argo-cd, controller/appcontroller.go finalizeApplicationDeletion: removes the finalizer of an
// Application with an invalid destination, and deletes nothing; it asks status.resources alone whether
// somebody has to confirm. shouldBeDeleted: reads the options of the Application since v3.4.
// Source: argo-cd, controller/state.go CompareAppState: writes status.resources.
// Source: argo-cd.readthedocs.io/en/stable/user-guide/auto_sync: without selfHeal, changes of the live cluster
// trigger no sync.
var applicationFacts = &factKind{
	kind: object.ArgoApplication, lenient: true,
	fields: []factField{
		lenientField("spec.destination", func(f *facts) any { return &f.delivery.destination }),
		lenientField("spec.syncPolicy", func(f *facts) any { return &f.delivery.sync }),
		lenientField("status.resources", func(f *facts) any { return &f.delivery.resources }),
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified || !f.stated {
			return nil
		}
		d, inventory := &f.delivery, f.takeInventory()
		server, cluster := strings.TrimSuffix(d.destination.Server, "/"), d.destination.Name
		inventory.Remote = server != "" && server != inCluster || server == "" && cluster != "in-cluster"
		inventory.Keeps = (server == "") == (cluster == "")
		inventory.Restores = d.sync.Automated.SelfHeal && (d.sync.Automated.Enabled == nil || *d.sync.Automated.Enabled)
		if !inventory.Keeps && slices.Contains(d.sync.Options, "Delete=false") {
			inventory.Entries = nil
			inventory.unread("its option Delete=false keeps them only from Argo CD v3.4 on, and only those without such an option of their own")
		}
		if d.resources == nil {
			inventory.unread("it has no status.resources")
		}
		inventory.Keeps = inventory.Keeps && inventory.Unread == ""
		return inventory.InventoryFacts
	},
}

// inCluster is the server of an Argo CD destination that is Argo CD's own cluster.
const inCluster = "https://kubernetes.default.svc"

// kustomizationFacts covers Flux. Without an inventory, nothing has been applied. Of an inventory with a
// malformed entry, Flux deletes nothing.
//
// Source: kustomize-controller, internal/controller/kustomization_controller.go
// finalizerShouldDeleteResources, finalize; reconcile: it applies all at each interval.
var kustomizationFacts = &factKind{
	kind: object.FluxKustomization, lenient: true,
	fields: []factField{
		lenientField("spec.prune", func(f *facts) any { return &f.delivery.prune }), suspended, kubeConfig, serviceAccount,
		lenientField("spec.deletionPolicy", func(f *facts) any { return &f.delivery.policy }),
		inventoryEntries, existence("status.snapshot", func(f *facts) *bool { return &f.delivery.listedBefore }),
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified || !f.stated {
			return nil
		}
		d, inventory := &f.delivery, f.takeInventory()
		inventory.Remote, inventory.Restores = d.remote, !d.suspended
		switch d.policy {
		case "", "MirrorPrune":
			inventory.Keeps = d.suspended || !d.prune
		case "Delete", "WaitForTermination":
			inventory.Keeps = d.suspended
		default:
			inventory.Keeps = true
		}
		if inventory.Unread != "" {
			inventory.Entries, inventory.Keeps = nil, false
		}
		if d.listedBefore && d.listed == nil && !inventory.Keeps {
			inventory.unread("it lists what it has applied in status.snapshot, like Flux before 0.15, which is not read")
		}
		return inventory.InventoryFacts
	},
}

// helmReleaseFacts covers Flux. Older versions of the controller write no inventory, and the manifest
// is only in the record of the release. The uninstallation also deletes the records of the release,
// and the HelmChart.
//
// Source: helm-controller, internal/controller/helmrelease_controller.go reconcileDelete;
// internal/inventory/inventory.go AddCRDs: also lists the CRDs that Helm does not delete.
// Source: helm, pkg/action/uninstall.go Uninstall.Run.
// Source: fluxcd.io/flux/components/helm/helmreleases: Drift detection.
var helmReleaseFacts = &factKind{
	kind: object.FluxHelmRelease, lenient: true,
	fields: []factField{
		suspended, kubeConfig, serviceAccount, inventoryEntries,
		lenientField("spec.uninstall", func(f *facts) any { return &f.delivery.uninstall }),
		lenientField("spec.driftDetection", func(f *facts) any { return &f.delivery.drift }),
		lenientField("status.storageNamespace", func(f *facts) any { return &f.delivery.storage }),
		lenientField("status.helmChart", func(f *facts) any { return &f.delivery.chart }),
		lenientField("status.lastReleaseRevision", func(f *facts) any { return &f.delivery.releasedBefore }),
		lenientField("status.history", func(f *facts) any { return &f.delivery.releases }),
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified || !f.stated {
			return nil
		}
		d, inventory := &f.delivery, f.takeInventory()
		inventory.Keeps, inventory.Remote, inventory.Propagation = d.suspended || d.storage == "", d.remote, d.uninstall.Propagation
		inventory.Restores = d.drift.Mode == "enabled" && !d.suspended
		switch {
		case !d.suspended && d.storage == "" && d.releasedBefore > 0:
			inventory.Keeps = false
			inventory.unread("its status is that of Flux before 2.2, which does not say what it has applied")
		case d.listed == nil:
			inventory.unread("it has no status.inventory, and the record of its Helm release in namespace " + d.storage + " is not read")
			if len(d.releases) > 0 {
				newest := slices.MaxFunc(d.releases, func(a, b release) int { return cmp.Compare(a.Version, b.Version) })
				inventory.Record = newest.record(d.storage)
			}
		}
		if slices.ContainsFunc(inventory.Entries, func(e object.InventoryEntry) bool { return e.Kind == object.CRD.Kind }) {
			inventory.unread(object.UnclearCRDs)
		}
		for _, r := range d.releases {
			if !d.uninstall.KeepsHistory {
				inventory.add(r.record(d.storage))
			}
		}
		if namespace, name, ok := strings.Cut(d.chart, "/"); ok {
			inventory.add(object.Coordinates{Group: "source.toolkit.fluxcd.io", Kind: "HelmChart", Namespace: namespace, Name: name})
		}
		return inventory.InventoryFacts
	},
}

// helmChartFacts covers K3s and RKE2, which run `helm uninstall` for the release of the name of the chart.
//
// Source: helm-controller of K3s, pkg/controllers/chart/chart.go getChartRelease.
var helmChartFacts = &factKind{
	kind: object.K3sHelmChart, lenient: true,
	fields: []factField{
		lenientField("spec.targetNamespace", func(f *facts) any { return &f.delivery.storage }),
		lenientField("spec.driver", func(f *facts) any { return &f.delivery.policy }),
	},
	facts: func(f *facts, o *object.Object) object.Facts {
		if !f.specified {
			return nil
		}
		d, inventory := &f.delivery, f.takeInventory()
		namespace, kind := cmp.Or(d.storage, o.Namespace), object.Secret.Kind
		if d.policy == "configmap" {
			kind = object.ConfigMap.Kind
		}
		inventory.unread("the record of its Helm release in namespace " + namespace + " is not read")
		inventory.Record = object.Coordinates{Kind: kind, Namespace: namespace, Name: object.HelmRecordPrefix + o.Name + ".v"}
		return inventory.InventoryFacts
	},
}

// appFacts covers kapp-controller. What an App has applied is found by a label: see package finalizer.
//
// Source: kapp-controller, pkg/app/app_deploy.go delete; pkg/kubeconfig/kubeconfig.go ClusterAccess: an account
// precedes another cluster.
var appFacts = &factKind{
	kind: object.KappApp, lenient: true,
	fields: []factField{
		lenientField("spec.noopDelete", func(f *facts) any { return &f.delivery.suspended }), serviceAccount,
		existence("spec.cluster", func(f *facts) *bool { return &f.delivery.remote }),
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified {
			return nil
		}
		inventory := f.takeInventory()
		inventory.Keeps, inventory.Remote = f.delivery.suspended, f.delivery.remote && inventory.Account == ""
		return inventory.InventoryFacts
	},
}

// inventory are the facts of a deployer while they are read.
type inventory struct{ *object.InventoryFacts }

// takeInventory returns a copy of what was read, with the listed entries. An entry without kind or name
// leaves the inventory incomplete.
func (f *facts) takeInventory() inventory {
	read := f.inventory
	i, d := inventory{&read}, &f.delivery
	add := func(at int, path string, e object.InventoryEntry) {
		if e.Kind == "" || e.Name == "" {
			i.unread("entry " + strconv.Itoa(at) + " of " + path + " names no object")
			return
		}
		i.Entries = append(i.Entries, e)
	}
	if d.resources != nil {
		for n, r := range *d.resources {
			at := object.Coordinates{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
			add(n, "status.resources", object.InventoryEntry{Coordinates: at, Confirm: r.Confirm})
		}
	}
	if d.listed != nil {
		for n, e := range d.listed.Entries {
			add(n, "status.inventory.entries", object.InventoryEntry{Coordinates: parseInventoryID(e.ID), Version: e.Version})
		}
	}
	return i
}

// unread records why entries may be missing. The first reason stays.
func (i inventory) unread(why string) {
	if i.Unread == "" {
		i.Unread = why
	}
}

func (i inventory) add(at object.Coordinates) {
	i.Entries = append(i.Entries, object.InventoryEntry{Coordinates: at})
}

// These are fields of several deployers.
var (
	suspended        = lenientField("spec.suspend", func(f *facts) any { return &f.delivery.suspended })
	kubeConfig       = existence("spec.kubeConfig", func(f *facts) *bool { return &f.delivery.remote })
	serviceAccount   = lenientField("spec.serviceAccountName", func(f *facts) any { return &f.inventory.Account })
	inventoryEntries = lenientField("status.inventory", func(f *facts) any { return &f.delivery.listed })
)

// lenientField returns a field that is decoded into the variable that at returns a pointer to. A value of
// another type is left out, and the inventory is incomplete then.
func lenientField(path string, at func(*facts) any) factField {
	kept := keepOf(reflect.TypeOf(at(&facts{})))
	return factField{path: path, keep: kept, read: func(l *lexer, it *item, path string, _ bool) error {
		var text keptText
		if err := text.value(l, kept, false); err != nil {
			return err
		}
		err := json.Unmarshal(text.json, at(&it.facts))
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			if wrong.Field != "" {
				path += "." + wrong.Field
			}
			inventory{&it.facts.inventory}.unread(path + " is not " + kindName(wrong.Type.Kind()))
		} else if err != nil {
			return l.wrong("%s cannot be decoded: %v", path, err)
		}
		return nil
	}}
}

// kindName returns what a value is called that decodes into a type.
func kindName(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "a mapping"
	default:
		return "a number"
	}
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
