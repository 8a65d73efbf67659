package simulated

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

// many returns a cloud of running instances in one region, with one more setting.
func many(name, value string) map[string]string {
	return map[string]string{"size": "1000", "kinds": ec2, "regions": "1", "stopped": "0", name: value}
}

func share(errs []error) float64 {
	n := 0
	for _, err := range errs {
		if err != nil {
			n++
		}
	}
	return float64(n) / float64(len(errs))
}

func TestThrottlingOutlastsTheRetriesOfACall(t *testing.T) {
	p := New(tabletest.New(t), clock.System{})
	c, err := p.Connect(t.Context(), account(many("throttle", "1")))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.List(t.Context(), ec2, east1, "")
	wantClass(t, err, cloud.Throttled)
	if got := CallsByMethod(p, "ca_1")["List"]; got != attempts {
		t.Errorf("%d attempts; want %d", got, attempts)
	}
}

func TestAPartialFailureLeavesTheOthersActedOn(t *testing.T) {
	s := newFixture(t)
	c := s.open(t, many("partialFailure", "0.3"))
	uids := in(c, ec2, east1).free(t)[:500]
	errs := in(c, ec2, east1).act(t, cloud.Stop, uids...)
	if got := share(errs); got < 0.2 || got > 0.4 {
		t.Errorf("%.0f%% failed; want about 30%%", 100*got)
	}
	s.clk.Advance(time.Minute)
	for i, uid := range uids {
		want := cloud.Stopped
		if errs[i] != nil {
			wantClass(t, errs[i], cloud.Transient)
			want = cloud.Running
		}
		if got := in(c, ec2, east1).read(t, uid).Status; got != want {
			t.Errorf("%s is %s after %v; want %s", uid, got, errs[i], want)
		}
	}
	if again := in(c, ec2, east1).act(t, cloud.Stop, uids...); fmt.Sprint(again) == fmt.Sprint(errs) {
		t.Error("the same ones fail in every call; want others the next time")
	}
}

func TestALostReplyHasTakenEffect(t *testing.T) {
	s := newFixture(t)
	c := s.open(t, many("lostReply", "1"))
	uid := in(c, ec2, east1).free(t)[0]
	wantClass(t, in(c, ec2, east1).act(t, cloud.Stop, uid)[0], cloud.Transient)
	if got := in(c, ec2, east1).read(t, uid).Status; got != cloud.Stopping {
		t.Errorf("status %s; want stopping", got)
	}
}

func TestAListLagsBehindARead(t *testing.T) {
	s := newFixture(t)
	c := s.open(t, many("eventualConsistency", "30"))
	uid := in(c, ec2, east1).free(t)[0]
	in(c, ec2, east1).act(t, cloud.Stop, uid)
	inList := func() cloud.Status {
		for _, r := range in(c, ec2, east1).list(t) {
			if r.UID == uid {
				return r.Status
			}
		}
		return cloud.Terminated
	}
	s.clk.Advance(10 * time.Second)
	if l, r := inList(), in(c, ec2, east1).read(t, uid).Status; l != cloud.Running || r != cloud.Stopped {
		t.Errorf("after 10 s: listed %s, read %s; want running, stopped", l, r)
	}
	s.clk.Advance(30 * time.Second)
	if l := inList(); l != cloud.Stopped {
		t.Errorf("after 40 s: listed %s; want stopped", l)
	}
}

func TestWhatIsDeniedFailsAndNothingElse(t *testing.T) {
	tests := []struct {
		name, denied, kind, region string
		stop                       bool // else list
		refused                    bool
	}{
		{"an operation", "ec2:StopInstances", ec2, east1, true, true},
		{"the listing beside a denied operation", "ec2:StopInstances", ec2, east1, false, false},
		{"a kind", rds, rds, east1, false, true},
		{"another kind", rds, ec2, east1, false, false},
		{"a region", "us-east-2", ec2, "us-east-2", false, true},
		{"another region", "us-east-2", ec2, east1, true, false},
		{"a capability", "start_stop", rds, east1, true, true},
		{"everything", "*", ec2, east1, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newFixture(t).open(t, map[string]string{"denied": tt.denied, "stopped": "0"})
			at, want := in(c, tt.kind, tt.region), cloud.Unclassified
			if tt.refused {
				want = cloud.Denied
			}
			if tt.stop {
				wantClass(t, at.act(t, cloud.Stop, at.free(t)[0])[0], want)
				return
			}
			_, err := c.List(t.Context(), tt.kind, tt.region, "")
			wantClass(t, err, want)
		})
	}
}

func TestPermissionsTellWhatIsDenied(t *testing.T) {
	got := apitest.Value(newFixture(t).open(t,
		map[string]string{"denied": "rds:StopDBInstance"}).Permissions(t.Context()))(t)
	for _, p := range got {
		if (p.Action == "rds:StopDBInstance") != (p.Status == "denied") {
			t.Errorf("%+v", p)
		}
	}
}

func TestRefusedCredentialsOpenNothing(t *testing.T) {
	_, err := newFixture(t).open(t, many("refuse", "true")).Identify(t.Context())
	wantClass(t, err, cloud.Refused)
}

func TestAStartThatFallsBackEndsStoppedWithAReason(t *testing.T) {
	s := newFixture(t)
	c := s.open(t, many("fallBack", "1"))
	uid := in(c, ec2, east1).free(t)[0]
	for _, v := range []cloud.Verb{cloud.Stop, cloud.Start} {
		if err := in(c, ec2, east1).act(t, v, uid)[0]; err != nil {
			t.Fatal(err)
		}
		if got := in(c, ec2, east1).read(t, uid).Status; !got.IsTransitional() {
			t.Errorf("%s: %s; want it on its way", v, got)
		}
		s.clk.Advance(time.Minute)
	}
	if got := in(c, ec2, east1).read(t, uid); got.Status != cloud.Stopped || got.Reason == "" {
		t.Errorf("%+v; want stopped with a reason", got)
	}
}

func TestWhatVanishedIsGoneEverywhere(t *testing.T) {
	s := newFixture(t)
	before := in(s.open(t, many("size", "1000")), ec2, east1).free(t)
	c := s.open(t, many("vanish", "0.5"))
	left := map[string]bool{}
	for _, r := range in(c, ec2, east1).list(t) {
		left[r.UID] = true
	}
	if len(left) < 400 || len(left) > 600 {
		t.Errorf("%d of 1,000 are left; want about half", len(left))
	}
	read, err := c.Read(t.Context(), ec2, east1, before)
	if err != nil || len(read) == 0 {
		t.Fatalf("Read finds %d: %v", len(read), err)
	}
	for _, st := range read {
		if !left[st.UID] {
			t.Errorf("%s is read and not listed", st.UID)
		}
	}
	for i, err := range in(c, ec2, east1).act(t, cloud.Stop, before...) {
		if !left[before[i]] {
			wantClass(t, err, cloud.NotFound)
		}
	}
}

func TestACallTakesItsTimeAndOneTooSlowTimesOut(t *testing.T) {
	tests := []struct {
		name     string
		settings map[string]string
		took     time.Duration
		class    cloud.Class
	}{
		{"at once", map[string]string{}, 0, cloud.Unclassified},
		{"200 ms a call", map[string]string{"callMillis": "200"}, 200 * time.Millisecond, cloud.Unclassified},
		{
			"a slow call",
			map[string]string{"callMillis": "200", "slow": "1"},
			5200 * time.Millisecond,
			cloud.Unclassified,
		},
		{"a call that hangs", map[string]string{"slow": "1", "slowMillis": "60000"}, callDeadline, cloud.Transient},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newFixture(t)
			c := s.open(t, tt.settings)
			done := make(chan error)
			go func() { _, err := c.Identify(t.Context()); done <- err }()
			if tt.took > 0 {
				if err := s.clk.AwaitSleepers(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
				s.clk.Advance(tt.took - 1)
				if s.clk.SleeperCount() == 0 {
					t.Fatalf("answered too early: %v", <-done)
				}
				s.clk.Advance(1)
			}
			wantClass(t, <-done, tt.class)
		})
	}
}

func TestFaultsRepeatThemselves(t *testing.T) {
	run := func() string {
		s := newFixture(t)
		c := s.open(t, many("lostReply", "0.5"))
		var out []error
		for _, uid := range in(c, ec2, east1).free(t)[:40] {
			out = append(out, in(c, ec2, east1).act(t, cloud.Stop, uid)...)
		}
		if got := share(out); got < 0.2 || got > 0.8 {
			t.Errorf("%.0f%% of the replies were lost; want about half", 100*got)
		}
		return fmt.Sprint(out)
	}
	if one, two := run(), run(); one != two {
		t.Errorf("the same calls met other faults:\n%s\n%s", one, two)
	}
}

func TestAFailureOfTheTableIsTransient(t *testing.T) {
	clk := clock.NewManual(noon)
	store := table.NewFaultyStore(tabletest.New(t), clk)
	c := apitest.Value(New(store, clk).Connect(t.Context(), account(many("seed", "1"))))(t)
	uid := in(c, ec2, east1).free(t)[0]
	for _, harm := range []table.Harm{table.FailBefore, table.FailAfter} {
		store.Inject(table.Injection{Harm: harm, Method: table.TransactMethod, Call: 1})
		wantClass(t, in(c, ec2, east1).act(t, cloud.Stop, uid)[0], cloud.Transient)
	}
	if got := in(c, ec2, east1).read(t, uid).Status; got != cloud.Stopping {
		t.Errorf("after a lost reply of the table: %s; want stopping, since the write took effect", got)
	}
	wantClass(t, in(c, ec2, east1).act(t, cloud.Stop, uid)[0], cloud.Unclassified)
}

// TestTheCloudOutlivesItsProcess acts through several providers on one store, as several processes would.
func TestTheCloudOutlivesItsProcess(t *testing.T) {
	store, clk := tabletest.New(t), clock.NewManual(noon)
	settings := map[string]string{"size": "3000", "kinds": "aws-ec2,aws-asg", "regions": "1", "stopped": "0"}
	open := func() cloud.Conn {
		c := apitest.Value(New(store, clk).Connect(t.Context(), account(settings)))(t)
		return c
	}
	conns := []cloud.Conn{open(), open(), open()}
	idle := open() // reads now, and again when all is done and the log was cut behind its back
	uids := in(idle, ec2, east1).free(t)[:1200]
	var wg sync.WaitGroup
	for i, c := range conns {
		wg.Go(func() {
			for j := i; j < len(uids); j += len(conns) {
				if err := in(c, ec2, east1).act(t, cloud.Stop, uids[j])[0]; err != nil {
					t.Errorf("stop %s: %v", uids[j], err)
				}
			}
		})
	}
	wg.Wait()
	clk.Advance(time.Minute)
	for name, c := range map[string]cloud.Conn{
		"one that acted": conns[0], "one that slept": idle,
		"a new one": open(),
	} {
		states, err := c.Read(t.Context(), ec2, east1, uids)
		if err != nil || len(states) != len(uids) {
			t.Fatalf("%s reads %d of %d: %v", name, len(states), len(uids), err)
		}
		for _, s := range states {
			if s.Status != cloud.Stopped {
				t.Errorf("%s: %s is %s; want stopped", name, s.UID, s.Status)
			}
		}
	}
	page, err := store.Query(table.Within(t.Context(), "SIM#"), table.Query{PK: "SIM#ca_1", Prefix: "L#", Limit: 5000})
	if err != nil || len(page.Items) > 3*foldEvery {
		t.Errorf("the log has %d items, %v; want it to be cut", len(page.Items), err)
	}
}
