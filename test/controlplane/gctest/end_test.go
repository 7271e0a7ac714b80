package gctest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/gctest"
)

// When a test has ended no goroutine of its collector is left, whatever it was doing.
func TestNoGoroutineIsLeft(t *testing.T) {
	s := enter(t)
	others := goleak.IgnoreCurrent()
	for i := range 5 {
		t.Run("", func(t *testing.T) {
			gc := gctest.Start(t, s.config)
			for j := range 20 {
				s.configMap(fmt.Sprintf("garbage-%d-%d", i, j), nil, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "nobody", UID: "nobody"})
			}
			if i%2 == 0 {
				s.settled(gc)
			}
		})
	}
	goleak.VerifyNone(t, others)
}

// failing is a test that is expected to fail.
type failing struct {
	testing.TB
	said     string
	cleanups []func()
}

func (f *failing) Helper()          {}
func (f *failing) Cleanup(c func()) { f.cleanups = append(f.cleanups, c) }
func (f *failing) Fatalf(format string, args ...any) {
	f.said += fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// A config without rights fails the test, and what may not be read is named.
func TestWithoutRights(t *testing.T) {
	s := enter(t)
	for name, verbs := range map[string][]string{"nothing": nil, "no list": {"get", "watch"}, "no watch": {"get", "list"}} {
		t.Run(name, func(t *testing.T) {
			user := "user-" + strings.ReplaceAll(name, " ", "-")
			role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}}
			if verbs != nil {
				role.Rules = []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: verbs}}
			}
			binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: user},
				Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
				RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user}}
			if _, err := s.client.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.client.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			config := rest.CopyConfig(s.config)
			config.Impersonate.UserName = user
			f := &failing{TB: t}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				gctest.Start(f, config)
			}()
			<-ended
			for _, c := range f.cleanups {
				c()
			}
			for _, part := range []string{"may not", " is forbidden: User \"" + user + "\" cannot"} {
				if !strings.Contains(f.said, part) {
					t.Errorf("nothing says %q: %s", part, f.said)
				}
			}
		})
	}
}
