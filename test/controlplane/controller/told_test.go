package controller

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// logged are the lines of the log that contain all of the texts.
func (p *process) logged(texts ...string) []string {
	var lines []string
	for line := range strings.Lines(p.log.String()) {
		fits := true
		for _, text := range texts {
			fits = fits && strings.Contains(line, text)
		}
		if fits {
			lines = append(lines, line)
		}
	}
	return lines
}

// events are the messages of the events about an object with a reason.
func events(t *testing.T, uid, reason string) []string {
	t.Helper()
	text, err := ask(t, http.MethodGet, "/api/v1/events?fieldSelector=involvedObject.uid="+uid+",reason="+reason, nil)
	if err != nil {
		t.Fatal(err)
	}
	var l struct{ Items []struct{ Message string } }
	if err := json.Unmarshal(text, &l); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range l.Items {
		all = append(all, e.Message)
	}
	return all
}

// Every DELETE and PATCH that an enforcing controller sends is a line of the log, at
// any verbosity, and an event; both name the owner that is absent.
func TestTellsWhatItDoes(t *testing.T) {
	namespace := space(t)
	garbage := configMap(t, namespace, "garbage", absent())
	owner := configMap(t, namespace, "owner")
	dangling := configMap(t, namespace, "dangling", mapOwner("owner", owner.UID), absent())
	released := configMap(t, namespace, "released", mapOwner("orphaning", configMap(t, namespace, "orphaning").UID))
	remove(t, path(namespace, "configmaps", "orphaning"), "Orphan")
	p := start(t, "--mode=enforce", "--absent-owner-grace-period=0", "--sync-period=1s", "-v=0").collecting()
	until(t, "all is collected", func() bool {
		return get(t, path(namespace, "configmaps", "garbage")) == nil && get(t, path(namespace, "configmaps", "orphaning")) == nil &&
			len(get(t, path(namespace, "configmaps", "dangling")).OwnerReferences) == 1
	})
	for _, c := range []struct {
		name, uid, reason string
		line              []string
		event             string
	}{
		{"garbage", garbage.UID, "NoExistingOwner", []string{"msg=deleted", "ConfigMap " + namespace + "/never"}, "Deleted (Background): owner v1 ConfigMap " + namespace + "/never"},
		{"dangling", dangling.UID, "DanglingReferences", []string{"msg=patched", `"remove owner references"`, "ConfigMap " + namespace + "/never"}, "Removed owner references: owner v1 ConfigMap " + namespace + "/never"},
		{"released", released.UID, "OrphanDependents", []string{"msg=patched", `"remove owner references"`}, "Removed owner references"},
	} {
		texts := append(c.line, "level=INFO", namespace+"/"+c.name+`"`, "uid="+c.uid, "reason="+c.reason)
		until(t, c.name+" is told of", func() bool { return len(events(t, c.uid, c.reason)) > 0 })
		if lines := p.logged(texts...); len(lines) != 1 {
			t.Errorf("%s: %d lines with %q:\n%s", c.name, len(lines), texts, p.log.String())
		}
		if got := events(t, c.uid, c.reason); len(got) != 1 || !strings.HasPrefix(got[0], c.event) {
			t.Errorf("%s: the events are %q, want %q…", c.name, got, c.event)
		}
	}
	if lines := p.logged("msg=patched", `"remove finalizer orphan"`, namespace+"/orphaning"); len(lines) != 1 {
		t.Errorf("the finalizer: %q\n%s", lines, p.log.String())
	}
	if lines := p.logged("would "); len(lines) > 0 {
		t.Errorf("it would, and does: %q", lines)
	}
}

// What an observing controller would do is a line of the log, once, and nothing is
// called refused.
func TestTellsWhatItWouldDo(t *testing.T) {
	namespace := space(t)
	garbage := configMap(t, namespace, "garbage", absent())
	owner := configMap(t, namespace, "owner")
	dangling := configMap(t, namespace, "dangling", mapOwner("owner", owner.UID), absent())
	p := start(t, "--absent-owner-grace-period=0", "--sync-period=1s").collecting()
	until(t, "both are told of", func() bool {
		return len(events(t, garbage.UID, "NoExistingOwner")) > 0 && len(events(t, dangling.UID, "DanglingReferences")) > 0
	})
	for name, texts := range map[string][]string{
		"garbage":  {`msg="would delete"`, "level=INFO", "uid=" + garbage.UID, "reason=NoExistingOwner", "ConfigMap " + namespace + "/never"},
		"dangling": {`msg="would patch"`, "level=INFO", "uid=" + dangling.UID, "reason=DanglingReferences", "ConfigMap " + namespace + "/never"},
	} {
		if lines := p.logged(texts...); len(lines) != 1 {
			t.Errorf("%s: %d lines with %q:\n%s", name, len(lines), texts, p.log.String())
		}
	}
	want := "Would delete (observe mode): owner v1 ConfigMap " + namespace + "/never"
	if got := events(t, garbage.UID, "NoExistingOwner"); len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Errorf("the events are %q, want %q…", got, want)
	}
	if lines := p.logged("refused"); len(lines) > 0 {
		t.Errorf("something is called refused: %q", lines)
	}
	if lines := p.logged("msg=deleted"); len(lines) > 0 || get(t, path(namespace, "configmaps", "garbage")) == nil {
		t.Errorf("it is said to delete: %q", lines)
	}
}
