package auditanchor

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/audit/anchor"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// countedKeys counts signatures.
type countedKeys struct {
	token.Documents
	signatures *int
}

func (k countedKeys) Sign(ctx context.Context, typ string, body []byte) (string, error) {
	*k.signatures++
	return k.Documents.Sign(ctx, typ, body)
}

// fixture is a service with organizations whose chains are anchored.
type fixture struct {
	*apitest.Fixture
	signatures int
}

func newFixture(t *testing.T, orgs ...string) *fixture {
	t.Helper()
	f := &fixture{Fixture: apitest.New(t)}
	f.AnchorKeys = countedKeys{f.AnchorKeys, &f.signatures}
	for _, org := range orgs {
		f.Write(apitest.Value(identity.AddToDirectory(org))(f))
		f.leaveRows(org, 3)
	}
	return f
}

// leaveRows appends rows to the chain of an organization.
func (f *fixture) leaveRows(org string, n int) {
	f.Helper()
	for i := range n {
		apitest.Value(audit.New(f.Platform).Append(f.Anywhere(), org, audit.Row{Action: fmt.Sprint("action", i)}))(f)
		f.Clock.Advance(time.Second)
	}
	apitest.LinkAudit(f, f.Platform, audit.PlaceOf(org))
}

// cutRows removes the rows of the chain of org_a behind a number, and sets its head back, as in an older copy of the
// store.
func (f *fixture) cutRows(after int64) {
	f.Helper()
	at := audit.PlaceOf("org_a")
	q := table.Query{PK: at.PK, Limit: table.MaxPage}
	q.From, q.To = audit.AllRowKeys()
	var last audit.Row
	for _, it := range apitest.Value(f.Table.Query(f.Anywhere(), q))(f).Items {
		row := apitest.Value(table.Decode[audit.Row](it))(f)
		if row.Seq > after {
			f.Write(table.Delete(it.Key))
		} else {
			last = row
		}
	}
	f.Put(at.Head, audit.Head{Seq: last.Seq, At: last.At, Hash: last.Hash})
}

// night runs the worker of a service with the epoch, a day after the last time, with only its declared access.
func (f *fixture) night() (Anchored, error) {
	f.Helper()
	f.Clock.Advance(24 * time.Hour)
	out, err := f.own()(f.Context(), json.RawMessage(`{"detail-type":"Scheduled Event"}`))
	did, _ := out.(Anchored)
	return did, err
}

func (f *fixture) own() func(context.Context, json.RawMessage) (any, error) {
	p := f.Clone()
	p.Own(Declaration)
	return Handler(p)
}

// leaf asks for the anchor of an organization.
func (f *fixture) leaf(org string) *anchor.Leaf {
	f.Helper()
	out := apitest.Value(f.own()(f.Context(), apitest.Value(json.Marshal(anchor.Question{Org: org}))(f)))(f)
	return out.(anchor.Answer).Leaf
}

// objects returns the names of the objects in a folder of the vault.
func (f *fixture) objects(folder string) []string {
	f.Helper()
	return apitest.Value(f.Vault.Names(f.Context(), folder))(f)
}

func TestNight_AnchorsEachChainUnderOneSignature(t *testing.T) {
	f := newFixture(t, "org_a", "org_b", "org_c")
	if f.leaf("org_a") != nil {
		t.Error("there is an anchor before the first night")
	}
	did, err := f.night()
	if err != nil || did.Chains != 3 || did.Moved != 3 || f.signatures != 1 {
		t.Fatalf("%+v, %d signatures, %v", did, f.signatures, err)
	}
	for _, org := range []string{"org_a", "org_b", "org_c"} {
		head := apitest.Value(audit.ReadHead(f.Anywhere(), f.Table, audit.PlaceOf(org)))(t)
		l := f.leaf(org)
		if l == nil || l.Chain != org || l.Seq != 3 || l.Hash != head.Hash || !l.Anchored.Equal(f.Clock.Now()) {
			t.Errorf("%s: %+v, want %+v", org, l, head)
		}
	}
	if f.leaf("org_unknown") != nil {
		t.Error("an unknown organization has an anchor")
	}
	first := *f.leaf("org_b")
	f.leaveRows("org_a", 1)
	if did, err = f.night(); err != nil || did.Chains != 3 || did.Moved != 1 || len(f.objects("nights")) != 2 {
		t.Errorf("the second night: %+v %v", did, err)
	}
	if got := *f.leaf("org_b"); got != first {
		t.Errorf("a chain without a new row: %+v, want %+v", got, first)
	}
}

func TestNight_ComesOnceADay(t *testing.T) {
	f := newFixture(t, "org_a")
	apitest.Value(f.night())(t)
	f.Clock.Advance(notAgain - time.Second)
	out, err := f.own()(f.Context(), json.RawMessage(`{}`))
	if did := out.(Anchored); err != nil || !did.Early || len(f.objects("nights")) != 1 {
		t.Errorf("%+v %v", did, err)
	}
}

// Of two runs at once, one makes the night.
func TestNight_IsMadeByOneOfTwoRuns(t *testing.T) {
	f := newFixture(t, "org_a")
	f.Clock.Advance(24 * time.Hour)
	first := f.own()
	f.Vault = slowVault{f.Vault, func() {
		f.Vault = f.Vault.(slowVault).Vault
		apitest.Value(first(f.Context(), json.RawMessage(`{}`)))(t)
	}}
	out, err := f.own()(f.Context(), json.RawMessage(`{}`))
	if did := out.(Anchored); err != nil || !did.Early {
		t.Errorf("the second run: %+v %v", did, err)
	}
	nights, err := anchor.NewBook(f.Vault, f.AnchorKeys.Verify).Nights(t.Context())
	if err != nil || len(nights) != 1 {
		t.Errorf("%d nights, %v", len(nights), err)
	}
}

// slowVault calls do before it adds an object for the first time.
type slowVault struct {
	archive.Vault
	do func()
}

func (v slowVault) Add(ctx context.Context, name string, content []byte) error {
	if strings.HasPrefix(name, "nights/") {
		v.do()
	}
	return v.Vault.Add(ctx, name, content)
}

func TestNight_KeepsTheAnchorOfAChainThatDoesNotContinue(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(*fixture)
		says string
	}{
		"the end was cut off": {func(f *fixture) { f.cutRows(1) }, "ends with row 1"},
		"the end was cut off and goes on": {func(f *fixture) {
			f.cutRows(1)
			f.leaveRows("org_a", 5)
		}, "row 3 is not the one"},
		"all rows are gone": {func(f *fixture) {
			f.cutRows(0)
			f.Write(table.Delete(audit.PlaceOf("org_a").Head))
		}, "ends with row 0"},
		"the organization is gone": {func(f *fixture) {
			f.Write(table.Delete(identity.DirectoryKey("org_a")))
		}, "no record of its end"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "org_a", "org_b")
			apitest.Value(f.night())(t)
			was := *f.leaf("org_a")
			c.harm(f)
			f.leaveRows("org_b", 1)
			for range 2 {
				did, err := f.night()
				if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "org_a") ||
					strings.Contains(err.Error(), "org_b") || did.Broken != 1 {
					t.Errorf("%+v %v", did, err)
				}
				got := *f.leaf("org_a")
				if got.Broken == "" || got.Seq != was.Seq || got.Hash != was.Hash {
					t.Errorf("its anchor became %+v, and was %+v", got, was)
				}
				if l := f.leaf("org_b"); l.Seq != 4 || l.Broken != "" {
					t.Errorf("the other chain: %+v", l)
				}
			}
			f.Settings.Epoch = f.Clock.Now() // the operator records that the store was restored
			did, err := f.night()
			if l := f.leaf("org_a"); err != nil || did.Restored != 1 || l != nil && l.Broken != "" {
				t.Errorf("after a recorded restore: %+v %v, %+v", did, err, l)
			}
		})
	}
}

// A restore explains anchors from before it, and none from later.
func TestNight_ARestoreExplainsNoLaterCut(t *testing.T) {
	f := newFixture(t, "org_a")
	apitest.Value(f.night())(t)
	f.Settings.Epoch = f.Clock.Now().Add(time.Hour)
	f.Clock.Advance(2 * time.Hour)
	apitest.LinkAudit(f, f.Clone(), audit.PlaceOf("org_a")) // links the row that tells of the restore
	apitest.Value(f.night())(t)
	f.cutRows(2)
	if did, err := f.night(); err == nil || did.Broken != 1 {
		t.Errorf("%+v %v", did, err)
	}
}

func TestNight_AnOrganizationThatEndedHasNoAnchorAnyMore(t *testing.T) {
	erased := audit.Row{Action: audit.EraseAction, Target: "org_a"}
	for name, end := range map[string]func(*fixture){
		"it is being erased": func(f *fixture) {
			f.Put(identity.AccessKey("org_a"), identity.Access{Ended: true})
			f.cutRows(1)
		},
		"it was erased": func(f *fixture) {
			apitest.Value(audit.New(f.Platform).Append(f.Anywhere(), "", erased))(f)
			apitest.LinkAudit(f, f.Platform, audit.SystemPlaces()...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "org_a", "org_b")
			apitest.Value(f.night())(t)
			f.Clock.Advance(time.Hour)
			f.Write(table.Delete(identity.DirectoryKey("org_a")))
			end(f)
			f.Clock.Advance(time.Hour)
			if did, err := f.night(); err != nil || did.Ended != 1 || f.leaf("org_a") != nil || f.leaf("org_b") == nil {
				t.Errorf("%+v %v", did, err)
			}
		})
	}
}

func TestNight_GoesOnBehindADamagedChain(t *testing.T) {
	f := newFixture(t, "org_a", "org_b")
	apitest.Value(f.night())(t)
	was := *f.leaf("org_a")
	f.Put(audit.PlaceOf("org_a").Head, map[string]string{"seq": "no number"})
	f.leaveRows("org_b", 1)
	did, err := f.night()
	if err == nil || !strings.Contains(err.Error(), "org_a") || did.Chains != 2 {
		t.Errorf("%+v %v", did, err)
	}
	if *f.leaf("org_a") != was || f.leaf("org_b").Seq != 4 {
		t.Errorf("the anchors became %+v and %+v", f.leaf("org_a"), f.leaf("org_b"))
	}
}

// Whoever can add objects to the vault makes no night, and alters none.
func TestNight_IsMadeByASignatureOnly(t *testing.T) {
	f := newFixture(t, "org_a")
	apitest.Value(f.night())(t)
	f.Must(f.Vault.Add(f.Context(), "nights/20990101T000000Z.jws", []byte("made up")))
	if l := f.leaf("org_a"); l == nil || l.Seq != 3 {
		t.Errorf("the anchor is %+v", l)
	}
	f.leaveRows("org_a", 1)
	if _, err := f.night(); err == nil || !strings.Contains(err.Error(), "20990101T000000Z") {
		t.Errorf("the night does not tell of the object that somebody added: %v", err)
	}
	if l := f.leaf("org_a"); l == nil || l.Seq != 4 {
		t.Errorf("the anchor is %+v", l)
	}
}

func TestNight_IsBoundedForAThousandOrganizations(t *testing.T) {
	f := newFixture(t)
	var ws []table.Write
	for i := range 1000 {
		c := anchor.ChainOf(fmt.Sprintf("org_%04d", i))
		hash := strings.Repeat("a", 64)
		for key, v := range map[table.Key]any{
			identity.DirectoryKey(c.Name):    map[string]string{"org": c.Name},
			c.Place.Head:                     audit.Head{Seq: 1, At: f.Clock.Now(), Hash: hash},
			c.Place.RowKey(f.Clock.Now(), 1): map[string]string{"hash": hash},
		} {
			ws = append(ws, table.Put(apitest.Value(table.NewItem(key, v))(t)))
		}
	}
	f.Must(f.Table.BatchWrite(f.Anywhere(), ws...))
	const files = 1 + identity.DirectoryShards
	for n := 1; n <= 2; n++ {
		f.Clock.Advance(24 * time.Hour)
		usage := f.Meter(func(ctx context.Context) {
			out := apitest.Value(f.own()(ctx, json.RawMessage(`{}`)))(t)
			if did := out.(Anchored); did.Chains != 1000 {
				t.Errorf("night %d: %+v", n, did)
			}
		})
		// a query of each shard of the directory, and two round trips for its 63 chains
		if usage.RoundTrips > 3*files || f.signatures != n {
			t.Errorf("night %d: %+v, %d signatures", n, usage, f.signatures)
		}
	}
	objects := map[string]bool{}
	for _, night := range apitest.Value(anchor.NewBook(f.Vault, f.AnchorKeys.Verify).Nights(f.Context()))(t) {
		for _, file := range night.Files {
			objects[file.Object] = true
		}
	}
	if len(objects) != identity.DirectoryShards {
		t.Errorf("%d objects have the heads of two nights, of which the second changed none", len(objects))
	}
	if n := len(apitest.Value(f.Vault.Read(f.Context(), f.objects("nights")[1]))(t)); n > 4096 {
		t.Errorf("a signed night has %d bytes, and KMS signs 4,096", n)
	}
}
