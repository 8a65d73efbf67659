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

// exportRows is how many resources one answer of an export holds.
const exportRows = 5000

type exportInput struct {
	Filters
	rest.Export
}

// exportResources goes by uid: it never changes, so what comes and goes between two answers shifts nothing.
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
		inventory.List{Filter: in.inventoryFilter(s.sight(c, costs)), By: inventory.ByUID, After: after,
			Limit: bounds.Rows + 1})
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

// writeCursor makes a cursor of the last uid that was answered.
func writeCursor(uid string) string { return base64.RawURLEncoding.EncodeToString([]byte(uid)) }

// readCursor returns the uid of a cursor; "" is the beginning.
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
func (r Record) Line() []byte { return append(object(r), '\n') }

// Cells returns the record as a line of CSV.
func (r Record) Cells() []string {
	created := ""
	if r.CreatedAt != nil {
		created = r.CreatedAt.Format(time.RFC3339)
	}
	return append([]string{
		r.ID, r.UID, r.Name, r.Type, r.Provider, r.CloudAccountID, r.CloudAccountName, r.Region, r.Zone,
		string(r.Status),
		r.InstanceType, string(object(r.Capacity)), string(object(r.Tags)), string(object(r.SmartTags)), r.ParentUID,
		strconv.FormatBool(r.Schedulable),
		strings.Join(r.GroupIDs, " "), strings.Join(r.TeamIDs, " "), strings.Join(r.ScheduleIDs, " "),
		r.DiscoveredAt.Format(time.RFC3339), r.LastSeenAt.Format(time.RFC3339), created,
	}, r.costCells()...)
}

// costCells returns what the resource costs as cells; empty ones of what is not known.
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

// object returns the JSON of what is made of texts, numbers and times.
func object(v any) []byte {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // it always encodes
		panic(err)
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
