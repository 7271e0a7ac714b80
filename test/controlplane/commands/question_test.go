package commands

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pondering is somebody at a terminal who is slow to answer: something happens while the
// question is open.
type pondering struct {
	io.Reader
	once    *sync.Once
	happens func()
}

func (pondering) AtTerminal() bool { return true }

// Read has it happen, and answers.
func (p pondering) Read(b []byte) (int, error) {
	p.once.Do(p.happens)
	return p.Reader.Read(b)
}

// TestWhileTheQuestionIsOpen changes what goes with the target after the plan was shown
// and before it is agreed to. It is another plan then, and nothing is written.
func TestWhileTheQuestionIsOpen(t *testing.T) {
	const owned = `metadata: {name: late, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: OWNER}]}}`
	owner := []string{"configmap/owner"}
	namespace := []string{"namespace/NAMESPACE", "--unlock=namespace"}
	patch := func(patch string) func(*stage) {
		return func(s *stage) {
			s.kubectl(nil, "patch", "configmap/below", "-n", s.namespace, "--type=merge", "-p", s.fill(patch))
		}
	}
	create := func(manifest string) func(*stage) { return func(s *stage) { s.create(s.fill(manifest)) } }
	for name, x := range map[string]struct {
		args   []string
		change func(*stage)
		says   string
	}{
		"protected":                 {owner, patch(`{"metadata":{"annotations":{"kubectl-gc.io/protect":"true"}}}`), "cm/below is protected now by its annotation"},
		"protected by another word": {owner, patch(`{"metadata":{"annotations":{"kubectl-gc.io/protect":"False"}}}`), "cm/below is protected now by its annotation"},
		"protected, and no backup":  {[]string{"configmap/owner", "--no-backup"}, patch(`{"metadata":{"annotations":{"kubectl-gc.io/protect":"true"}}}`), "cm/below is protected now by its annotation"},
		"Helm is to keep it":        {owner, patch(`{"metadata":{"annotations":{"helm.sh/resource-policy":"keep"}}}`), "cm/below is protected now by its annotation"},
		"held":                      {owner, patch(`{"metadata":{"finalizers":["example.com/lock"]}}`), "cm/below has finalizer example.com/lock now"},
		"owned by another":          {owner, patch(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"other","uid":"OTHER"}]}}`), "cm/below is owned by"},
		"orphaned":                  {owner, patch(`{"metadata":{"ownerReferences":null}}`), "cm/below is not owned by"},
		"one more dependent":        {owner, create(`{apiVersion: v1, kind: ConfigMap, ` + owned), "cm/late"},
		"one more, of another kind": {owner, create(`{apiVersion: v1, kind: Secret, ` + owned), "secret/late"},
		"adopted": {owner, func(s *stage) {
			s.kubectl(nil, "patch", "configmap/other", "-n", s.namespace, "--type=merge", "-p", s.fill(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"OWNER"}]}}`))
		}, "cm/other"},
		"orphan, one more dependent":      {[]string{"configmap/owner", "--cascade=orphan"}, create(`{apiVersion: v1, kind: ConfigMap, ` + owned), "cm/late"},
		"content is protected":            {namespace, patch(`{"metadata":{"annotations":{"kubectl-gc.io/protect":"true"}}}`), "cm/below is protected now by its annotation"},
		"content is held":                 {namespace, patch(`{"metadata":{"finalizers":["example.com/lock"]}}`), "cm/below has finalizer example.com/lock now"},
		"more content":                    {namespace, create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: late}}`), "cm/late"},
		"more content, of another kind":   {namespace, create(`{apiVersion: v1, kind: Secret, metadata: {name: late}}`), "secret/late"},
		"the second target is protected":  {[]string{"configmap/other", "configmap/below"}, patch(`{"metadata":{"annotations":{"kubectl-gc.io/protect":"true"}}}`), "cm/below is protected now by its annotation"},
		"the second target is written to": {[]string{"configmap/other", "configmap/below"}, patch(`{"data":{"key":"new"}}`), "has changed since the plan was made"},
	} {
		t.Run(name, func(t *testing.T) {
			s := enter(t)
			s.configMap("below", "owner", s.configMap("owner", "", ""))
			s.configMap("other", "", "")
			var before map[string]string
			var once sync.Once
			person := pondering{s.said(), &once, func() { x.change(s); before = s.world() }}
			args := []string{"delete", "-n", s.namespace, "--wait=false"}
			for _, arg := range x.args {
				args = append(args, s.fill(arg))
			}
			a := s.typed(s.ctx, person, args...)
			if diff := cmp.Diff(before, s.world()); diff != "" {
				t.Errorf("something was written:\n%s", diff)
			}
			a.want(t, 5, x.says, "nothing was written")
		})
	}
}

// TestGrowsWhileTheQuestionIsOpen adds what would go, too, where the metadata of the kinds and
// namespaces of the plan do not show it: an object of a kind that is new, a dependent of another kind,
// and what goes without an owner reference.
func TestGrowsWhileTheQuestionIsOpen(t *testing.T) {
	widgets := func(s *stage) string {
		crd, group := s.definition()
		s.create(crd)
		s.t.Cleanup(func() { s.kubectl(nil, "delete", "crd", "widgets."+group, "--wait=false") })
		s.until("widgets are served", func() bool {
			_, err := plane.Kubectl(s.ctx, nil, "get", "widgets."+group, "-n", s.namespace)
			return err == nil
		})
		return group + "/v1"
	}
	remains := func(s *stage, kind string) {
		s.t.Cleanup(func() { s.kubectl(nil, "delete", kind+"/"+s.namespace, "--wait=false") })
	}
	for name, x := range map[string]struct {
		args   []string
		before func(*stage)
		change func(*stage)
		says   string
	}{
		"dependent of a held object": {
			[]string{"remove-finalizer", "configmap/held", "example.com/lock"}, func(s *stage) {
				s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/lock]}}`)
				s.kubectl(nil, "delete", "configmap/held", "-n", s.namespace, "--wait=false")
			},
			func(s *stage) {
				s.create(`{apiVersion: v1, kind: Secret, metadata: {name: late, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: held, uid: ` + s.uid("held") + `}]}}`)
			}, "secret/late has a new owner that is to be deleted",
		},
		"content of a new kind": {
			[]string{"delete", "namespace/NAMESPACE", "--unlock=namespace"}, func(*stage) {},
			func(s *stage) {
				s.create(`{apiVersion: ` + widgets(s) + `, kind: Widget, metadata: {name: late, annotations: {kubectl-gc.io/protect: "true"}}}`)
			}, "/late is new, and would go, too",
		},
		"dependent of a new kind": {
			[]string{"delete", "configmap/owner"}, func(*stage) {},
			func(s *stage) {
				s.create(s.fill(`{apiVersion: ` + widgets(s) + `, kind: Widget, metadata: {name: late, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: OWNER}]}}`))
			}, "/late has a new owner that is to be deleted",
		},
		"dependent of a ClusterRole": {
			[]string{"delete", "clusterrole/NAMESPACE"}, func(s *stage) {
				s.create(s.fill(`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: NAMESPACE}}`))
				remains(s, "clusterrole")
			},
			func(s *stage) {
				s.create(s.fill(`{apiVersion: v1, kind: Secret, metadata: {name: late, ownerReferences: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: NAMESPACE, uid: ` +
					s.says("clusterrole/"+s.namespace, "{.metadata.uid}") + `}]}}`))
			}, "secret/late has a new owner that is to be deleted",
		},
		"pod on a node": {
			[]string{"delete", "node/NAMESPACE", "--unlock=node"}, func(s *stage) {
				s.create(s.fill(`{apiVersion: v1, kind: Node, metadata: {name: NAMESPACE}}`))
				remains(s, "node")
			},
			func(s *stage) {
				s.create(s.fill(`{apiVersion: v1, kind: Pod, metadata: {name: late}, spec: {nodeName: NAMESPACE, automountServiceAccountToken: false, containers: [{name: a, image: a}]}}`))
			}, "pod/late goes with what is deleted now",
		},
		"token of a ServiceAccount": {
			[]string{"delete", "serviceaccount/account"}, func(s *stage) { s.kubectl(nil, "create", "serviceaccount", "account", "-n", s.namespace) },
			func(s *stage) {
				s.create(`{apiVersion: v1, kind: Secret, metadata: {name: late, annotations: {kubernetes.io/service-account.name: account}}, type: kubernetes.io/service-account-token}`)
			}, "secret/late goes with what is deleted now",
		},
		"reclaim policy of a volume": {
			[]string{"delete", "persistentvolumeclaim/data", "--unlock=pvc"}, func(s *stage) {
				s.create(s.fill(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: none, volumeName: NAMESPACE, resources: {requests: {storage: 1Gi}}}}`))
				s.create(s.fill(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: NAMESPACE}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: none, hostPath: {path: /none}, ` +
					`persistentVolumeReclaimPolicy: Retain, claimRef: {namespace: NAMESPACE, name: data, uid: ` + s.says("persistentvolumeclaim/data", "{.metadata.uid}") + `}}}`))
				remains(s, "persistentvolume")
			},
			func(s *stage) {
				s.kubectl(nil, "patch", "persistentvolume/"+s.namespace, "-p", `{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`)
			}, "goes with what is deleted now",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := enter(t)
			s.kubectl(nil, "create", "serviceaccount", "default", "-n", s.namespace)
			s.configMap("owner", "", "")
			x.before(s)
			var before map[string]string
			var once sync.Once
			person := pondering{s.said(), &once, func() { x.change(s); before = s.world() }}
			var args []string
			for _, arg := range x.args {
				args = append(args, s.fill(arg))
			}
			args = append(args, "-n", s.namespace, "--wait=false")
			a := s.typed(s.ctx, person, args...)
			s.unchanged(before)
			a.want(t, 5, x.says, "nothing was written")
		})
	}
}

// TestReplacedWhileTheQuestionIsOpen deletes the target and creates another one of its name: the new
// one stays, and the run says that it is there.
func TestReplacedWhileTheQuestionIsOpen(t *testing.T) {
	s := enter(t)
	s.configMap("target", "", "")
	var once sync.Once
	person := pondering{s.said(), &once, func() {
		s.kubectl(nil, "delete", "configmap/target", "-n", s.namespace)
		s.configMap("target", "", "")
	}}
	s.typed(s.ctx, person, "delete", "configmap/target", "-n", s.namespace).want(t, 3, "it was already gone", "CreatedAgain")
	s.uid("target")
}

// TestDigestCoversTheContent writes to the target after its plan was shown: the digest of
// that plan is not the one of the object as it is now. A status is no such write.
func TestDigestCoversTheContent(t *testing.T) {
	for name, x := range map[string]struct {
		object, change string
		more           []string
		same           bool
	}{
		"data":              {`{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}`, `{"data":{"key":"new"}}`, nil, false},
		"label":             {`{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}`, `{"metadata":{"labels":{"key":"new"}}}`, nil, false},
		"annotation":        {`{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}`, `{"metadata":{"annotations":{"key":"new"}}}`, nil, false},
		"Secret":            {`{apiVersion: v1, kind: Secret, metadata: {name: x}}`, `{"stringData":{"key":"new"}}`, nil, false},
		"metadata of a Pod": {`{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {nodeName: none, automountServiceAccountToken: false, containers: [{name: a, image: a}]}}`, `{"metadata":{"labels":{"key":"new"}}}`, nil, false},
		"status of a Pod":   {`{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {nodeName: none, automountServiceAccountToken: false, containers: [{name: a, image: a}]}}`, `{"status":{"message":"new"}}`, []string{"--subresource=status"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := enter(t)
			s.kubectl(nil, "create", "serviceaccount", "default", "-n", s.namespace)
			s.create(x.object)
			_, kind, _ := strings.Cut(x.object, "kind: ")
			kind, _, _ = strings.Cut(kind, ",")
			args := []string{"delete", kind + "/x", "-n", s.namespace, "--wait=false"}
			confirm := s.confirmation(args...)
			s.kubectl(nil, append([]string{"patch", kind + "/x", "-n", s.namespace, "--type=merge", "-p", x.change}, x.more...)...)
			before := s.world()
			if x.same {
				s.gc(s.ctx, append(args, confirm)...).want(t, 0)
				return
			}
			s.gc(s.ctx, append(args, confirm)...).want(t, 5, "has the digest")
			s.unchanged(before)
		})
	}
}
