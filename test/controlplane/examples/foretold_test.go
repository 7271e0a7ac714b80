package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// prediction is a command of ours, and what makes come true what it foretells.
type prediction struct {
	command  string
	act      []string // arguments of kubectl; none to start the collector
	outcomes string   // how many of which kind are foretold, so that it is not nothing
}

// The garbage of payments goes along with whatever is deleted.
var foretold = []prediction{
	{"collect --rules=upstream", nil, "4 Deleted, 1 Pruned, 1 Blocked"},
	{
		"dry-run delete cronjob/report -n shop",
		[]string{"delete", "cronjob/report"},
		"9 Deleted, 1 Pruned, 1 Blocked",
	},
	{
		"dry-run delete statefulset/db -n shop --cascade=foreground",
		[]string{"delete", "statefulset/db", "--cascade=foreground"},
		"10 Deleted, 1 Pruned, 2 Kept, 1 Blocked",
	},
	{
		"dry-run delete daemonset/log-shipper -n shop --cascade=orphan",
		[]string{"delete", "daemonset/log-shipper", "--cascade=orphan"},
		"5 Deleted, 3 Orphaned, 1 Pruned, 1 Blocked",
	},
	{
		"dry-run delete deployment/web -n shop",
		[]string{"delete", "deployment/web"},
		"9 Deleted, 1 Pruned, 1 Blocked",
	},
	{
		"dry-run delete service/web -n shop",
		[]string{"delete", "service/web"},
		"8 Deleted, 1 Pruned, 1 Blocked",
	},
}

// comesTrue asks the program what becomes of everything there is, acts, and looks.
func comesTrue(t *testing.T, s *stage, program string) {
	t.Helper()
	before := look(t, s)
	written, err := s.everything(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	dump := filepath.Join(t.TempDir(), "dump.yaml")
	if err := os.WriteFile(dump, written, 0o600); err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]string{}
	for _, p := range foretold {
		p.ask(t, program, dump, outcomes)
	}
	for _, p := range foretold {
		if p.act == nil {
			err = s.Controllers(append([]string{collector}, others...)...)
		} else {
			_, err = s.Kubectl(t.Context(), nil, append(slices.Clone(p.act), "-n", "shop", "--wait=false")...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var diff string
	err = until(t.Context(), "what was foretold has happened", func() (bool, error) {
		if _, err := s.stopMarked(t.Context()); err != nil {
			return false, err
		}
		diff = cmp.Diff([]string(nil), before.differs(look(t, s), outcomes))
		return diff == "", nil
	})
	if err != nil {
		t.Errorf("%v (-known +found):\n%s", err, diff)
	}
	if err := s.settle(t.Context()); err != nil { // nothing else happens
		t.Error(err)
	}
	if diff := cmp.Diff([]string(nil), before.differs(look(t, s), outcomes)); diff != "" {
		t.Errorf("afterwards something else was so than was foretold (-known +found):\n%s", diff)
	}
}

// ask notes what the program foretells, by uid. The story is minutes old, and nothing was
// made while the dump was taken, which only the test knows: so it vouches for that.
func (p prediction) ask(t *testing.T, program, dump string, outcomes map[string]string) {
	t.Helper()
	text, err := exec.Command(program, append(strings.Fields(p.command), "-o", "json", "--treat-missing-as-absent", "--from", dump)...).Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", p.command, err, text)
	}
	var plan struct {
		Effects []struct {
			Object  struct{ UID string }
			Outcome string
		}
	}
	if err := json.Unmarshal(text, &plan); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range plan.Effects {
		outcomes[e.Object.UID] = e.Outcome
		count[e.Outcome]++
	}
	var counts []string
	for _, outcome := range []string{"Deleted", "Orphaned", "Pruned", "Kept", "Blocked", "Unknown"} {
		if count[outcome] > 0 {
			counts = append(counts, fmt.Sprint(count[outcome], " ", outcome))
		}
	}
	if got := strings.Join(counts, ", "); got != p.outcomes {
		t.Errorf("%s foretells %s, want %s", p.command, got, p.outcomes)
	}
}

// lists are where the objects are that somebody deletes, and those beside them.
var lists = []string{
	"/api/v1/pods", "/api/v1/configmaps", "/api/v1/secrets", "/api/v1/serviceaccounts", "/api/v1/services", "/api/v1/endpoints",
	"/api/v1/persistentvolumeclaims", "/api/v1/persistentvolumes", "/api/v1/namespaces", "/api/v1/nodes",
	"/apis/apps/v1/deployments", "/apis/apps/v1/replicasets", "/apis/apps/v1/statefulsets", "/apis/apps/v1/daemonsets",
	"/apis/apps/v1/controllerrevisions", "/apis/batch/v1/jobs", "/apis/batch/v1/cronjobs",
	"/apis/discovery.k8s.io/v1/endpointslices", "/apis/coordination.k8s.io/v1/leases", "/apis/networking.k8s.io/v1/ipaddresses",
	"/apis/example.com/v1/databases", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
}

// sight is what there is, by uid.
type sight struct{ name, state map[string]string }

const (
	there   = "there"
	marked  = "being deleted"
	nowhere = "gone"
)

func look(t *testing.T, s *stage) sight {
	t.Helper()
	seen := sight{state: map[string]string{}, name: map[string]string{}}
	for _, l := range lists {
		var list struct {
			Items []struct {
				Metadata struct{ Name, UID, DeletionTimestamp string }
			}
		}
		if err := s.get(t.Context(), l, &list); err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Items {
			name := o.Metadata.Name
			if path.Base(l) == "ipaddresses" && name != "10.0.0.1" {
				name = "10.0.0.11" // there are two
			}
			seen.name[o.Metadata.UID] = path.Base(l) + " " + name
			seen.state[o.Metadata.UID] = there
			if o.Metadata.DeletionTimestamp != "" {
				seen.state[o.Metadata.UID] = marked
			}
		}
	}
	return seen
}

// differs says of which objects something else has become than was foretold.
func (before sight) differs(after sight, outcomes map[string]string) []string {
	var wrong []string
	for uid, name := range before.name {
		want := before.state[uid]
		switch outcomes[uid] {
		case "Deleted":
			want = nowhere
		case "Blocked":
			want = marked
		}
		got, ok := after.state[uid]
		if !ok {
			got = nowhere
		}
		if got != want {
			wrong = append(wrong, fmt.Sprintf("%s: it is %s, foretold is %s", name, got, want))
		}
	}
	slices.Sort(wrong)
	return wrong
}
