// Package ginkgo tests deletes with envtest, gctest, Ginkgo and Gomega.
package ginkgo

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kubectl-gc/kubectl-gc/gctest"
)

func TestDeletes(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Deletes")
}

var (
	cfg *rest.Config
	c   client.Client
	gc  *gctest.GC
	ns  string // of this spec alone
)

var _ = BeforeSuite(func() {
	env := &envtest.Environment{CRDDirectoryPaths: []string{"../crd"}}
	var err error
	cfg, err = env.Start()
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(env.Stop)
	c, err = client.New(cfg, client.Options{})
	Expect(err).NotTo(HaveOccurred())
})

var _ = BeforeEach(func(ctx SpecContext) {
	gc = gctest.Start(GinkgoT(), cfg)
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "spec-"}}
	Expect(c.Create(ctx, made)).To(Succeed())
	ns = made.Name
})
