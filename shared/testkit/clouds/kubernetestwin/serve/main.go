// Command serve plays two Kubernetes clusters on this machine, so that the walk of docs/operations/kubernetes.md needs
// none: one that is opened by the kubeconfig at /kubeconfig, and one of EKS, in an AWS that answers beside it. It
// forgets everything when it ends.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

func main() {
	port := flag.String("port", "5003", "where it listens, on 127.0.0.1")
	pace := flag.Duration("pace", time.Second, "how long a step of a controller takes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	own, prod, aws := kubernetestwin.New(), kubernetestwin.New(), &awstwin.Cloud{}
	prod.ChangeUID("8b2f0c51-0000-4000-8000-00000000e4c5")
	prod.Accept = awstwin.OpensClusters
	aws.AddCluster(awstwin.Cluster{
		Name: "prod", Region: "eu-west-1", Endpoint: prod.URL(),
		Authority: prod.Authority(),
	})
	for _, c := range []*kubernetestwin.Cluster{own, prod} {
		c.Fill()
		go c.Move(ctx, clock.System{}, *pace)
	}
	paths := http.NewServeMux()
	paths.HandleFunc("GET /kubeconfig", own.ServeKubeconfig)
	paths.Handle("/", aws)
	s := &http.Server{Addr: net.JoinHostPort("127.0.0.1", *port), Handler: paths, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = s.Close() // it is the end
	}()
	log.Printf("a kubeconfig at http://%s/kubeconfig, AWS account %s with key %s at http://%s", s.Addr, awstwin.Account,
		awstwin.AccessKey, s.Addr)
	if err := s.ListenAndServe(); ctx.Err() == nil {
		log.Print(err)
	}
}
