package kube

import (
	"context"
	"io"
	"net/http"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestRaw: a backup has exactly the bytes of the server, and only those of an object.
func TestRaw(t *testing.T) {
	s, c := ready(t)
	text := ` {"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"settings","namespace":"shop","uid":"u","resourceVersion":"12"},"data":{"n":"1e999"}}` + "\n"
	s.on(settingsPath, answer200(jsonType, []byte(text)))
	got, o, err := c.Raw(context.Background(), settings)
	if err != nil || string(got) != text || o.UID != "u" || o.ResourceVersion != "12" {
		t.Errorf("%s, %+v, %v", got, o, err)
	}
	for name, answer := range map[string]http.HandlerFunc{
		"a page":         answer200("text/html", []byte("<html>")),
		"a part":         answer200(jsonType, []byte(text[:60])),
		"another kind":   answer200(jsonType, []byte(`{"kind":"Secret","apiVersion":"v1","metadata":{"name":"settings","namespace":"shop"}}`)),
		"another object": answer200(jsonType, []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"other","namespace":"shop"}}`)),
		"metadata":       one(named("settings"), "1"),
	} {
		t.Run(name, func(t *testing.T) {
			s.on(settingsPath, answer)
			if got, _, err := c.Raw(context.Background(), settings); err == nil || got != nil {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}

// TestCreate: the created object is the one that the server returns, and nothing is overwritten.
func TestCreate(t *testing.T) {
	s, c := ready(t)
	s.on(shopConfigMaps, one(named("settings"), "13"))
	o, err := c.Create(context.Background(), settings, []byte("{}"), true)
	if err != nil || o.UID != "uid-settings" {
		t.Errorf("%+v, %v", o, err)
	}
	s.on(shopConfigMaps, refuse(409, metav1.StatusReasonAlreadyExists))
	if _, err := c.Create(context.Background(), settings, []byte("{}"), false); !apierrors.IsAlreadyExists(err) {
		t.Error(err)
	}
	if asked := s.requests("POST"); !slices.Equal(asked, []string{"POST " + shopConfigMaps + "?dryRun=All", "POST " + shopConfigMaps}) {
		t.Errorf("asked %q", asked)
	}
}

func TestPatchRaw(t *testing.T) {
	s, c := ready(t)
	var sent string
	s.on(settingsPath+"/status", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = r.Method + " " + r.URL.RawQuery + " " + r.Header.Get("Content-Type") + " " + string(body)
		one(named("settings"), "13")(w, r)
	})
	if err := c.PatchRaw(context.Background(), settings, "status", types.JSONPatchType, []byte("[]"), true); err != nil {
		t.Fatal(err)
	}
	if want := "PATCH dryRun=All application/json-patch+json []"; sent != want {
		t.Errorf("sent %q", sent)
	}
}
