package eraser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/erasure"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
)

// waiting is a machine that does nothing for an hour.
const waiting = `{"StartAt":"Wait","States":{"Wait":{"Type":"Wait","Seconds":3600,"End":true}}}`

// testWalk returns a walk through partitions of every sort. functions.TestErasing_LeavesNothing uses all declared
// partitions.
func testWalk(t testing.TB) Walk {
	t.Helper()
	var declared []table.Partition
	for name := range strings.SplitSeq("META MEMBER INVITE SSO WAKELINK CA CLUSTER CANATIVE CANAME ASSIGN TEAM "+
		"TEAMNAME TEAMPEOPLE BULK BULK#* BULKGROUP ACT#* SNAP JOB JOB#* SCAN#* REFRESH INV INV#* COST COST#* RES#* "+
		"REC#* RECX RECX#* HIST#* HIST#R#* COUNT IDEM AUDIT", " ") {
		declared = append(declared, table.Partition("ORG#*#"+name))
	}
	w, err := NewWalk(declared)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// recording stores the keys of all writes made through it.
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

// fixture is a store with organizations in it.
type fixture struct {
	*apitest.Fixture
	all      *recording
	archives []string // that were erased
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := &fixture{Fixture: apitest.New(t)}
	s.RunMachines(fstest.MapFS{
		"discovery.asl.json": {Data: []byte(waiting)},
		"erasure.asl.json":   {Data: []byte(waiting)},
	}, nil)
	s.all = &recording{Store: s.Table, keys: map[table.Key]bool{}}
	s.Table = s.all
	s.Workers = lambdacall.Local{archive.Worker: func(_ context.Context, in json.RawMessage) (any, error) {
		var r archive.Request
		err := json.Unmarshal(in, &r)
		s.archives = append(s.archives, r.Erase)
		return struct{}{}, err
	}}
	return s
}

func (s *fixture) putRow(pk, sk string, v any) {
	s.Helper()
	s.Put(table.Key{PK: pk, SK: sk}, v)
}

// fillOrg makes an organization that has n of everything, and one piece of work under way.
func (s *fixture) fillOrg(org string, n int) {
	s.Helper()
	ctx, within := s.Anywhere(), table.OrgPK(org)
	s.putRow(within+"META", "ORG", identity.Organisation{ID: org, Name: org})
	s.putRow(within+"META", "ACCESS", identity.Access{})
	s.putRow(within+"META", "EXTERNALID", struct{}{})
	s.Write(apitest.Value(identity.AddToDirectory(org))(s))
	var domains []map[string]string
	for i := range n {
		name := fmt.Sprintf("%s-%d", org, i)
		u := identity.User{ID: "usr_" + name, Email: name + "@example.com", Verified: true}
		s.putRow(identity.UserPrefix+u.ID, "PROFILE", u)
		s.Must(membership.New(s.Platform).JoinOrganisation(ctx, org, u, apitest.Roles(grant.Owner)))
		apitest.Value(membership.New(s.Platform).StoreInvitation(ctx, org, membership.Invitation{},
			membership.Invitation{Email: "guest-" + u.Email, Role: grant.Viewer, Inviter: u.ID}))(s)
		apitest.Value(audit.New(s.Platform).Append(ctx, org, audit.Row{Action: "createTeam", Actor: u.Email}))(s)
		domains = append(domains, map[string]string{"name": name + ".example.com"})
		s.putRow(domainPrefix+name+".example.com", "D", map[string]string{"org": org})
		s.putRow(within+"WAKELINK", "wake_"+name, map[string]string{"hash": "hash-of-" + name})
		s.putRow(wakePrefix+"hash-of-"+name, "L", map[string]string{"org": org, "linkID": "wake_" + name})
		s.putRow(within+"CA", "ca_"+name, struct{}{})
		s.putRow(simulatedPrefix+"ca_"+name, "L#1", struct{}{})
		s.Write(apitest.Value(discovery.AddDue(org, "ca_"+name))(s))
		s.putRow(within+"BULK", "bulk_"+name, struct{}{})
		s.putRow(execution.ChunkPK(org, "bulk_"+name), "C#1", struct{}{})
		s.putRow(within+"JOB", "job_"+name, struct{}{})
		s.putRow(within+"JOB#job_"+name, "eu#vm", struct{}{})
		s.putRow(within+"SCAN#job_"+name, "ca#eu#vm#1", struct{}{})
		s.putRow(within+"INV", "HEAD", map[string]any{"gen": 1, "chunks": []map[string]any{{"id": "named", "rows": 1}}})
		s.putRow(within+"INV", "P#"+name, map[string]any{"chunks": []string{"planned", "replaced"}})
		for _, chunk := range []string{"named", "planned", "replaced"} {
			s.putRow(within+"INV#"+chunk, "C", struct{}{})
		}
		named := []map[string]any{{"id": "named", "rows": 1}}
		s.putRow(within+"RECX", "HEAD", map[string]any{"gen": 1, "chunks": named})
		s.putRow(within+"RECX", "P#"+name, map[string]any{"chunks": []string{"planned"}})
		for _, chunk := range []string{"named", "planned"} {
			s.putRow(within+"RECX#"+chunk, "C", struct{}{})
		}
		s.putRow(within+"COST", "P#2026-03#ca_"+name,
			map[string]string{"month": "2026-03", "gen": "live", "stamps": "stamped"})
		s.putRow(within+"COST", "G#dead", struct{}{})
		for _, generation := range []string{"live", "stamped", "dead"} {
			s.putRow(within+"COST#"+generation, "D0000#00", struct{}{})
		}
		c := execution.StateChange{
			ID: id.New("sh", s.Clock.Now()), ResourceUID: "res:" + name,
			ChangedBy: "user:" + u.Email,
		}
		s.putRow(execution.HistoryPKs(org)[i%4], c.ID, c)
		s.putRow(execution.HistoryResourcePK(org, c.ResourceUID), c.ID, c)
		// as earlier versions wrote it
		s.putRow(execution.HistoryResourcePK(org, c.ResourceUID), "!count", map[string]int{"n": 1})
		for _, p := range testWalk(s) {
			if p.leads == nil && p.name != "AUDIT" && p.name != "ASSIGN" {
				s.putRow(within+p.name, name, struct{}{})
			}
		}
	}
	s.putRow(within+"SSO", "SETUP", map[string]any{"domains": domains})
	work, err := workqueue.AddWork(workqueue.Work{ID: "job_" + org, Org: org, Machine: "discovery", At: s.Clock.Now()},
		map[string]string{"org": org})
	s.Must(err)
	s.Write(work)
	s.Must(s.Workflow.Start(ctx, "discovery", "job_"+org, json.RawMessage(`{"org":"`+org+`"}`)))
}

// itemsOf returns the stored items of an organization, by their key or by their contents.
func (s *fixture) itemsOf(org string) map[table.Key]string {
	s.Helper()
	out := map[table.Key]string{}
	for k := range s.all.keys {
		it, err := s.all.Get(s.Anywhere(), k)
		if fault.Is(err, fault.NotFound) || strings.HasPrefix(k.PK, "AUDIT#SYS#") || k.SK == "PROFILE" {
			continue
		}
		s.Must(err)
		if strings.HasPrefix(k.PK, identity.UserPrefix) && table.IsTurn(it) {
			continue // counts how often the user has joined organizations, and is the user's own
		}
		if strings.Contains(k.PK+k.SK, org) || bytes.Contains(it.Data, []byte(org)) {
			out[k] = string(it.Data)
		}
	}
	return out
}

// endOrg ends org_a and returns the input of the machine.
func (s *fixture) endOrg() erasure.Input {
	s.Helper()
	s.Must(erasure.BeginErasure(identity.WithCaller(s.Context(),
		identity.Caller{User: "usr_x", Email: "x@example.com"}), s.Platform, "org_a"))
	for shard := range workqueue.Shards {
		page := apitest.Value(s.Table.Query(s.Anywhere(), table.Query{PK: workqueue.PK(shard), Limit: 100}))(s)
		works := apitest.Value(table.DecodeAll[workqueue.Work](page.Items))(s)
		for _, w := range works {
			if w.Machine == erasure.Machine && w.Org == "org_a" {
				var in erasure.Input
				s.Must(json.Unmarshal(w.Input, &in))
				return in
			}
		}
	}
	s.Fatal("the erasure is not on the list of unfinished work")
	return erasure.Input{}
}

func (s *fixture) runEraser(in erasure.Input) (Result, error) {
	s.Helper()
	input := apitest.Value(json.Marshal(map[string]any{"task": "erase", "input": in}))(s)
	out, err := Handler(s.Platform, testWalk(s))(s.Context(), input)
	r, _ := out.(Result)
	return r, err
}

func (s *fixture) runToEnd(in erasure.Input) Result {
	s.Helper()
	r := apitest.Value(s.runEraser(in))(s)
	return r
}

func TestNothingOfAnOrganizationIsLeft(t *testing.T) {
	s := newFixture(t)
	s.fillOrg("org_a", 3)
	s.fillOrg("org_b", 3)
	others := s.itemsOf("org_b")
	in := s.endOrg()
	if r := s.runToEnd(in); r.Done || r.WaitSeconds < int(erasure.Settling.Seconds()) {
		t.Errorf("after the first pass: %+v", r)
	}
	left := s.itemsOf("org_a")
	delete(left, identity.AccessKey("org_a"))
	delete(left, workqueue.WorkKey(in.JobID))
	if len(left) > 0 {
		t.Errorf("after the first pass: %v", left)
	}
	if ex, err := s.Workflow.Describe(t.Context(), "discovery", "job_org_a"); err != nil ||
		ex.Status != workflow.Aborted {
		t.Errorf("its discovery: %+v, %v", ex, err)
	}
	s.putRow("ORG#org_a#AUDIT", "late", struct{}{}) // by a request that had begun before
	s.putRow("ORG#org_a#META", "AUDITHEAD", struct{}{})
	s.Clock.Advance(erasure.Settling + time.Second)
	if r := s.runToEnd(in); !r.Done {
		t.Errorf("at the end: %+v", r)
	}
	if left = s.itemsOf("org_a"); len(left) > 0 {
		t.Errorf("at the end: %v", left)
	}
	if !slices.Equal(s.archives, []string{"org_a"}) {
		t.Errorf("erased the archives of %v", s.archives)
	}
	if r := s.runToEnd(in); !r.Done {
		t.Errorf("once more: %+v", r)
	}
	now := s.itemsOf("org_b")
	if len(now) != len(others) || len(others) < 100 {
		t.Errorf("of the other organization %d of %d items are left", len(now), len(others))
	}
	for k, v := range others {
		if now[k] != v {
			t.Errorf("the other organization's %v became %q", k, now[k])
		}
	}
	if ex, err := s.Workflow.Describe(t.Context(), "discovery", "job_org_b"); err != nil ||
		ex.Status != workflow.Running {
		t.Errorf("the other organization's discovery: %+v, %v", ex, err)
	}
}

func TestTheInstallationRemembersThatItWas(t *testing.T) {
	s := newFixture(t)
	s.fillOrg("org_a", 1)
	in := s.endOrg()
	s.Clock.Advance(erasure.Settling + time.Second)
	s.runToEnd(in)
	found := 0
	apitest.LinkAudit(s, s.Platform, audit.SystemPlaces()...)
	for _, at := range audit.SystemPlaces() {
		page := apitest.Value(s.Table.Query(s.Anywhere(), table.Query{PK: at.PK, Limit: 100}))(s)
		for _, it := range page.Items {
			if r, err := table.Decode[audit.Row](it); err == nil && r.Action == "eraseOrganisation" &&
				r.Target == "org_a" && r.Actor == "x@example.com" {
				found++
			}
		}
	}
	if found != 1 {
		t.Errorf("%d rows", found)
	}
}

func TestAnOrganizationThatLivesIsNotTouched(t *testing.T) {
	s := newFixture(t)
	s.fillOrg("org_a", 2)
	before := s.itemsOf("org_a")
	if r, err := s.runEraser(erasure.Input{Org: "org_a", JobID: "job_1"}); err == nil || r.Done {
		t.Errorf("%+v, %v", r, err)
	}
	if after := s.itemsOf("org_a"); len(after) != len(before) {
		t.Errorf("%d of %d items are left", len(after), len(before))
	}
	if _, err := s.runEraser(erasure.Input{}); !fault.Is(err, fault.Invalid) {
		t.Errorf("no organization: %v", err)
	}
	if _, err := Handler(s.Platform, testWalk(s))(t.Context(),
		json.RawMessage(`{"task":"other","input":{}}`)); !fault.Is(err, fault.Invalid) {
		t.Errorf("another task: %v", err)
	}
}

func TestOnlyOneEndsAnOrganization(t *testing.T) {
	s := newFixture(t)
	s.fillOrg("org_a", 1)
	s.endOrg()
	for _, org := range []string{"org_a", "org_unknown"} {
		if err := erasure.BeginErasure(t.Context(), s.Platform, org); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", org, err)
		}
	}
}

// Each call fails in turn, with or without effect. The next run continues, and nothing is left.
func TestKilledAnywhereItCarriesOn(t *testing.T) {
	race.SkipRepetition(t)
	for harm, stride := range map[table.Harm]int{table.FailBefore: 1, table.FailAfter: 3} {
		for call, failed := 1, true; failed; call += stride {
			s := newFixture(t)
			s.fillOrg("org_a", 1)
			in := s.endOrg()
			s.Clock.Advance(erasure.Settling + time.Second)
			faulty := table.NewFaultyStore(s.all, s.Clock, table.Injection{Harm: harm, Call: call})
			s.Table = faulty
			_, err := s.runEraser(in)
			failed = err != nil
			faulty.RemoveFaults()
			for range 3 {
				if r := s.runToEnd(in); r.Done {
					break
				}
			}
			if left := s.itemsOf("org_a"); len(left) > 0 {
				t.Fatalf("harm %d at call %d: %v", harm, call, left)
			}
			if !failed && call < 40 {
				t.Fatalf("a whole run took %d calls", call)
			}
		}
	}
}

func TestARunThatIsOutOfTimeGoesOnLater(t *testing.T) {
	s := newFixture(t)
	s.fillOrg("org_a", 2)
	in := s.endOrg()
	s.Clock.Advance(erasure.Settling + time.Second)
	input := apitest.Value(json.Marshal(map[string]any{"task": "erase", "input": in}))(s)
	ctx, cancel := context.WithTimeout(t.Context(), reserve-time.Second)
	defer cancel()
	out, err := Handler(s.Platform, testWalk(s))(ctx, input)
	if err != nil || out != (Result{WaitSeconds: 1}) {
		t.Errorf("%+v, %v", out, err)
	}
	if len(s.itemsOf("org_a")) < 20 {
		t.Error("erased without time")
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if out, err = Handler(s.Platform, testWalk(s))(ctx, input); err == nil {
		t.Errorf("in a process that ends: %+v", out)
	}
	if r := s.runToEnd(in); !r.Done || len(s.itemsOf("org_a")) > 0 {
		t.Errorf("%+v, %v", r, s.itemsOf("org_a"))
	}
}

// A family of partitions is erased through the records that name its members. A family without such records is
// refused before anything runs.
func TestNewWalk_RefusesWhatNothingLeadsTo(t *testing.T) {
	if w, err := NewWalk([]table.Partition{"ORG#*#THING", "ORG#*#THING#*", "ORG#*#MEMBER", "THING#*"}); err != nil ||
		len(w) != 2 || w[0].name != "MEMBER" || w[1].leads == nil {
		t.Errorf("%v, %v", w, err)
	}
	if _, err := NewWalk([]table.Partition{"ORG#*#OTHER", "ORG#*#THING#*"}); err == nil ||
		!strings.Contains(err.Error(), "declare ORG#*#THING,") {
		t.Errorf("got %v", err)
	}
	if w, err := ReadWalk(func(string) string {
		return "ACT,CA, MEMBER,META"
	}); err != nil || len(w) != 3 || w[0].name != "MEMBER" {
		t.Errorf("%v, %v", w, err)
	}
	if _, err := ReadWalk(func(string) string { return "" }); err == nil {
		t.Error("no partitions are no error")
	}
}
