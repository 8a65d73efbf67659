package azuretwin

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// handlerOf finds who answers a request.
func (c *Cloud) handlerOf(q request) (answer, *failure) {
	base := "/subscriptions/" + Subscription
	if of, known := c.besideResources(q); known {
		return of()
	}
	switch {
	case q.path == "/subscriptions":
		return okAnswer(c.subscriptions())
	case !strings.HasPrefix(q.path, base):
		return answer{}, newFailure(http.StatusNotFound, "SubscriptionNotFound", "The subscription '%s' could not "+
			"be found.", strings.Split(q.path+"//", "/")[2])
	case q.path == base:
		return okAnswer(map[string]any{
			"id": base, "subscriptionId": Subscription, "displayName": "Twin",
			"state": "Enabled",
		})
	case q.path == base+"/locations":
		return okAnswer(map[string]any{"value": locationList()})
	case q.path == base+"/providers/microsoft.authorization/permissions":
		return c.pageOf(q, c.permissionList())
	case q.path == base+"/providers/microsoft.compute/skus":
		return c.pageOf(q, c.offersIn(q.URL.Query().Get("$filter")))
	case strings.Contains(q.path, "/operations/"):
		return c.answerOperation(q)
	case strings.HasPrefix(q.path, base+"/providers/"):
		return c.pageOf(q, c.ofType(strings.TrimPrefix(q.path, base+"/providers/")))
	}
	return c.inResource(q)
}

// besideResources finds who answers for tokens, for the Resource Graph, for metrics, for management groups, for storage
// and for costs.
func (c *Cloud) besideResources(q request) (func() (answer, *failure), bool) {
	switch {
	case strings.HasPrefix(q.op, "entra:"):
		return func() (answer, *failure) { return c.answerEntra(q) }, true
	case strings.HasPrefix(q.op, "Microsoft.ResourceGraph/"):
		return func() (answer, *failure) { return c.answerGraph(q) }, true
	case q.op == "Microsoft.Insights/metrics/read":
		return func() (answer, *failure) { return c.answerMetrics(q) }, true
	}
	if of, known := c.organisationHandler(q); known {
		return of, true
	}
	return c.billingHandler(q)
}

// inResource answers requests for one resource, or for its children.
func (c *Cloud) inResource(q request) (answer, *failure) {
	if workspace, isList := strings.CutSuffix(q.path, "/computes"); isList {
		return c.pageOf(q, c.below(workspace, typeCompute))
	}
	return c.onResource(q)
}

// below returns the resources of a type that belong to the resource with the id.
func (c *Cloud) below(id, armType string) []any {
	all := []any{}
	for _, r := range c.resources {
		if r.Type == armType && strings.HasPrefix(r.UID(), id+"/") {
			all = append(all, c.renderResource(r, false))
		}
	}
	return all
}

func (c *Cloud) subscriptions() map[string]any {
	ids := c.Subscriptions
	if ids == nil {
		ids = []string{Subscription}
	}
	all := []any{}
	for _, id := range ids {
		all = append(all, map[string]any{"id": "/subscriptions/" + id, "subscriptionId": id, "state": "Enabled"})
	}
	return map[string]any{"value": all}
}

// Regions are those of the twin; "europe" is a logical one, which has no resources.
var Regions = []string{"northeurope", "swedencentral", "westeurope"}

func locationList() []any {
	all := []any{map[string]any{"name": "europe", "metadata": map[string]any{"regionType": "Logical"}}}
	for _, name := range Regions {
		all = append(all, map[string]any{"name": name, "metadata": map[string]any{"regionType": "Physical"}})
	}
	return all
}

func (c *Cloud) permissionList() []any {
	roles := c.roles
	if len(roles) == 0 {
		roles = []Role{{Actions: []string{"*"}, NotActions: []string{}}}
	}
	all := []any{}
	for _, r := range roles {
		all = append(all, r)
	}
	return all
}

func (c *Cloud) ofType(armType string) []any {
	all := []any{}
	for _, r := range c.resources {
		if strings.EqualFold(r.Type, armType) {
			all = append(all, c.renderResource(r, false))
		}
	}
	return all
}

// pageOf answers a part of a list, and where the next one is.
func (c *Cloud) pageOf(q request, all []any) (answer, *failure) {
	var from int
	if skip := q.URL.Query().Get("$skiptoken"); skip != "" {
		if _, err := fmt.Sscan(skip, &from); err != nil || from > len(all) {
			return answer{},
				newFailure(http.StatusBadRequest, "InvalidSkipToken", "The skip token '%s' is not valid.", skip)
		}
	}
	to := len(all)
	if c.Page > 0 {
		to = min(to, from+c.Page)
	}
	body := map[string]any{"value": all[from:to]}
	if to < len(all) {
		link := *q.URL
		query := link.Query()
		query.Set("$skiptoken", strconv.Itoa(to))
		link.RawQuery, link.Scheme, link.Host = query.Encode(), "https", q.Host
		body["nextLink"] = link.String()
	}
	return okAnswer(body)
}
