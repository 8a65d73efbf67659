package executor

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
	"lamplighter.dev/shared/testkit/tabletest"
)

// secondKey opens the second account.
const secondKey = "ASIASECONDSECOND"

// twins are AWS as two accounts see it: the key that signed a request tells whose it is.
type twins struct{ first, second *awstwin.Cloud }

// RoundTrip sends the request to the account of its key.
func (t twins) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.Header.Get("Authorization"), secondKey) {
		return t.second.RoundTrip(r)
	}
	return t.first.RoundTrip(r)
}

// awsFixture is an executor that speaks to AWS through its SDK, on the bubble's clock, with the limits that AWS has.
type awsFixture struct {
	*fixture
	twins
	accounts map[string]inventory.Account // by key
}

// onAWS runs a test in a bubble.
func onAWS(t *testing.T, test func(w *awsFixture)) {
	t.Helper()
	if tabletest.Limits() != nil {
		t.Skip("limits its store itself")
	}
	shareOutsideBubbles(t)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(noon))
		w := &awsFixture{
			twins:    twins{&awstwin.Cloud{Takes: 20 * time.Second}, &awstwin.Cloud{Takes: 20 * time.Second}},
			accounts: map[string]inventory.Account{},
		}
		p := apitest.PlatformAt(t, clock.System{})
		w.fixture = awsExecutor(t, p, w.twins)
		w.connectAWS(awstwin.AccessKey, "111122223333")
		w.connectAWS(secondKey, "444455556666")
		test(w)
	})
}

func awsExecutor(t *testing.T, p *platform.Platform, over http.RoundTripper) *fixture {
	t.Helper()
	f := openFixture(t, p)
	f.e = New(p, cloud.Providers{aws.Name: aws.New(aws.Options{Clock: p.Clock, Transport: over, Store: p.Table})})
	return f
}

func (w *awsFixture) connectAWS(key, number string) {
	w.Helper()
	w.account = inventory.Account{
		ID: id.New("ca", time.Now()), Provider: aws.Name, CloudAccountID: number, Name: number,
		AuthMethod:      "static_keys",
		PermissionLevel: "read_write", Status: "connected", CreatedAt: noon,
	}
	w.sealCredentials(map[string]string{"accessKeyID": key, "secretAccessKey": "secret-" + number})
	w.accounts[key] = w.account
}

// instance adds one to the account of the key and to the inventory.
func (w *awsFixture) instance(key string, like awstwin.Instance) inventory.Resource {
	w.Helper()
	tw := w.first
	if key == secondKey {
		tw = w.second
	}
	w.states.Add(1)
	like.ID = awstwin.InstanceID(int(w.states.Load()))
	if like.Region == "" {
		like.Region = "eu-west-1"
	}
	i := tw.AddInstance(like)
	status := cloud.Running
	if i.State == "stopped" {
		status = cloud.Stopped
	}
	scan := inventory.Scan{Partition: inventory.Partition{
		AccountID: w.accounts[key].ID, Provider: aws.Name,
		Region: i.Region, Kind: cloud.AWSEC2,
	}, ID: "first", Started: noon}
	apitest.Value(w.e.inventory.UpsertScanned(w.ctx, org,
		inventory.Batch{Scan: scan, At: noon.Add(-time.Minute), Resources: []cloud.Resource{
			{UID: i.ID, Name: i.ID, Type: cloud.AWSEC2, Region: i.Region, Status: status},
		}}))(w)
	return w.resource(i.ID)
}

// runToEnd runs an action to its end, and tells how long that took.
func (w *awsFixture) runToEnd(r inventory.Resource, verb cloud.Verb) (execution.Action, time.Duration) {
	w.Helper()
	a := w.submit(r, verb)
	began := time.Now()
	w.runOut(a.ID)
	return w.action(a.ID), time.Since(began)
}

// runOut runs actions as their machine does, on the bubble's clock.
func (w *awsFixture) runOut(ids ...string) {
	w.Helper()
	for range 300 {
		got := apitest.Value(w.e.RunActions(w.ctx,
			execution.RunInput{Org: org, Actions: ids, Until: execution.UntilSettled}))(w)
		if got.Done {
			return
		}
		time.Sleep(time.Duration(got.WaitSeconds) * time.Second)
	}
	w.Fatal("not done after 300 runs")
}

func TestOnAWS_AMinuteOfThrottlingFailsNothing(t *testing.T) {
	for _, op := range []string{"ec2:StopInstances", "ec2:DescribeInstances", ""} {
		t.Run("of "+op, func(t *testing.T) {
			onAWS(t, func(w *awsFixture) {
				r := w.instance(awstwin.AccessKey, awstwin.Instance{})
				w.first.AddFault(awstwin.Fault{
					Op: op, Code: "RequestLimitExceeded", Message: "Request limit exceeded.",
					Status: 503, Times: -1, Until: time.Now().Add(time.Minute),
				})
				a, took := w.runToEnd(r, cloud.Stop)
				if a.Status != execution.Succeeded || a.Attempts != 1 {
					t.Errorf("%s after %d attempts: %s", a.Status, a.Attempts, a.ErrorMessage)
				}
				if took < time.Minute || took > 3*time.Minute {
					t.Errorf("took %s; want the minute, and the stop", took)
				}
				if n := len(w.first.Calls("")); n > 40 {
					t.Errorf("%d calls in a minute of throttling: that is no slowing down", n)
				}
			})
		})
	}
}

// The start is accepted, and falls back: a key may not be used.
func TestOnAWS_AStartThatFallsBackFailsWithTheStateReason(t *testing.T) {
	onAWS(t, func(w *awsFixture) {
		a, _ := w.runToEnd(w.instance(awstwin.AccessKey, awstwin.Instance{State: "stopped", BrokenKey: true}),
			cloud.Start)
		if a.Status != execution.Failed ||
			!strings.Contains(a.ErrorMessage, "Client.InternalError: Client error on launch") {
			t.Errorf("%s: %q", a.Status, a.ErrorMessage)
		}
	})
}

func TestOnAWS_ARegionThatIsDownSlowsOnlyItself(t *testing.T) {
	onAWS(t, func(w *awsFixture) {
		down, up := w.instance(awstwin.AccessKey, awstwin.Instance{}),
			w.instance(awstwin.AccessKey, awstwin.Instance{Region: "us-east-1"})
		w.first.AddFault(awstwin.Fault{
			Region: "eu-west-1", Code: "ServiceUnavailable", Message: "Service Unavailable",
			Status: 503, Times: -1,
		})
		var took [2]time.Duration
		var ended [2]execution.Action
		done := make(chan int)
		for i, r := range []inventory.Resource{down, up} {
			go func() {
				ended[i], took[i] = w.runToEnd(r, cloud.Stop)
				done <- i
			}()
		}
		<-done
		<-done
		if ended[1].Status != execution.Succeeded || took[1] > 40*time.Second {
			t.Errorf("in the other region: %s after %s, %s", ended[1].Status, took[1], ended[1].ErrorMessage)
		}
		if ended[0].Status != execution.Failed || !strings.Contains(ended[0].ErrorMessage, "ServiceUnavailable") {
			t.Errorf("where it is down: %s, %s", ended[0].Status, ended[0].ErrorMessage)
		}
	})
}

// A region that does not answer delays no calls to other regions.
func TestOnAWS_ARegionThatHangsSlowsOnlyItself(t *testing.T) {
	onAWS(t, func(w *awsFixture) {
		r := w.instance(awstwin.AccessKey, awstwin.Instance{Region: "us-east-1"})
		hung := w.submit(w.instance(awstwin.AccessKey, awstwin.Instance{}), cloud.Stop)
		w.first.AddFault(awstwin.Fault{Region: "eu-west-1", Delay: time.Hour, Times: -1})
		done := make(chan struct{})
		go func() {
			w.runOut(hung.ID)
			close(done)
		}()
		if a, took := w.runToEnd(r, cloud.Stop); a.Status != execution.Succeeded || took > 40*time.Second {
			t.Errorf("%s after %s: %s", a.Status, took, a.ErrorMessage)
		}
		<-done
		if a := w.action(hung.ID); a.Status != execution.Failed || !strings.Contains(a.ErrorMessage, "imeout") &&
			!strings.Contains(a.ErrorMessage, "deadline") {
			t.Errorf("where it hangs: %s, %s", a.Status, a.ErrorMessage)
		}
	})
}

func TestOnAWS_RevokedCredentialsFailTheActionsAndDegradeTheAccountAlone(t *testing.T) {
	for name, begun := range map[string]bool{"before the first look": false, "after the act": true} {
		t.Run(name, func(t *testing.T) {
			onAWS(t, func(w *awsFixture) {
				var revoked []string
				for range 3 {
					revoked = append(revoked,
						w.submit(w.instance(awstwin.AccessKey, awstwin.Instance{}), cloud.Stop).ID)
				}
				other := w.instance(secondKey, awstwin.Instance{})
				if begun {
					apitest.Value(w.e.RunActions(w.ctx,
						execution.RunInput{Org: org, Actions: revoked, Until: execution.UntilSettled}))(w)
				}
				w.first.RevokeKeys()
				w.runOut(revoked...)
				for _, a := range revoked {
					if a := w.action(a); a.Status != execution.Failed ||
						!strings.Contains(a.ErrorMessage,
							"AWS was not able to validate the provided access credentials") {
						t.Errorf("%s: %q; want it failed with AWS's words", a.Status, a.ErrorMessage)
					}
				}
				if a := apitest.Read[inventory.Account](w.Fixture,
					inventory.AccountKey(org, w.accounts[awstwin.AccessKey].ID)); a.Status != "degraded" ||
					!strings.Contains(a.Error, "AuthFailure") {
					t.Errorf("the account is %s: %q", a.Status, a.Error)
				}
				if a, _ := w.runToEnd(other, cloud.Stop); a.Status != execution.Succeeded {
					t.Errorf("the other account: %s, %s", a.Status, a.ErrorMessage)
				}
				if a := apitest.Read[inventory.Account](w.Fixture,
					inventory.AccountKey(org, w.accounts[secondKey].ID)); a.Status != "connected" {
					t.Errorf("the other account is %s: %s", a.Status, a.Error)
				}
			})
		})
	}
}

// Described states lag and move: neither is mistaken for a failure, in both directions.
func TestOnAWS_MovingStatesAreWaitedFor(t *testing.T) {
	for _, c := range []struct {
		verb  cloud.Verb
		state string
		acts  int
	}{
		{cloud.Stop, "stopping", 0},
		{cloud.Start, "pending", 0},
		{cloud.Stop, "pending", 1},
		{cloud.Start, "stopping", 1},
	} {
		t.Run(fmt.Sprintf("%s while %s", c.verb, c.state), func(t *testing.T) {
			onAWS(t, func(w *awsFixture) {
				r := w.instance(awstwin.AccessKey, awstwin.Instance{State: c.state})
				go func() {
					time.Sleep(25 * time.Second)
					w.first.SettleAll()
				}()
				a, took := w.runToEnd(r, c.verb)
				if a.Status != execution.Succeeded || took < 25*time.Second || a.Attempts != c.acts {
					t.Errorf("%s after %s and %d attempts: %s", a.Status, took, a.Attempts, a.ErrorMessage)
				}
			})
		})
	}
}
