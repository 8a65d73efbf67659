package aws_test

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// RDS, unlike EC2, refuses to stop a stopped database. The engine reads it again and finds it stopped.
func TestARepeatedStopOfADatabaseIsToBeReadAgain(t *testing.T) {
	for kind, d := range map[string]awstwin.Database{
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

// After seven days RDS starts a database by itself. The state has the time. RDS refuses a stop while the database is
// starting, and accepts it once it is available again.
func TestADatabaseThatStartedByItselfCanBeStoppedAgain(t *testing.T) {
	tw, c := connect(t)
	uid := tw.AddDatabase(awstwin.Database{ID: "orders", Region: region, Engine: "postgres", Status: "stopped"}).ARN()
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
		"available": cloud.Running, "storage-optimization": cloud.Running, "stopped": cloud.Stopped,
		"starting": cloud.Starting,
		"stopping": cloud.Stopping, "modifying": cloud.Pending, "backing-up": cloud.Pending,
		"configuring-enhanced-monitoring": cloud.Pending,
		"creating":                        cloud.Pending, "deleting": cloud.Terminated, "failed": cloud.Unknown,
		"incompatible-network": cloud.Unknown,
		"storage-full":         cloud.Unknown, "inaccessible-encryption-credentials": cloud.Unknown,
	} {
		tw, c := connect(t)
		uid := tw.AddDatabase(awstwin.Database{ID: "orders", Region: region, Engine: "postgres", Status: native}).ARN()
		s := state(t, c, "aws-rds", uid)
		if s.Status != want || s.Native != native {
			t.Errorf("%s reads as %s (%s); want %s", native, s.Status, s.Native, want)
		}
		if want == cloud.Unknown && !strings.Contains(s.Reason, native) {
			t.Errorf("%s gives no reason", native)
		}
	}
}

// A resource of the same name in another region or account must not be acted on.
func TestAnARNOfElsewhereDoesNotExistHere(t *testing.T) {
	tw, c := connect(t)
	here := tw.AddDatabase(awstwin.Database{ID: "orders", Region: region, Engine: "postgres"})
	there := (&awstwin.Database{ID: "orders", Region: "us-east-1"}).ARN()
	wantClass(t, "stop by the ARN of another region", act(t, c, cloud.Stop, "aws-rds", cloud.Target{UID: there}),
		cloud.NotFound)
	a := keys(awstwin.AccessKey)
	a.NativeID = "999999999999"
	wantClass(t, "stop by the ARN of another account",
		act(t, open(t, tw, a), cloud.Stop, "aws-rds", cloud.Target{UID: here.ARN()}), cloud.NotFound)
	wantClass(t, "stop by an ARN of another service",
		act(t, c, cloud.Stop, "aws-rds", cloud.Target{UID: strings.Replace(here.ARN(), ":db:", ":cluster:", 1)}),
		cloud.NotFound)
	if here.Status != "available" {
		t.Errorf("the namesake is %s", here.Status)
	}
}

func TestAMemberNamesItsCluster(t *testing.T) {
	tw, c := connect(t)
	cluster := tw.AddDatabase(awstwin.Database{ID: "checkout", Region: region, Engine: "aurora-mysql", IsCluster: true})
	tw.AddDatabase(awstwin.Database{ID: "checkout-1", Region: region, Engine: "aurora-mysql", Cluster: "checkout"})
	p, err := c.List(t.Context(), "aws-rds", region, "")
	if err != nil || len(p.Resources) != 1 || p.Resources[0].ParentUID != cluster.ARN() {
		t.Errorf("List = %+v, %v; want the member below %s", p.Resources, err, cluster.ARN())
	}
}

// DescribeDBClusters returns the clusters of three services. Each cluster is listed by one of them only, so that it
// has one record.
func TestAClusterIsListedAsOneOfItsEngineAlone(t *testing.T) {
	tw, c := connect(t)
	engines := map[string]string{"aws-aurora": "aurora-mysql", "aws-docdb": "docdb", "aws-neptune": "neptune"}
	for kind, engine := range engines {
		tw.AddDatabase(awstwin.Database{ID: kind, Region: region, Engine: engine, IsCluster: true})
	}
	for kind := range engines {
		p, err := c.List(t.Context(), kind, region, "")
		if err != nil || len(p.Resources) != 1 || p.Resources[0].Name != kind {
			t.Errorf("List(%s) = %+v, %v; want the one", kind, p.Resources, err)
		}
	}
}

// While a blue/green deployment exists, each of its members is replicated to or from the other end.
func TestAMemberOfABlueGreenDeploymentIsRefused(t *testing.T) {
	for kind, like := range map[string]awstwin.Database{
		"aws-rds":    {Region: region, Engine: "mysql"},
		"aws-aurora": {Region: region, Engine: "aurora-mysql", IsCluster: true},
	} {
		for status, refused := range map[string]bool{
			"AVAILABLE": true, "PROVISIONING": true, "SWITCHOVER_FAILED": true,
			"SWITCHOVER_COMPLETED": false,
		} {
			t.Run(kind+" "+status, func(t *testing.T) {
				tw, c := connect(t)
				add := func(id string) string {
					d := like
					d.ID = id
					return tw.AddDatabase(d).ARN()
				}
				blue, green, copyOfGreen, alone := add("orders"), add("orders-green"), add("orders-copy-green"),
					add("users")
				tw.AddDeployment(awstwin.Deployment{
					Name: "upgrade", Region: region, Status: status,
					Members: [][2]string{{blue, green}, {"", copyOfGreen}},
				})
				listed := map[string]string{}
				p, err := c.List(t.Context(), kind, region, "")
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range p.Resources {
					listed[r.UID] = r.Unschedulable
				}
				for uid, want := range map[string]bool{
					blue: refused, green: refused, copyOfGreen: refused,
					alone: false,
				} {
					why := state(t, c, kind, uid).Unschedulable
					if why != listed[uid] || (why != "") != want || want &&
						!strings.Contains(why, "blue/green deployment upgrade") {
						t.Errorf("%s: read %q, listed %q; want it refused: %t", uid, why, listed[uid], want)
					}
				}
			})
		}
	}
}

// An older role may lack the permission to list deployments. RDS then refuses the acts that it must, and all else
// works.
func TestBlueGreenDeploymentsThatMayNotBeSeenHideNothing(t *testing.T) {
	tw, c := connect(t)
	uid := tw.AddDatabase(awstwin.Database{ID: "orders", Region: region, Engine: "mysql"}).ARN()
	tw.AddFault(awstwin.Fault{
		Op: "rds:DescribeBlueGreenDeployments", Code: "AccessDenied", Message: "not authorized",
		Status: 403, Times: -1,
	})
	if p, err := c.List(t.Context(), "aws-rds", region, ""); err != nil || len(p.Resources) != 1 ||
		p.Resources[0].Unschedulable != "" {
		t.Errorf("listed %+v, %v", p.Resources, err)
	}
	if err := act(t, c, cloud.Stop, "aws-rds", cloud.Target{UID: uid}); err != nil {
		t.Error(err)
	}
}

// Our own code refuses to stop the databases that RDS and Aurora cannot stop: emulators stop them, and RDS reports the
// error too late.
func TestADatabaseThatRDSDoesNotStopIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		kind string
		d    awstwin.Database
		says string
	}{
		"a read replica": {
			"aws-rds",
			awstwin.Database{Engine: "postgres", ReplicaOf: "orders"},
			"read replica of orders",
		},
		"the source of a read replica": {
			"aws-rds",
			awstwin.Database{Engine: "postgres", SourceOf: []string{"copy"}},
			"source of read replicas (copy)",
		},
		"SQL Server in several zones": {
			"aws-rds",
			awstwin.Database{Engine: "sqlserver-ee", MultiAZ: true},
			"SQL Server in several zones",
		},
		"RDS Custom": {"aws-rds", awstwin.Database{Engine: "custom-sqlserver-se"}, "RDS Custom"},
		"a member of an Aurora cluster": {
			"aws-rds",
			awstwin.Database{Engine: "aurora-mysql", Cluster: "shop"},
			"act on the cluster",
		},
		"Aurora Serverless v1": {
			"aws-aurora",
			awstwin.Database{Engine: "aurora-mysql", IsCluster: true, Mode: "serverless"},
			"mode serverless",
		},
		"Aurora with parallel query": {
			"aws-aurora",
			awstwin.Database{Engine: "aurora", IsCluster: true, Mode: "parallelquery"},
			"mode parallelquery",
		},
		"Aurora multi-master": {
			"aws-aurora",
			awstwin.Database{Engine: "aurora", IsCluster: true, Mode: "multimaster"},
			"mode multimaster",
		},
		"a global database of the old kind": {
			"aws-aurora",
			awstwin.Database{Engine: "aurora", IsCluster: true, Mode: "global"},
			"mode global",
		},
		"a part of an Aurora global database": {
			"aws-aurora",
			awstwin.Database{Engine: "aurora-postgresql", IsCluster: true, Global: "planet"},
			"global database planet",
		},
		"the copy of another Aurora cluster": {
			"aws-aurora",
			awstwin.Database{Engine: "aurora-mysql", IsCluster: true, ReplicaOf: "shop"},
			"replica of shop",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tw, c := connect(t)
			tt.d.ID, tt.d.Region = "tied", region
			uid := tw.AddDatabase(tt.d).ARN()
			if why := state(t, c, tt.kind, uid).Unschedulable; !strings.Contains(why, tt.says) {
				t.Errorf("it reads as unschedulable because %q; want %q", why, tt.says)
			}
		})
	}
}
