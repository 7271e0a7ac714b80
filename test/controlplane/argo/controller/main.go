// Command controller is Argo CD's application controller, as the judge of plans for Applications: the code
// that finds and deletes objects is Argo CD's. It has no repository server, so that it never syncs.
package main

import (
	"context"
	"log"
	"os"
	"time"

	commitclient "github.com/argoproj/argo-cd/v2/commitserver/apiclient"
	"github.com/argoproj/argo-cd/v2/controller"
	"github.com/argoproj/argo-cd/v2/controller/sharding"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	appclientset "github.com/argoproj/argo-cd/v2/pkg/client/clientset/versioned"
	repoclient "github.com/argoproj/argo-cd/v2/reposerver/apiclient"
	"github.com/argoproj/argo-cd/v2/util/argo"
	"github.com/argoproj/argo-cd/v2/util/argo/normalizers"
	cacheutil "github.com/argoproj/argo-cd/v2/util/cache"
	"github.com/argoproj/argo-cd/v2/util/cache/appstate"
	kubeutil "github.com/argoproj/argo-cd/v2/util/kube"
	"github.com/argoproj/argo-cd/v2/util/settings"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	namespace = "argocd"
	// nowhere is the address of the servers that it does not have.
	nowhere = "127.0.0.1:1"
)

func main() {
	if err := run(context.Background(), os.Getenv("KUBECONFIG")); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	if err := v1alpha1.SetK8SConfigDefaults(config); err != nil {
		return err
	}
	client, apps := kubernetes.NewForConfigOrDie(config), appclientset.NewForConfigOrDie(config)
	manager := settings.NewSettingsManager(ctx, client, namespace)
	shards, err := sharding.GetClusterSharding(client, manager, "legacy", false)
	if err != nil {
		return err
	}
	state := appstate.NewCache(cacheutil.NewCache(cacheutil.NewInMemoryCache(time.Hour)), time.Minute)
	c, err := controller.NewApplicationController(
		namespace, manager, client, apps,
		repoclient.NewRepoServerClientset(nowhere, 1, repoclient.TLSConfiguration{DisableTLS: true}),
		commitclient.NewCommitServerClientset(nowhere), state, kubeutil.NewKubectl(),
		time.Hour, 0, 0, time.Second, nil, 0, 0, 0, 0, 0, nil, nil, 0, true, shards, nil, nil, false, false,
		normalizers.IgnoreNormalizerOpts{}, argo.DefaultEnableEventList(), false)
	if err != nil {
		return err
	}
	c.GetMetricsServer().Addr = "127.0.0.1:0" // it listens on all addresses otherwise
	c.Run(ctx, 4, 4)
	return nil
}
