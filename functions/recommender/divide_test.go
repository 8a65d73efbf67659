package recommender

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
	"lamplighter.dev/shared/testkit/killpoint"
	"lamplighter.dev/shared/testkit/seed"
)

// randomOrganization is machines with disks and metrics, disks of stopped machines, snapshots, clusters of databases
// and an account, whose parents and parts are in other shards.
func (f *fixture) randomOrganization(r *rand.Rand, machines int) {
	f.Helper()
	var ec2, disks, rds []cloud.Resource
	bill := map[string]string{}
	for n := range machines {
		m := f.instance(fmt.Sprint("i-", n))
		if r.IntN(3) == 0 {
			m.Status = cloud.Stopped
			m.Facts["state"] = "stopped"
		}
		bill[m.UID] = strconv.Itoa(1 + r.IntN(5))
		ec2 = append(ec2, m)
		for d := range r.IntN(3) {
			v := f.volume(fmt.Sprint("vol-", n, "-", d), 0)
			if v.ParentUID = m.UID; r.IntN(4) == 0 {
				v = f.volume(v.UID, 10+r.IntN(60))
			}
			if r.IntN(2) == 0 {
				v.Facts["volume_type"] = "gp2"
			}
			bill[v.UID] = fmt.Sprint("0.", 1+r.IntN(9))
			disks = append(disks, v)
		}
		if n%5 == 0 {
			db := f.found(fmt.Sprint("db-", n), cloud.Facts{"engine": "postgres"})
			db.ParentUID = "cluster-1"
			bill[db.UID] = "2"
			rds = append(rds, db)
		}
	}
	f.discover(cloud.AWSEC2, ec2...)
	f.discover("aws-ebs", disks...)
	f.discover(cloud.AWSRDS, rds...)
	f.bill(bill)
	for n := range machines {
		load := float64(1 + 40*r.IntN(2))
		f.measure(ec2[n].UID, cloud.AWSEC2, 15, func(time.Time, cloud.Measure) float64 { return load })
	}
	f.connectPayer(f.Clock.Now().Add(day))
	f.countResources(machines + len(disks) + len(rds))
}

// countResources lets the account have a number of resources.
func (f *fixture) countResources(n int) {
	f.Helper()
	a := apitest.Value(table.Read[inventory.Account](f.In(org), f.Table,
		inventory.AccountKey(org, inventorytest.Account)))(f)
	a.ResourceCount = n
	f.Put(inventory.AccountKey(org, inventorytest.Account), a)
}

// results are the rows without ids and times, and the counts by rule.
func (f *fixture) results() string {
	f.Helper()
	var out []string
	for _, r := range apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...) {
		claims := []string{}
		for _, c := range r.Savings.Claims {
			claims = append(claims, fmt.Sprint(c.USD.Fixed(4), "/", c.Cost.Fixed(4)))
		}
		slices.Sort(claims)
		out = append(out, fmt.Sprint(r.RuleID, " ", r.ResourceUID, " ", r.Status, " ", r.Severity, " ",
			r.Savings.Gross.Fixed(4), " ", r.Savings.Net.Fixed(4), " ", r.Savings.Cost.Fixed(4), claims, r.Reason))
	}
	slices.Sort(out)
	for _, c := range apitest.Value(recommendation.New(f.Platform).ReadCounts(f.In(org), org))(f) {
		out = append(out, fmt.Sprintf("%+v", c))
	}
	return strings.Join(out, "\n")
}

// smallShares returns a worker that divides a pass over more than 5 resources, and holds 3 records at once.
func (f *fixture) smallShares() *worker {
	w := newWorker(f.Platform, nil)
	w.perShare, w.recordsAtOnce = 5, 3
	return w
}

// runDivided evaluates the daily pass, whose shares the machine runs.
func (f *fixture) runDivided() {
	f.Helper()
	w := f.smallShares()
	engine := f.RunMachines(apitest.Machines(f, recommendation.Machine),
		map[string]workflow.Handler{"recommender": w.handle})
	w.Platform = f.Platform
	apitest.Value(w.runDue(f.Context()))(f)
	f.Must(engine.Idle(f.Context()))
}

func (f *fixture) pass() pass {
	f.Helper()
	return apitest.Value(table.Read[pass](f.In(org), f.Table, recommendation.PassKey(org, "")))(f)
}

// One process and up to 16 shares of the machine find the same, wherever parents and parts are.
func TestDivided_FindsTheSameAsOneProcess(t *testing.T) {
	for n, machines := range []int{4, 12, 60} {
		whole := newFixture(t)
		whole.randomOrganization(seed.Fixed(t, 3, uint64(n)), machines)
		whole.evaluate()
		f := newFixture(t)
		f.randomOrganization(seed.Fixed(t, 3, uint64(n)), machines)
		f.runDivided()
		p := f.pass()
		if !p.Ended || p.Day != dayOf(f.Clock.Now()) || p.Shares < 2 || p.Shares > maxShares {
			t.Fatalf("%d machines: the pass is %+v", machines, p)
		}
		if got, want := f.results(), whole.results(); got != want || !strings.Contains(got, "aws-ebs-") {
			t.Errorf("%d machines in %d shares:\n%s\nwant\n%s", machines, p.Shares, got, want)
		}
		f.Equal("counts", p.Settled, whole.pass().Settled)
	}
}

// The parents and parts of a resource are seldom in its own share.
func TestDivided_AShareKnowsWhatOthersHave(t *testing.T) {
	f := newFixture(t)
	f.randomOrganization(seed.Random(t), 40)
	w := newWorker(f.Platform, nil)
	whole := apitest.Value(w.read(f.In(org), inputsOf{org, f.Clock.Now(), everyPart}))(f)
	elsewhere := 0
	for share := 1; share <= maxShares; share++ {
		of := partsOfShare(share, maxShares)
		in := apitest.Value(w.read(f.In(org), inputsOf{org, f.Clock.Now(), of}))(f)
		for uid, p := range in.parts {
			f.Equal("parts of "+uid, p, whole.parts[uid])
			for _, disk := range p.disks {
				if !of.contain(disk.uid) {
					elsewhere++
				}
				f.Equal("bill of "+disk.uid, in.bills.of[disk.uid], whole.bills.of[disk.uid])
			}
		}
		if 4*len(in.bills.of) > 3*len(whole.bills.of) {
			t.Errorf("share %d has the bills of %d of %d resources", share, len(in.bills.of), len(whole.bills.of))
		}
	}
	if elsewhere == 0 {
		t.Error("no disk is in another share than its machine")
	}
}

// The share of the accounts reads only the costs that rules about accounts need.
func TestDivided_TheShareOfAccountsHasTheirUseOfCommitments(t *testing.T) {
	f := newFixture(t)
	f.discover(cloud.AWSEC2, f.instance("i-1"))
	f.discover("aws-ebs", f.volume("vol-1", 1))
	const account = "123456789012"
	f.bill(map[string]string{f.instance("i-1").UID: "2.4", f.volume("vol-1", 1).UID: "0.5", account: "0.1"})
	w := newWorker(f.Platform, nil)
	whole := apitest.Value(w.read(f.In(org), inputsOf{org, f.Clock.Now(), everyPart}))(f)
	of := partsOfShare(accountsShare, maxShares)
	in := apitest.Value(w.read(f.In(org), inputsOf{org, f.Clock.Now(), of}))(f)
	if len(whole.bills.eligible[inventorytest.Account]) != 1 || len(whole.bills.of) != 3 {
		t.Fatalf("eligible %+v, costs of %d resources", whole.bills.eligible, len(whole.bills.of))
	}
	f.Equal("eligible use", in.bills.eligible, whole.bills.eligible)
	f.Equal("total of the account", in.bills.accounts[inventorytest.Account].total,
		whole.bills.accounts[inventorytest.Account].total)
	f.Equal("costs of resources", in.bills.of, map[string][]billed{account: whole.bills.of[account]})
}

func TestPartsOfShare_HoldEachPartOnce(t *testing.T) {
	for shares := 2; shares <= maxShares; shares++ {
		var all partSet
		for share := range shares + 1 {
			of := partsOfShare(share, shares)
			if of == 0 || all&of != 0 {
				t.Fatalf("share %d of %d is %b, beside %b", share, shares, of, all)
			}
			all |= of
		}
		if all != everyPart {
			t.Errorf("%d shares hold %b", shares, all)
		}
	}
}

func TestCountShares_DividesAboveTwentyThousand(t *testing.T) {
	w := newWorker(newFixture(t).Platform, nil)
	for resources, want := range map[int]int{0: 0, 20_000: 0, 20_001: 2, 40_000: 2, 100_001: 6, 2_000_000: 16} {
		half := resources / 2
		got := w.countShares([]inventory.Account{{ResourceCount: half}, {ResourceCount: resources - half}})
		if got != want {
			t.Errorf("%d resources: %d shares, want %d", resources, got, want)
		}
	}
}

// A refresh of a large organization is divided as well, and has one end.
func TestDivided_ARefreshHasTheSumOfItsShares(t *testing.T) {
	f := newFixture(t)
	f.randomOrganization(seed.Random(t), 20)
	w := f.smallShares()
	engine := f.RunMachines(apitest.Machines(f, recommendation.Machine),
		map[string]workflow.Handler{"recommender": w.handle})
	w.Platform = f.Platform
	r := apitest.Value(recommendation.StartRefresh(f.In(org), f.Platform, org))(f)
	f.Must(engine.Idle(f.Context()))
	got := apitest.Value(recommendation.ReadRefresh(f.In(org), f.Table, org, r.JobID))(f)
	if got.StatusAt(f.Clock.Now()) != recommendation.RefreshCompleted || got.Settled.Opened == 0 {
		t.Errorf("%+v", got)
	}
}

// The second pass of a day writes its progress, and nothing else.
func TestDivided_ARepeatedPassWritesAtMostAHundredItems(t *testing.T) {
	f := newFixture(t)
	f.randomOrganization(seed.Random(t), 60)
	f.runDivided()
	before := f.results()
	in := recommendation.RefreshInput{Org: org, JobID: id.New("job", f.Clock.Now())}
	w := f.smallShares()
	got := f.Meter(func(ctx context.Context) {
		f.Must(evaluateJob(ctx, w, in))
	})
	f.Equal("results", f.results(), before)
	if got.WriteUnits > 100 {
		t.Errorf("%.0f items were written", got.WriteUnits)
	}
}

// evaluateJob does what the machine does, in one process.
func evaluateJob(ctx context.Context, w *worker, in recommendation.RefreshInput) error {
	for {
		p, err := w.refresh(ctx, in)
		if err != nil || p.Done {
			return err
		}
		for _, share := range p.Shares {
			for !share.Done {
				if share, err = w.evaluateShare(ctx, share); err != nil {
					return err
				}
			}
		}
	}
}

// A daily pass that is given up begins again in the next hour, and one that another has replaced ends.
func TestDivided_APassThatIsGivenUpBeginsAgain(t *testing.T) {
	f := newFixture(t)
	f.randomOrganization(seed.Random(t), 20)
	f.Workflow = apitest.Idle{}
	w := f.smallShares()
	apitest.Value(w.runDue(f.Context()))(f)
	first := recommendation.RefreshInput{Org: org, JobID: f.pass().Job, Daily: true}
	f.Clock.Advance(time.Hour)
	apitest.Value(w.runDue(f.Context()))(f)
	f.Equal("the job an hour later", f.pass().Job, first.JobID)
	f.Must(w.fail(f.In(org), first, "no memory"))
	apitest.Value(w.runDue(f.Context()))(f)
	second := recommendation.RefreshInput{Org: org, JobID: f.pass().Job, Daily: true}
	if second.JobID == first.JobID || f.pass().Failed != "" {
		t.Fatalf("the pass is %+v", f.pass())
	}
	f.Must(evaluateJob(f.In(org), w, first))
	f.Equal("ended by the first job", f.pass().Ended, false)
	f.Must(evaluateJob(f.In(org), w, second))
	f.Equal("ended by the second job", f.pass().Ended, true)
}

// Each process of a divided pass is killed at some step: of the hourly run, the machine's tasks and the shares.
func TestKilledAtAnyStep_SharesLeaveTheSameRows(t *testing.T) {
	killpoint.LosesNothing(t, 30, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		f := newFixture(t)
		f.randomOrganization(seed.Fixed(t, 1, 2), 12)
		f.Workflow = apitest.Idle{}
		lives.Run(f.Context(), t, func(ctx context.Context, p *killpoint.Process) error {
			w := newWorker(p.Platform(f.Platform), nil)
			w.perShare, w.recordsAtOnce = 5, 3
			if _, err := w.runDue(ctx); err != nil {
				return err
			}
			job, err := table.Read[pass](table.WithOrg(ctx, org), w.Table, recommendation.PassKey(org, ""))
			if err != nil || job.Ended || !job.Whole { // an earlier process has ended it
				return err
			}
			return evaluateJob(ctx, w, recommendation.RefreshInput{Org: org, JobID: job.Job, Daily: true})
		})
		return f.results()
	})
}
