package isolation

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv/probe"
)

// holiday is a day to come, which a calendar of each world of the scope sweep names.
var holiday = probe.Yesterday.AddDate(0, 0, 5)

// snapshot returns the answers to every GET that a caller can make, by path, for one record of each kind.
func (w *sweep) snapshot(c *probe.Caller, e probe.Values) map[string]string {
	w.t.Helper()
	out := map[string]string{}
	for _, op := range w.ops {
		// there are none; differs each time; for databases alone
		if op.Method != http.MethodGet || op.IsPublic() || op.OperationID == "getSAMLSettings" ||
			op.OperationID == "beginGoogleConnection" || op.OperationID == "calculateDatabaseClass" {
			continue
		}
		path := op.Path
		if volatile[op.OperationID] {
			continue
		}
		for _, p := range op.Parameters {
			switch {
			case p.Value.In == "path":
				path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", url.PathEscape(e.Value(op, p.Value.Name)))
			case p.Value.Required || probe.OneOfRequired[op.OperationID+" "+p.Value.Name]:
				path += probe.QuerySeparator(path) + p.Value.Name + "=" + url.QueryEscape(e.Value(op, p.Value.Name))
			case recent[op.OperationID] && p.Value.Name == "from":
				// the default is the present moment
				path += probe.QuerySeparator(path) + "from=" + probe.Yesterday.Format(time.DateOnly) +
					"&to=" + probe.Yesterday.AddDate(0, 0, 1).Format(time.DateOnly)
			case p.Value.Name == "limit":
				path += probe.QuerySeparator(path) + "limit=100"
			case op.OperationID == "previewSchedule" && p.Value.Name == "from":
				// the default is from the present moment on
				next := holiday.AddDate(0, 0, 1)
				path += "?from=" + holiday.Format(time.DateOnly) + "&to=" + next.Format(time.DateOnly)
			case op.OperationID == "getResourceMetrics" && p.Value.Name == "from":
				// the default is the present moment
				path += "?from=" + probe.Yesterday.Format(time.RFC3339) + "&to=" + probe.Yesterday.AddDate(0, 0,
					1).Format(time.RFC3339)
			}
		}
		res := c.Ask(w.t, http.MethodGet, path, "")
		if res.Code != http.StatusOK {
			w.t.Errorf("GET %s of one's own: %d %s", path, res.Code, res.Body)
		}
		out[path] = confirmed.ReplaceAllString(res.Body.String(), `"confirmedAt":null`)
	}
	return out
}

// confirmed is when a recommendation was evaluated last. The hourly evaluation moves it on.
var confirmed = regexp.MustCompile(`"confirmedAt":"[^"]*"`)

// volatile lists the operations whose answers change from one request to the next: reports that include current
// savings, and exports, whose links are signed anew.
var volatile = map[string]bool{
	"getCostExport": true, "getResourceExport": true, "listCostTrends": true, "drawCostTrends": true,
	"listSavings": true, "getCostSummary": true, "getDashboardData": true,
}

// recent lists the reports that include the number of hours until now.
var recent = map[string]bool{
	"listResourceCosts": true, "listTagResourceCosts": true, "listTeamResourceCosts": true,
	"listKubernetesAllocation": true,
}
