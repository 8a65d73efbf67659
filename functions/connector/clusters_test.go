package connector_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/connector"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
)

// surveyClusters asks for clusters of a simulated account with these credentials.
func surveyClusters(t *testing.T, credentials map[string]string,
	change func(*inventory.Question)) (inventory.ClustersFound,
	error,
) {
	t.Helper()
	w, q := openAccount(t, credentials)
	q.Ask, q.Clusters.Limit = inventory.AskClusters, 20
	if change != nil {
		change(&q)
	}
	var got inventory.ClustersFound
	err := w.Invoke(t.Context(), inventory.Connector, q, &got)
	return got, err
}

// clientFault returns a page in one line: "region/name status …".
func clientFault(f inventory.ClustersFound) string {
	var out []string
	for _, c := range f.Clusters {
		out = append(out, fmt.Sprintf("%s/%s %s", c.Region, c.Name, c.Status))
	}
	return strings.Join(out, ", ")
}

func TestAPageOfClusters(t *testing.T) {
	three := map[string]string{"regions": "us-west-2,us-east-1,eu-west-1"}
	gone := inventory.ClusterName{Region: "us-east-1", Name: "gone"}
	tests := []struct {
		name        string
		credentials map[string]string
		change      func(*inventory.Question)
		want        string
		total       int
		failures    string
	}{
		{
			"all of them, by region", three, nil, "eu-west-1/main active, us-east-1/main active, us-west-2/main active",
			3,
			"",
		},
		{"the last ones first", three, func(q *inventory.Question) {
			q.Clusters.Last, q.Clusters.Limit = true, 2
		}, "us-west-2/main active, us-east-1/main active", 3, ""},
		{"the second page", three, func(q *inventory.Question) { q.Clusters.Skip = 2 }, "us-west-2/main active", 3, ""},
		{"past the last page", three, func(q *inventory.Question) { q.Clusters.Skip = 9 }, "", 3, ""},
		{"one region", three, func(q *inventory.Question) {
			q.Clusters.Region = "us-east-1"
		}, "us-east-1/main active", 1, ""},
		{"a region that the account does not have", three, func(q *inventory.Question) {
			q.Clusters.Region = "mars"
		}, "", 0, ""},
		{"the regions that the account names", three, func(q *inventory.Question) {
			q.Account.Regions = []string{"us-west-2"}
		}, "us-west-2/main active", 1, ""},
		{"a known one that is no more", three, func(q *inventory.Question) {
			q.Clusters.Known, q.Clusters.ByName = []inventory.ClusterName{gone, {Region: "us-east-1", Name: "main"}},
				true
		}, "us-east-1/gone deleted, eu-west-1/main active, us-east-1/main active, us-west-2/main active", 4, ""},
		{"a known one of another region than is asked for", three, func(q *inventory.Question) {
			q.Clusters.Known, q.Clusters.Region = []inventory.ClusterName{gone}, "eu-west-1"
		}, "eu-west-1/main active", 1, ""},
		{
			"a known one in a region that was left out of the account",
			map[string]string{"regions": "1"},
			func(q *inventory.Question) {
				q.Clusters.Known = []inventory.ClusterName{{Region: "mars", Name: "base"}}
			}, "mars/base unknown, us-east-1/main active", 2, "",
		},
		{
			"a region that is denied, with what is known there",
			map[string]string{"regions": "2", "denied": "us-east-1"},
			func(q *inventory.Question) {
				q.Clusters.Known = []inventory.ClusterName{gone}
			}, "us-east-1/gone unknown, us-east-2/main active", 2, "us-east-1/",
		},
		{
			"clusters that may not be described",
			map[string]string{"regions": "1", "denied": "eks:DescribeCluster"},
			nil,
			"us-east-1/main unknown", 1, "us-east-1/main",
		},
		{
			"regions that may not be listed, but are named",
			map[string]string{"regions": "2", "denied": "account:ListRegions"},
			func(q *inventory.Question) {
				q.Account.Regions = []string{"us-east-2"}
			}, "us-east-2/main active", 1, "",
		},
		{"no node groups, no clusters", map[string]string{"kinds": cloud.AWSEC2}, nil, "", 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := surveyClusters(t, tt.credentials, tt.change)
			if err != nil || clientFault(got) != tt.want || got.Total != tt.total {
				t.Fatalf("%s, total %d, %v; want %s, total %d", clientFault(got), got.Total, err, tt.want, tt.total)
			}
			var failures []string
			for _, f := range got.Failures {
				failures = append(failures, f.Region+"/"+f.Name)
				if !strings.Contains(f.Error, "is not authorized") {
					t.Errorf("%+v does not say why", f)
				}
			}
			if strings.Join(failures, " ") != tt.failures {
				t.Errorf("failures %v; want %q", failures, tt.failures)
			}
		})
	}
}

func TestClustersThatCannotBeReadAtAll(t *testing.T) {
	tests := []struct {
		name        string
		credentials map[string]string
		kind        fault.Kind
		says        string
	}{
		{
			"no region may be listed",
			map[string]string{"denied": "eks:ListClusters"},
			fault.Invalid,
			"not authorized to perform: eks:ListClusters",
		},
		{
			"the regions may not be listed",
			map[string]string{"denied": "account:ListRegions"},
			fault.Invalid,
			"account:ListRegions",
		},
		{"refused credentials", map[string]string{"refuse": "true"}, fault.Invalid, "security token"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := surveyClusters(t, tt.credentials, nil)
			if !fault.Is(err, tt.kind) || !strings.Contains(fault.Message(err), tt.says) {
				t.Errorf("%v; want kind %d with %q", err, tt.kind, tt.says)
			}
		})
	}
}

func TestASlowCloudEndsWithTheCaller(t *testing.T) {
	w, q := openAccount(t, map[string]string{"callMillis": "60000"})
	q.Autoscaling = inventory.AutoscalingQuestion{Type: cloud.AWSASG, Region: "us-east-1", UID: "arn:simulated:web"}
	for _, q.Ask = range []string{
		inventory.AskClusters, inventory.AskClusterReview, inventory.AskAutoscaling,
		inventory.AskSetAutoscaling,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if err := w.Invoke(ctx, inventory.Connector, q, &inventory.ClustersFound{}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v; want it unavailable", q.Ask, err)
		}
	}
}

func TestOneCluster(t *testing.T) {
	tests := []struct {
		name         string
		credentials  map[string]string
		region, asks string
		kind         fault.Kind
		says         string
	}{
		{"is described", nil, "us-east-1", "main", 0, ""},
		{
			"is not there", nil, "us-east-1", "prod", fault.NotFound,
			`cloud account ca_1 has no cluster "prod" in region "us-east-1"`,
		},
		{"is in a region that is not there", nil, "mars", "main", fault.NotFound, `"mars"`},
		{
			"is in a region that was left out",
			map[string]string{"regions": "4"},
			"eu-west-1", "main", fault.NotFound,
			`"eu-west-1"`,
		},
		{
			"may not be described",
			map[string]string{"denied": "eks:DescribeCluster"},
			"us-east-1", "main", fault.Invalid,
			"not authorized",
		},
		{
			"is described where regions may not be listed",
			map[string]string{"denied": "account:ListRegions"},
			"us-east-1", "main", 0, "",
		},
		{
			"has refused credentials",
			map[string]string{"refuse": "true"},
			"us-east-1", "main", fault.Invalid,
			"security token",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, q := openAccount(t, tt.credentials)
			q.Ask, q.Clusters = inventory.AskClusterReview, inventory.ClusterQuery{Region: tt.region, Name: tt.asks}
			if tt.region == "eu-west-1" {
				q.Account.Regions = []string{"us-east-1"}
			}
			var got cloud.Cluster
			err := w.Invoke(t.Context(), inventory.Connector, q, &got)
			switch {
			case tt.says == "" &&
				(err != nil || got.Name != "main" || got.Status != cloud.ClusterActive || got.NodeCount == nil ||
					got.Version == ""):
				t.Errorf("%+v, %v", got, err)
			case tt.says != "" && (!fault.Is(err, tt.kind) || !strings.Contains(fault.Message(err), tt.says)):
				t.Errorf("%v; want kind %d with %q", err, tt.kind, tt.says)
			}
		})
	}
}

// bare is a cloud that runs no clusters.
type bare struct{ cloud.Provider }

func (bare) Connect(context.Context, cloud.Account) (cloud.Conn, error) {
	return struct{ cloud.Conn }{}, nil
}

func TestACloudWithoutClustersHasNone(t *testing.T) {
	p := &platform.Platform{Sealer: seal.NewEnvelope(nil)}
	w := lambdacall.Local{inventory.Connector: connector.Handler(p, cloud.Providers{"bare": bare{}})}
	q := inventory.Question{
		Ask: inventory.AskClusters, Org: org,
		Account: inventory.Account{ID: "ca_1", Provider: "bare"},
	}
	var got inventory.ClustersFound
	if err := w.Invoke(t.Context(), inventory.Connector, q, &got); err != nil || got.Total != 0 ||
		len(got.Clusters) != 0 {
		t.Errorf("%+v, %v; want none", got, err)
	}
	q.Ask, q.Clusters = inventory.AskClusterReview, inventory.ClusterQuery{Region: "r", Name: "prod"}
	if err := w.Invoke(t.Context(), inventory.Connector, q, &cloud.Cluster{}); !fault.Is(err, fault.NotFound) {
		t.Errorf("%v; want it not found", err)
	}
}
