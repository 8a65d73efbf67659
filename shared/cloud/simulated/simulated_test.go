package simulated

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is a provider with a clock that moves when told.
type fixture struct {
	cloud.Provider
	clk *clock.Manual
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	clk := clock.NewManual(noon)
	return fixture{New(tabletest.New(t), clk), clk}
}

func (s fixture) open(t *testing.T, settings map[string]string) cloud.Conn {
	t.Helper()
	c, err := s.Connect(t.Context(), account(settings))
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	return c
}

// place is where a test looks: the resources of a kind in a region.
type place struct {
	c            cloud.Conn
	kind, region string
}

func in(c cloud.Conn, kind, region string) place { return place{c, kind, region} }

// list returns everything there.
func (p place) list(t *testing.T) []cloud.Resource {
	t.Helper()
	var out []cloud.Resource
	for page := ""; ; {
		got, err := p.c.List(t.Context(), p.kind, p.region, page)
		if err != nil {
			t.Fatalf("List(%s, %s, %q): %v", p.kind, p.region, page, err)
		}
		out = append(out, got.Resources...)
		if page = got.Next; page == "" {
			return out
		}
	}
}

// free returns the uids of the running resources that can be acted on.
func (p place) free(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, r := range p.list(t) {
		if r.Unschedulable == "" && r.Status == cloud.Running {
			out = append(out, r.UID)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no running %s in %s", p.kind, p.region)
	}
	return out
}

func (p place) read(t *testing.T, uid string) cloud.State {
	t.Helper()
	got, err := p.c.Read(t.Context(), p.kind, p.region, []string{uid})
	if err != nil || len(got) != 1 {
		t.Fatalf("Read(%s) = %v, %v", uid, got, err)
	}
	return got[0]
}

func (p place) act(t *testing.T, v cloud.Verb, uids ...string) []error {
	t.Helper()
	targets := make([]cloud.Target, len(uids))
	for i, u := range uids {
		targets[i].UID = u
	}
	var out []error
	for _, r := range p.c.Act(t.Context(), v, p.kind, p.region, targets) {
		out = append(out, r.Err)
	}
	return out
}

const (
	ec2   = "aws-ec2"
	rds   = "aws-rds"
	asg   = "aws-asg"
	east1 = "us-east-1"
)

func TestTheSameSettingsAlwaysMakeTheSameCloud(t *testing.T) {
	one := in(newFixture(t).open(t, map[string]string{"size": "500"}), ec2, east1).list(t)
	two := in(newFixture(t).open(t, map[string]string{"size": "500"}), ec2, east1).list(t)
	if fmt.Sprint(one) != fmt.Sprint(two) {
		t.Error("two clouds of the same settings differ")
	}
	other := in(newFixture(t).open(t, map[string]string{"size": "500", "seed": "2"}), ec2, east1).list(t)
	if one[0].UID == other[0].UID {
		t.Errorf("another seed made the same first instance %s", one[0].UID)
	}
}

func TestTheSizeIsExactAndEveryUIDIsThereOnce(t *testing.T) {
	for _, size := range []int{0, 1, 7, 200, 12_345} {
		t.Run(fmt.Sprintf("%d resources", size), func(t *testing.T) {
			s := newFixture(t)
			c := s.open(t, map[string]string{"size": strconv.Itoa(size), "regions": "3", "stopped": "0"})
			regions, err := c.Regions(t.Context())
			if err != nil || len(regions) != 3 {
				t.Fatalf("Regions = %v, %v", regions, err)
			}
			seen := map[string]bool{}
			for _, k := range s.Kinds() {
				for _, region := range regions {
					for _, r := range in(c, k.Type, region).list(t) {
						seen[r.UID] = true
					}
				}
			}
			if len(seen) != size {
				t.Errorf("%d different resources; want %d", len(seen), size)
			}
		})
	}
}

func TestAnAccountThatNamesRegionsHasNoOthers(t *testing.T) {
	a := account(map[string]string{"regions": "3"})
	a.Regions = []string{"us-east-2", "sa-east-1"}
	c := apitest.Value(newFixture(t).Connect(t.Context(), a))(t)
	if got, err := c.Regions(t.Context()); err != nil || !slices.Equal(got, []string{"us-east-2"}) {
		t.Errorf("Regions = %v, %v; want us-east-2 alone", got, err)
	}
}

func TestAListMakesOneCallForEachPage(t *testing.T) {
	s := newFixture(t)
	c := s.open(t, map[string]string{"size": "3500", "kinds": ec2, "regions": "1", "stopped": "0"})
	if got := len(in(c, ec2, east1).list(t)); got != 3500 {
		t.Errorf("listed %d; want 3500", got)
	}
	if got := CallsByMethod(s.Provider, "ca_1")["List"]; got != 4 {
		t.Errorf("%d calls for 3,500 resources in pages of 1,000; want 4", got)
	}
}

func TestStatesTakeTheirTime(t *testing.T) {
	s := newFixture(t)
	c := s.open(t, map[string]string{"transitionSeconds": "60"})
	uid := in(c, ec2, east1).free(t)[0]
	steps := []struct {
		name   string
		do     func()
		status cloud.Status
		native string
	}{
		{"at first it runs", func() {}, cloud.Running, "running"},
		{"after a stop it is stopping", func() {
			in(c, ec2, east1).act(t, cloud.Stop, uid)
		}, cloud.Stopping, "stopping"},
		{"not yet", func() { s.clk.Advance(29 * time.Second) }, cloud.Stopping, "stopping"},
		{"after a minute it is stopped", func() { s.clk.Advance(31 * time.Second) }, cloud.Stopped, "stopped"},
		{"and stays so", func() { s.clk.Advance(240 * time.Hour) }, cloud.Stopped, "stopped"},
		{"after a start it is starting", func() {
			in(c, ec2, east1).act(t, cloud.Start, uid)
		}, cloud.Starting, "pending"},
		{"after a minute it runs", func() { s.clk.Advance(time.Minute) }, cloud.Running, "running"},
	}
	for _, step := range steps {
		step.do()
		if got := in(c, ec2, east1).read(t, uid); got.Status != step.status || got.Native != step.native {
			t.Fatalf("%s: %s (%s); want %s (%s)", step.name, got.Status, got.Native, step.status, step.native)
		}
	}
}

func TestAnActIsAnsweredAsItsKindAnswers(t *testing.T) {
	s := newFixture(t)
	c := s.open(t, map[string]string{"transitionSeconds": "60", "regions": "1", "size": "400"})
	tests := []struct {
		name         string
		kind         string
		before, then cloud.Verb
		wait         time.Duration
		class        cloud.Class // Unclassified: accepted
	}{
		{"EC2 accepts a second stop", ec2, cloud.Stop, cloud.Stop, time.Minute, cloud.Unclassified},
		{"EC2 accepts a second stop under way", ec2, cloud.Stop, cloud.Stop, 0, cloud.Unclassified},
		{"EC2 refuses a start while it stops", ec2, cloud.Stop, cloud.Start, 0, cloud.Moving},
		{"RDS refuses a second stop", rds, cloud.Stop, cloud.Stop, time.Minute, cloud.Moving},
		{"RDS refuses a start while it stops", rds, cloud.Stop, cloud.Start, 0, cloud.Moving},
		{"RDS starts what is stopped", rds, cloud.Stop, cloud.Start, time.Minute, cloud.Unclassified},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			uid := in(c, tt.kind, east1).free(t)[i]
			if err := in(c, tt.kind, east1).act(t, tt.before, uid)[0]; err != nil {
				t.Fatal(err)
			}
			s.clk.Advance(tt.wait)
			wantClass(t, in(c, tt.kind, east1).act(t, tt.then, uid)[0], tt.class)
		})
	}
}

func wantClass(t *testing.T, err error, want cloud.Class) {
	t.Helper()
	e, ok := errors.AsType[*cloud.Error](err)
	if (want == cloud.Unclassified) != (err == nil) || ok && e.Class != want {
		t.Errorf("error %v; want class %d", err, want)
	}
}

func TestAnActReachesAllButTheBadOnes(t *testing.T) {
	s := newFixture(t)
	c := s.open(t, map[string]string{"size": "2000", "kinds": ec2, "regions": "1"})
	uids := in(c, ec2, east1).free(t)[:250]
	errs := in(c, ec2, east1).act(t, cloud.Stop, slices.Concat(uids, []string{"i-0123456789abcdef0", uids[0]})...)
	for i, err := range errs {
		if (err != nil) != (i == 250) {
			t.Errorf("result %d: %v", i, err)
		}
	}
	if got := CallsByMethod(s.Provider, "ca_1")["Act"]; got != 3 {
		t.Errorf("%d calls for 252 ids; want 3", got)
	}
}

func TestMembersFollowTheirGroup(t *testing.T) {
	s := newFixture(t)
	c := s.open(t, map[string]string{"regions": "1", "size": "300", "stopped": "0"})
	group := in(c, asg, east1).free(t)[0]
	members := func() (n int) {
		for _, r := range in(c, ec2, east1).list(t) {
			if r.ParentUID == group {
				n++
				if !strings.Contains(r.Unschedulable, "act on the group") {
					t.Errorf("%s is a member and can be acted on", r.UID)
				}
			}
		}
		return n
	}
	before := members()
	snapshot := in(c, asg, east1).read(t, group).Snapshot
	in(c, asg, east1).act(t, cloud.Stop, group)
	s.clk.Advance(time.Minute)
	if before == 0 || members() != 0 {
		t.Errorf("%d members before, %d after the stop; want some, then none", before, members())
	}
	c.Act(t.Context(), cloud.Start, asg, east1, []cloud.Target{{UID: group, Snapshot: snapshot}})
	s.clk.Advance(time.Minute)
	if members() != before {
		t.Errorf("%d members after the start; want %d", members(), before)
	}
}

func TestAStartWithoutSnapshotHasForgottenTheCapacity(t *testing.T) {
	s := newFixture(t)
	c := s.open(t, map[string]string{"regions": "1", "size": "300", "stopped": "0"})
	group := in(c, asg, east1).free(t)[0]
	in(c, asg, east1).act(t, cloud.Stop, group)
	s.clk.Advance(time.Minute)
	in(c, asg, east1).act(t, cloud.Start, group)
	s.clk.Advance(time.Minute)
	if got := string(in(c, asg, east1).read(t, group).Snapshot); got != `{"min":1,"max":1,"desired":1}` {
		t.Errorf("capacity %s; want a single instance", got)
	}
	for _, bad := range []string{`{"min":3,"max":1,"desired":2}`, `{"min":0,"max":0,"desired":0}`, `[]`} {
		in(c, asg, east1).act(t, cloud.Stop, group)
		s.clk.Advance(time.Minute)
		got := c.Act(t.Context(), cloud.Start, asg, east1, []cloud.Target{{UID: group, Snapshot: []byte(bad)}})
		wantClass(t, got[0].Err, cloud.Invalid)
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	tests := map[string]string{
		"size": "many", "pageSize": "0", "throttle": "1.5", "regions": "mars-north-1", "kinds": "aws-ec3",
		"refuse": "perhaps", "transitionSeconds": "-1", "callMillis": "1e9", "lostReply": "NaN",
	}
	for name, value := range tests {
		t.Run(name+" "+value, func(t *testing.T) {
			_, err := newFixture(t).Connect(t.Context(), account(map[string]string{name: value}))
			wantClass(t, err, cloud.Invalid)
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), value) {
				t.Errorf("error %v; want %s and %s in it", err, name, value)
			}
		})
	}
}

func FuzzFindNamesOnlyWhatExists(f *testing.F) {
	f.Add("i-0123456789abcdef0", uint8(0))
	f.Add("arn:simulated:rds:us-east-1:123456789012:db:orders-prod-00001", uint8(1))
	f.Add("", uint8(3))
	s := apitest.Value(parseSettings(account(map[string]string{"size": "10000"})))(f)
	f.Fuzz(func(t *testing.T, uid string, kind uint8) {
		n, ok := s.findNode(int(kind)%len(kinds), east1, uid)
		if ok && s.nativeUID(n) != uid {
			t.Errorf("find(%q) = %+v, whose uid is %q", uid, n, s.nativeUID(n))
		}
	})
}

func BenchmarkRead1000(b *testing.B) {
	ctx := context.Background()
	c := apitest.Value(New(tabletest.New(b), clock.System{}).Connect(ctx,
		account(map[string]string{"size": "100000", "kinds": ec2, "regions": "1"})))(b)
	page := apitest.Value(c.List(ctx, ec2, east1, ""))(b)
	uids := make([]string, len(page.Resources))
	for i, r := range page.Resources {
		uids[i] = r.UID
	}
	b.ReportAllocs()
	for b.Loop() {
		if got, err := c.Read(ctx, ec2, east1, uids); err != nil || len(got) != len(uids) {
			b.Fatal(len(got), err)
		}
	}
}
