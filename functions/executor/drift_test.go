package executor

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// managedWeb returns the Deployment web as Argo CD manages it.
func managedWeb(t *testing.T) (*fixture, *kubernetestwin.Cluster, execution.Action) {
	t.Helper()
	w, tw := newNamespace(t)
	tw.Change("deployments", "shop/web", func(o map[string]any) {
		o["metadata"].(map[string]any)["annotations"] = map[string]any{
			"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:shop/web",
		}
	})
	w.resources = nil
	w.listResources(cloud.KubernetesDeployment, kubernetes.Region)
	return w, tw, w.submit(w.pick(cloud.KubernetesDeployment, cloud.Running), cloud.Stop)
}

func TestDrift_WhatAControllerBringsBackFailsTheActionWithItsName(t *testing.T) {
	w, tw, a := managedWeb(t)
	tw.Heal("deployments", "shop/web")
	a = w.driveBeside(tw, a)
	if a.Status != execution.Failed || a.ErrorMessage == "" || !strings.Contains(a.ErrorMessage, "drift") ||
		!strings.Contains(a.ErrorMessage, "Argo CD (shop:apps/Deployment:shop/web) manages it") {
		t.Errorf("%s: %q; want it failed, with the drift and who manages it", a.Status, a.ErrorMessage)
	}
}

// Controllers reconcile every one to three minutes. A workload that stays at 0 is observed for 90 seconds before it
// is reported as stopped.
func TestDrift_WhatStaysAt0IsLookedAtAgainBeforeItIsCalledStopped(t *testing.T) {
	w, tw, a := managedWeb(t)
	asked := w.Clock.Now()
	if a = w.driveBeside(tw, a); a.Status != execution.Succeeded {
		t.Fatalf("%+v", a)
	}
	if took := a.CompletedAt.Sub(asked); took < 90*time.Second || took > 150*time.Second {
		t.Errorf("it was called stopped after %s; want 90 s or a little more", took)
	}
}
