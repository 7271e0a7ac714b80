package controller

import (
	"fmt"
	"net/http"
	"testing"
)

// definition makes a kind of its own in two versions; the older one is stored. With a
// conversion webhook that nobody answers the newer one, which is preferred, cannot be
// read.
func definition(t *testing.T, plural string, broken bool) (root string, remove func()) {
	t.Helper()
	kind := "K" + plural
	version := func(name string, stored bool) body {
		return body{"name": name, "served": true, "storage": stored, "schema": body{"openAPIV3Schema": body{
			"type": "object", "x-kubernetes-preserve-unknown-fields": true,
		}}}
	}
	spec := body{
		"group": "example.com", "scope": "Namespaced",
		"names":    body{"plural": plural, "singular": plural[:len(plural)-1], "kind": kind, "listKind": kind + "List"},
		"versions": []body{version("v2", !broken), version("v1", broken)},
	}
	if broken {
		spec["conversion"] = body{"strategy": "Webhook", "webhook": body{
			"conversionReviewVersions": []string{"v1"}, "clientConfig": body{"url": "https://127.0.0.1:1/convert"},
		}}
	}
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	name := plural + ".example.com"
	post(t, definitions, body{"metadata": body{"name": name}, "spec": spec})
	gone := false
	remove = func() {
		if gone {
			return
		}
		gone = true
		if _, err := ask(t, http.MethodDelete, definitions+"/"+name, nil); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(remove)
	served := []string{"v2", "v1"}
	if broken {
		served = served[1:] // the other one cannot be listed
	}
	for _, v := range served {
		until(t, plural+" are served", func() bool {
			_, err := ask(t, http.MethodGet, "/apis/example.com/"+v+"/"+plural, nil)
			return err == nil
		})
	}
	return "/apis/example.com", remove
}

// New kinds are followed, removed ones are dropped, and one that is broken costs
// nothing but its own edges.
func TestKinds(t *testing.T) {
	namespace := space(t)
	root, _ := definition(t, "woes", true)
	woe := post(t, fmt.Sprintf("%s/v1/namespaces/%s/woes", root, namespace), body{
		"apiVersion": "example.com/v1", "kind": "Kwoes", "metadata": body{"name": "woe"},
	})
	p := start(t, "--mode=enforce", "--absent-owner-grace-period=0", "--sync-period=500ms").collecting()
	synced := p.metric("kubectl_gc_kinds", `state="synced"`)

	root, remove := definition(t, "fines", false)
	post(t, fmt.Sprintf("%s/v2/namespaces/%s/fines", root, namespace), body{
		"apiVersion": "example.com/v2", "kind": "Kfines", "metadata": body{"name": "garbage", "ownerReferences": []body{absent()}},
	})
	until(t, "an object of a new kind is collected", func() bool {
		return get(t, fmt.Sprintf("%s/v2/namespaces/%s/fines/garbage", root, namespace)) == nil
	})
	remove()
	until(t, "the removed kind is dropped", func() bool { return p.metric("kubectl_gc_kinds", `state="synced"`) == synced })

	until(t, "the broken kind is counted", func() bool { return p.metric("kubectl_gc_kinds", `state="broken"`) == 1 })
	configMap(t, namespace, "its", body{"apiVersion": "example.com/v2", "kind": "Kwoes", "name": "woe", "uid": woe.UID})
	configMap(t, namespace, "garbage", absent())
	until(t, "the garbage goes", func() bool { return get(t, path(namespace, "configmaps", "garbage")) == nil })
	until(t, "the dependent of what cannot be read is unknown", func() bool { return p.metric("kubectl_gc_unknown_total") >= 1 })
	if get(t, path(namespace, "configmaps", "its")) == nil {
		t.Error("the dependent of what cannot be read is gone")
	}
	p.says("collecting")
}
