package notifier

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/testkit/apitest"
)

// forgetMakers resets the rows of the organization's receivers to the format without makers; a webhook keeps the
// address.
func (f *rights) forgetMakers() {
	f.Helper()
	pk := func(name string) string { return table.OrgPK(org) + name }
	for _, name := range []string{"CHANNEL", "SUBSCRIPTION", "NOTIFYLEGACY", "WEBHOOK"} {
		page := apitest.Value(f.Table.Query(f.In(org), table.Query{PK: pk(name), Limit: 100}))(f)
		for _, it := range page.Items {
			f.Change(it.Key, table.Remove("maker"), table.Remove("makerEmail"), table.Remove("pausedAt"),
				table.Remove("pausedWhy"))
		}
	}
	lists := apitest.Value(f.Table.Query(f.In(org), table.Query{PK: pk("RECIPIENT"), Limit: 100}))(f)
	for _, it := range lists.Items {
		for channel, how := range apitest.Value(table.Decode[map[string]string](it))(f) {
			id, _, _ := strings.Cut(how, " ")
			f.Change(it.Key, table.Set(channel, id))
		}
	}
}

func TestReceivers_WithoutAMakerGoOnByTheRightOfAnOwner(t *testing.T) {
	f := newRights(t)
	eli := f.member("eli", "admin")
	w := f.webhook(eli)
	c, sub := f.channel(eli, budget.Key)
	f.Call(eli, "POST /notifications",
		`{"channel":"email","webhookURL":"me@example.com","notifyOnFailure":true}`).Want(200)
	f.forgetMakers()
	f.want("before it is known whose they are", budget, 1, 1)
	for range 3 {
		f.Must(f.notifier.Round(f.Context()))
	}
	told := f.told()
	if len(told) != 1 || !strings.HasPrefix(told[0], "olga@") || !strings.Contains(told[0], c.ID) ||
		!strings.Contains(told[0], sub.ID) ||
		!strings.Contains(told[0], "notification configuration") || !strings.Contains(told[0], "right of olga@") ||
		strings.Contains(told[0], w.ID) {
		t.Errorf("told %q; want the channel, its subscription and the configuration, but not the webhook, whose "+
			"maker has an address", told)
	}
	if left := apitest.Value(membership.ReadReviews(f.Context(), f.Table))(t); len(left) != 0 {
		t.Errorf("%+v is to be done yet", left)
	}
	f.want("when they have makers", budget, 1, 1)
	f.want("a failure, to the configuration", failed, 1, 1)
	f.Call(f.Authorized(org, "olga"), "DELETE /users/"+eli.Email).Want(200)
	f.want("the webhook of who has left", budget, 0, 1)
	f.Must(f.notifier.Round(f.Context()))
	f.Call(f.Authorized(org, "olga"), "GET /webhooks/"+w.ID).Want(200, "paused")
	f.Call(f.Authorized(org, "olga"), "PUT /notifications/subscriptions/"+sub.ID, `{"enabled":false}`).Want(200)
	f.want("a subscription that was switched off", budget, 0, 0)
}

func TestReceivers_WithoutAMakerEndWithTheOwnerTheyWereAttributedTo(t *testing.T) {
	f := newRights(t)
	olga := f.Authorized(org, "olga")
	f.Clock.Advance(time.Hour)
	f.member("otto", "owner")
	f.channel(olga, budget.Key)
	f.forgetMakers()
	f.want("at first", budget, 0, 1)
	f.Must(f.notifier.Round(f.Context()))
	f.want("by the right of the first owner", budget, 0, 1)
	f.Must(f.People.RemoveMember(f.Context(), org, f.Member(org, "olga")))
	f.want("when that owner has left", budget, 0, 0)
	f.Must(f.notifier.Round(f.Context()))
	f.Call(f.Authorized(org, "otto"), "GET /notifications/subscriptions").Want(200, "is no active member")
}

// TestReceivers_TakenOverMeanwhileAreNotAttributed: a receiver that is changed during its attribution keeps the maker
// of the change.
func TestReceivers_TakenOverMeanwhileAreNotAttributed(t *testing.T) {
	f := newRights(t)
	eli := f.member("eli", "admin")
	_, sub := f.channel(eli, budget.Key)
	f.forgetMakers()
	f.want("at first", budget, 0, 1)
	f.Call(eli, "PUT /notifications/subscriptions/"+sub.ID, `{"enabled":true}`).Want(200)
	f.Must(f.notifier.Round(f.Context()))
	f.Call(f.Authorized(org, "olga"), "DELETE /users/"+eli.Email).Want(200)
	f.want("when who took it over has left", budget, 0, 0)
}
