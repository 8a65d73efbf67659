package resources

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/fault"
)

// exportRows is how many resources one answer of an export contains.
const exportRows = 5000

type exportInput struct {
	Filters
	rest.Export
}

// exportResources returns the next page of an export. Pages are ordered by UID, which never changes, so resources
// that appear or vanish between two pages do not shift the others.
func (s *service) exportResources(ctx context.Context, in *exportInput) (rest.Raw, error) {
	after, err := readCursor(in.Cursor)
	if err != nil {
		return rest.Raw{}, err
	}
	c, bounds := identity.CallerFrom(ctx), s.most
	if bounds.Rows == 0 {
		bounds.Rows = exportRows
	}
	costs := pricing.NewCosts(s.p.Table)
	found, err := s.inventory.FindResources(ctx, c.Org,
		inventory.List{
			Filter: in.inventoryFilter(s.sight(c, costs)), By: inventory.ByUID, After: after,
			Limit: bounds.Rows + 1,
		})
	if err != nil {
		return rest.Raw{}, err
	}
	f := in.Begin(rest.Exported{Name: "resources", Format: rest.CSV, Columns: columns, Bounds: bounds})
	for i := range found {
		if !f.Add(newRecord(found[i], costs)) {
			return f.Answer(ctx, writeCursor(found[i-1].UID))
		}
	}
	return f.Answer(ctx, "")
}

// writeCursor returns the cursor for the last UID of a page.
func writeCursor(uid string) string { return base64.RawURLEncoding.EncodeToString([]byte(uid)) }

// readCursor returns the UID of a cursor, or "" for the beginning.
func readCursor(cursor string) (uid string, err error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || !utf8.Valid(b) {
		return "", fault.New(
			fault.Invalid, "cursor: %.64q is not one that an answer gave; leave it out to begin anew", cursor)
	}
	return string(b), nil
}

var columns = []string{
	"id", "uid", "name", "type", "provider", "cloudAccountID", "cloudAccountName", "region", "zone", "status",
	"instanceType",
	"capacity", "tags", "smartTags", "parentUID", "schedulable", "groupIDs", "teamIDs", "scheduleIDs", "discoveredAt",
	"lastSeenAt", "createdAt",
	"rackRateHourlyUSD", "rackRateMonthlyUSD", "priceVersion", "monthToDateUSD", "lastMonthUSD", "costSource",
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
	out := make([]string, 6)
	if p := r.RackRateUSD; p != nil {
		out[0], out[1], out[2] = p.Hourly, p.Monthly, p.PriceVersion
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
