package gcptwin

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Advice is a recommendation of a recommender in a location: the JSON of the API.
type Advice struct {
	Recommender, Location string
	Recommendation        string
}

// AddAdvice adds recommendations.
func (c *Cloud) AddAdvice(all ...Advice) {
	c.ChangeLocked(func() { c.advices = append(c.advices, all...) })
}

// DenyRecommenders takes the permission for the lists of these recommenders away; none gives all back.
func (c *Cloud) DenyRecommenders(ids ...string) { c.ChangeLocked(func() { c.deniedAdvice = ids }) }

// listRecommendations answers a list of a recommender. A recommender of zones does not know regions.
func (c *Cloud) listRecommendations(q request) (any, *failure) {
	if filter := q.URL.Query().Get("filter"); filter != "stateInfo.state = ACTIVE" {
		return nil, newFailure(http.StatusBadRequest, "INVALID_ARGUMENT", "%s is not filtered by", filter)
	}
	if zone := strings.Count(q.args[1], "-") == 2; !zone && strings.HasPrefix(q.args[2], "google.compute.instance.") {
		return nil, newFailure(http.StatusBadRequest, "INVALID_ARGUMENT", "%s is not a location of %s", q.args[1],
			q.args[2])
	}
	if slices.Contains(c.deniedAdvice, q.args[2]) {
		return nil, newFailure(http.StatusForbidden, "PERMISSION_DENIED", "Permission denied on resource")
	}
	found := []json.RawMessage{}
	for _, a := range c.advices {
		if a.Recommender == q.args[2] && a.Location == q.args[1] {
			found = append(found, json.RawMessage(a.Recommendation))
		}
	}
	from, to, next := c.cutPage(q, len(found), "pageSize")
	return map[string]any{"recommendations": found[from:to], "nextPageToken": next}, nil
}
