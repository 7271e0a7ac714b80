package finalizer

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// kapp labels what it applies with a number, which is in the data of the ConfigMap of the app. Values of
// ConfigMaps are not kept. The ConfigMaps of its changes have two labels, the number and the name of the app:
//
//	app/web           of kapp-controller: the app web.app
//	cm/web.app-change-x2s4n   app-change-app=web.app, app-change-app-label=1700000000000000000
//	deploy/web        app=1700000000000000000
//
// Source: kapp, pkg/kapp/app/recorded_app.go, recorded_app_changes.go Begin.
const (
	kappLabel       = "kapp.k14s.io/app"
	kappNameLabel   = "kapp.k14s.io/app-change-app"
	kappChangeLabel = "kapp.k14s.io/app-change-app-label"
	// kappSuffix may follow the name of an app in that of its ConfigMap.
	kappSuffix = ".apps.k14s.io"
)

// appliedByKapp returns what kapp deletes with an app that has one of the names, in the namespace of from. facts are
// the facts of from; nil if the snapshot lacks them.
func (v *Inventories) appliedByKapp(from *object.Object, facts *object.InventoryFacts, names ...string) object.InventoryFacts {
	if facts == nil {
		return object.InventoryFacts{Unread: "the snapshot lacks its spec"}
	}
	f := *facts
	if f.Keeps || f.Remote {
		return f
	}
	numbers := map[string]bool{}
	for _, name := range names {
		for _, change := range v.labelledWith(kappNameLabel, name) {
			if number := change.Labels.Get(kappChangeLabel); change.Namespace == from.Namespace && number != "" {
				numbers[number] = true
			}
		}
	}
	switch len(numbers) {
	case 0:
		f.Unread = "no ConfigMap of a change has the label of what it has applied, and its ConfigMap " + names[0] + " is not read"
		return f
	case 1:
	default:
		f.Unread = "the ConfigMaps of its changes have different labels, and its ConfigMap " + names[0] + ", which has the right one, is not read"
		return f
	}
	for number := range numbers {
		all := func(*object.Object) bool { return true }
		f.Entries = slices.Concat(inventoryOf(v.labelledWith(kappLabel, number), all).Entries,
			inventoryOf(v.labelledWith(kappChangeLabel, number), all).Entries)
	}
	for _, name := range names {
		for _, record := range []string{name, name + kappSuffix} {
			f.Entries = append(f.Entries, object.InventoryEntry{Coordinates: object.Coordinates{Kind: object.ConfigMap.Kind, Namespace: from.Namespace, Name: record}})
		}
	}
	return f
}

// keptByKapp reports whether kapp leaves an object of an app.
//
// Source: kapp, pkg/kapp/clusterapply/delete_change.go ApplyStrategy.
func keptByKapp(o *object.Object) bool {
	return o.Protection().Has(object.KappKeep) ||
		o.Is(object.Namespace) && slices.Contains([]string{"default", "kube-node-lease", "kube-public", "kube-system"}, o.Name)
}

// lacksKappAccount returns the pause of an App without its ServiceAccount: kapp-controller cannot act as that
// account, so it deletes nothing and leaves the finalizer. If the namespace is being deleted, it may skip the deletes.
//
// Source: kapp-controller, pkg/app/app_deploy.go delete, pkg/app/app.go noopDeleteDueToTerminatingNamespaces.
func lacksKappAccount(snap *snapshot.Snapshot, o *object.Object, _ *object.OutsideFacts) Pause {
	facts := o.Inventory()
	if !o.Is(object.KappApp) || facts == nil || facts.Keeps || facts.Account == "" ||
		!snap.Covers(object.ServiceAccount.Resource(), o.Namespace) || snap.FindKind(object.ServiceAccount, o.Namespace, facts.Account) != nil {
		return Pause{}
	}
	if namespace := snap.FindKind(object.Namespace, "", o.Namespace); namespace != nil && namespace.BeingDeleted() {
		return Pause{}
	}
	return Pause{Why: "its ServiceAccount " + facts.Account + " does not exist"}
}
