package resources

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

// viewFixture is an organization with callers of several rights.
type viewFixture struct{ *apitest.Fixture }

func newViewFixture(t *testing.T) *viewFixture {
	t.Helper()
	return &viewFixture{apitest.New(t, Operations)}
}

func (f *viewFixture) save(c identity.Caller, body string) View {
	f.Helper()
	return apitest.Data[View](f.Call(c, "POST /resources/views", body))
}

// viewNames returns the names of the views that c sees.
func (f *viewFixture) viewNames(c identity.Caller) string {
	f.Helper()
	var out []string
	got := apitest.Data[rest.List[View]](f.Call(c, "GET /resources/views").AtMost(1))
	for _, v := range got.Items {
		out = append(out, v.Name)
	}
	if got.Total != len(out) {
		f.Errorf("%d views and a total of %d", len(out), got.Total)
	}
	return strings.Join(out, " ")
}

func TestViews_LiveAsTheyAreChanged(t *testing.T) {
	f := newViewFixture(t)
	ada := apitest.Caller(ours, "ada", grant.Editor)
	v := f.save(ada, `{"name":" Stopped here ","filters":{"status":["stopped"],"region":["eu-west-1","eu-west-2"],`+
		`"tag":["env=prod"],"sort_by":["cost"],"created_after":["2026-01-01"],"schedulable":["true"]}}`)
	if !id.IsValid("view", v.ID) || v.Name != "Stopped here" || v.Shared || v.CreatedBy != ada.Email ||
		v.Filters["region"][1] != "eu-west-2" || !v.CreatedAt.Equal(f.Clock.Now()) {
		t.Errorf("saved %+v", v)
	}
	if row := f.LastAudited(ours); row.Action != "createView" || row.Target != v.ID || row.Changes.After == nil {
		t.Errorf("audited %+v", row)
	}
	f.Clock.Advance(time.Minute)
	got := apitest.Data[View](f.Call(ada, "PUT /resources/views/"+v.ID, `{"name":"Stopped","shared":true}`).AtMost(5))
	if got.Name != "Stopped" || !got.Shared || got.Filters["status"][0] != "stopped" ||
		!got.UpdatedAt.After(got.CreatedAt) {
		t.Errorf("changed %+v", got)
	}
	got = apitest.Data[View](f.Call(ada, "PUT /resources/views/"+v.ID, `{"filters":{}}`))
	if len(got.Filters) != 0 || !got.Shared {
		t.Errorf("without filters %+v", got)
	}
	apitest.Data[View](f.Call(ada, "GET /resources/views/"+v.ID).AtMost(1))
	f.Call(ada, "DELETE /resources/views/"+v.ID).AtMost(3).Want(200, `{"id":"`+v.ID+`"}`)
	if row := f.LastAudited(ours); row.Action != "deleteView" || row.Changes.Before == nil || row.Changes.After != nil {
		t.Errorf("audited %+v", row)
	}
	for _, request := range []string{"GET", "PUT", "DELETE"} {
		f.Call(ada, request+" /resources/views/"+v.ID+map[string]string{"PUT": " {}"}[request]).Want(404,
			"does not exist")
	}
}

func TestViews_AreSeenByTheirCreatorOrShared(t *testing.T) {
	f := newViewFixture(t)
	ada, bob := apitest.Caller(ours, "ada", grant.Editor), apitest.Caller(ours, "bob", grant.Viewer)
	narrow := apitest.Caller(ours, "nell", grant.Owner+" team:team_01k8z3v5y0e6m9x2q4t7r1c8bd")
	foreign := apitest.Caller(theirs, "ada", grant.Owner)
	private := f.save(ada, `{"name":"Adas","filters":{}}`)
	shared := f.save(ada, `{"name":"Everybodys","filters":{"search":["secret name"]},"shared":true}`)
	bobs := f.save(bob, `{"name":"adas","filters":{}}`) // a hidden view takes no name
	f.save(narrow, `{"name":"Nells","filters":{}}`)
	for name, c := range map[string]struct {
		caller identity.Caller
		want   string
	}{
		"the creator":           {ada, "Adas Everybodys"},
		"another member":        {bob, "adas Everybodys"},
		"a grant on a team":     {narrow, "Nells"},
		"another organization":  {foreign, ""},
		"another administrator": {apitest.Caller(ours, "olga", grant.Owner), "Everybodys"},
	} {
		if got := f.viewNames(c.caller); got != c.want {
			t.Errorf("%s sees %s, want %s", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		caller        identity.Caller
		request, body string
		status        int
	}{
		"another reads a private view":         {bob, "GET " + private.ID, "", 404},
		"another changes a private view":       {bob, "PUT " + private.ID, `{"name":"x"}`, 404},
		"another deletes a private view":       {bob, "DELETE " + private.ID, "", 404},
		"a team reads a shared view":           {narrow, "GET " + shared.ID, "", 404},
		"a viewer reads a shared view":         {bob, "GET " + shared.ID, "", 200},
		"a viewer changes a shared view":       {bob, "PUT " + shared.ID, `{"name":"x"}`, 403},
		"a viewer deletes a shared view":       {bob, "DELETE " + shared.ID, "", 403},
		"a viewer shares":                      {bob, "PUT " + bobs.ID, `{"shared":true}`, 403},
		"an organization reads another's":      {foreign, "GET " + shared.ID, "", 404},
		"an organization deletes another's":    {foreign, "DELETE " + shared.ID, "", 404},
		"an editor takes a shared view's name": {ada, "PUT " + private.ID, `{"name":"EVERYBODYS"}`, 409},
		"an editor keeps their view's name":    {ada, "PUT " + private.ID, `{"name":"ADAS"}`, 200},
	} {
		method, viewID, _ := strings.Cut(c.request, " ")
		if got := f.Call(c.caller, method+" /resources/views/"+viewID, c.body); got.Status != c.status {
			t.Errorf("%s: %s", name, got)
		}
	}
	f.Call(narrow, "POST /resources/views", `{"name":"x","filters":{},"shared":true}`).Want(403, "resources:write")
	f.Call(apitest.Caller(ours, "olga", grant.Owner), "PUT /resources/views/"+shared.ID, `{"shared":false}`).Want(200)
	if got := f.viewNames(bob); got != "adas" {
		t.Errorf("no longer shared, and bob sees %s", got)
	}
}

func TestViews_RefuseWhatTheyCannotKeep(t *testing.T) {
	f := newViewFixture(t)
	ada := apitest.Caller(ours, "ada", grant.Editor)
	for body, says := range map[string]string{
		`{"name":"x"}`:                                                                        "filters",
		`{"filters":{}}`:                                                                      "name",
		`{"name":"  ","filters":{}}`:                                                          "name",
		`{"name":"x","filters":{"colour":["red"]}}`:                                           "keeps cloud_acc",
		`{"name":"x","filters":{"page":["2"]}}`:                                               "page",
		`{"name":"x","filters":{"status":["asleep"]}}`:                                        "asleep",
		`{"name":"x","filters":{"status":[]}}`:                                                "filters.status",
		`{"name":"x","filters":{"status":"stopped"}}`:                                         "status",
		`{"name":"x","filters":{"search":["a","b"]}}`:                                         "takes 1 to 1",
		`{"name":"x","filters":{"search":[""]}}`:                                              "1 to 256",
		`{"name":"x","filters":{"sort_by":["colour"]}}`:                                       "colour",
		`{"name":"x","filters":{"sort_order":["up"]}}`:                                        "asc, desc",
		`{"name":"x","filters":{"created_after":["tomorrow"]}}`:                               "2026-11-22",
		`{"name":"x","filters":{"type":[` + many(51, `"t"`) + `]}}`:                           "1 to 50",
		`{"name":"x","filters":{"tag":[` + many(50, `"`+strings.Repeat("t", 100)+`"`) + `]}}`: "4096",
	} {
		f.Call(ada, "POST /resources/views", body).Want(400, says)
	}
	v := f.save(ada, `{"name":"x","filters":{}}`)
	for body, says := range map[string]string{
		`{"name":null}`: "name", `{"shared":null}`: "shared", `{"filters":{"page":["1"]}}`: "page",
	} {
		f.Call(ada, "PUT /resources/views/"+v.ID, body).Want(400, says)
	}
	f.Call(ada, "POST /resources/views", `{"name":"X","filters":{}}`).Want(409, v.ID)
	f.Call(ada, "GET /resources/views/view_1").Want(404)
}

func many(n int, text string) string {
	return strings.TrimSuffix(strings.Repeat(text+",", n), ",")
}

func TestViews_HoldTheirLimitsAndNames(t *testing.T) {
	f := newViewFixture(t)
	ada := apitest.Caller(ours, "ada", grant.Editor)
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[int]int{}
	for range 6 {
		wg.Go(func() {
			got := f.Call(ada, "POST /resources/views", `{"name":"Same","filters":{}}`)
			mu.Lock()
			defer mu.Unlock()
			seen[got.Status]++
		})
	}
	wg.Wait()
	if seen[200] != 1 || seen[409] != 5 {
		t.Errorf("answers %v", seen)
	}
	put := func(n int, user string) {
		for i := range n {
			v := storedView{
				View: View{ID: id.New("view", f.Clock.Now()), Name: fmt.Sprintf("%s %d", user, i)},
				User: user,
			}
			it, err := table.NewItem(viewKey(ours, v.ID), v)
			f.Must(err)
			f.Write(table.Put(it))
		}
	}
	put(maxOwnViews-1, ada.User)
	f.Call(ada, "POST /resources/views", `{"name":"One more","filters":{}}`).Want(409, "50 views")
	put(maxViews-maxOwnViews, "usr_others")
	f.Call(apitest.Caller(ours, "bob", grant.Viewer), "POST /resources/views", `{"name":"One more","filters":{}}`).
		Want(409, "500 views")
}
