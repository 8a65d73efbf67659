package eraser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/erasure"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/testkit/apitest"
)

// waiting is a machine that does nothing for an hour.
const waiting = `{"StartAt":"Wait","States":{"Wait":{"Type":"Wait","Seconds":3600,"End":true}}}`

// recording remembers the keys of whatever was written through it.
type recording struct {
	table.Store
	mu   sync.Mutex
	keys map[table.Key]bool
}

func (r *recording) note(ws ...table.Write) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range ws {
		r.keys[w.Item.Key] = true
	}
}

func (r *recording) Write(ctx context.Context, w table.Write) (table.Item, error) {
	r.note(w)
	return r.Store.Write(ctx, w)
}

func (r *recording) BatchWrite(ctx context.Context, ws ...table.Write) error {
	r.note(ws...)
	return r.Store.BatchWrite(ctx, ws...)
}

func (r *recording) Transact(ctx context.Context, ws ...table.Write) error {
	r.note(ws...)
	return r.Store.Transact(ctx, ws...)
}

// stage is a store with organizations in it.
type stage struct {
	t     *testing.T
	p     *platform.Platform
	clock *clock.Manual
	all   *recording
}

func newStage(t *testing.T) *stage {
	t.Helper()
	p, c := apitest.NewPlatform(t)
	s := &stage{t: t, p: p, clock: c, all: &recording{Store: p.Table, keys: map[table.Key]bool{}}}
	p.Table = s.all
	machines, err := workflow.Machines(fstest.MapFS{
		"discovery.asl.json": {Data: []byte(waiting)}, "erasure.asl.json": {Data: []byte(waiting)},
	}, nil)
	s.must(err)
	engine, err := workflow.NewEmbedded(workflow.Parts{Store: s.all.Store, Clock: c, Machines: machines, Log: slog.New(slog.DiscardHandler)})
	s.must(err)
	t.Cleanup(func() { _ = engine.Close() })
	p.Workflow = engine
	return s
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// anywhere lets a test touch every partition.
func (s *stage) anywhere() context.Context { return table.Within(s.t.Context(), "") }

func (s *stage) put(pk, sk string, v any) {
	s.t.Helper()
	it, err := table.Row(table.Key{PK: pk, SK: sk}, v)
	s.must(err)
	_, err = s.p.Table.Write(s.anywhere(), table.Put(it))
	s.must(err)
}

// estate makes an organization that has n of everything, and one piece of work under way.
func (s *stage) estate(org string, n int) {
	s.t.Helper()
	ctx, within := s.anywhere(), table.TenantPK(org)
	s.put(within+"META", "ORG", identity.Organisation{ID: org, Name: org})
	s.put(within+"META", "ACCESS", identity.Access{})
	s.put(within+"META", "EXTERNALID", struct{}{})
	var domains []map[string]string
	for i := range n {
		name := fmt.Sprintf("%s-%d", org, i)
		u := identity.User{ID: "usr_" + name, Email: name + "@example.com", Verified: true}
		s.put(identity.UserPrefix+u.ID, "PROFILE", u)
		s.must(membership.Of(s.p).Join(ctx, org, u, []identity.Grant{{Role: identity.Owner, Scope: identity.OrgScope}}))
		_, err := membership.Of(s.p).Invite(ctx, org, membership.Invitation{}, membership.Invitation{Email: "guest-" + u.Email, Role: identity.Viewer, Inviter: u.ID})
		s.must(err)
		_, err = audit.Of(s.p).Append(ctx, org, audit.Row{Action: "createTeam", Actor: u.Email})
		s.must(err)
		domains = append(domains, map[string]string{"name": name + ".example.com"})
		s.put(domainPrefix+name+".example.com", "D", map[string]string{"org": org})
		s.put(within+"CA", "ca_"+name, struct{}{})
		s.put(simulatedPrefix+"ca_"+name, "L#1", struct{}{})
		s.put(within+"BULK", "bulk_"+name, struct{}{})
		s.put(execution.ChunkPK(org, "bulk_"+name), "C#1", struct{}{})
		s.put(within+"JOB", "job_"+name, struct{}{})
		s.put(within+"JOB#job_"+name, "eu#vm", struct{}{})
		s.put(within+"SCAN#job_"+name, "ca#eu#vm#1", struct{}{})
		c := execution.Change{ID: id.New("sh", s.clock.Now()), ResourceUID: "res:" + name, ChangedBy: "user:" + u.Email}
		s.put(execution.HistoryPK(org), c.ID, c)
		s.put(execution.HistoryTypePK(org, "user"), c.ID, c)
		s.put(execution.HistoryResourcePK(org, c.ResourceUID), c.ID, c)
		s.put(execution.HistoryResourcePK(org, c.ResourceUID), "!count", map[string]int{"n": 1})
		for _, p := range partitions {
			if p.leads == nil && p.name != "AUDIT" && p.name != "ASSIGN" {
				s.put(within+p.name, name, struct{}{})
			}
		}
	}
	s.put(within+"SSO", "SETUP", map[string]any{"domains": domains})
	work, err := workqueue.Add(workqueue.Work{ID: "job_" + org, Org: org, Machine: "discovery", At: s.clock.Now()}, map[string]string{"org": org})
	s.must(err)
	_, err = s.p.Table.Write(ctx, work)
	s.must(err)
	s.must(s.p.Workflow.Start(ctx, "discovery", "job_"+org, json.RawMessage(`{"org":"`+org+`"}`)))
}

// of are the stored items that belong to an organization: by their key, or by what they are about.
func (s *stage) of(org string) map[table.Key]string {
	s.t.Helper()
	out := map[table.Key]string{}
	for k := range s.all.keys {
		it, err := s.all.Get(s.anywhere(), k)
		if fault.Is(err, fault.NotFound) || strings.HasPrefix(k.PK, "AUDIT#SYS#") || k.SK == "PROFILE" {
			continue
		}
		s.must(err)
		if strings.Contains(k.PK+k.SK, org) || bytes.Contains(it.Data, []byte(org)) {
			out[k] = string(it.Data)
		}
	}
	return out
}

// ends makes an end of org_a and gives what the machine is started with.
func (s *stage) ends() erasure.Input {
	s.t.Helper()
	s.must(erasure.Begin(identity.With(s.t.Context(), identity.Caller{User: "usr_x", Email: "x@example.com"}), s.p, "org_a"))
	for shard := range workqueue.Shards {
		page, err := s.p.Table.Query(s.anywhere(), table.Query{PK: workqueue.PK(shard), Limit: 100})
		s.must(err)
		works, err := table.DecodeAll[workqueue.Work](page.Items)
		s.must(err)
		for _, w := range works {
			if w.Machine == erasure.Machine && w.Org == "org_a" {
				var in erasure.Input
				s.must(json.Unmarshal(w.Input, &in))
				return in
			}
		}
	}
	s.t.Fatal("the erasure is not on the list of unfinished work")
	return erasure.Input{}
}

func (s *stage) run(in erasure.Input) (Result, error) {
	s.t.Helper()
	input, err := json.Marshal(map[string]any{"task": "erase", "input": in})
	s.must(err)
	out, err := Handler(s.p)(s.t.Context(), input)
	r, _ := out.(Result)
	return r, err
}

func (s *stage) done(in erasure.Input) Result {
	s.t.Helper()
	r, err := s.run(in)
	s.must(err)
	return r
}

func TestNothingOfAnOrganizationIsLeft(t *testing.T) {
	s := newStage(t)
	s.estate("org_a", 3)
	s.estate("org_b", 3)
	others := s.of("org_b")
	in := s.ends()
	if r := s.done(in); r.Done || r.WaitSeconds < int(erasure.Settling.Seconds()) {
		t.Errorf("after the first pass: %+v", r)
	}
	left := s.of("org_a")
	delete(left, identity.AccessKey("org_a"))
	delete(left, workqueue.Key(in.JobID))
	if len(left) > 0 {
		t.Errorf("after the first pass: %v", left)
	}
	if ex, err := s.p.Workflow.Describe(t.Context(), "discovery", "job_org_a"); err != nil || ex.Status != workflow.Aborted {
		t.Errorf("its discovery: %+v, %v", ex, err)
	}
	s.put("ORG#org_a#AUDIT", "late", struct{}{}) // by a request that had begun before
	s.put("ORG#org_a#META", "AUDITHEAD", struct{}{})
	s.clock.Advance(erasure.Settling + time.Second)
	if r := s.done(in); !r.Done {
		t.Errorf("at the end: %+v", r)
	}
	if left = s.of("org_a"); len(left) > 0 {
		t.Errorf("at the end: %v", left)
	}
	if r := s.done(in); !r.Done {
		t.Errorf("once more: %+v", r)
	}
	now := s.of("org_b")
	if len(now) != len(others) || len(others) < 100 {
		t.Errorf("of the other organization %d of %d items are left", len(now), len(others))
	}
	for k, v := range others {
		if now[k] != v {
			t.Errorf("the other organization's %v became %q", k, now[k])
		}
	}
	if ex, err := s.p.Workflow.Describe(t.Context(), "discovery", "job_org_b"); err != nil || ex.Status != workflow.Running {
		t.Errorf("the other organization's discovery: %+v, %v", ex, err)
	}
}

func TestTheInstallationRemembersThatItWas(t *testing.T) {
	s := newStage(t)
	s.estate("org_a", 1)
	in := s.ends()
	s.clock.Advance(erasure.Settling + time.Second)
	s.done(in)
	found := 0
	for _, at := range audit.SystemPlaces() {
		page, err := s.p.Table.Query(s.anywhere(), table.Query{PK: at.PK, Limit: 100})
		s.must(err)
		for _, it := range page.Items {
			if r, err := table.Decode[audit.Row](it); err == nil && r.Action == "eraseOrganisation" && r.Target == "org_a" && r.Actor == "x@example.com" {
				found++
			}
		}
	}
	if found != 1 {
		t.Errorf("%d rows", found)
	}
}

func TestAnOrganizationThatLivesIsNotTouched(t *testing.T) {
	s := newStage(t)
	s.estate("org_a", 2)
	before := s.of("org_a")
	if r, err := s.run(erasure.Input{Org: "org_a", JobID: "job_1"}); err == nil || r.Done {
		t.Errorf("%+v, %v", r, err)
	}
	if after := s.of("org_a"); len(after) != len(before) {
		t.Errorf("%d of %d items are left", len(after), len(before))
	}
	if _, err := s.run(erasure.Input{}); !fault.Is(err, fault.Invalid) {
		t.Errorf("no organization: %v", err)
	}
	if _, err := Handler(s.p)(t.Context(), json.RawMessage(`{"task":"other","input":{}}`)); !fault.Is(err, fault.Invalid) {
		t.Errorf("another task: %v", err)
	}
}

func TestOnlyOneEndsAnOrganization(t *testing.T) {
	s := newStage(t)
	s.estate("org_a", 1)
	s.ends()
	for _, org := range []string{"org_a", "org_unknown"} {
		if err := erasure.Begin(t.Context(), s.p, org); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", org, err)
		}
	}
}

// Whatever call fails, with its effect or without, the next run carries on and nothing is left.
func TestKilledAnywhereItCarriesOn(t *testing.T) {
	for harm, stride := range map[table.Harm]int{table.FailBefore: 1, table.FailAfter: 3} {
		for call, failed := 1, true; failed; call += stride {
			s := newStage(t)
			s.estate("org_a", 1)
			in := s.ends()
			s.clock.Advance(erasure.Settling + time.Second)
			faulty := table.Faulty(s.all, s.clock, table.Injection{Harm: harm, Call: call})
			s.p.Table = faulty
			_, err := s.run(in)
			failed = err != nil
			faulty.Heal()
			for range 3 {
				if r := s.done(in); r.Done {
					break
				}
			}
			if left := s.of("org_a"); len(left) > 0 {
				t.Fatalf("harm %d at call %d: %v", harm, call, left)
			}
			if !failed && call < 40 {
				t.Fatalf("a whole run took %d calls", call)
			}
		}
	}
}

func TestARunThatIsOutOfTimeGoesOnLater(t *testing.T) {
	s := newStage(t)
	s.estate("org_a", 2)
	in := s.ends()
	s.clock.Advance(erasure.Settling + time.Second)
	input, err := json.Marshal(map[string]any{"task": "erase", "input": in})
	s.must(err)
	ctx, cancel := context.WithTimeout(t.Context(), reserve-time.Second)
	defer cancel()
	out, err := Handler(s.p)(ctx, input)
	if err != nil || out != (Result{WaitSeconds: 1}) {
		t.Errorf("%+v, %v", out, err)
	}
	if len(s.of("org_a")) < 20 {
		t.Error("erased without time")
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if out, err = Handler(s.p)(ctx, input); err == nil {
		t.Errorf("in a process that ends: %+v", out)
	}
	if r := s.done(in); !r.Done || len(s.of("org_a")) > 0 {
		t.Errorf("%+v, %v", r, s.of("org_a"))
	}
}

// Each partition that docs/data-model.md names is erased.
func TestThePagesOnTheDataModelAndTheEraserAgree(t *testing.T) {
	page, err := os.ReadFile("../../docs/data-model.md")
	if err != nil {
		t.Fatal(err)
	}
	_, own, _ := strings.Cut(string(page), "## Partitions of an organization")
	own, system, _ := strings.Cut(own, "## Partitions of the system")
	erased := map[string]bool{"META": true}
	for _, p := range partitions {
		erased[p.name] = true
	}
	names := regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|").FindAllStringSubmatch(own, -1)
	if len(names) < 15 {
		t.Fatalf("%d rows", len(names))
	}
	for _, row := range names {
		for name := range strings.SplitSeq(row[1], ", ") {
			name, derived, _ := strings.Cut(strings.Trim(name, "`"), "#")
			if !erased[name] && (derived == "" || name != "SCAN") {
				t.Errorf("%s is in docs/data-model.md and not erased", name)
			}
		}
	}
	for name := range erased {
		if !strings.Contains(own, "`"+name+"`") {
			t.Errorf("%s is erased and not in docs/data-model.md", name)
		}
	}
	for _, prefix := range []string{domainPrefix, simulatedPrefix, membership.InvitedPrefix} {
		if !strings.Contains(system, "`"+prefix) {
			t.Errorf("%s is erased and not in docs/data-model.md", prefix)
		}
	}
}
