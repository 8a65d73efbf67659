package isolation

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"lamplighter.dev/cmd/lamplighter/testenv/probe"
)

// shownOutside are the texts of answers that may name something outside the caller's scope, by operation, "" being all
// operations.
var shownOutside = map[string][]shownText{
	"": {
		textOf(`"parentuid":"[^"]*"`,
			"the cloud's own attribute of a resource in the scope, which says why it cannot be stopped alone"),
		textOf(`member of auto scaling group [^:]+: act on the group`, "as above"),
	},
	"exportResources": {textOf(`,\{\},arn:[^,]*,`, "parentUID as above, in a row of CSV")},
	"listSmartTags": {textOf(`"policyid":"[^"]*"`,
		"the policy that made a tag of a resource in the scope; its name and selector are not shown")},
	"listUnitMetrics": {textOf(`"name":"orders-of-[^"]*"`,
		"unit metrics are numbers of the whole organization, which every reader of reports divides costs by")},
	"listDashboards": {textOf(`"id":"dash_[^"]*","name":"[^"]*"`,
		"a dashboard is shared with all members by whoever makes it; its filters are not shown")},
	"getDashboard":     {textOf(`"id":"[^"]*","name":"[^"]*"`, "as above")},
	"getDashboardData": {textOf(`"dashboardid":"[^"]*","name":"[^"]*"`, "as above")},
}

// shownText is a regular expression of text in lower case, and why that text is shown.
type shownText struct {
	pattern *regexp.Regexp
	reason  string
}

func textOf(pattern, reason string) shownText { return shownText{regexp.MustCompile(pattern), reason} }

// sharedByAll lists the places of requests that name records of all members, with the reason.
var sharedByAll = map[string]string{
	"getDashboard dashboardID":     "a dashboard is shared with all members",
	"getDashboardData dashboardID": "as above",
}

// neverPassed are the scoped operations that no narrow user passes in this test, with the reason.
var neverPassed = map[string]string{
	"cancelAction": "actions of the simulated cloud end before the next request; " +
		"TestAnOperatorOfOneTeamHasThatTeam cancels them",
	"cancelBulkAction": "as above",
	"remediateRecommendation": "nothing carries out the rule of the recommendation; " +
		"TestScopes_ANarrowGrantCarriesOutWhatItCovers requests, approves and rolls back",
	"proposeRemediation": "as above", "approveRemediation": "as above", "rollBackRemediation": "as above",
	"rehearseRemediation": "as above; TestRehearse_OnlyWhatAwaitsApproval",
	"rejectRemediation":   "the workflow is cancelled by then; TestList_FiltersPagesAndStaysInScope rejects one",
}

// keptIDs are the members of answers that later requests name, and the names under which they do.
var keptIDs = map[string][2]string{
	"exportCosts": {"jobID", "export"}, "askLineItems": {"queryID", "queryID"}, "createSubscription": {"id", "subID"},
	"exportResources": {"jobID", "resourceExport"},
	"createChannel":   {"id", "channelID"},
	"createOverride":  {"id", "overrideID"}, "submitAction": {"actionID", "actionID"},
	"submitBulkAction":       {"bulkActionID", "bulkActionID"},
	"createResourceWakeLink": {"id", "wakeLinkID"}, "createBudget": {"id", "budgetID"},
	"listAnomalies": {"id", "anomalyID"}, "createView": {"id", "viewID"},
}

var firstID = regexp.MustCompile(`"(id|\w+ID)":"(\w+_[0-9a-z]{26})"`)

// keep stores the id of a new record, or of the first one of a list.
func (v *scopeSweep) keep(op probe.Operation, answer []byte) {
	for _, found := range firstID.FindAllSubmatch(answer, -1) {
		if names := keptIDs[op.OperationID]; string(found[1]) == names[0] {
			v.b[names[1]] = string(found[2])
			return
		}
	}
}

// valueSets returns the values of the caller's own world, and a copy with the records that it shares with the next
// world.
func (v *scopeSweep) valueSets() []probe.Values {
	shared := maps.Clone(v.b)
	shared["groupID"], shared["group_id"] = v.b["sharedGroupID"], v.b["sharedGroupID"]
	shared["scheduleID"], shared["eventID"] = v.b["sharedScheduleID"], v.b["sharedEventID"]
	return []probe.Values{shared, v.b}
}

// target returns the path of op with its required parameters.
func (v *scopeSweep) target(op probe.Operation, values probe.Values) string {
	path := op.Path
	for _, p := range op.Parameters {
		value := values.Value(op, p.Value.Name)
		if op.OperationID == "calculateDatabaseClass" && p.Value.Name == "resource_id" {
			path += probe.QuerySeparator(path) + "resource_id=" + values["databaseID"]
			continue
		}
		switch {
		case p.Value.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", url.PathEscape(value))
		case p.Value.In == "query" && (p.Value.Required || probe.OneOfRequired[op.OperationID+" "+p.Value.Name]):
			path += probe.QuerySeparator(path) + p.Value.Name + "=" + url.QueryEscape(value)
		}
	}
	return path
}

// choices returns the values to send as a parameter: the values in the description, and names from outside the scope.
func (v *scopeSweep) choices(op probe.Operation, name string) []string {
	switch name {
	case "search":
		return []string{v.other.marker}
	case "tag":
		return []string{"label=" + v.other.marker}
	case "from":
		return []string{probe.Yesterday.AddDate(0, -2, 0).Format(time.DateOnly)}
	case "async":
		return []string{"true"}
	case "limit":
		return []string{"100"}
	case "tag_key":
		return []string{"label"}
	case "include":
		return []string{"platform,scheduling,cost"}
	}
	var out []string
	for _, p := range op.Parameters {
		if p.Value.Name == name {
			for _, choice := range p.Value.Schema.Value.Enum {
				out = append(out, fmt.Sprint(choice))
			}
		}
	}
	return out
}

var narrowing = regexp.MustCompile(`narrows: ([^.]+)\.`)

// dimensions returns the names of the dimensions of op's cost reports.
func dimensions(op probe.Operation) []string {
	if !slices.ContainsFunc(op.Parameters, func(p *openapi3.ParameterRef) bool { return p.Value.Name == "dims" }) {
		return nil
	}
	found := narrowing.FindStringSubmatch(op.Description)
	if found == nil {
		return nil
	}
	return strings.Split(strings.ReplaceAll(found[1], "<key>", "label"), ", ")
}

// narrowBodies replace sample bodies that concern the whole organization.
var narrowBodies = map[string]json.RawMessage{
	"createChannel":    json.RawMessage(`{"type":"email","name":"On call","config":{"email":"<ownEmail>"}}`),
	"submitBulkAction": json.RawMessage(`{"type":"stop","groupID":"<groupID>","force":true}`),
	"createBudget": json.RawMessage(
		`{"name":"Narrow budget","scopeType":"resource","scopeID":"<resourceUID>","amountUSD":"5","period":"month"}`),
	"createSubscription": json.RawMessage(
		`{"channelID":"<channelID>","eventType":"resource.failed","scopeType":"resource","scopeID":"<resourceUID>"}`),
	"upsertSubscriptions": json.RawMessage(
		`{"subscriptions":[{"channelID":"<channelID>","eventType":"resource.stopped","scopeType":"resource",` +
			`"scopeID":"<resourceUID>"}]}`),
}

// fillSample puts values into the places of a sample body.
func (v *scopeSweep) fillSample(op probe.Operation, values probe.Values, sample string) string {
	filled := sampled{v.sweep, values}
	values["state"], values["connectionID"] = "none", "none"
	return samplePlaceholder.ReplaceAllStringFunc(sample, func(s string) string {
		return fmt.Sprintf("%q", filled.fill(op, s[2:len(s)-2]))
	})
}
