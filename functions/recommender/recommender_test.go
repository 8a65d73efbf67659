package recommender

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
)

func TestEvaluate_OpensARowWithTheSavingOfTheBill(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ebs", f.volume("vol-waste", 60), f.volume("vol-used", 0))
	f.bill(map[string]string{"vol-waste": "0.5", "vol-used": "0.5"})
	got := f.evaluate()
	if got.Whole != 1 || got.Settled.Opened != 1 {
		t.Errorf("%+v", got)
	}
	f.Equal("rows", f.rows(), "aws-ebs-unattached vol-waste open 15.00")
	r := f.row()
	f.Equal("basis", r.Savings.Basis, "billed")
	f.Equal("account", r.CloudAccountID, "ca_1")
	f.Equal("attachments in the evidence", r.Evidence.Values["attachment_count"], any(0.0))
}

func TestEvaluate_ARowIsLessSevereTheLessItSaves(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ebs", f.volume("vol-waste", 60))
	f.bill(map[string]string{"vol-waste": "0.2"})
	f.evaluate()
	f.Equal("rows", f.rows(), "aws-ebs-unattached vol-waste open 6.00")
	f.Equal("severity of 6 USD a month", f.row().Severity, recommendation.Low)
}

func TestEvaluate_ADayHasOnePassOverEverything(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ebs", f.volume("vol-waste", 60))
	f.bill(map[string]string{"vol-waste": "0.5"})
	f.evaluate()
	f.Clock.Advance(time.Hour)
	if got := f.evaluate(); got.Whole != 0 {
		t.Errorf("an hour later: %+v", got)
	}
	f.Clock.Advance(24 * time.Hour)
	if got := f.evaluate(); got.Whole != 1 || got.Settled.Opened != 0 {
		t.Errorf("a day later: %+v", got)
	}
}

func TestEvaluate_ARepeatedPassWritesNothingNew(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ebs", f.volume("vol-waste", 60), f.volume("vol-used", 0))
	f.bill(map[string]string{"vol-waste": "0.5"})
	f.evaluate()
	before, version := f.rows(), f.row().Version
	f.Clock.Advance(24 * time.Hour)
	if got := f.evaluate(); got.Whole != 1 || got.Settled.Unchanged == 0 {
		t.Errorf("the next day: %+v", got)
	}
	f.Equal("rows", f.rows(), before)
	f.Equal("version of the row", f.row().Version, version)
}

func TestEvaluate_IgnoranceNeitherOpensNorCloses(t *testing.T) {
	f := newFixture(t)
	known := f.volume("vol-waste", 60)
	f.discover("aws-ebs", known)
	f.bill(map[string]string{"vol-waste": "0.5"})
	f.evaluate()
	f.Equal("rows", f.rows(), "aws-ebs-unattached vol-waste open 15.00")
	denied := f.found("vol-waste", cloud.Facts{"size_gb": 100.0})
	denied.Facts.Miss("ec2:DescribeVolumes: AccessDenied", "attachment_count", "unattached_since")
	for range 5 { // three known false results would end the row
		f.Clock.Advance(24 * time.Hour)
		f.discover("aws-ebs", denied)
		f.evaluate()
	}
	f.Equal("rows without the fact", f.rows(), "aws-ebs-unattached vol-waste open 15.00")
	counts := apitest.Value(recommendation.New(f.Platform).ReadCounts(f.In(org), org))(f)
	i := slices.IndexFunc(counts, func(c recommendation.RuleCount) bool { return c.RuleID == "aws-ebs-unattached" })
	if i < 0 || counts[i].Unknown != 1 || counts[i].Missing[0].Permission != "ec2:DescribeVolumes" {
		t.Errorf("counts: %+v", counts)
	}
}

func TestEvaluate_ARowEndsWhenItsConditionIsFalseThreeTimes(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ebs", f.volume("vol-waste", 60))
	f.bill(map[string]string{"vol-waste": "0.5"})
	f.evaluate()
	attached := f.volume("vol-waste", 0)
	for range 3 {
		f.Clock.Advance(24 * time.Hour)
		f.discover("aws-ebs", attached)
		f.evaluate()
	}
	f.Equal("rows", f.rows(), "aws-ebs-unattached vol-waste optimised 15.00")
}

func TestEvaluate_AChangedResourceIsEvaluatedWithinTheHour(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ebs", f.volume("vol-1", 0), f.volume("vol-2", 0))
	f.bill(map[string]string{"vol-1": "0.5", "vol-2": "0.5"})
	f.evaluate()
	f.settleChanges()
	if got := f.evaluate(); got.Changed != 0 || got.Whole != 0 {
		t.Errorf("nothing has changed: %+v", got)
	}
	f.discover("aws-ebs", f.volume("vol-1", 30), f.volume("vol-2", 0))
	if got := f.evaluate(); got.Changed != 1 || got.Settled.Opened != 1 {
		t.Errorf("%+v", got)
	}
	f.Equal("rows", f.rows(), "aws-ebs-unattached vol-1 open 15.00")
	f.settleChanges()
	if got := f.evaluate(); got.Changed != 0 {
		t.Errorf("nothing has changed since: %+v", got)
	}
}

// settleChanges lets the hour pass in which changes that the index may have shown late are evaluated again.
func (f *fixture) settleChanges() {
	f.Helper()
	f.Clock.Advance(time.Hour)
	f.evaluate()
	f.Clock.Advance(time.Hour)
}

// instance returns an EC2 instance with the facts of the idle rules.
func (f *fixture) instance(uid string) cloud.Resource {
	r := f.found(uid, cloud.Facts{
		"state": "running", "asg_name": "", "launched_at": f.Clock.Now().AddDate(0, 0, -100), "platform": "Linux/UNIX",
		"tenancy": "default",
	})
	r.InstanceType = "m5.large"
	return r
}

// rowsOf returns the rows of a rule: resource, status, saving, window, and whether the window has enough points.
func (f *fixture) rowsOf(rule string) string {
	f.Helper()
	var out []string
	for _, r := range apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...) {
		if r.RuleID == rule {
			out = append(out, fmt.Sprint(r.ResourceUID, " ", r.Status, " ", r.Savings.Net.Fixed(2), " ",
				r.Evidence.Window, " ", r.Evidence.Points > 300))
		}
	}
	return strings.Join(out, "; ")
}

func TestEvaluate_ARuleWithMetricsOpensOnTheSecondDay(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ec2", f.instance("i-idle"), f.instance("i-busy"))
	f.bill(map[string]string{"i-idle": "2.4", "i-busy": "2.4"})
	since := f.Clock.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -14)
	for _, status := range []string{"candidate", "open"} {
		f.measure("i-idle", "aws-ec2", 20, func(at time.Time, _ cloud.Measure) float64 {
			if at.Before(since) {
				return 60
			}
			return 1
		})
		f.measure("i-busy", "aws-ec2", 20, func(time.Time, cloud.Measure) float64 { return 60 })
		f.evaluate()
		f.Equal("rows of aws-ec2-idle", f.rowsOf("aws-ec2-idle"), "i-idle "+status+" 72.00 14d true")
		f.Clock.Advance(24 * time.Hour)
	}
}

// The stored metrics tell of both days, as on the first day after a connection.
func TestEvaluate_ARuleWithMetricsOpensAtOnceIfItWasTrueTheDayBefore(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ec2", f.instance("i-idle"))
	f.bill(map[string]string{"i-idle": "2.4"})
	f.measure("i-idle", "aws-ec2", 14, func(_ time.Time, m cloud.Measure) float64 {
		if m.IsCount() {
			return math.NaN() // providers keep no point for a count of 0
		}
		return 1
	})
	f.evaluate()
	f.Equal("rows of aws-ec2-idle", f.rowsOf("aws-ec2-idle"), "i-idle open 72.00 14d true")
}

func TestEvaluate_AFailureInOneOrganizationDoesNotStopTheOthers(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ebs", f.volume("vol-waste", 60))
	f.bill(map[string]string{"vol-waste": "0.5"})
	const other = "org_01k00000000000000000000001"
	f.Put(identity.DirectoryKey(other), map[string]string{"org": other})
	f.Put(identity.AccessKey(other), map[string]string{"ended": "no truth value"})
	if _, err := Evaluate(f.Context(), f.Platform, nil); err == nil {
		t.Error("no error of the organization that cannot be read")
	}
	f.Equal("rows", f.rows(), "aws-ebs-unattached vol-waste open 15.00")
}

func TestRefresh_EvaluatesEverythingAtOnce(t *testing.T) {
	f := newFixture(t)
	f.discover("aws-ebs", f.volume("vol-1", 0))
	f.bill(map[string]string{"vol-1": "0.5"})
	f.evaluate()
	f.discover("aws-ebs", f.volume("vol-1", 30))
	in := recommendation.RefreshInput{Org: org, JobID: id.New("job", f.Clock.Now())}
	w := newWorker(f.Platform, nil)
	got, err := w.refresh(f.Context(), in)
	if err != nil || !got.Done {
		t.Fatalf("%+v, %v", got, err)
	}
	f.Equal("rows", f.rows(), "aws-ebs-unattached vol-1 open 15.00")
	if again, err := w.refresh(f.Context(), in); err != nil || !again.Done {
		t.Errorf("again: %+v, %v", again, err)
	}
}

// A day with waste, a change, and the next day; each process is killed at some step.
func TestKilledAtAnyStep_EvaluationsLeaveTheSameRows(t *testing.T) {
	killpoint.LosesNothing(t, 30, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		f := newFixture(t)
		var volumes []cloud.Resource
		bill := map[string]string{}
		for n := range 60 {
			v := f.volume(fmt.Sprint("vol-", n), 30*(n%2))
			volumes, bill[v.UID] = append(volumes, v), "0.5"
		}
		f.discover("aws-ebs", volumes...)
		f.bill(bill)
		for days := range 2 {
			ended := false
			lives.Run(f.Context(), t, func(ctx context.Context, p *killpoint.Process) error {
				if ended {
					return nil
				}
				_, err := Evaluate(ctx, p.Platform(f.Platform), nil)
				ended = err == nil
				return err
			})
			if days == 0 {
				f.Clock.Advance(24 * time.Hour)
				volumes[0] = f.volume("vol-0", 30)
				f.discover("aws-ebs", volumes...)
			}
		}
		return f.rows()
	})
}
