package main

import (
	"fmt"
	"slices"
	"strings"
)

// kind is a kind of records that `lamp get` shows. Paths, members and parameters are those of the interface: a test
// compares them with openapi.yaml.
type kind struct {
	name    string   // as the user types it
	aliases []string // the singular first
	prefix  string   // of ids
	list    string   // path of the list
	one     string   // path of one record, if there is one
	single  bool     // the list is one record
	unpaged bool     // the list has no parameter page
	search  bool     // the list has a parameter search
	label   string   // the member that names a record; "name" unless said
	filters []string // parameters that narrow the list, which are flags here
	columns []column
}

// singular returns the name of one record.
func (k kind) singular() string { return k.aliases[0] }

// nameMember returns the member that names a record.
func (k kind) nameMember() string { return firstOf(k.label, "name") }

// isID reports whether a name is an id of this kind.
func (k kind) isID(name string) bool { return k.prefix != "" && strings.HasPrefix(name, k.prefix+"_") }

// resourceFilters narrow resources. POST /actions/bulk takes the same.
var resourceFilters = []string{
	"search", "type", "status", "region", "provider", "tag", "group_id", "team_id", "cloud_account_id", "created_after",
	"created_before",
}

// kinds are all kinds.
var kinds = []kind{
	{
		name: "resources", aliases: []string{"resource", "res"}, prefix: "res", list: "/resources",
		one: "/resources/{resourceID}", search: true, filters: append(slices.Clone(resourceFilters), "schedulable"),
		columns: []column{
			{"NAME", "name"},
			{"STATUS", "status"},
			{"TYPE", "type"},
			{"REGION", "region"},
			{"SIZE", "instanceType"},
			{"USD/MONTH", "rackRateUSD.monthly"},
			{"account", "cloudAccountName"},
			{"uid", "uid"},
			{"id", "id"},
		},
	},
	{
		name: "groups", aliases: []string{"group"}, prefix: "grp", list: "/resource-groups",
		one: "/resource-groups/{groupID}", search: true, columns: []column{
			{"NAME", "name"},
			{"MEMBERS", "memberCount"},
			{"ON FAILURE", "failurePolicy"},
			{"DESCRIPTION", "description"},
			{"id", "id"},
		},
	},
	{
		name: "schedules", aliases: []string{"schedule"}, prefix: "sch", list: "/schedules",
		one: "/schedules/{scheduleID}", columns: []column{
			{"NAME", "name"},
			{"ENABLED", "enabled"},
			{"TIMEZONE", "timezone"},
			{"ATTACHED", "attachmentCount"},
			{"NEXT FIRING", "nextFiringAt"},
			{"id", "id"},
		},
	},
	{
		name: "calendars", aliases: []string{"calendar"}, prefix: "cal", list: "/calendars",
		one: "/calendars/{calendarID}", columns: []column{
			{"NAME", "name"},
			{"EFFECT", "effect"},
			{"TIMEZONE", "timezone"},
			{"DESCRIPTION", "description"},
			{"id", "id"},
		},
	},
	{
		name: "overrides", aliases: []string{"override"}, prefix: "ovr", list: "/overrides",
		one: "/overrides/{overrideID}", label: "id", filters: []string{"status", "resource_uid", "group_id"},
		columns: []column{
			{"ID", "id"},
			{"ACTION", "action"},
			{"STATUS", "status"},
			{"UNTIL", "expiresAt"},
			{"GROUP", "groupID"},
			{"RESOURCE", "resourceUID"},
			{"BY", "createdBy"},
			{"reason", "reason"},
		},
	},
	{
		name: "actions", aliases: []string{"action"}, prefix: "act", list: "/actions", one: "/actions/{actionID}",
		label: "id", filters: []string{"from", "to", "status", "type", "resource_uid", "cloud_account_id"},
		columns: []column{
			{"ID", "id"},
			{"ACTION", "action"},
			{"STATUS", "status"},
			{"RESOURCE", "resourceUID"},
			{"BY", "changedBy"},
			{"CREATED", "createdAt"},
			{"ERROR", "errorMessage"},
			{"bulk", "bulkActionID"},
		},
	},
	{
		name: "bulk", aliases: []string{"bulk-action"}, prefix: "bulk", list: "/actions/bulk/latest",
		one: "/actions/bulk/{bulkActionID}", label: "id", single: true, unpaged: true, columns: []column{
			{"ID", "id"},
			{"TYPE", "type"},
			{"STATUS", "status"},
			{"TOTAL", "total"},
			{"COMPLETED", "completed"},
			{"FAILED", "failed"},
			{"LEFT OUT", "leftOut"},
			{"CREATED", "createdAt"},
		},
	},
	{
		name: "history", aliases: []string{"change"}, prefix: "sh", list: "/state-history", label: "id",
		filters: []string{"resource_uid", "changed_by_type"}, columns: []column{
			{"CHANGED", "changedAt"},
			{"STATE", "state"},
			{"RESOURCE", "resourceUid"},
			{"BY", "changedBy"},
			{"ERROR", "errorMessage"},
			{"id", "id"},
		},
	},
	{
		name: "accounts", aliases: []string{"account"}, prefix: "ca", list: "/cloud-accounts",
		one: "/cloud-accounts/{accountID}", search: true, filters: []string{"provider", "status"}, columns: []column{
			{"NAME", "name"},
			{"PROVIDER", "provider"},
			{"NUMBER", "cloudAccountID"},
			{"STATUS", "status"},
			{"PERMISSION", "permissionLevel"},
			{"RESOURCES", "resourceCount"},
			{"ERROR", "error"},
			{"id", "id"},
		},
	},
	{
		name: "teams", aliases: []string{"team"}, prefix: "team", list: "/teams", one: "/teams/{teamID}", search: true,
		columns: []column{
			{"NAME", "name"},
			{"MEMBERS", "memberCount"},
			{"RESOURCES", "resourceCount"},
			{"DESCRIPTION", "description"},
			{"id", "id"},
		},
	},
	{
		name: "budgets", aliases: []string{"budget"}, prefix: "bud", list: "/budgets", one: "/budgets/{budgetID}",
		filters: []string{"scope_type", "scope_id"}, columns: []column{
			{"NAME", "name"},
			{"USD", "amountUSD"},
			{"PERIOD", "period"},
			{"SCOPE", "scopeType"},
			{"OF", "scopeID"},
			{"id", "id"},
		},
	},
	{
		name: "anomalies", aliases: []string{"anomaly"}, list: "/reports/anomalies", label: "id",
		filters: []string{"from", "to", "type", "scope_id", "status", "severity"}, columns: []column{
			{"ID", "id"},
			{"DATE", "date"},
			{"SEVERITY", "severity"},
			{"STATUS", "status"},
			{"USD", "costUSD"},
			{"BASELINE", "baselineUSD"},
			{"SCOPE", "anomalyType"},
			{"OF", "scopeID"},
			{"reason", "reason"},
		},
	},
	{
		name: "savings", aliases: []string{"saving"}, list: "/reports/savings", label: "resourceName",
		filters: []string{"period", "from", "to"}, columns: []column{
			{"RESOURCE", "resourceName"},
			{"TYPE", "resourceType"},
			{"USD", "savingsUSD"},
			{"FROM", "from"},
			{"TO", "to"},
			{"BY", "changedBy"},
			{"uid", "resourceUID"},
		},
	},
	{
		name: "events", aliases: []string{"event"}, prefix: "evt", list: "/event-readiness",
		one: "/event-readiness/{eventID}", search: true, filters: []string{"status"}, columns: []column{
			{"NAME", "name"},
			{"STATUS", "status"},
			{"START", "eventStart"},
			{"END", "eventEnd"},
			{"MULTIPLIER", "expectedMultiplier"},
			{"id", "id"},
		},
	},
	{
		name: "channels", aliases: []string{"channel"}, prefix: "chn", list: "/notifications/channels", unpaged: true,
		columns: []column{
			{"NAME", "name"}, {"TYPE", "type"}, {"STATUS", "status"}, {"TEXT", "statusText"}, {"id", "id"},
		},
	},
	{
		name: "wake-links", aliases: []string{"wake-link"}, list: "/wake-links", columns: []column{
			{"NAME", "name"},
			{"GROUP", "groupID"},
			{"RESOURCE", "resourceID"},
			{"EXPIRES", "expiresAt"},
			{"STARTS", "starts"},
			{"BY", "createdBy"},
			{"id", "id"},
		},
	},
	{
		name: "audit", aliases: []string{"audit-logs"}, prefix: "aud", list: "/audit-logs", label: "id",
		filters: []string{"from", "to", "action", "email", "resource_type", "include"}, columns: []column{
			{"AT", "at"},
			{"ACTOR", "actor"},
			{"ACTION", "action"},
			{"STATUS", "status"},
			{"TARGET", "target"},
			{"IP", "ip"},
			{"request", "requestID"},
			{"id", "id"},
		},
	},
}

// kindNamed returns the kind with the name or alias.
func kindNamed(name string) (kind, error) {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		if k.name == name || slices.Contains(k.aliases, name) {
			return k, nil
		}
		names[i] = k.name
	}
	return kind{}, misused("there is no kind %q: it must be one of %s", name, strings.Join(names, ", "))
}

// mustKind returns a kind that lamp itself names.
func mustKind(name string) kind {
	k, err := kindNamed(name)
	if err != nil {
		panic(fmt.Sprintf("lamp: %v", err))
	}
	return k
}

// flagOf returns the flag of a parameter: group-id of group_id.
func flagOf(parameter string) string { return strings.ReplaceAll(parameter, "_", "-") }
