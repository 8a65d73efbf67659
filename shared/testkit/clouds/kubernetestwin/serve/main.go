// Command serve plays two Kubernetes clusters on this machine, so that the walk of docs/operations/kubernetes.md needs
// none: one that is opened by the kubeconfig at /kubeconfig, and one of EKS, in an AWS that answers beside it. It
// forgets everything when it ends.
package main

import (
	"context"
	"log"
	"net/http"
	"time"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
	"lamplighter.dev/shared/testkit/clouds/twin"
)

func main() {
	twin.Command{
		Port: "5003", Pace: time.Second, Usage: "how long a step of a controller takes", Start: start,
	}.Run()
}

func start(ctx context.Context, address string, pace time.Duration) http.Handler {
	own, prod, aws := kubernetestwin.New(), kubernetestwin.New(), &awstwin.Cloud{}
	prod.ChangeUID("8b2f0c51-0000-4000-8000-00000000e4c5")
	prod.Accept = awstwin.OpensClusters
	aws.AddCluster(awstwin.Cluster{
		Name: "prod", Region: "eu-west-1", Endpoint: prod.URL(),
		Authority: prod.Authority(),
	})
	for _, c := range []*kubernetestwin.Cluster{own, prod} {
		c.Fill()
		go c.Move(ctx, clock.System{}, pace)
	}
	paths := http.NewServeMux()
	paths.HandleFunc("GET /kubeconfig", own.ServeKubeconfig)
	paths.Handle("/", aws)
	log.Printf("a kubeconfig at http://%s/kubeconfig, AWS account %s with key %s at http://%s", address,
		awstwin.Account, awstwin.AccessKey, address)
	return paths
}
