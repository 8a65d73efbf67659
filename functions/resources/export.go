package resources

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// The bounds of one file: a Lambda answers with 6 MB at most, of which base64 may take a third.
const (
	exportRows  = 10_000
	exportBytes = 4_000_000
)

const (
	csvType    = "text/csv; charset=utf-8"
	ndjsonType = "application/x-ndjson"
)

type exportInput struct {
	Filters
	Format string `query:"format" enum:"csv,ndjson" default:"csv"`
}

func (s *service) export(ctx context.Context, in *exportInput) (rest.Raw, error) {
	c := identity.From(ctx)
	found, err := s.inventory.Find(ctx, c.Org, inventory.List{Filter: in.filter(c), Limit: exportRows + 1})
	if err != nil {
		return rest.Raw{}, err
	}
	write, kind := sheet, csvType
	if in.Format == "ndjson" {
		write, kind = ndjson, ndjsonType
	}
	body, err := write(found)
	if err != nil {
		return rest.Raw{}, fmt.Errorf("export resources: %w", err)
	}
	if len(found) > exportRows || len(body) > exportBytes {
		return rest.Raw{}, fault.New(fault.Invalid,
			"the export would hold more than %d resources or %d MB: narrow it by type, provider, region, cloud_account_id, status, tag or search",
			exportRows, exportBytes/1_000_000)
	}
	return rest.Raw{Header: http.Header{
		"Content-Type":        {kind},
		"Content-Disposition": {`attachment; filename="resources.` + in.Format + `"`},
	}, Body: body}, nil
}

func ndjson(found []inventory.Listed) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, r := range found {
		if err := enc.Encode(shown(r)); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

var columns = []string{
	"id", "uid", "name", "type", "provider", "cloudAccountID", "cloudAccountName", "region", "zone", "status", "instanceType",
	"capacity", "tags", "parentUID", "schedulable", "groupIDs", "teamIDs", "discoveredAt", "lastSeenAt", "createdAt",
}

func sheet(found []inventory.Listed) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(columns) // Error tells below
	for _, r := range found {
		cells, err := line(shown(r))
		if err != nil {
			return nil, err
		}
		_ = w.Write(cells) // Error tells below
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

func line(r Record) ([]string, error) {
	capacity, err := json.Marshal(r.Capacity)
	if err != nil {
		return nil, err
	}
	tags, err := json.Marshal(r.Tags)
	if err != nil {
		return nil, err
	}
	created := ""
	if r.CreatedAt != nil {
		created = r.CreatedAt.Format(time.RFC3339)
	}
	cells := []string{
		r.ID, r.UID, r.Name, r.Type, r.Provider, r.CloudAccountID, r.CloudAccountName, r.Region, r.Zone, string(r.Status),
		r.InstanceType, string(capacity), string(tags), r.ParentUID, strconv.FormatBool(r.Schedulable),
		strings.Join(r.GroupIDs, " "), strings.Join(r.TeamIDs, " "),
		r.DiscoveredAt.Format(time.RFC3339), r.LastSeenAt.Format(time.RFC3339), created,
	}
	for i := range cells {
		cells[i] = plain(cells[i])
	}
	return cells, nil
}

// plain keeps a spreadsheet from taking a name that somebody gave to a resource for a formula.
func plain(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r\n", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}
