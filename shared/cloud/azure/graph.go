package azure

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
)

const (
	graphPath    = "/providers/Microsoft.ResourceGraph/resources"
	graphVersion = "2022-10-01"
	graphPage    = 1000 // rows at most in one answer
	columns      = "id, name, type, location, kind, managedBy, tags, zones, sku, properties"
)

// graphAnswer is a page of rows of the Resource Graph.
type graphAnswer[T any] struct {
	Data []T    `json:"data"`
	Skip string `json:"$skipToken"`
}

// askGraph asks one page of a query of the Resource Graph, which is an index: minutes late, and read for lists alone.
func askGraph[T any](ctx context.Context, c *conn, query, skip string) (graphAnswer[T], error) {
	var out graphAnswer[T]
	subscription, err := c.subscriptionID(ctx)
	if err != nil {
		return out, err
	}
	options := map[string]any{"$top": graphPage, "resultFormat": "objectArray"}
	if skip != "" {
		options["$skipToken"] = skip
	}
	body := map[string]any{"subscriptions": []string{subscription}, "query": query, "options": options}
	err = c.client.callARM(ctx, call{method: http.MethodPost, path: graphPath, version: graphVersion, body: body}, &out)
	return out, err
}

// inRegion is the query for the resources of a type in a region, in an order, which paging needs.
func inRegion(armType, region string) string {
	return fmt.Sprintf("Resources | where type =~ '%s' | where location =~ '%s' | project %s | order by id asc",
		strings.ToLower(armType), region, columns)
}

// othersInRegion is the query for everything in a region that no kind lists.
func othersInRegion(region string) string {
	return fmt.Sprintf("Resources | where type !in~ (%s) | where location =~ '%s' | project %s | order by id asc",
		ownTypes(), region, columns)
}

// listedTypes are the types that kinds are listed by, as a query names them.
func listedTypes() string { return quotedTypes(kind.listedType) }

// ownTypes are the types of the kinds. Their parents may be of other types.
func ownTypes() string { return quotedTypes(func(k kind) string { return k.arm }) }

func quotedTypes(of func(kind) string) string {
	types := make([]string, 0, len(registry))
	for _, k := range registry {
		types = append(types, "'"+strings.ToLower(of(k))+"'")
	}
	slices.Sort(types)
	return strings.Join(slices.Compact(types), ", ")
}

// overviewTTL is how long an overview is valid.
const overviewTTL = 30 * time.Second

// overview knows the regions of each resource type. Azure has over 60 regions, most of them empty for any customer. A
// query for every kind in each region would exceed the Resource Graph's limit of 15 queries in 5 seconds many times
// over.
type overview struct {
	mu    sync.Mutex
	at    time.Time
	there map[place]bool
}

// place is a type in a region; "" is all types that no kind lists.
type place struct{ armType, region string }

// hasKind reports whether the region has resources of the type.
func (o *overview) hasKind(ctx context.Context, c *conn, at place) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.there == nil || c.clock.Now().Sub(o.at) > overviewTTL {
		there, err := readOverview(ctx, c)
		if err != nil {
			return false, err
		}
		o.there, o.at = there, c.clock.Now()
	}
	return o.there[at], ctx.Err()
}

func readOverview(ctx context.Context, c *conn) (map[place]bool, error) {
	there := map[place]bool{}
	for _, query := range []string{
		"Resources | where type in~ (" + listedTypes() + ") | summarize total = count() by type, location",
		"Resources | where type !in~ (" + ownTypes() + ") | summarize total = count() by location",
	} {
		rows, err := askGraphAll[struct{ Type, Location string }](ctx, c, query)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			there[place{strings.ToLower(row.Type), regionOf(row.Location)}] = true
		}
	}
	return there, nil
}

// askGraphAll asks all pages of a query.
func askGraphAll[T any](ctx context.Context, c *conn, query string) ([]T, error) {
	var all []T
	for skip := ""; ; {
		got, err := askGraph[T](ctx, c, query, skip)
		if err != nil {
			return nil, err
		}
		all = append(all, got.Data...)
		if skip = got.Skip; skip == "" {
			return all, nil
		}
	}
}

// listPage reads one page of a kind.
func (c *conn) listPage(ctx context.Context, k kind, region, page string) (cloud.ResourcePage, error) {
	there, err := c.overview.hasKind(ctx, c, place{strings.ToLower(k.listedType()), region})
	if err != nil || !there {
		return cloud.ResourcePage{}, err
	}
	got, err := askGraph[resource](ctx, c, inRegion(k.listedType(), region), page)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	settings, err := c.listedSettings(ctx, k, region)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	beside, err := c.neighboursOf(ctx, k.Type, region)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	out := cloud.ResourcePage{Next: got.Skip}
	for _, row := range got.Data {
		found, err := c.rowsOf(ctx, k, row)
		if err != nil {
			return cloud.ResourcePage{}, err
		}
		for _, r := range found {
			res, err := k.describeFound(r, settings)
			if err == nil {
				err = addKindFacts(&res, r, settings[uidOf(r.ID)], beside)
			}
			if err != nil {
				return cloud.ResourcePage{}, err
			}
			res.Region = region
			out.Resources = append(out.Resources, res)
		}
	}
	return out, nil
}

// rowsOf returns the resources of the kind in a row, or below it.
func (c *conn) rowsOf(ctx context.Context, k kind, row resource) ([]resource, error) {
	if k.collection == "" {
		return k.rows(row)
	}
	found, err := listAll[resource](ctx, c.client, row.ID+"/"+k.collection, k.version)
	if err != nil && cloud.ClassOf(err) == cloud.NotFound { // the index is minutes late
		return nil, nil
	}
	return found, err
}

// rows are the resources of the kind in a row.
func (k kind) rows(row resource) ([]resource, error) {
	switch {
	case k.foreign != nil && k.foreign(row):
		return nil, nil
	case k.inside != nil:
		return k.inside(row)
	default:
		return []resource{row}, nil
	}
}

// describeFound describes a resource as lists do.
func (k kind) describeFound(r resource, settings settings) (cloud.Resource, error) {
	f, err := k.facts(r, settings[uidOf(r.ID)])
	if err != nil {
		return cloud.Resource{}, err
	}
	out := cloud.Resource{
		UID: uidOf(r.ID), Name: r.Name, Type: k.Type, Status: f.status, InstanceType: f.instanceType,
		Capacity: f.capacity,
		Tags:     r.Tags, Unschedulable: f.unschedulable, CreatedAt: f.created, ParentUID: k.parentOf(r),
	}
	if out.Tags == nil {
		out.Tags = map[string]string{}
	}
	if len(r.Zones) == 1 {
		out.Zone = r.Zones[0]
	}
	return out, nil
}

// parentOf is the resource that a resource is a part of: the cluster of a pool.
func (k kind) parentOf(r resource) string {
	if strings.Count(k.arm, "/") < 2 {
		return ""
	}
	parts := strings.Split(uidOf(r.ID), "/")
	return strings.Join(parts[:len(parts)-2], "/")
}
