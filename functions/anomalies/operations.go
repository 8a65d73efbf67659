// Package anomalies is the operations about cost anomalies, days with an unexpectedly high cost: list them, change
// their status, and configure their detection.
package anomalies

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/inventory"
)

const (
	anomalies = "/reports/anomalies"
	settings  = "/reports/anomaly-settings"
	reading   = "reports:read"
	writing   = "reports:write"
)

type service struct {
	p         *platform.Platform
	store     *anomaly.Store
	inventory *inventory.Store
}

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Reports & Analytics")
	s := &service{p, anomaly.NewStore(p.Table), inventory.New(p)}
	rest.Handle(g, rest.Op{
		ID: "listAnomalies", Method: http.MethodGet, Path: anomalies, Policy: reading, Scoped: true,
		Statuses:    []int{http.StatusBadRequest},
		Summary:     "List anomalies",
		Description: "Newest day first, of the last 90 days; of the newest 10,000. " + rules + scoped,
	}, s.list)
	rest.Handle(g, rest.Op{
		ID: "judgeAnomaly", Method: http.MethodPatch, Path: anomalies + "/{anomalyID}", Policy: writing, Scoped: true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Acknowledge an anomaly, or mark it expected",
		Description: "expected takes a reason; open takes either back. One that is closed, since bills were " +
			"restated, is 409. " + scoped,
	}, s.judge)
	rest.Handle(g, rest.Op{
		ID: "getAnomalySettings", Method: http.MethodGet, Path: settings, Policy: reading,
		Summary: "Read the anomaly settings", Description: rules,
	}, s.getSettings)
	rest.Handle(g, rest.Op{
		ID: "updateAnomalySettings", Method: http.MethodPut, Path: settings, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict},
		Summary:  "Change the anomaly settings",
		Description: "Changes only the fields present; null resets a field to its default. The next run judges the " +
			"last seven days by the new settings. " + rules,
	}, s.updateSettings)
	return g
}

const (
	rules = "A day of the organization, an account, a group, a team or a resource is an anomaly when it costs 30 % " +
		"(warning), 100 % (critical) or 500 % (emergency) more than its baseline: the cost of similar days before " +
		"it. A day is not judged if it is incomplete, if there are fewer than 4 days of data, or if the baseline is " +
		"under anomalyMinUSD a day. Each import judges the last seven days again: the anomaly of a restated day is " +
		"corrected, and sends one event for each severity. The gates exclude days whose cost is above the baseline " +
		"for an ordinary reason; each gate can be switched off. The contributors of each dimension sum to the " +
		"anomaly. "
	scoped = "A grant on teams or resources shows the anomalies of just these. "
)
