package cloud_test

import (
	"testing"

	"lamplighter.dev/shared/cloud"
)

func TestNodeLoad_IsReadAsItWasWritten(t *testing.T) {
	l := cloud.NodeLoad{
		Namespace: "shop", Kind: "Deployment", Name: "web", Pods: 2, Cores: 0.1 + 0.2, GiB: 1.5,
		GPUs: 1,
	}
	if got := l.String(); got != "shop/Deployment/web 2 0.3 1.5 1" {
		t.Errorf("written as %q", got)
	}
	l.Cores = 0.3
	if got, err := cloud.ParseNodeLoad(l.String()); err != nil || got != l {
		t.Errorf("read as %+v, %v", got, err)
	}
	for _, s := range []string{
		"", "shop/web 1 1 1 1", "a/b/c 1 1 1", "a/b/c x 1 1 1", "a/b/c 1 -1 1 1",
		"a/b/c 1 NaN 1 1", "a/b/c 1 1 Inf 1",
	} {
		if got, err := cloud.ParseNodeLoad(s); err == nil {
			t.Errorf("%q is read as %+v", s, got)
		}
	}
}
