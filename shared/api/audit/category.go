package audit

// Category is the part of the service that a row is about.
type Category string

// The categories.
const (
	Platform     Category = "platform" // people, permissions, accounts, and everything without another category
	Scheduling   Category = "scheduling"
	Cost         Category = "cost"
	Provisioning Category = "provisioning"
	Deployments  Category = "deployments"
)

// CategoryOf returns the category of the operations with a tag.
func CategoryOf(tag string) Category {
	if c, ok := categories[tag]; ok {
		return c
	}
	return Platform
}

// categories contains every tag of the interface, which a test checks.
var categories = map[string]Category{
	"Authentication":              Platform,
	"Cloud Accounts":              Platform,
	"Resources":                   Platform,
	"Schedules":                   Scheduling,
	"Resource Groups":             Scheduling,
	"Overrides":                   Scheduling,
	"Actions & Execution":         Scheduling,
	"Reports & Analytics":         Cost,
	"Showback (Cost Attribution)": Cost,
	"Budgets":                     Cost,
	"Billing":                     Cost,
	"Recommendations":             Cost,
	"Smart Tags":                  Cost,
	"VM Autoscaling":              Scheduling,
	"Event Readiness":             Scheduling,
	"Dashboards":                  Platform,
	"Notifications":               Platform,
	"Users & Teams":               Platform,
	"Roles & Permissions":         Platform,
	"Organizations":               Platform,
	"Audit Logs":                  Platform,
	"Deployment Spaces":           Deployments,
	"Provisioning":                Provisioning,
	"Remediation Workflows":       Provisioning,
	"Deployments":                 Deployments,
	"Builds":                      Deployments,
	"Projects & Environments":     Deployments,
	"Integrations":                Platform,
	"Webhooks":                    Platform,
}
