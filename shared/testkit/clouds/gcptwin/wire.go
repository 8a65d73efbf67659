package gcptwin

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

type handler func(*Cloud, request) (any, *failure)

// route is a method of Google's. {} stands for a part of the path.
type route struct {
	method, pattern, op string
	handle              handler
	re                  *regexp.Regexp
}

// Where workstations are.
const (
	clustersOfDesks = "projects/{}/locations/{}/workstationClusters"
	configsOfDesks  = clustersOfDesks + "/{}/workstationConfigs"
)

// routes are all methods of the twin.
var routes = compileRoutes([]route{
	{method: "POST", pattern: "token", op: "oauth2.token", handle: (*Cloud).mintToken},
	{method: "POST", pattern: "v1/token", op: "sts.token", handle: (*Cloud).exchangeToken},
	{
		method: "POST", pattern: "v1/projects/-/serviceAccounts/{}:generateAccessToken",
		op: "iam.serviceAccounts.getAccessToken", handle: (*Cloud).impersonateAccount,
	},
	{method: "GET", pattern: "v3/projects", op: "resourcemanager.projects.list", handle: (*Cloud).listProjects},
	{method: "GET", pattern: "v3/folders", op: "resourcemanager.folders.list", handle: (*Cloud).listFolders},
	{method: "GET", pattern: "v3/folders/{}", op: "resourcemanager.folders.get", handle: (*Cloud).getUnit},
	{method: "GET", pattern: "v3/organizations/{}", op: "resourcemanager.organizations.get", handle: (*Cloud).getUnit},
	{method: "GET", pattern: "v3/projects/{}", op: "resourcemanager.projects.get", handle: (*Cloud).getProject},
	{
		method: "POST", pattern: "v3/projects/{}:testIamPermissions", op: "resourcemanager.projects.testIamPermissions",
		handle: (*Cloud).testPermissions,
	},
	{
		method: "GET", pattern: "v1/projects/{}:searchAllResources", op: "cloudasset.assets.searchAllResources",
		handle: (*Cloud).searchAssets,
	},
	{
		method: "GET", pattern: "v1/projects/{}:searchAllIamPolicies", op: "cloudasset.assets.searchAllIamPolicies",
		handle: (*Cloud).searchPolicies,
	},
	{
		method: "GET", pattern: "v1/projects/{}/locations/{}/recommenders/{}/recommendations",
		op: "recommender.recommendations.list", handle: (*Cloud).listRecommendations,
	},
	{
		method: "GET", pattern: "v3/projects/{}/timeSeries", op: "monitoring.timeSeries.list",
		handle: (*Cloud).listSeries,
	},

	{
		method: "GET", pattern: "compute/v1/projects/{}/regions", op: "compute.regions.list",
		handle: (*Cloud).listRegions,
	},
	{
		method: "GET", pattern: "compute/v1/projects/{}/aggregated/instances", op: "compute.instances.aggregatedList",
		handle: (*Cloud).aggregateInstances,
	},
	{
		method: "GET", pattern: "compute/v1/projects/{}/aggregated/machineTypes",
		op: "compute.machineTypes.aggregatedList", handle: (*Cloud).aggregateMachineTypes,
	},
	{
		method: "GET", pattern: "compute/v1/projects/{}/zones/{}/instances", op: "compute.instances.list",
		handle: (*Cloud).listInstances,
	},
	{
		method: "POST", pattern: "compute/v1/projects/{}/zones/{}/instances/{}/stop", op: "compute.instances.stop",
		handle: (*Cloud).stopInstance,
	},
	{
		method: "POST", pattern: "compute/v1/projects/{}/zones/{}/instances/{}/start", op: "compute.instances.start",
		handle: (*Cloud).startInstance,
	},
	{
		method: "POST", pattern: "compute/v1/projects/{}/zones/{}/instances/{}/resume", op: "compute.instances.resume",
		handle: (*Cloud).resumeInstance,
	},
	{
		method: "GET", pattern: "compute/v1/projects/{}/regions/{}/resourcePolicies/{}",
		op: "compute.resourcePolicies.get", handle: (*Cloud).getPolicy,
	},
	{
		method: "GET", pattern: "compute/v1/projects/{}/zones/{}/operations", op: "compute.zoneOperations.list",
		handle: (*Cloud).listOperations,
	},
	{
		method: "GET", pattern: "compute/v1/projects/{}/zones/{}/operations/{}", op: "compute.zoneOperations.get",
		handle: (*Cloud).getOperation,
	},
	{
		method: "GET", pattern: "compute/v1/projects/{}/regions/{}/operations/{}", op: "compute.regionOperations.get",
		handle: (*Cloud).getOperation,
	},
	{
		method: "GET", pattern: "compute/v1/projects/{}/aggregated/instanceGroupManagers",
		op: "compute.instanceGroupManagers.aggregatedList", handle: (*Cloud).aggregateGroups,
	},
	{
		method: "GET", pattern: "compute/v1/projects/{}/regions/{}/instanceGroupManagers",
		op: "compute.regionInstanceGroupManagers.list", handle: (*Cloud).listRegionGroups,
	},
	{
		method: "GET", pattern: "compute/v1/projects/{}/zones/{}/instanceGroupManagers/{}",
		op: "compute.instanceGroupManagers.get", handle: (*Cloud).getGroup,
	},
	{
		method: "GET", pattern: "compute/v1/projects/{}/regions/{}/instanceGroupManagers/{}",
		op: "compute.regionInstanceGroupManagers.get", handle: (*Cloud).getGroup,
	},
	{
		method: "POST", pattern: "compute/v1/projects/{}/zones/{}/instanceGroupManagers/{}/resize",
		op: "compute.instanceGroupManagers.resize", handle: (*Cloud).resizeGroup,
	},
	{
		method: "POST", pattern: "compute/v1/projects/{}/regions/{}/instanceGroupManagers/{}/resize",
		op: "compute.regionInstanceGroupManagers.resize", handle: (*Cloud).resizeGroup,
	},
	{
		method: "GET", pattern: "compute/v1/projects/{}/aggregated/autoscalers",
		op:     "compute.autoscalers.aggregatedList",
		handle: (*Cloud).aggregateScalers,
	},
	{
		method: "GET", pattern: "compute/v1/projects/{}/regions/{}/autoscalers", op: "compute.regionAutoscalers.list",
		handle: (*Cloud).listRegionScalers,
	},
	{
		method: "GET", pattern: "compute/v1/projects/{}/zones/{}/autoscalers/{}", op: "compute.autoscalers.get",
		handle: (*Cloud).getScaler,
	},
	{
		method: "GET", pattern: "compute/v1/projects/{}/regions/{}/autoscalers/{}", op: "compute.regionAutoscalers.get",
		handle: (*Cloud).getScaler,
	},
	{
		method: "PATCH", pattern: "compute/v1/projects/{}/zones/{}/autoscalers", op: "compute.autoscalers.patch",
		handle: (*Cloud).patchScaler,
	},
	{
		method: "PATCH", pattern: "compute/v1/projects/{}/regions/{}/autoscalers",
		op:     "compute.regionAutoscalers.patch",
		handle: (*Cloud).patchScaler,
	},
	{
		method: "POST", pattern: "compute/v1/projects/{}/zones/{}/autoscalers", op: "compute.autoscalers.insert",
		handle: (*Cloud).insertScaler,
	},
	{
		method: "POST", pattern: "compute/v1/projects/{}/regions/{}/autoscalers",
		op:     "compute.regionAutoscalers.insert",
		handle: (*Cloud).insertScaler,
	},
	{
		method: "DELETE", pattern: "compute/v1/projects/{}/zones/{}/autoscalers/{}", op: "compute.autoscalers.delete",
		handle: (*Cloud).deleteScaler,
	},
	{
		method: "DELETE", pattern: "compute/v1/projects/{}/regions/{}/autoscalers/{}",
		op: "compute.regionAutoscalers.delete", handle: (*Cloud).deleteScaler,
	},

	{method: "GET", pattern: "v1/projects/{}/instances", op: "sql.instances.list", handle: (*Cloud).listDatabases},
	{method: "GET", pattern: "v1/projects/{}/instances/{}", op: "sql.instances.get", handle: (*Cloud).getDatabase},
	{
		method: "PATCH", pattern: "v1/projects/{}/instances/{}", op: "sql.instances.patch",
		handle: (*Cloud).patchDatabase,
	},
	{
		method: "GET", pattern: "v1/projects/{}/operations", op: "sql.operations.list",
		handle: (*Cloud).listDatabaseOperations,
	},

	{
		method: "GET", pattern: "v1/projects/{}/locations/-/clusters", op: "container.clusters.list",
		handle: (*Cloud).listClusters,
	},
	{
		method: "GET", pattern: "v1/projects/{}/locations/{}/clusters/{}", op: "container.clusters.get",
		handle: (*Cloud).getCluster,
	},
	{
		method: "POST", pattern: "v1/projects/{}/locations/{}/clusters/{}/nodePools/{}:setSize",
		op: "container.nodePools.setSize", handle: (*Cloud).setPoolSize,
	},
	{
		method: "POST", pattern: "v1/projects/{}/locations/{}/clusters/{}/nodePools/{}:setAutoscaling",
		op: "container.nodePools.setAutoscaling", handle: (*Cloud).setPoolScaling,
	},
	{
		method: "GET", pattern: "v1/projects/{}/locations/{}/operations/{}", op: "container.operations.get",
		handle: (*Cloud).getOperation,
	},

	{
		method: "GET", pattern: "v2/projects/{}/locations/{}/services", op: "run.services.list",
		handle: (*Cloud).listServices,
	},
	{
		method: "GET", pattern: "v2/projects/{}/locations/{}/services/{}", op: "run.services.get",
		handle: (*Cloud).getService,
	},
	{
		method: "PATCH", pattern: "v2/projects/{}/locations/{}/services/{}", op: "run.services.patch",
		handle: (*Cloud).patchService,
	},

	{
		method: "GET", pattern: "v1/" + clustersOfDesks, op: "workstations.workstationClusters.list",
		handle: (*Cloud).listManaged,
	},
	{
		method: "GET", pattern: "v1/" + configsOfDesks, op: "workstations.workstationConfigs.list",
		handle: (*Cloud).listManaged,
	},
	{
		method: "GET", pattern: "v1/" + configsOfDesks + "/{}/workstations", op: "workstations.workstations.list",
		handle: (*Cloud).listManaged,
	},
	{
		method: "GET", pattern: "v1/" + configsOfDesks + "/{}/workstations/{}", op: "workstations.workstations.get",
		handle: (*Cloud).getManaged,
	},
	{
		method: "POST", pattern: "v1/" + configsOfDesks + "/{}/workstations/{}:start",
		op: "workstations.workstations.start", handle: (*Cloud).turnManaged,
	},
	{
		method: "POST", pattern: "v1/" + configsOfDesks + "/{}/workstations/{}:stop",
		op:     "workstations.workstations.stop",
		handle: (*Cloud).turnManaged,
	},
	{
		method: "GET", pattern: "compute/v1/projects/{}/regions/{}", op: "compute.regions.get",
		handle: (*Cloud).getRegion,
	},
	{
		method: "GET", pattern: "v2/projects/{}/locations/{}/instances", op: "notebooks.instances.list",
		handle: (*Cloud).listManaged,
	},
	{
		method: "GET", pattern: "v2/projects/{}/locations/{}/instances/{}", op: "notebooks.instances.get",
		handle: (*Cloud).getManaged,
	},
	{
		method: "POST", pattern: "v2/projects/{}/locations/{}/instances/{}:start", op: "notebooks.instances.start",
		handle: (*Cloud).turnManaged,
	},
	{
		method: "POST", pattern: "v2/projects/{}/locations/{}/instances/{}:stop", op: "notebooks.instances.stop",
		handle: (*Cloud).turnManaged,
	},
	{
		method: "GET", pattern: "v1/projects/{}/regions/{}/clusters", op: "dataproc.clusters.list",
		handle: (*Cloud).listManaged,
	},
	{
		method: "GET", pattern: "v1/projects/{}/regions/{}/clusters/{}", op: "dataproc.clusters.get",
		handle: (*Cloud).getManaged,
	},
	{
		method: "POST", pattern: "v1/projects/{}/regions/{}/clusters/{}:start", op: "dataproc.clusters.start",
		handle: (*Cloud).turnManaged,
	},
	{
		method: "POST", pattern: "v1/projects/{}/regions/{}/clusters/{}:stop", op: "dataproc.clusters.stop",
		handle: (*Cloud).turnManaged,
	},
	{
		method: "GET", pattern: "v1/projects/{}/locations/{}/clusters/-/instances", op: "alloydb.instances.list",
		handle: (*Cloud).listManaged,
	},
	{
		method: "GET", pattern: "v1/projects/{}/locations/{}/clusters/{}/instances/{}", op: "alloydb.instances.get",
		handle: (*Cloud).getManaged,
	},
	{
		method: "PATCH", pattern: "v1/projects/{}/locations/{}/clusters/{}/instances/{}", op: "alloydb.instances.patch",
		handle: (*Cloud).patchAlloy,
	},
	{
		method: "GET", pattern: "bigquery/v2/projects/{}/datasets", op: "bigquery.datasets.list",
		handle: (*Cloud).listDatasets,
	},
	{
		method: "GET", pattern: "bigquery/v2/projects/{}/datasets/{}", op: "bigquery.datasets.get",
		handle: (*Cloud).getDataset,
	},
	{
		method: "GET", pattern: "bigquery/v2/projects/{}/datasets/{}/tables", op: "bigquery.tables.list",
		handle: (*Cloud).listTables,
	},
	{
		method: "GET", pattern: "bigquery/v2/projects/{}/datasets/{}/tables/{}", op: "bigquery.tables.get",
		handle: (*Cloud).getTable,
	},
	{
		method: "POST", pattern: "bigquery/v2/projects/{}/queries", op: "bigquery.jobs.query",
		handle: (*Cloud).answerQuery,
	},
	{
		method: "GET", pattern: "bigquery/v2/projects/{}/queries/{}", op: "bigquery.jobs.getQueryResults",
		handle: (*Cloud).queryResults,
	},
})

func compileRoutes(all []route) []route {
	for i, r := range all {
		all[i].re = regexp.MustCompile("^/" + strings.ReplaceAll(r.pattern, "{}", "([^/:]+)") + "$")
	}
	return all
}

// decodeRequest finds the method that is called.
func decodeRequest(r *http.Request) (request, handler) {
	q := request{Request: r}
	if r.Body != nil {
		raw, _ := io.ReadAll(r.Body)
		q.raw = string(raw)
		_ = json.Unmarshal(raw, &q.body)
	}
	for _, t := range routes {
		if m := t.re.FindStringSubmatch(r.URL.Path); m != nil && t.method == r.Method {
			q.op, q.args = t.op, m[1:]
			return q, t.handle
		}
	}
	q.op = r.Method + " " + r.URL.Path
	return q, nil
}

func isMinting(op string) bool {
	return op == "oauth2.token" || op == "sts.token" || op == "iam.serviceAccounts.getAccessToken"
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// writeError writes the form of the API: token endpoints speak OAuth, Compute Engine and Cloud SQL the older form with
// reasons, the rest the newer one with a status and details.
func (q request) writeError(w http.ResponseWriter, f *failure) {
	if f.retryAfter != "" {
		w.Header().Set("Retry-After", f.retryAfter)
	}
	e := map[string]any{"code": f.status, "message": f.message}
	switch {
	case q.op == "oauth2.token" || q.op == "sts.token":
		writeJSON(w, f.status, map[string]any{"error": f.reason, "error_description": f.message})
		return
	case f.reason == "SERVICE_DISABLED":
		e["status"] = "PERMISSION_DENIED"
		e["details"] = []any{map[string]any{
			"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": f.reason, "domain": "googleapis.com",
			"metadata": map[string]string{"consumer": f.consumer},
		}}
	case strings.HasPrefix(q.op, "compute.") || strings.HasPrefix(q.op, "sql.") || strings.HasPrefix(q.op, "bigquery."):
		e["errors"] = []any{map[string]string{"message": f.message, "domain": "global", "reason": f.reason}}
	default:
		e["status"] = f.reason
	}
	writeJSON(w, f.status, map[string]any{"error": e})
}

// cutPage cuts the page that is asked for out of n things: the bounds, and the token of the next page.
func (c *Cloud) cutPage(q request, n int, sizeName string) (from, to int, next string) {
	size, err := strconv.Atoi(q.URL.Query().Get(sizeName))
	if err != nil || size <= 0 {
		size = 100
	}
	if c.Page > 0 {
		size = min(size, c.Page)
	}
	from, _ = strconv.Atoi(q.URL.Query().Get("pageToken"))
	from = min(from, n)
	if to = from + size; to < n {
		return from, to, strconv.Itoa(to)
	}
	return from, n, ""
}

var equals = regexp.MustCompile(`^(\w+) eq "?([^"]*)"?$`)

// matchesFilter evaluates a filter of Compute Engine's with a regular expression, which has to match all of the field.
func matchesFilter(q request, fields map[string]string) bool {
	filter := q.URL.Query().Get("filter")
	if filter == "" {
		return true
	}
	m := equals.FindStringSubmatch(filter)
	if m == nil {
		return false
	}
	re := compileExpression(m[2])
	return re != nil && re.MatchString(fields[m[1]])
}

// expressions are the regular expressions of filters, each compiled once and not for each resource; nil where one is
// none.
var expressions sync.Map

func compileExpression(text string) *regexp.Regexp {
	if known, ok := expressions.Load(text); ok {
		return known.(*regexp.Regexp) //nolint:forcetypeassert // it holds nothing else
	}
	re, err := regexp.Compile("^(?:" + text + ")$")
	if err != nil {
		re = nil
	}
	expressions.Store(text, re)
	return re
}

// numberOf reads a number of a body; false when it is not there.
func numberOf(body map[string]any, name string) (int64, bool) {
	f, ok := body[name].(float64)
	return int64(f), ok
}

func objectOf(body map[string]any, name string) map[string]any {
	o, _ := body[name].(map[string]any)
	return o
}
