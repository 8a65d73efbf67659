package local

import (
	"context"
	"net/http"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// In the simulated cloud's bills, resources outside production are stopped at weekends
// (shared/cloud/simulated/billrates.go). The demo has the schedule for it, disabled so that it stops no resource
// during a visit, and the state changes of the last weekends.
const (
	weekends     = 8
	weekendFrom  = 6 * time.Hour         // after Saturday has begun
	weekendUntil = (24 + 18) * time.Hour // after Saturday has begun
)

// demoSchedule is the part of the demo's schedule that the demo reads.
type demoSchedule struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Crons []struct {
		ID string `json:"id"`
	} `json:"crons"`
}

func (s *Service) seedWeekends(ctx context.Context, c *Client, org string, found []resource) error {
	var made demoSchedule
	err := c.Do(ctx, http.MethodPost, "/schedules", map[string]any{
		"name": "Weekends off",
		"description": "Disabled, so that nothing stops while you look around; " +
			"the state history has what it did before",
		"enabled": false,
		"crons": []map[string]string{
			{"cronExpression": "0 6 * * 6", "action": "stop"},
			{"cronExpression": "0 18 * * 0", "action": "start"},
		},
	}, &made)
	if err != nil {
		return err
	}
	var changes []execution.StateChange
	for _, saturday := range saturdays(s.Platform.Clock.Now()) {
		for n, r := range found {
			if env := r.Tags["env"]; r.Status == "running" && env != "" && env != "prod" {
				changes = append(changes, made.changes(r.UID, saturday.Add(time.Duration(n)*time.Second))...)
			}
		}
	}
	return execution.RecordChanges(table.WithOrg(ctx, org), s.Platform.Table, org, changes...)
}

// changes returns the stop of a resource for a weekend, and its start.
func (d *demoSchedule) changes(uid string, saturday time.Time) []execution.StateChange {
	out := []execution.StateChange{
		{State: string(cloud.Stopped), ChangedAt: saturday.Add(weekendFrom)},
		{State: string(cloud.Running), ChangedAt: saturday.Add(weekendUntil)},
	}
	for i := range out {
		c := &out[i]
		c.ID, c.ResourceUID, c.ScheduleID = id.New("sh", c.ChangedAt), uid, d.ID
		c.ChangedBy = execution.ChangedBy("schedule", d.Name, d.Crons[i].ID)
	}
	return out
}

// saturdays returns the beginnings of the last past weekends.
func saturdays(now time.Time) []time.Time {
	at := now.UTC().Truncate(24 * time.Hour)
	for at.Weekday() != time.Saturday || at.Add(weekendUntil).After(now) {
		at = at.AddDate(0, 0, -1)
	}
	var out []time.Time
	for n := range weekends {
		out = append(out, at.AddDate(0, 0, -7*n))
	}
	return out
}
