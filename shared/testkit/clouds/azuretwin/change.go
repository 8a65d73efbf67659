package azuretwin

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// changeResource does a PUT or PATCH of a resource that is there.
func (c *Cloud) changeResource(q request, r *Resource) (answer, *failure) {
	if f := c.hindrance(r, ""); f != nil {
		return answer{}, f
	}
	if match := q.Header.Get("If-Match"); match != "" && match != textOf(r.Properties(), "eTag") {
		return answer{}, newFailure(http.StatusPreconditionFailed, "EtagMismatch", "The etag of the resource does "+
			"not match.")
	}
	change := changes[q.Method+" "+r.Type]
	if change == nil {
		return answer{}, newFailure(
			http.StatusMethodNotAllowed, "MethodNotAllowed", "%s is not allowed on %s.", q.Method, r.Type)
	}
	return change(c, q, r)
}

var changes = map[string]func(*Cloud, request, *Resource) (answer, *failure){
	"PATCH " + typeScaleSet:     (*Cloud).patchScaleSet,
	"PUT " + typeSetting:        (*Cloud).putSetting,
	"PUT " + typePool:           (*Cloud).putPool,
	"PATCH " + typeContainerApp: (*Cloud).patchContainerApp,
	"PUT " + typePlan:           (*Cloud).putPlan,
	"PATCH " + typeDatabase:     (*Cloud).patchDatabase,
}

func invalid(format string, args ...any) (answer, *failure) {
	return answer{}, newFailure(http.StatusBadRequest, "InvalidParameter", format, args...)
}

func (c *Cloud) patchScaleSet(q request, r *Resource) (answer, *failure) {
	n, isNumber := objectOf(q.body, "sku")["capacity"].(float64)
	if !isNumber || n < 0 || n > 1000 {
		return invalid("The capacity of the scale set is not valid.")
	}
	a := c.acceptedAnswer(q, r, func() { r.Properties()["provisioningState"] = "Succeeded" })
	objectOf(r.Body, "sku")["capacity"] = n
	r.Properties()["provisioningState"] = "Updating"
	return a, nil
}

// makeSetting makes a setting that is not there.
func (c *Cloud) makeSetting(q request) (answer, *failure) {
	r := &Resource{
		ID: q.URL.Path, Type: typeSetting,
		Body: map[string]any{"id": q.URL.Path, "name": q.path[strings.LastIndex(q.path, "/")+1:], "type": typeSetting},
	}
	a, f := c.putSetting(q, r)
	if f == nil {
		c.resources = append(c.resources, r)
	}
	return a, f
}

// deleteSetting removes a setting; of anything else that is not tried here.
func (c *Cloud) deleteSetting(r *Resource) (answer, *failure) {
	if r.Type != typeSetting {
		return answer{}, newFailure(
			http.StatusMethodNotAllowed, "MethodNotAllowed", "DELETE is not allowed on %s.", r.Type)
	}
	c.resources = slices.DeleteFunc(c.resources, func(o *Resource) bool { return o == r })
	return okAnswer(map[string]any{})
}

// putSetting takes a setting whole; capacities are texts.
func (c *Cloud) putSetting(q request, r *Resource) (answer, *failure) {
	p := objectOf(q.body, "properties")
	profiles, _ := p["profiles"].([]any)
	if q.body["location"] == nil || len(profiles) == 0 || p["targetResourceUri"] == nil {
		return invalid("An autoscale setting must have a location, at least one profile and a target.")
	}
	for _, one := range profiles {
		profile, _ := one.(map[string]any)
		var n [3]int
		for i, name := range []string{"minimum", "default", "maximum"} {
			var err error
			if n[i], err = strconv.Atoi(textOf(objectOf(profile, "capacity"), name)); err != nil {
				return invalid("The capacity %s of profile '%v' is not valid.", name, profile["name"])
			}
		}
		if n[0] > n[1] || n[1] > n[2] {
			return invalid("The default of profile '%v' must be between minimum and maximum.", profile["name"])
		}
	}
	for _, name := range []string{"location", "tags", "properties"} {
		r.Body[name] = q.body[name]
	}
	return okAnswer(r.Body)
}

func (c *Cloud) putPool(q request, r *Resource) (answer, *failure) {
	p := objectOf(q.body, "properties")
	n, isNumber := p["count"].(float64)
	switch wrong := wrongBounds(p, n); {
	case !isNumber:
		return invalid("count is missing.")
	case textOf(p, "mode") == "System" && n < 1:
		return invalid("System node pools must have at least one node.")
	case wrong != "":
		return invalid("%s", wrong)
	case textOf(p, "vmSize") == "" || textOf(p, "vmSize") != textOf(r.Properties(), "vmSize"):
		return invalid("Changing property 'properties.vmSize' is not allowed.")
	}
	etag := textOf(r.Properties(), "eTag")
	a := c.acceptedAnswer(q, r, func() { r.Properties()["provisioningState"] = "Succeeded" })
	r.Body["properties"] = p
	p["provisioningState"], p["eTag"] = "Updating", fmt.Sprint(etag, "+")
	if n == 0 && p["enableAutoScaling"] != true {
		p["provisioningState"] = "Scaling"
	}
	return a, nil
}

// wrongBounds returns the problem of the bounds of a pool's autoscaler; "" when there is none.
func wrongBounds(p map[string]any, n float64) string {
	least, hasMin := p["minCount"].(float64)
	most, hasMax := p["maxCount"].(float64)
	if p["enableAutoScaling"] != true {
		if hasMin || hasMax {
			return "minCount and maxCount must be null when autoscaling is disabled."
		}
		return ""
	}
	if !hasMin || !hasMax || n < least || n > most {
		return "count must be between minCount and maxCount when autoscaling is enabled."
	}
	return ""
}

func (c *Cloud) patchContainerApp(q request, r *Resource) (answer, *failure) {
	scale := objectOf(objectOf(objectOf(q.body, "properties"), "template"), "scale")
	own := objectOf(objectOf(r.Properties(), "template"), "scale")
	maps.Copy(own, scale)
	least, _ := own["minReplicas"].(float64)
	most, isNumber := own["maxReplicas"].(float64)
	if isNumber && (least > most || most < 1) {
		return invalid("ContainerAppScaleInvalid: minReplicas must not exceed maxReplicas.")
	}
	word := r.stateWord()
	a := c.acceptedAnswer(q, r, func() { r.setState(word) })
	r.setState("Progressing")
	return a, nil
}

func (c *Cloud) putPlan(q request, r *Resource) (answer, *failure) {
	sku := objectOf(q.body, "sku")
	n, isNumber := sku["capacity"].(float64)
	if !isNumber || n < 1 || textOf(sku, "name") == "" || q.body["location"] == nil {
		return invalid("The plan is not complete.")
	}
	r.Body["sku"] = sku
	return okAnswer(r.Body)
}

func (c *Cloud) patchDatabase(q request, r *Resource) (answer, *failure) {
	n, isNumber := objectOf(q.body, "sku")["capacity"].(float64)
	if !isNumber || n < 1 || textOf(objectOf(q.body, "sku"), "name") == "" {
		return invalid("The sku is not valid.")
	}
	a := c.acceptedAnswer(q, r, func() {
		r.Properties()["status"] = "Online"
		objectOf(r.Body, "sku")["capacity"] = n
	})
	r.Properties()["status"] = "Scaling"
	return a, nil
}
