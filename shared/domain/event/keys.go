package event

// Type describes the events of a key, as in the response of GET /notifications/event-types.
type Type struct {
	Key      string `json:"key"`
	Name     string `json:"name"`
	Category string `json:"category"` // resource, budget or cost_anomaly
}

// The keys of events of resources.
const (
	ResourceStarted        = "resource.started"
	ResourceStopped        = "resource.stopped"
	ResourceFailed         = "resource.failed"
	ResourceOverride       = "resource.override"
	ResourceRetryExhausted = "resource.retry_exhausted"
)

// Types are all types of events, in the order of the interface specification. It counts 21, and lists these 22.
var Types = []Type{
	{ResourceStarted, "Resource started", "resource"},
	{ResourceStopped, "Resource stopped", "resource"},
	{ResourceFailed, "Start or stop failed", "resource"},
	{ResourceOverride, "Override created", "resource"},
	{ResourceRetryExhausted, "Retries used up", "resource"},
	{"budget.warning", "Budget threshold near", "budget"},
	{"budget.exceeded", "Budget threshold exceeded", "budget"},
	{"cost.anomaly.warning", "Cost anomaly: 30 percent above the baseline", "cost_anomaly"},
	{"cost.anomaly.critical", "Cost anomaly: 100 percent above the baseline", "cost_anomaly"},
	{"cost.anomaly.emergency", "Cost anomaly: 500 percent above the baseline", "cost_anomaly"},
	{"cost.anomaly.cloud_account.warning", "Cost anomaly of a cloud account: warning", "cost_anomaly"},
	{"cost.anomaly.cloud_account.critical", "Cost anomaly of a cloud account: critical", "cost_anomaly"},
	{"cost.anomaly.cloud_account.emergency", "Cost anomaly of a cloud account: emergency", "cost_anomaly"},
	{"cost.anomaly.resource_group.warning", "Cost anomaly of a resource group: warning", "cost_anomaly"},
	{"cost.anomaly.resource_group.critical", "Cost anomaly of a resource group: critical", "cost_anomaly"},
	{"cost.anomaly.resource_group.emergency", "Cost anomaly of a resource group: emergency", "cost_anomaly"},
	{"cost.anomaly.resource.warning", "Cost anomaly of a resource: warning", "cost_anomaly"},
	{"cost.anomaly.resource.critical", "Cost anomaly of a resource: critical", "cost_anomaly"},
	{"cost.anomaly.resource.emergency", "Cost anomaly of a resource: emergency", "cost_anomaly"},
	{"cost.anomaly.team.warning", "Cost anomaly of a team: warning", "cost_anomaly"},
	{"cost.anomaly.team.critical", "Cost anomaly of a team: critical", "cost_anomaly"},
	{"cost.anomaly.team.emergency", "Cost anomaly of a team: emergency", "cost_anomaly"},
}

// TypeOf finds the type of a key.
func TypeOf(key string) (Type, bool) {
	for _, t := range Types {
		if t.Key == key {
			return t, true
		}
	}
	return Type{}, false
}

// PolicyOf returns the policy for reading events of a key. It returns "" for a key of no type, such as that of a test
// message.
func PolicyOf(key string) string {
	t, known := TypeOf(key)
	switch {
	case !known:
		return ""
	case t.Category == "budget":
		return "budgets:read"
	case t.Category == "cost_anomaly":
		return "reports:read"
	}
	return "resources:read"
}

// Scope is a scope of an event or a subscription: a type of the interface specification (org, cloud_account,
// resource_group, resource, team), and the id. The id is empty for org, and the native id for a resource.
type Scope struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// The types of scopes.
const (
	ScopeOrg      = "org"
	ScopeAccount  = "cloud_account"
	ScopeGroup    = "resource_group"
	ScopeResource = "resource"
	ScopeTeam     = "team"
)

// Belongs returns the scopes of a resource: its cloud account, its groups and its teams. An empty account is left out.
func Belongs(accountID string, groupIDs, teamIDs []string) []Scope {
	out := make([]Scope, 0, 1+len(groupIDs)+len(teamIDs))
	if accountID != "" {
		out = append(out, Scope{ScopeAccount, accountID})
	}
	for _, g := range groupIDs {
		out = append(out, Scope{ScopeGroup, g})
	}
	for _, t := range teamIDs {
		out = append(out, Scope{ScopeTeam, t})
	}
	return out
}
