package awstwin

import (
	"net/http"
	"slices"
)

// HubRecommendation is a recommendation of Cost Optimization Hub: the fields of the API, as AWS writes them.
type HubRecommendation map[string]any

// AddHubRecommendations adds recommendations to Cost Optimization Hub.
func (c *Cloud) AddHubRecommendations(all ...HubRecommendation) {
	for _, r := range all {
		add(c, &c.recommended, r)
	}
}

// SetHubEnrolled sets whether the account is enrolled in Cost Optimization Hub. It is at first.
func (c *Cloud) SetHubEnrolled(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unenrolled = !on
}

// largestHubPage is the largest maxResults of ListRecommendations.
const largestHubPage = 1000

func (c *Cloud) listRecommendations(q request) (any, *failure) {
	switch size, _ := q.getNumber("maxResults"); {
	case q.region != "us-east-1":
		return nil, newFailure(http.StatusBadRequest, "UnknownOperationException", "no such service in %s", q.region)
	case c.unenrolled:
		return nil, newFailure(http.StatusBadRequest, "AccessDeniedException",
			"AWS account is not enrolled for recommendations.")
	case size > largestHubPage:
		return nil, newFailure(http.StatusBadRequest, "ValidationException", "maxResults %d is above %d", size,
			largestHubPage)
	}
	filter, _ := q.body["filter"].(map[string]any)
	accounts, _ := filter["accountIds"].([]any)
	all := slices.DeleteFunc(slices.Clone(c.recommended), func(r HubRecommendation) bool {
		return len(accounts) > 0 && r["accountId"] != nil && !slices.Contains(accounts, r["accountId"])
	})
	from, to, next := c.cutPage(q, len(all), "maxResults", "nextToken")
	out := map[string]any{"items": append([]HubRecommendation{}, all[from:to]...)}
	if next != "" {
		out["nextToken"] = next
	}
	return out, nil
}
