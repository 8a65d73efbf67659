package aws_test

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/twin"
)

// RDS, unlike EC2, refuses to stop what is stopped: the engine reads again and finds it done.
func TestARepeatedStopOfADatabaseIsToBeReadAgain(t *testing.T) {
	for kind, d := range map[string]twin.Database{
		"aws-rds":    {ID: "orders", Region: region, Engine: "postgres"},
		"aws-aurora": {ID: "checkout", Region: region, Engine: "aurora-mysql", IsCluster: true},
	} {
		tw, c := connect(t)
		uid := tw.AddDatabase(d).ARN()
		if err := act(t, c, cloud.Stop, kind, cloud.Target{UID: uid}); err != nil {
			t.Fatalf("stop of %s: %v", uid, err)
		}
		wantClass(t, "stop while stopping", act(t, c, cloud.Stop, kind, cloud.Target{UID: uid}), cloud.Moving)
		wantClass(t, "start while stopping", act(t, c, cloud.Start, kind, cloud.Target{UID: uid}), cloud.Moving)
		tw.SettleAll()
		wantClass(t, "stop of what is stopped", act(t, c, cloud.Stop, kind, cloud.Target{UID: uid}), cloud.Moving)
		if s := state(t, c, kind, uid); s.Status != cloud.Stopped {
			t.Errorf("%s reads %s; want stopped", uid, s.Status)
		}
	}
}

// After seven days RDS starts a database by itself. The state tells when, and once it is available again, a stop is
// accepted; while it is starting it is not.
func TestADatabaseThatStartedByItselfCanBeStoppedAgain(t *testing.T) {
	tw, c := connect(t)
	uid := tw.AddDatabase(twin.Database{ID: "orders", Region: region, Engine: "postgres", Status: "stopped"}).ARN()
	if s := state(t, c, "aws-rds", uid); s.Reason != "RDS starts it by itself at 2026-02-03T04:05:06Z" {
		t.Errorf("a stopped database says %q; want when it will start", s.Reason)
	}
	tw.ElapseSevenDays()
	if s := state(t, c, "aws-rds", uid); s.Status != cloud.Starting || s.Native != "starting" {
		t.Errorf("after seven days: %+v; want starting", s)
	}
	wantClass(t, "stop while it starts", act(t, c, cloud.Stop, "aws-rds", cloud.Target{UID: uid}), cloud.Moving)
	tw.SettleAll()
	if s := state(t, c, "aws-rds", uid); s.Status != cloud.Running || s.Native != "available" {
		t.Errorf("after it started: %+v; want running", s)
	}
	if err := act(t, c, cloud.Stop, "aws-rds", cloud.Target{UID: uid}); err != nil {
		t.Errorf("stop once it is available: %v", err)
	}
}

func TestStatesOfDatabases(t *testing.T) {
	for native, want := range map[string]cloud.Status{
		"available": cloud.Running, "storage-optimization": cloud.Running, "stopped": cloud.Stopped, "starting": cloud.Starting,
		"stopping": cloud.Stopping, "modifying": cloud.Pending, "backing-up": cloud.Pending, "configuring-enhanced-monitoring": cloud.Pending,
		"creating": cloud.Pending, "deleting": cloud.Terminated, "failed": cloud.Unknown, "incompatible-network": cloud.Unknown,
		"storage-full": cloud.Unknown, "inaccessible-encryption-credentials": cloud.Unknown,
	} {
		tw, c := connect(t)
		uid := tw.AddDatabase(twin.Database{ID: "orders", Region: region, Engine: "postgres", Status: native}).ARN()
		s := state(t, c, "aws-rds", uid)
		if s.Status != want || s.Native != native {
			t.Errorf("%s reads as %s (%s); want %s", native, s.Status, s.Native, want)
		}
		if want == cloud.Unknown && !strings.Contains(s.Reason, native) {
			t.Errorf("%s gives no reason", native)
		}
	}
}

// A namesake in another region or account must not be acted on.
func TestAnARNOfElsewhereDoesNotExistHere(t *testing.T) {
	tw, c := connect(t)
	here := tw.AddDatabase(twin.Database{ID: "orders", Region: region, Engine: "postgres"})
	there := (&twin.Database{ID: "orders", Region: "us-east-1"}).ARN()
	wantClass(t, "stop by the ARN of another region", act(t, c, cloud.Stop, "aws-rds", cloud.Target{UID: there}), cloud.NotFound)
	a := keys(twin.AccessKey)
	a.NativeID = "999999999999"
	wantClass(t, "stop by the ARN of another account", act(t, open(t, tw, a), cloud.Stop, "aws-rds", cloud.Target{UID: here.ARN()}), cloud.NotFound)
	wantClass(t, "stop by an ARN of another service", act(t, c, cloud.Stop, "aws-rds", cloud.Target{UID: strings.Replace(here.ARN(), ":db:", ":cluster:", 1)}), cloud.NotFound)
	if here.Status != "available" {
		t.Errorf("the namesake is %s", here.Status)
	}
}

func TestAMemberNamesItsCluster(t *testing.T) {
	tw, c := connect(t)
	cluster := tw.AddDatabase(twin.Database{ID: "checkout", Region: region, Engine: "aurora-mysql", IsCluster: true})
	tw.AddDatabase(twin.Database{ID: "checkout-1", Region: region, Engine: "aurora-mysql", Cluster: "checkout"})
	p, err := c.List(t.Context(), "aws-rds", region, "")
	if err != nil || len(p.Resources) != 1 || p.Resources[0].ParentUID != cluster.ARN() {
		t.Errorf("List = %+v, %v; want the member below %s", p.Resources, err, cluster.ARN())
	}
}

// DescribeDBClusters tells of the clusters of three services: each is listed as one of its own, so that none has two records.
func TestAClusterIsListedAsOneOfItsEngineAlone(t *testing.T) {
	tw, c := connect(t)
	engines := map[string]string{"aws-aurora": "aurora-mysql", "aws-docdb": "docdb", "aws-neptune": "neptune"}
	for kind, engine := range engines {
		tw.AddDatabase(twin.Database{ID: kind, Region: region, Engine: engine, IsCluster: true})
	}
	for kind := range engines {
		p, err := c.List(t.Context(), kind, region, "")
		if err != nil || len(p.Resources) != 1 || p.Resources[0].Name != kind {
			t.Errorf("List(%s) = %+v, %v; want the one", kind, p.Resources, err)
		}
	}
}
