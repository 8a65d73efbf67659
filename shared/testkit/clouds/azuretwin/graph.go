package azuretwin

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The clauses of the query language that the twin understands. It refuses others.
var (
	whereIs     = regexp.MustCompile(`^where (type|location) =~ '([^']*)'$`)
	whereIn     = regexp.MustCompile(`^where (type|location) (!?)in~ \(([^)]*)\)$`)
	projectOnly = regexp.MustCompile(`^project ([\w, ]+)$`)
	countBy     = regexp.MustCompile(`^summarize (\w+) = count\(\) by ([\w, ]+)$`)
	whereHas    = regexp.MustCompile(`^where properties\.(\w+) =~ '([^']*)'$`)
	inOrder     = regexp.MustCompile(`^order by id asc$`)
)

// graphRows are the resources as the Resource Graph has them: types and ids as written, no parts of clusters, and of
// machines the power state in a place of its own.
func (c *Cloud) graphRows() []map[string]any {
	var all []map[string]any
	for _, r := range c.resources {
		if r.Type == typePool || r.Type == typeCompute {
			continue
		}
		row := c.renderResource(r, false)
		row["location"] = strings.ToLower(strings.ReplaceAll(textOf(row, "location"), " ", ""))
		if row["type"] = strings.ToLower(r.Type); r.Type == typeMachine && r.Power != "" {
			objectOf(row, "properties")["extended"] = map[string]any{"instanceView": map[string]any{
				"powerState": map[string]any{"code": "PowerState/" + r.Power},
			}}
		}
		if r.Type == typeGroup {
			delete(objectOf(row, "properties"), "instanceView")
		}
		all = append(all, row)
	}
	return all
}

// answerGraph answers a query.
func (c *Cloud) answerGraph(q request) (answer, *failure) {
	if c.quota != nil && *c.quota == 0 {
		return answer{}, newFailure(http.StatusTooManyRequests, "RateLimiting", "Please provide below info when "+
			"asking for support: the client application has been throttled.")
	}
	rows := c.frozen
	if rows == nil {
		rows = c.graphRows()
	}
	ids := strings.ToLower(strings.Trim(fmt.Sprint(q.body["subscriptions"]), "[]"))
	switch m := c.memberAt("/subscriptions/" + ids); {
	case m != nil && !m.Refuses && ids != Subscription:
		rows = nil
	case ids != Subscription:
		return answer{}, newFailure(http.StatusBadRequest, "NoValidSubscriptionsInQueryRequest", "There must be at "+
			"least one subscription that is eligible to contain resources, not %s.", ids)
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(r map[string]any) bool {
		return !c.isAllowed(textOf(r, "type") + "/read")
	})
	clauses := strings.Split(textOf(q.body, "query"), " | ")
	if clauses[0] == "advisorresources" {
		rows = c.adviceRows()
	} else if clauses[0] != "Resources" {
		return answer{}, newFailure(http.StatusBadRequest, "InvalidQuery", "Query is invalid: table %s.", clauses[0])
	}
	for _, clause := range clauses[1:] {
		var f *failure
		if rows, f = apply(rows, clause); f != nil {
			return answer{}, f
		}
	}
	return c.graphPage(q, rows)
}

func apply(rows []map[string]any, clause string) ([]map[string]any, *failure) {
	is := func(column string, values ...string) []map[string]any {
		return slices.DeleteFunc(slices.Clone(rows), func(r map[string]any) bool {
			return !slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(textOf(r, column), v) })
		})
	}
	if m := whereIs.FindStringSubmatch(clause); m != nil {
		return is(m[1], m[2]), nil
	}
	if m := whereIn.FindStringSubmatch(clause); m != nil {
		values := strings.Split(strings.ReplaceAll(strings.ReplaceAll(m[3], "'", ""), " ", ""), ",")
		if m[2] == "" {
			return is(m[1], values...), nil
		}
		return slices.DeleteFunc(slices.Clone(rows), func(r map[string]any) bool {
			return slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(textOf(r, m[1]), v) })
		}), nil
	}
	if m := whereHas.FindStringSubmatch(clause); m != nil {
		return slices.DeleteFunc(slices.Clone(rows), func(r map[string]any) bool {
			return !strings.EqualFold(textOf(objectOf(r, "properties"), m[1]), m[2])
		}), nil
	}
	if m := projectOnly.FindStringSubmatch(clause); m != nil {
		return project(rows, strings.Split(m[1], ", ")), nil
	}
	if m := countBy.FindStringSubmatch(clause); m != nil {
		return summarize(rows, m[1], strings.Split(m[2], ", ")), nil
	}
	if inOrder.MatchString(clause) {
		rows = slices.Clone(rows)
		slices.SortFunc(rows, func(a, b map[string]any) int {
			return strings.Compare(textOf(a, "id"), textOf(b, "id"))
		})
		return rows, nil
	}
	return nil, newFailure(http.StatusBadRequest, "InvalidQuery", "Query is invalid: %s", clause)
}

func project(rows []map[string]any, columns []string) []map[string]any {
	out := make([]map[string]any, len(rows))
	for i, r := range rows {
		out[i] = map[string]any{}
		for _, name := range columns {
			out[i][name] = r[name]
		}
	}
	return out
}

func summarize(rows []map[string]any, total string, columns []string) []map[string]any {
	var out []map[string]any
	for _, r := range project(rows, columns) {
		i := slices.IndexFunc(out, func(o map[string]any) bool {
			return !slices.ContainsFunc(columns, func(c string) bool { return o[c] != r[c] })
		})
		if i < 0 {
			r[total] = 1
			out = append(out, r)
			continue
		}
		out[i][total] = out[i][total].(int) + 1
	}
	return out
}

// graphPage answers a page of at most 1,000 rows, with the rest of the quota in its headers.
func (c *Cloud) graphPage(q request, rows []map[string]any) (answer, *failure) {
	top, from := 1000, 0
	options := objectOf(q.body, "options")
	if n, asked := options["$top"].(float64); asked {
		top = min(top, int(n))
	}
	if c.Page > 0 {
		top = min(top, c.Page)
	}
	if skip := textOf(options, "$skipToken"); skip != "" {
		if _, err := fmt.Sscan(skip, &from); err != nil || from > len(rows) {
			return answer{},
				newFailure(http.StatusBadRequest, "InvalidSkipToken", "The skip token '%s' is not valid.", skip)
		}
	}
	to := min(len(rows), from+top)
	body := map[string]any{
		"totalRecords": len(rows), "count": to - from, "resultTruncated": "false",
		"data": rows[from:to],
	}
	if to < len(rows) {
		body["$skipToken"] = strconv.Itoa(to)
	}
	header := map[string]string{}
	if c.quota != nil {
		*c.quota--
		header["x-ms-user-quota-remaining"] = strconv.Itoa(*c.quota)
		header["x-ms-user-quota-resets-after"] = "00:00:05"
	}
	return answer{status: http.StatusOK, header: header, body: body}, nil
}
