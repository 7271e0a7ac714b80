package shapes

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// customResources are 200 CRDs in 20 groups. Of each group's ten kinds, one instance owns one of
// the next kind, and each has a Secret.
func customResources(w *world) {
	w.begin()
	const groups, each = 20, 10
	var kinds [groups][each]object.Kind
	for i := range kinds {
		for j := range kinds[i] {
			name := fmt.Sprintf("Part%02d%d", i, j)
			kinds[i][j] = w.define(fmt.Sprintf("group-%02d.example.com", i), name, strings.ToLower(name)+"s", true)
		}
		w.space(fmt.Sprintf("project-%02d", i))
	}
	for i := 0; !w.full(); i++ {
		namespace := fmt.Sprintf("project-%02d", i/groups%groups)
		var owner []*object.Object
		for j, kind := range &kinds[i%groups] {
			part := w.add(kind, namespace, fmt.Sprintf("part-%06d", i), owner...)
			w.add(object.Secret, namespace, strings.ToLower(kind.Kind)+"-"+part.Name, part)
			if i == 0 {
				switch j {
				case 0:
					w.middle, w.namespace = part, namespace
				case each - 1:
					w.asked = append(w.asked, part.Ref)
				}
			}
			owner = []*object.Object{part}
		}
	}
	first := kinds[0][0]
	for _, o := range w.objects {
		if o.Is(object.CRD) && o.Name == first.Plural+"."+first.Group {
			w.root = o
		}
	}
}

// operators is a platform with tenants, of a hundred objects and ten levels each.
func operators(w *world) {
	w.begin()
	const group = "platform.example.com"
	kind := func(name string, namespaced bool) object.Kind {
		return w.define(group, name, strings.ToLower(name)+"s", namespaced)
	}
	platform, tenant := kind("Platform", false), kind("Tenant", false)
	levels := []struct {
		kind object.Kind
		each int
	}{
		{kind("Workspace", true), 1}, {kind("Environment", true), 2}, {kind("Application", true), 2}, {kind("Component", true), 2},
		{kind("Store", true), 1}, {kind("Pool", true), 2}, {kind("Machine", true), 2}, {object.Secret, 1},
	}
	w.root = w.add(platform, "", "main")
	for i := 0; !w.full(); i++ {
		namespace := fmt.Sprintf("tenant-%05d", i)
		owners := []*object.Object{w.add(tenant, "", namespace, w.root)}
		w.space(namespace)
		for _, level := range levels {
			var next []*object.Object
			for _, owner := range owners {
				for range level.each {
					o := w.add(level.kind, namespace, fmt.Sprintf("%s-%02d", strings.ToLower(level.kind.Kind), len(next)), owner)
					if level.kind.Kind == "Machine" && len(next)%4 == 0 {
						o.Edit().Finalizers = []string{group + "/drain"}
					}
					next = append(next, o)
				}
			}
			owners = next
			if i == 0 && level.kind.Kind == "Environment" {
				w.middle, w.namespace = owners[0], namespace
			}
		}
		if i == 0 {
			w.asked = append(w.asked, owners[0].Ref)
		}
	}
}

// finalizers is a fleet of applications whose parts have finalizers. A tenth of the parts are
// being deleted, some of them in the foreground.
func finalizers(w *world) {
	w.begin()
	const group, hold = "fleet.example.com", "fleet.example.com/cleanup"
	fleet := w.define(group, "Fleet", "fleets", false)
	app, part := w.define(group, "App", "apps", true), w.define(group, "Part", "parts", true)
	w.root = w.add(fleet, "", "all")
	const spaces = 20
	for i := range spaces {
		w.space(fmt.Sprintf("fleet-%02d", i))
	}
	w.namespace = "fleet-15"
	for i := 0; !w.full(); i++ {
		namespace := fmt.Sprintf("fleet-%02d", i%spaces)
		owner := w.add(app, namespace, fmt.Sprintf("app-%06d", i), w.root)
		owner.Edit().Finalizers = []string{hold}
		claim, _ := w.claim(namespace, owner.Name, owner)
		w.pod(namespace, owner.Name, owner, object.Claim{Name: claim.Name})
		if i%10 == 0 {
			w.end(claim) // and its pod still uses it
		}
		for j := range 10 {
			o := w.add(part, namespace, fmt.Sprintf("%s-%d", owner.Name, j), owner)
			o.Edit().Finalizers = []string{hold}
			held := w.add(object.ConfigMap, namespace, o.Name, o)
			switch (i + j) % 20 {
			case 0:
				w.end(o)
				if w.middle == nil && namespace == w.namespace {
					w.middle = owner
					w.asked = append(w.asked, o.Ref, claim.Ref)
				}
			case 10:
				w.end(o)
				o.Lifecycle.Finalizers = []string{object.Foreground}
				held.Edit().Finalizers = []string{hold}
			}
		}
	}
	w.extra = append(w.extra, []string{"remove-finalizer", "parts." + group, hold, "--all-of-kind", "-A", "--unlock=leak", "--max-deletes=10000000"})
}

// volumeSnapshots has claims and a snapshot with its content for each of them. A tenth of the snapshots and the
// contents of another tenth are being deleted. One claim of each namespace has no volume.
func volumeSnapshots(w *world) {
	w.begin()
	const protection = "snapshot.storage.kubernetes.io/volumesnapshot"
	w.define(object.VolumeSnapshot.Group, object.VolumeSnapshot.Kind, object.VolumeSnapshot.Plural, true)
	w.define(object.VolumeSnapshotContent.Group, object.VolumeSnapshotContent.Kind, object.VolumeSnapshotContent.Plural, false)
	const spaces = 20
	for i := range spaces {
		if space := w.space(fmt.Sprintf("data-%02d", i)); i == spaces/2 {
			w.namespace, w.root = space.Name, space
		}
	}
	for i := 0; !w.full(); i++ {
		namespace, name := fmt.Sprintf("data-%02d", i%spaces), fmt.Sprintf("db-%05d", i/spaces)
		if i < spaces {
			w.add(object.PVC, namespace, name)
		} else {
			w.claim(namespace, name)
		}
		snap := w.add(object.VolumeSnapshot, namespace, name)
		snap.Edit().Finalizers = []string{protection + "-as-source-protection", protection + "-bound-protection"}
		content := w.add(object.VolumeSnapshotContent, "", "snapcontent-"+string(snap.UID))
		content.Edit().Finalizers = []string{protection + "content-bound-protection"}
		snap.Edit().Facts = &object.InventoryFacts{Entries: []object.InventoryEntry{{Coordinates: content.Coordinates()}}}
		content.Edit().Facts = &object.InventoryFacts{Entries: []object.InventoryEntry{{Coordinates: snap.Coordinates(), UID: snap.UID}}}
		switch {
		case i/spaces%10 == 4:
			w.end(snap)
		case i/spaces%10 == 6:
			w.end(content)
		}
		if w.middle == nil && namespace == w.namespace {
			w.middle = snap
			w.asked = append(w.asked, content.Ref)
		}
	}
}
