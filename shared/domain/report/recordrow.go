package report

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// RecordColumns are the columns of a row of CSV.
var RecordColumns = []string{
	"id", "uid", "name", "type", "provider", "cloudAccountID", "cloudAccountName", "region", "zone", "status",
	"instanceType",
	"capacity", "tags", "smartTags", "parentUID", "schedulable", "groupIDs", "teamIDs", "scheduleIDs", "discoveredAt",
	"lastSeenAt", "createdAt",
	"rackRateHourlyUSD", "rackRateMonthlyUSD", "priceVersion", "monthToDateUSD", "lastMonthUSD", "costSource",
	"runningRateHourlyUSD", // new columns stand at the end, for readers that count them
}

// Line returns the record as a line of NDJSON.
func (r Record) Line() []byte { return append(encodeObject(r), '\n') }

// Cells returns the record as a line of CSV.
func (r Record) Cells() []string {
	created := ""
	if r.CreatedAt != nil {
		created = r.CreatedAt.Format(time.RFC3339)
	}
	return append([]string{
		r.ID, r.UID, r.Name, r.Type, r.Provider, r.CloudAccountID, r.CloudAccountName, r.Region, r.Zone,
		string(r.Status),
		r.InstanceType, string(encodeObject(r.Capacity)), string(encodeObject(r.Tags)),
		string(encodeObject(r.SmartTags)), r.ParentUID,
		strconv.FormatBool(r.Schedulable),
		strings.Join(r.GroupIDs, " "), strings.Join(r.TeamIDs, " "), strings.Join(r.ScheduleIDs, " "),
		r.DiscoveredAt.Format(time.RFC3339), r.LastSeenAt.Format(time.RFC3339), created,
	}, r.costCells()...)
}

// costCells returns the cells for the resource's cost. Unknown values are empty cells.
func (r Record) costCells() []string {
	out := make([]string, 7)
	if p := r.RackRateUSD; p != nil {
		out[0], out[1], out[2] = p.Hourly, p.Monthly, p.PriceVersion
	}
	if p := r.RunningRateUSD; p != nil {
		out[6] = p.Hourly
	}
	if a := r.ActualUSD; a != nil {
		out[3], out[4] = a.MonthToDate, a.LastMonth
	}
	if r.CostSource != nil {
		out[5] = *r.CostSource
	}
	return out
}

// encodeObject returns v as JSON. v consists of strings, numbers and times, so encoding cannot fail.
func encodeObject(v any) []byte {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // it always encodes
		panic(err)
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
