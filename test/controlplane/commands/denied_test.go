package commands

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// denials is a webhook that denies the delete of the ConfigMaps named "denied" in a namespace with the
// code that it holds; 0 is no code.
type denials struct{ code atomic.Int32 }

func (d *denials) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Request    struct {
			UID  string `json:"uid"`
			Name string `json:"name"`
		} `json:"request"`
	}
	_ = json.NewDecoder(r.Body).Decode(&review)
	response := body{"uid": review.Request.UID, "allowed": review.Request.Name != "denied"}
	if review.Request.Name == "denied" {
		response["status"] = body{"code": d.code.Load(), "message": "not this one"}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body{"apiVersion": review.APIVersion, "kind": review.Kind, "response": response})
}

// denying installs the webhook, and waits until it is in force.
func (s *stage) denying() *denials {
	s.t.Helper()
	d := &denials{}
	server := httptest.NewUnstartedServer(d)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the API server also only looks whether it listens
	server.StartTLS()
	s.t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	hook := []byte(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: denials-` + s.namespace + `}
webhooks:
- name: denials.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {url: "` + server.URL + `/", caBundle: ` + base64.StdEncoding.EncodeToString(ca) + `}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ` + s.namespace + `}}
`)
	s.kubectl(hook, "create", "-f", "-")
	s.t.Cleanup(func() {
		s.kubectl(hook, "delete", "-f", "-")
		s.until("the webhook is gone", func() bool {
			err := s.tryDelete("denied")
			return err == nil || strings.Contains(err.Error(), "NotFound") // the collector may have deleted it
		})
	})
	s.until("the webhook is in force", func() bool { return s.tryDelete("denied") != nil })
	return d
}

// TestDeniedWithAnyCode has a webhook deny one of two deletes with codes that an API server also uses for
// something else, such as a changed or missing object: neither is sent.
func TestDeniedWithAnyCode(t *testing.T) {
	s := enter(t)
	s.configMap("plain", "", "")
	s.configMap("denied", "", "")
	d := s.denying()
	before := s.world()
	for _, code := range []int{0, http.StatusBadRequest, http.StatusUnauthorized, http.StatusNotFound, http.StatusConflict,
		http.StatusRequestEntityTooLarge, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		d.code.Store(int32(code))
		p := s.proxy(nil)
		a := s.confirmed(append([]string{"delete", "configmap/plain", "configmap/denied", "-n", s.namespace}, p.flags()...)...)
		t.Run(strconv.Itoa(code), func(t *testing.T) { a.want(t, 5, "not this one", "nothing was written") })
		if w := p.writes(); len(w) > 0 {
			t.Errorf("%d: written: %+v", code, w)
		}
	}
	if diff := cmp.Diff(before, s.world()); diff != "" {
		t.Errorf("something was written:\n%s", diff)
	}
}

// TestDeniedBelow has a webhook deny the collector one of two dependents: the run names it when its time is
// over, and does not say that everything is as predicted.
func TestDeniedBelow(t *testing.T) {
	s := enter(t, collector)
	root := s.configMap("root", "", "")
	s.configMap("denied", "root", root)
	s.configMap("beside", "root", root)
	s.denying()
	r := s.confirmed("delete", "configmap/root", "-n", s.namespace, "--timeout=2s", "-o", "json").want(t, 6).run(t)
	if len(r.Pending) != 1 || r.Pending[0].Object.Name != "denied" || !r.Pending[0].NotBegun || r.State != report.TimedOut || r.Summary.Pending != 1 {
		t.Errorf("%s, %+v, pending %+v", r.State, r.Summary, r.Pending)
	}
	s.configMaps("denied")
}
