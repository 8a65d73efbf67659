package azure_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

func readOpinions(t *testing.T, tw *azuretwin.Cloud, limit int) ([]cloud.Opinion, cloud.OpinionAnswer, error) {
	t.Helper()
	var all []cloud.Opinion
	a, err := open(t, tw, principal(azuretwin.Secret)).(cloud.OpinionReader).ReadOpinions(t.Context(),
		cloud.OpinionRequest{Limit: limit}, func(o cloud.Opinion) { all = append(all, o) })
	return all, a, err
}

const machine = "/subscriptions/" + azuretwin.Subscription + "/resourceGroups/Shop/providers/" +
	"Microsoft.Compute/virtualMachines/web-"

// advice returns a recommendation about a machine, with other extended properties and solution if there are some.
func advice(n int, solution string, extended map[string]any) map[string]any {
	uid := fmt.Sprint(machine, n)
	return map[string]any{
		"id": uid + "/providers/Microsoft.Advisor/recommendations/" + fmt.Sprintf("%06d", n),
		"properties": map[string]any{
			"category": "Cost", "impactedField": "Microsoft.Compute/virtualMachines",
			"shortDescription": map[string]any{
				"problem": "Right-size or shutdown underutilized virtual machines", "solution": solution,
			},
			"recommendationTypeId": "e10b1381-5f0a-47ff-8c7b-37bd13d7c974", "extendedProperties": extended,
			"resourceMetadata": map[string]any{"resourceId": uid},
			"lastUpdated":      "2026-02-01T10:20:30.1234567Z",
		},
	}
}

// advisorRead lets the Resource Graph show Advisor's recommendations: no call has its name.
const advisorRead = "Microsoft.Advisor/recommendations/read"

// seesAdvice reports whether a role of the actions sees a recommendation because of this permission: without it, it
// sees none. "*/read" is left out, because it shows recommendations too.
func seesAdvice(t *testing.T, actions []string) bool {
	t.Helper()
	count := func(without ...string) int {
		tw := &azuretwin.Cloud{}
		tw.AddAdvice(advice(1, "Resize", nil))
		tw.SetRoles(azuretwin.Role{Actions: slices.DeleteFunc(slices.Clone(actions), func(a string) bool {
			return slices.Contains(without, a)
		})})
		all, a, err := readOpinions(t, tw, 10)
		if err != nil || a.State != cloud.OpinionsRead {
			t.Errorf("a role without %v reads opinions: %+v, %v", without, a, err)
		}
		return len(all)
	}
	return count("*/read") == 1 && count("*/read", advisorRead) == 0
}

func TestReadOpinions_ReadsEveryPageOfAdvisor(t *testing.T) {
	tw := &azuretwin.Cloud{Page: 2}
	for n := range 5 {
		tw.AddAdvice(advice(n, "Right-size the machine", map[string]any{
			"currentSku": "Standard_D4s_v5", "targetSku": "Standard_D2s_v5", "annualSavingsAmount": "1200",
			"savingsAmount": "1", "savingsCurrency": "EUR", "region": "West Europe",
		}))
	}
	other := advice(9, "", nil)
	other["properties"].(map[string]any)["category"] = "Security"
	dismissed := advice(8, "", nil)
	dismissed["properties"].(map[string]any)["suppressionIds"] = []string{"x"}
	tw.AddAdvice(other, dismissed)
	all, a, err := readOpinions(t, tw, 100)
	if err != nil || len(all) != 5 || a.State != cloud.OpinionsRead || a.Cut {
		t.Fatalf("%d opinions, %+v, %v; want 5", len(all), a, err)
	}
	b, _ := json.Marshal(all[0])
	uid := strings.ToLower(machine + "0")
	want := `{"id":"` + uid + `/providers/microsoft.advisor/recommendations/000000","uid":"` + uid +
		`","type":"Microsoft.Compute/virtualMachines","region":"westeurope","action":"resize",` +
		`"native":"Right-size or shutdown underutilized virtual machines","current":"Standard_D4s_v5",` +
		`"recommended":"Right-size the machine","target":"Standard_D2s_v5","saving":"100","currency":"EUR",` +
		`"origin":"e10b1381-5f0a-47ff-8c7b-37bd13d7c974","refreshedAt":"2026-02-01T10:20:30.1234567Z"}`
	if string(b) != want {
		t.Errorf("opinion:\n got %s\nwant %s", b, want)
	}
	if all, a, err = readOpinions(t, tw, 3); err != nil || len(all) != 3 || !a.Cut {
		t.Errorf("with a limit of 3: %d opinions, %+v, %v", len(all), a, err)
	}
}

func TestReadOpinions_ActionsOfAdvisor(t *testing.T) {
	for name, c := range map[string]struct {
		problem, solution string
		extended          map[string]any
		want              string
	}{
		"a shutdown": {"Right-size or shutdown", "", map[string]any{"targetSku": "Shutdown"}, "stop"},
		"a number as an amount": {
			"x", "Resize it",
			map[string]any{"savingsAmount": 12.5, "savingsCurrency": "usd"},
			"resize 12.5",
		},
		"an unattached disk": {"Review disks that are not attached to a VM", "", nil, "delete"},
		"a reservation":      {"Consider virtual machine reserved instance", "Buy it", nil, "commit"},
		"a migration":        {"Use lower cost storage", "Migrate to Standard", nil, "upgrade"},
		"words that are new": {"Think", "Again", nil, "other"},
		"an amount that is a list": {
			"Think", "Again",
			map[string]any{"savingsAmount": []int{1}, "savingsCurrency": "USD"},
			"other",
		},
		"an amount without a currency": {"Think", "", map[string]any{"savingsAmount": "7"}, "other"},
		"a negative amount": {
			"Think", "",
			map[string]any{"savingsAmount": "-7", "savingsCurrency": "USD"},
			"other -7",
		},
	} {
		tw := &azuretwin.Cloud{}
		row := advice(1, c.solution, c.extended)
		row["properties"].(map[string]any)["shortDescription"].(map[string]any)["problem"] = c.problem
		tw.AddAdvice(row)
		all, _, err := readOpinions(t, tw, 10)
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %v, %v", name, all, err)
		}
		got := string(all[0].Action)
		if all[0].Saving != nil {
			got += " " + all[0].Saving.String()
		}
		if got != c.want {
			t.Errorf("%s: %s; want %s", name, got, c.want)
		}
	}
}

func TestReadOpinions_OfTheOffersOfAReservationTheBest(t *testing.T) {
	tw := &azuretwin.Cloud{}
	for n, usd := range []string{"120", "360", "240"} {
		row := advice(n, "Buy a reservation", map[string]any{
			"annualSavingsAmount": usd, "savingsCurrency": "USD", "displaySKU": "D2s_v5", "term": strconv.Itoa(n),
		})
		row["properties"].(map[string]any)["resourceMetadata"] = map[string]any{
			"resourceId": "/subscriptions/" + azuretwin.Subscription,
		}
		tw.AddAdvice(row)
	}
	all, _, err := readOpinions(t, tw, 10)
	if err != nil || len(all) != 1 || all[0].ResourceUID != "" || all[0].Saving.String() != "30" {
		t.Errorf("%+v, %v; want one, of the subscription, of 30 a month", all, err)
	}
}

func TestReadOpinions_ThinDeniedAndThrottled(t *testing.T) {
	tw := &azuretwin.Cloud{}
	tw.AddAdvice(map[string]any{
		"id":         "/subscriptions/x/providers/Microsoft.Advisor/recommendations/1",
		"properties": map[string]any{"category": "Cost"},
	})
	all, _, err := readOpinions(t, tw, 10)
	if err != nil || len(all) != 1 || all[0].ResourceUID != "" || all[0].Saving != nil {
		t.Errorf("a thin row is %+v, %v", all, err)
	}
	tw.SetRoles(azuretwin.Role{Actions: []string{"Microsoft.Compute/*"}})
	if _, a, err := readOpinions(t, tw, 10); err != nil || a.State != cloud.OpinionsDenied ||
		!strings.Contains(a.Message, advisorRead) {
		t.Errorf("denied: %+v, %v", a, err)
	}
	tw.SetRoles()
	tw.ThrottleCalls(1000)
	if _, _, err := readOpinions(t, tw, 10); cloud.ClassOf(err) != cloud.Throttled {
		t.Errorf("throttled: %v", err)
	}
}

func TestReadOpinions_TwentyThousand(t *testing.T) {
	tw := &azuretwin.Cloud{}
	for n := range 20_001 {
		tw.AddAdvice(advice(n, "Resize", map[string]any{"targetSku": "a"}))
	}
	all, a, err := readOpinions(t, tw, 20_000)
	if err != nil || len(all) != 20_000 || !a.Cut || a.Calls != 21 {
		t.Errorf("%d opinions, %+v, %v", len(all), a, err)
	}
}
