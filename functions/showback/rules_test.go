package showback

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

type fixture struct {
	*apitest.Fixture
	web, data string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	a := &fixture{Fixture: apitest.New(t, Operations)}
	a.web, a.data = inventorytest.Team(a.Fixture, apitest.Org, "Web"),
		inventorytest.Team(a.Fixture, apitest.Org, "Data")
	return a
}

func (a *fixture) call(request string, body ...any) apitest.Answer {
	a.Helper()
	return a.Call(apitest.Caller(apitest.Org, "ada", "finops"), request, body...)
}

// rule is the body of a rule by fixed percents.
func (a *fixture) rule(name string, order int, web, data string) string {
	return fmt.Sprintf(`{"name":%q,"order":%d,"split":"fixed","selector":{"service_name":["Amazon S3"]},`+
		`"shares":[{"teamID":%q,"percent":%q},{"teamID":%q,"percent":%s}]}`,
		name, order, a.web, web, a.data, data)
}

func TestRules_FromCreationToDeletion(t *testing.T) {
	a := newFixture(t)
	late := apitest.Data[Rule](a.call("POST "+rules, a.rule("Storage", 2, "33.4", "66.6")))
	early := apitest.Data[Rule](a.call("POST "+rules,
		fmt.Sprintf(`{"name":"All","order":1,"split":"even","shares":[{"teamID":%q}],"validFrom":"2026-03-01"}`,
			a.web)))
	all := apitest.Data[[]Rule](a.call("GET " + rules))
	if len(all) != 2 || all[0].ID != early.ID || all[1].ID != late.ID {
		t.Errorf("listed as %+v", all)
	}
	a.Equal("valid from", *early.ValidFrom, "2026-03-01")
	changed := apitest.Data[Rule](a.call("PUT "+rules+"/"+early.ID, `{"order":7,"validFrom":null}`))
	if changed.Order != 7 || changed.ValidFrom != nil || changed.Name != "All" || changed.Split != "even" {
		t.Errorf("changed to %+v", changed)
	}
	a.call("GET "+rules+"/"+late.ID).Want(http.StatusOK, `"percent":"33.4"`)
	a.call("POST "+rules, a.rule("storage", 3, "1", "1")).Want(http.StatusConflict, "another name")
	a.call("DELETE "+rules+"/"+late.ID).Want(http.StatusOK, late.ID)
	a.call("GET " + rules + "/" + late.ID).Want(http.StatusNotFound)
	a.Call(apitest.Caller(apitest.OtherOrg, "eve", "owner"), "GET "+rules+"/"+early.ID).Want(http.StatusNotFound)
	a.Call(apitest.Caller(apitest.Org, "bob", "viewer"), "POST "+rules,
		a.rule("x", 1, "1", "1")).Want(http.StatusForbidden)
}

func TestRules_RefuseWhatCannotBeCarriedOut(t *testing.T) {
	a := newFixture(t)
	for body, word := range map[string]string{
		a.rule("Too much", 1, "50",
			"50.1"): "100 at most",
		a.rule("Nothing", 1, "0",
			"50"): "more than 0",
		a.rule("No number", 1, "x",
			"50"): "is not a decimal",
		strings.ReplaceAll(a.rule("Twice", 1, "1", "1"), a.data,
			a.web): "named twice",
		strings.ReplaceAll(a.rule("Unknown", 1, "1", "1"), a.data,
			"team_nobody"): "does not exist",
		strings.ReplaceAll(a.rule("Colour", 1, "1", "1"), "service_name",
			"colour"): "colour",
		strings.ReplaceAll(a.rule("By team", 1, "1", "1"), "service_name",
			"team_id"): "team_id",
		strings.ReplaceAll(a.rule("No value", 1, "1", "1"), `"Amazon S3"`,
			``): "between 1 and 100",
		strings.ReplaceAll(a.rule("Late", 1, "1", "1"), `"order":1`,
			`"validFrom":"2026-03-02","validTo":"2026-03-02"`): "not after",
	} {
		a.call("POST "+rules, body).Want(http.StatusBadRequest, word)
	}
	for n := range 6 {
		body := strings.ReplaceAll(a.rule(fmt.Sprint("Rule ", n), n, "1", "1"), "service_name", fmt.Sprint("tag:k", n))
		if n < 5 {
			a.call("POST "+rules, body).Want(http.StatusOK)
		} else {
			a.call("POST "+rules, body).Want(http.StatusBadRequest, "together they may name 5")
		}
	}
}

func TestRules_CreatedAtOnceAreAllKept(t *testing.T) {
	a := newFixture(t)
	var wg sync.WaitGroup
	for n := range 6 {
		wg.Go(func() { a.call("POST "+rules, a.rule(fmt.Sprint("Rule ", n), n, "1", "1")).Want(http.StatusOK) })
	}
	wg.Wait()
	a.Equal("rules", len(apitest.Data[[]Rule](a.call("GET "+rules))), 6)
}
