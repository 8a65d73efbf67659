package aws

import (
	"context"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/compute"
	"lamplighter.dev/shared/cloud/aws/containers"
	"lamplighter.dev/shared/cloud/aws/databases"
	"lamplighter.dev/shared/cloud/aws/resource"
)

// Uids come from our own store, but originally from a provider. A strange uid must never name another resource.
func FuzzNamesInARNs(f *testing.F) {
	f.Add("arn:aws:rds:eu-west-1:111122223333:db:orders")
	f.Add("arn:aws:autoscaling:eu-west-1:1:autoScalingGroup:0f:autoScalingGroupName/a/b")
	f.Add("arn:aws:ecs:eu-west-1:1:service/shop/api")
	f.Add("arn:aws:eks:eu-west-1:1:nodegroup/prod/blue/0f")
	f.Add("arn:::::")
	f.Fuzz(func(t *testing.T, uid string) {
		for _, name := range []string{databases.DatabaseName(uid), databases.ClusterName(uid), compute.GroupName(uid)} {
			if name != "" && (!strings.HasSuffix(uid, name) || !strings.HasPrefix(uid, "arn:")) {
				t.Errorf("%q names %q", uid, name)
			}
		}
		if cluster, name, ok := containers.SplitServiceUID(uid); ok &&
			!strings.HasSuffix(uid, "service/"+cluster+"/"+name) {
			t.Errorf("%q names %q in %q", uid, name, cluster)
		}
		if cluster, name, ok := containers.NodegroupPath(uid); ok &&
			!strings.Contains(uid, ":nodegroup/"+cluster+"/"+name+"/") {
			t.Errorf("%q names %q in %q", uid, name, cluster)
		}
	})
}

// A page token comes back from a store or a client. The listing answers or refuses any token, and moves on.
func FuzzNestedPages(f *testing.F) {
	f.Add("")
	f.Add(`{"o":"2","q":["a","b"],"i":"1"}`)
	f.Add(`{"q":[]}`)
	f.Add("[")
	l := resource.Lister{
		Outer: func(context.Context, string) ([]string, string, error) { return []string{"a"}, "", nil },
		Inner: func(_ context.Context, thing, page string) ([]cloud.Resource, string, error) {
			return []cloud.Resource{{UID: thing + page}}, "", nil
		},
	}
	f.Fuzz(func(t *testing.T, page string) {
		p, err := l.ListPage(t.Context(), page)
		if err != nil {
			if cloud.ClassOf(err) != cloud.Invalid {
				t.Errorf("page %q: %v", page, err)
			}
			return
		}
		if p.Next != "" && p.Next == page {
			t.Errorf("page %q leads to itself", page)
		}
	})
}
