package notifications

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/testkit/apitest"
)

func mailChannel(name, address string) map[string]any {
	return map[string]any{"type": "email", "name": name, "config": map[string]string{"email": address}}
}

func TestChannels_ANarrowGrantMakesChangesTestsAndDeletesItsOwn(t *testing.T) {
	f := newNarrowFixture(t)
	tom := apitest.Caller(apitest.Org, "tom", "editor team:"+f.fixture.team)
	own := apitest.Data[Channel](f.Call(tom, "POST /notifications/channels",
		mailChannel("Mine", "tom@home.example.com")).Want(http.StatusOK))
	path := "/notifications/channels/" + own.ID
	f.Call(tom, "POST /notifications/subscriptions",
		item(own.ID, "resource.failed", "team", f.fixture.team)).Want(http.StatusOK)
	f.Call(tom, "PUT "+path, `{"name":"Mine again"}`).Want(http.StatusOK, "Mine again")
	f.Call(tom, "POST "+path+"/test").Want(http.StatusOK)
	f.Call(tom, "DELETE "+path).Want(http.StatusOK)
	f.Call(tom, "GET /notifications/channels").Want(http.StatusOK)
	f.Call(ada, "PUT "+path, `{"name":"Gone"}`).Want(http.StatusNotFound)
	f.Call(tom, "POST /notifications/channels", mailChannel("Mine again", "tom@home.example.com")).Want(http.StatusOK)
}

func TestChannels_ANarrowGrantChangesNoChannelOfOthers(t *testing.T) {
	f := newNarrowFixture(t)
	tom := apitest.Caller(apitest.Org, "tom", "editor team:"+f.fixture.team)
	const nobodys = "chn_01k00000000000000000000000"
	for _, request := range []string{
		"PUT /notifications/channels/%s", "DELETE /notifications/channels/%s",
		"POST /notifications/channels/%s/test",
	} {
		body := ""
		if strings.HasPrefix(request, "PUT") {
			body = `{"name":"Taken"}`
		}
		hidden := f.Call(tom, fmt.Sprintf(request, f.hidden.ID), body)
		missing := f.Call(tom, fmt.Sprintf(request, nobodys), body).Want(http.StatusNotFound)
		if got := strings.ReplaceAll(hidden.String(), f.hidden.ID, nobodys); got != missing.String() {
			t.Errorf("%s of a hidden channel: %s, want as of one that does not exist: %s", request, got, missing)
		}
		f.Call(tom, fmt.Sprintf(request, f.reached.ID), body).Want(http.StatusForbidden, f.reached.ID)
	}
	f.Call(tom, "POST /notifications/channels/"+f.mail.ID+"/test").Want(http.StatusOK)
	f.Call(tom, "PUT /notifications/channels/"+f.mail.ID, `{"name":"Taken"}`).Want(http.StatusForbidden)
	f.Call(tom, "DELETE /notifications/channels/"+f.mail.ID).Want(http.StatusForbidden)
	viewer := apitest.Caller(apitest.Org, "vera", "viewer team:"+f.fixture.team)
	f.Call(viewer, "POST /notifications/channels", mailChannel("Hers", "vera@example.com")).Want(http.StatusForbidden)
}

func TestChannels_NamesOfANarrowGrantTellNothingOfOthers(t *testing.T) {
	f := newNarrowFixture(t)
	tom := apitest.Caller(apitest.Org, "tom", "editor team:"+f.fixture.team)
	eva := apitest.Caller(apitest.Org, "eva", "editor team:"+f.fixture.team)
	f.Call(tom, "POST /notifications/channels", mailChannel("Hidden-Board", "tom@example.com")).Want(http.StatusOK)
	f.Call(eva, "POST /notifications/channels", mailChannel("Hidden-Board", "eva@example.com")).Want(http.StatusOK)
	f.Call(tom, "POST /notifications/channels",
		mailChannel("hidden-board", "tom@example.com")).Want(http.StatusConflict, "name")
	for _, name := range []string{"Hidden-Board", "Unheard of"} {
		f.Call(tom, "PUT /notifications/channels/"+f.own.ID, map[string]string{"name": name}).Want(http.StatusForbidden,
			"name")
	}
	f.Call(ada, "POST /notifications/channels",
		mailChannel("hidden-board", "ada@example.com")).Want(http.StatusConflict, "name")
}

func TestChannels_ANarrowGrantMakesAtMostTwenty(t *testing.T) {
	f := newNarrowFixture(t)
	tom := apitest.Caller(apitest.Org, "tom", "editor team:"+f.fixture.team)
	var first Channel
	for n := range notification.MaxPersonal {
		first = apitest.Data[Channel](f.Call(tom, "POST /notifications/channels",
			mailChannel(fmt.Sprint("Own ", n), "tom@example.com")).Want(http.StatusOK))
	}
	f.Call(tom, "POST /notifications/channels", mailChannel("One more", "tom@example.com")).Want(http.StatusBadRequest,
		"20")
	f.Call(tom, "DELETE /notifications/channels/"+first.ID).Want(http.StatusOK)
	f.Call(tom, "POST /notifications/channels", mailChannel("One more", "tom@example.com")).Want(http.StatusOK)
}

func TestSubscriptions_AHiddenChannelIsAsOneThatDoesNotExist(t *testing.T) {
	f := newNarrowFixture(t)
	tom := apitest.Caller(apitest.Org, "tom", "editor team:"+f.fixture.team)
	const nobodys = "chn_01k00000000000000000000000"
	for name, scope := range map[string][2]string{
		"the organization": {"org", ""}, "a team outside": {"team", "team_01k00000000000000000000000"},
		"a resource outside": {"resource", "i-1"}, "the own team": {"team", f.fixture.team},
	} {
		t.Run(name, func(t *testing.T) {
			hidden := f.Call(tom, "POST /notifications/subscriptions",
				item(f.hidden.ID, "resource.failed", scope[0], scope[1]))
			missing := f.Call(tom, "POST /notifications/subscriptions",
				item(nobodys, "resource.failed", scope[0], scope[1]))
			if got := strings.ReplaceAll(hidden.String(), f.hidden.ID, nobodys); got != missing.String() {
				t.Errorf("a hidden channel: %s\none that does not exist: %s", got, missing)
			}
		})
	}
}
