package manifest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Deployers list what they have applied in their own objects. Another version of a deployer may write
// other types: a value of an unexpected type leaves the inventory incomplete, and is no Problem.

// delivery has the fields of deployers, besides the inventory, that decide what is deleted with it.
type delivery struct {
	prune, suspended, remote, listed, keepsHistory bool
	listedBefore                                   bool  // status.snapshot exists
	releasedBefore                                 int64 // status.lastReleaseRevision
	policy, server, cluster, storage, chart        string
	options                                        []string
	releases                                       []release
	// content is the name of the content of a volume's snapshot, snapshot the coordinates of the snapshot of
	// a content, with its uid.
	content, snapshotUID string
	snapshot             object.Coordinates
}

// release is a revision of a Helm release.
type release struct {
	name    string
	version int64
}

// record returns the Secret that records the revision.
func (r release) record(namespace string) object.Coordinates {
	return object.Coordinates{Kind: object.Secret.Kind, Namespace: namespace, Name: object.HelmRecordPrefix + r.name + ".v" + strconv.FormatInt(r.version, 10)}
}

// applicationFacts covers Argo CD. The controller deletes the live objects that it tracks, which are
// those of status.resources.
//
// Source: argo-cd, controller/appcontroller.go finalizeApplicationDeletion: removes the finalizer of an
// Application with an invalid destination, and deletes nothing; it asks status.resources alone whether
// somebody has to confirm. shouldBeDeleted: reads the options of the Application since v3.4.
// Source: argo-cd, controller/state.go CompareAppState: writes status.resources.
var applicationFacts = &factKind{
	kind: object.ArgoApplication, lenient: true,
	fields: []factField{
		{path: "spec.destination", keep: keepFields(nil, "server", "name"), read: (*lexer).destination},
		{path: "spec.syncPolicy", keep: keepFields(map[string]*keep{"syncOptions": keepStrings}), read: (*lexer).syncPolicy},
		{path: "status.resources", keep: &keep{each: keepFields(nil, "group", "kind", "namespace", "name", "syncWave", "requiresDeletionConfirmation")}, read: (*lexer).managedResources},
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified || !f.stated {
			return nil
		}
		d, inventory := &f.delivery, f.takeInventory()
		server := strings.TrimSuffix(d.server, "/")
		inventory.Remote = server != "" && server != inCluster || server == "" && d.cluster != "in-cluster"
		inventory.Keeps = (server == "") == (d.cluster == "")
		if !inventory.Keeps && slices.Contains(d.options, "Delete=false") {
			inventory.Entries = nil
			inventory.unread("its option Delete=false keeps them only from Argo CD v3.4 on, and only those without such an option of their own")
		}
		if !d.listed {
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
// finalizerShouldDeleteResources, finalize.
var kustomizationFacts = &factKind{
	kind: object.FluxKustomization, lenient: true,
	fields: []factField{
		lenientBool("spec.prune", func(f *facts) *bool { return &f.delivery.prune }), suspended, kubeConfig, serviceAccount,
		lenientText("spec.deletionPolicy", func(f *facts) *string { return &f.delivery.policy }),
		inventoryEntries, oldInventory,
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified || !f.stated {
			return nil
		}
		d, inventory := &f.delivery, f.takeInventory()
		inventory.Remote = d.remote
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
		if d.listedBefore && !d.listed && !inventory.Keeps {
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
var helmReleaseFacts = &factKind{
	kind: object.FluxHelmRelease, lenient: true,
	fields: []factField{
		suspended, kubeConfig, serviceAccount, inventoryEntries,
		{path: "spec.uninstall", keep: keepFields(nil, "keepHistory", "deletionPropagation"), read: (*lexer).uninstall},
		lenientText("status.storageNamespace", func(f *facts) *string { return &f.delivery.storage }),
		lenientText("status.helmChart", func(f *facts) *string { return &f.delivery.chart }),
		{path: "status.lastReleaseRevision", keep: keepValue, read: func(l *lexer, it *item, path string, _ bool) error {
			return l.lenientInteger(it, &it.facts.delivery.releasedBefore, path)
		}},
		{path: "status.history", keep: &keep{each: keepFields(nil, "name", "version")}, read: (*lexer).releaseHistory},
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified || !f.stated {
			return nil
		}
		d, inventory := &f.delivery, f.takeInventory()
		inventory.Keeps, inventory.Remote = d.suspended || d.storage == "", d.remote
		switch {
		case !d.suspended && d.storage == "" && d.releasedBefore > 0:
			inventory.Keeps = false
			inventory.unread("its status is that of Flux before 2.2, which does not say what it has applied")
		case !d.listed:
			inventory.unread("it has no status.inventory, and the record of its Helm release in namespace " + d.storage + " is not read")
			if len(d.releases) > 0 {
				newest := slices.MaxFunc(d.releases, func(a, b release) int { return cmp.Compare(a.version, b.version) })
				inventory.Record = newest.record(d.storage)
			}
		}
		if slices.ContainsFunc(inventory.Entries, func(e object.InventoryEntry) bool { return e.Kind == object.CRD.Kind }) {
			inventory.unread(object.UnclearCRDs)
		}
		for _, r := range d.releases {
			if !d.keepsHistory {
				inventory.add(r.record(d.storage), 0)
			}
		}
		if namespace, name, ok := strings.Cut(d.chart, "/"); ok {
			inventory.add(object.Coordinates{Group: "source.toolkit.fluxcd.io", Kind: "HelmChart", Namespace: namespace, Name: name}, 0)
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
		lenientText("spec.targetNamespace", func(f *facts) *string { return &f.delivery.storage }),
		lenientText("spec.driver", func(f *facts) *string { return &f.delivery.policy }),
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
		lenientBool("spec.noopDelete", func(f *facts) *bool { return &f.delivery.suspended }), serviceAccount, remoteIf("spec.cluster"),
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

// takeInventory returns a copy of what was read.
func (f *facts) takeInventory() inventory {
	read := f.inventory
	read.Entries = slices.Clone(read.Entries)
	return inventory{&read}
}

// unread records why entries may be missing. The first reason stays.
func (i inventory) unread(why string) {
	if i.Unread == "" {
		i.Unread = why
	}
}

func (i inventory) add(at object.Coordinates, wave int) {
	i.Entries = append(i.Entries, object.InventoryEntry{Coordinates: at, Wave: wave})
}

// skipMistyped skips a value of a deployer that has another type than expected.
func (l *lexer) skipMistyped(it *item, path, want string) error {
	if l.token() != 'n' {
		inventory{&it.facts.inventory}.unread(path + " is not " + want)
	}
	return l.skip()
}

// suspended, kubeConfig and serviceAccount are fields of several deployers.
var (
	suspended      = lenientBool("spec.suspend", func(f *facts) *bool { return &f.delivery.suspended })
	kubeConfig     = remoteIf("spec.kubeConfig")
	serviceAccount = lenientText("spec.serviceAccountName", func(f *facts) *string { return &f.inventory.Account })
)

// remoteIf returns a field that an object has if its deployer applies to another cluster.
func remoteIf(path string) factField {
	return factField{path: path, keep: keepFields(nil), read: func(l *lexer, it *item, _ string, _ bool) error {
		it.facts.delivery.remote = l.token() != 'n'
		return l.skip()
	}}
}

func lenientBool(path string, at func(*facts) *bool) factField {
	return factField{path: path, keep: keepValue, read: func(l *lexer, it *item, path string, _ bool) error {
		return l.lenientBool(it, at(&it.facts), path)
	}}
}

func lenientText(path string, at func(*facts) *string) factField {
	return factField{path: path, keep: keepValue, read: func(l *lexer, it *item, path string, _ bool) error {
		return l.lenientText(it, at(&it.facts), path)
	}}
}

func (l *lexer) lenientBool(it *item, to *bool, path string) (err error) {
	if c := l.token(); c != 't' && c != 'f' {
		return l.skipMistyped(it, path, "a boolean")
	}
	*to, _, err = l.boolean(path)
	return err
}

// lenientText reads a string. Of several values, the first one stays.
func (l *lexer) lenientText(it *item, to *string, path string) error {
	switch {
	case l.token() != '"':
		return l.skipMistyped(it, path, "a string")
	case *to != "":
		return l.skip()
	}
	return l.repeated(to, path)
}

func (l *lexer) lenientInteger(it *item, to *int64, path string) (err error) {
	if c := l.token(); c != '-' && (c < '0' || c > '9') {
		return l.skipMistyped(it, path, "a number")
	}
	*to, _, err = l.integer(path)
	return err
}

// lenientMembers calls read for each member of a mapping. A key of fields is read, another one skipped.
func (l *lexer) lenientMembers(it *item, path string, fields map[string]func(path string) error) error {
	if l.token() != '{' {
		return l.skipMistyped(it, path, "a mapping")
	}
	return l.wanted(path, path, false, fields)
}

func (l *lexer) textInto(it *item, to *string) func(string) error {
	return func(path string) error { return l.lenientText(it, to, path) }
}

func (l *lexer) boolInto(it *item, to *bool) func(string) error {
	return func(path string) error { return l.lenientBool(it, to, path) }
}

func (l *lexer) integerInto(it *item, to *int64) func(string) error {
	return func(path string) error { return l.lenientInteger(it, to, path) }
}

func (l *lexer) destination(it *item, path string, _ bool) error {
	d := &it.facts.delivery
	return l.lenientMembers(it, path, map[string]func(string) error{"server": l.textInto(it, &d.server), "name": l.textInto(it, &d.cluster)})
}

func (l *lexer) syncPolicy(it *item, path string, _ bool) error {
	return l.lenientMembers(it, path, map[string]func(string) error{"syncOptions": func(path string) error {
		return l.lenientEntries(it, path, func() error {
			option := ""
			err := l.lenientText(it, &option, path)
			it.facts.delivery.options = append(it.facts.delivery.options, option)
			return err
		})
	}})
}

func (l *lexer) uninstall(it *item, path string, _ bool) error {
	return l.lenientMembers(it, path, map[string]func(string) error{
		"keepHistory": l.boolInto(it, &it.facts.delivery.keepsHistory), "deletionPropagation": l.textInto(it, &it.facts.inventory.Propagation),
	})
}

func (l *lexer) releaseHistory(it *item, path string, _ bool) error {
	return l.lenientEntries(it, path, func() error {
		var r release
		err := l.lenientMembers(it, path, map[string]func(string) error{"name": l.textInto(it, &r.name), "version": l.integerInto(it, &r.version)})
		it.facts.delivery.releases = append(it.facts.delivery.releases, r)
		return err
	})
}

// managedResources reads status.resources of an Argo CD Application.
func (l *lexer) managedResources(it *item, path string, _ bool) error {
	it.facts.delivery.listed = l.token() != 'n'
	return l.inventoryList(it, path, func() (e object.InventoryEntry, err error) {
		confirm, wave := false, int64(0)
		err = l.lenientMembers(it, path, map[string]func(string) error{
			"group": l.textInto(it, &e.Group), "kind": l.textInto(it, &e.Kind), "namespace": l.textInto(it, &e.Namespace), "name": l.textInto(it, &e.Name),
			"syncWave": l.integerInto(it, &wave), "requiresDeletionConfirmation": l.boolInto(it, &confirm),
		})
		e.Wave, e.Confirm = int(wave), confirm
		return e, err
	})
}

// inventoryEntries is the field status.inventory of Flux: a mapping with the list entries.
var inventoryEntries = factField{
	path: "status.inventory",
	keep: keepFields(map[string]*keep{"entries": {each: keepFields(nil, "id", "v")}}),
	read: func(l *lexer, it *item, path string, _ bool) error {
		it.facts.delivery.listed = l.token() != 'n'
		return l.lenientMembers(it, path, map[string]func(string) error{"entries": func(path string) error {
			return l.inventoryList(it, path, func() (object.InventoryEntry, error) {
				id, version := "", ""
				err := l.lenientMembers(it, path, map[string]func(string) error{"id": l.textInto(it, &id), "v": l.textInto(it, &version)})
				return object.InventoryEntry{Coordinates: parseInventoryID(id), Version: version}, err
			})
		}})
	},
}

// oldInventory is the field status.snapshot of Kustomizations of the version v1beta1.
var oldInventory = factField{path: "status.snapshot", keep: keepFields(nil), read: func(l *lexer, it *item, _ string, _ bool) error {
	it.facts.delivery.listedBefore = l.token() != 'n'
	return l.skip()
}}

// inventoryList adds what read returns for each entry of a list to the inventory. An entry without kind
// or name leaves the inventory incomplete.
func (l *lexer) inventoryList(it *item, path string, read func() (object.InventoryEntry, error)) error {
	n := 0
	return l.lenientEntries(it, path, func() error {
		err := l.charge(2 * entryBytes)
		var e object.InventoryEntry
		if err == nil {
			e, err = read()
		}
		if err == nil && (e.Kind == "" || e.Name == "") {
			inventory{&it.facts.inventory}.unread("entry " + strconv.Itoa(n) + " of " + path + " names no object")
		} else if err == nil {
			it.facts.inventory.Entries = append(it.facts.inventory.Entries, e)
		}
		n++
		return err
	})
}

// lenientEntries calls read for each entry of a list.
func (l *lexer) lenientEntries(it *item, path string, read func() error) error {
	if l.token() != '[' {
		return l.skipMistyped(it, path, "a list")
	}
	return l.elements(path, read)
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
