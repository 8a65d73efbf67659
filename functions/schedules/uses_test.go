package schedules

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/functions/resourcegroups"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// newSharedFixture returns a fixture that also serves the functions whose records schedules name.
func newSharedFixture(t *testing.T) *fixture {
	t.Helper()
	p, c := apitest.NewPlatform(t)
	f := &fixture{Fixture: apitest.On(t, p)}
	f.Clock = c
	f.Workflow = acceptingEngine{}
	f.Mount(Operations, resourcegroups.Operations, cloudaccounts.Operations)
	inventorytest.Connect(f.Fixture, apitest.Org, account)
	part := inventory.Partition{AccountID: account, Region: "eu-west-1", Kind: "aws-ec2"}
	f.ids = inventorytest.DiscoverIn(f.Fixture, part, apitest.Org, inventorytest.Instances(5)...)
	return f
}

// account is an account whose id is one.
const account = "ca_01k00000000000000000000000"

// acceptingEngine accepts every execution and runs none.
type acceptingEngine struct{ workflow.Engine }

// Start accepts.
func (acceptingEngine) Start(context.Context, string, string, any) error { return nil }

func TestGroups_OneThatASchedulesNamesIsNotDeleted(t *testing.T) {
	f := newSharedFixture(t)
	day := f.newSchedule(daily)
	g := apitest.Data[resourcegroups.Group](f.Call(ada, "POST /resource-groups", `{"name":"Web"}`))
	f.Call(ada, "POST /schedules/"+day.ID+"/attachments", fmt.Sprintf(`{"groupID":%q}`, g.ID)).Want(http.StatusOK)
	f.Call(ada, "DELETE /resource-groups/"+g.ID).Want(http.StatusConflict, day.ID, "Day", "detach")
	f.Call(ada, "DELETE /schedules/"+day.ID+"/attachments/"+g.ID).Want(http.StatusOK)
	f.Call(ada, "DELETE /resource-groups/"+g.ID).Want(http.StatusOK)
	f.Call(ada, "POST /schedules/"+day.ID+"/attachments", fmt.Sprintf(`{"groupID":%q}`, g.ID)).Want(http.StatusNotFound,
		g.ID)
}

// TestGroups_DeletedWhileItIsAttached has a schedule take the group after its deletion has looked for schedules.
func TestGroups_DeletedWhileItIsAttached(t *testing.T) {
	f := newSharedFixture(t)
	day := f.newSchedule(daily)
	g := apitest.Data[resourcegroups.Group](f.Call(ada, "POST /resource-groups", `{"name":"Web"}`))
	read := apitest.Value(inventory.New(f.Platform).ReadGroup(f.In(apitest.Org), apitest.Org, g.ID))(t)
	f.Call(ada, "POST /schedules/"+day.ID+"/attachments", fmt.Sprintf(`{"groupID":%q}`, g.ID)).Want(http.StatusOK)
	err := inventory.New(f.Platform).DeleteGroup(f.In(apitest.Org), apitest.Org, read,
		table.Delete(inventory.AttachedGroupKey(apitest.Org, g.ID), table.Any(table.Absent(), table.Equal("n", 0))))
	if err == nil {
		t.Error("a group that a schedule names was deleted")
	}
}

func TestAccounts_OneWhoseResourcesAreAttachedIsNotDeleted(t *testing.T) {
	f := newSharedFixture(t)
	day, other := f.newSchedule(daily), f.newSchedule(strings.Replace(daily, "Day", "Other", 1))
	f.attachTo(day.ID, 0, 1)
	f.attachTo(other.ID, 1)
	f.Call(ada, "DELETE /cloud-accounts/"+account).Want(http.StatusConflict, day.ID, "2 of its resources", other.ID,
		"1 of its resources", "detach=true")
	f.Call(ada, "DELETE /cloud-accounts/"+account+"?detach=true").Want(http.StatusOK)
	f.Equal("left", fmt.Sprint(f.getSchedule(day.ID).AttachmentCount, f.getSchedule(other.ID).AttachmentCount), "0 0")
	rows := apitest.Rows[scheduling.Attachment](f.Fixture, scheduling.AttachmentKey(apitest.Org, day.ID, "").PK)
	f.Equal("rows", len(rows), 0)
	f.Equal("of the resource", f.schedulesOf(1), "[]")
}

func TestSchedules_ADeletionThatWasCutOffIsDoneAgain(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	f := &fixture{Fixture: apitest.On(t, p)}
	f.Clock = c
	faulty := table.NewFaultyStore(p.Table, clock.System{})
	p.Table = faulty
	f.Mount(Operations)
	f.ids = inventorytest.Discover(f.Fixture, apitest.Org, "aws-ec2", inventorytest.Instances(3)...)
	day := f.newSchedule(daily)
	f.attachTo(day.ID, 0, 1, 2)
	for call := 1; ; call++ {
		faulty.Inject(table.Injection{
			Harm: table.FailBefore, Method: table.TransactMethod,
			PK: table.OrgPK(apitest.Org), Call: call,
		})
		a := f.Call(ada, "DELETE /schedules/"+day.ID)
		faulty.RemoveFaults()
		if a.Status == http.StatusOK && call < 3 {
			t.Fatal("nothing was cut off")
		}
		if a.Status == http.StatusOK {
			break
		}
		if call > 10 {
			t.Fatalf("never deleted: %s", a)
		}
	}
	f.Call(ada, "GET /schedules/"+day.ID).Want(http.StatusNotFound)
	for n := range 3 {
		f.Equal("of the resource", f.schedulesOf(n), "[]")
	}
	rows := apitest.Rows[scheduling.Attachment](f.Fixture, scheduling.AttachmentKey(apitest.Org, day.ID, "").PK)
	f.Equal("rows", len(rows), 0)
	f.newSchedule(daily) // its name is free
}

func TestSchedules_Bounds(t *testing.T) {
	f := newFixture(t)
	day := f.newSchedule(daily)
	f.Change(scheduling.ScheduleKey(apitest.Org, day.ID), table.Set("attachments", scheduling.MaxAttachments))
	f.Call(ada, "POST /schedules/"+day.ID+"/attachments", `{"resourceUID":"i-0"}`).Want(http.StatusBadRequest,
		"10000 attachments")
	for n := range scheduling.MaxOfTarget {
		f.attachTo(f.newSchedule(strings.Replace(daily, "Day", fmt.Sprint("s", n), 1)).ID, 1)
	}
	last := f.newSchedule(strings.Replace(daily, "Day", "last", 1))
	f.Call(ada, "POST /schedules/"+last.ID+"/attachments", `{"resourceUID":"i-1"}`).Want(http.StatusBadRequest,
		"20 schedules")
}

func TestSchedules_ManyAttachAtOnce(t *testing.T) {
	f := newFixture(t)
	day := f.newSchedule(daily)
	var groups []string
	for n := range 8 {
		groups = append(groups, f.addGroup(fmt.Sprint("g", n), inventory.Selector{Type: "aws-ec2"}).ID)
	}
	var all sync.WaitGroup
	for _, body := range append(attachBodies("groupID", groups), attachBodies("resourceID", f.ids)...) {
		all.Go(func() {
			for range 20 { // a request that lost a race says so, and may be sent again
				if f.Call(ada, "POST /schedules/"+day.ID+"/attachments", body).Status == http.StatusOK {
					return
				}
			}
			t.Errorf("never attached: %s", body)
		})
	}
	all.Wait()
	f.Equal("counted", f.getSchedule(day.ID).AttachmentCount, 13)
	list := apitest.Data[rest.List[Attachment]](f.Call(ada, "GET /schedules/"+day.ID+"/attachments"))
	f.Equal("listed", list.Total, 13)
	head := apitest.Value(scheduling.New(f.Platform).ReadHead(f.In(apitest.Org), apitest.Org, day.ID))(t)
	f.Equal("groups in the head", len(head.GroupIDs), 8)
	f.Equal("of a resource once", f.schedulesOf(0), fmt.Sprintf("[%s]", day.ID))
}

func attachBodies(field string, ids []string) []string {
	var out []string
	for _, id := range ids {
		out = append(out, fmt.Sprintf(`{%q:%q}`, field, id))
	}
	return out
}

// TestResources_APageCostsNoTripMoreForItsSchedules counts round trips.
func TestResources_APageCostsNoTripMoreForItsSchedules(t *testing.T) {
	f := newFixture(t)
	page := func() int {
		ctx, meter := table.WithMeter(f.In(apitest.Org))
		apitest.Value(inventory.New(f.Platform).FindResources(ctx, apitest.Org, inventory.List{
			Filter: inventory.Filter{Sight: inventory.SeeEverything().WithSchedules(scheduling.Heads{})}, Limit: 5,
		}))(t)
		return meter.Usage().RoundTrips
	}
	page()
	before := page()
	for n := range 3 {
		f.attachTo(f.newSchedule(strings.Replace(daily, "Day", fmt.Sprint("s", n), 1)).ID, 0, 1, 2, 3, 4)
	}
	f.Equal("round trips", page(), before)
	f.Equal("of a resource", strings.Count(f.schedulesOf(4), "sch_"), 3)
}

// TestDue_EachChangeListsTheNextFiring reads the list that the evaluator reads.
func TestDue_EachChangeListsTheNextFiring(t *testing.T) {
	f := newFixture(t)
	day := f.newSchedule(daily)
	due := func() (out []string) {
		for shard := range scheduling.DueShards {
			for _, d := range apitest.Rows[scheduling.Due](f.Fixture, scheduling.DuePK(shard)) {
				if d.Org != apitest.Org {
					t.Errorf("of %s", d.Org)
				}
				out = append(out, d.Minute.Format("01-02T15:04"))
			}
		}
		return out
	}
	f.Equal("made", due(), "[03-10T19:00]")
	f.Call(ada, "PUT /schedules/"+day.ID,
		`{"crons":[{"cronExpression":"0 15 * * *","action":"stop"}]}`).Want(http.StatusOK)
	f.Equal("changed", due(), "[03-10T14:00 03-10T19:00]")
}
