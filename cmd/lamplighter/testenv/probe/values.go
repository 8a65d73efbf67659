package probe

import (
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/functions/auth"
	"lamplighter.dev/functions/auth/secondfactor"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/people/membership"
)

// Values are the ids and names of one of everything that an organization can have, by the names under which
// operations ask for it.
type Values map[string]string

// Settle makes one of everything for the caller and returns their values: a cloud of the caller's own with a group,
// an action, a bulk action and a refresh, and people with their grants.
func (c *Caller) Settle(t *testing.T, number string) Values {
	t.Helper()
	account := c.ConnectAccount(number, testenv.FastCloud(60).WithBills(6).WithSetting("label", number))
	all := testenv.RunningInstancesOf(t, c.Client, account, 2)
	var job struct{ JobID string }
	c.Call(http.MethodPost, "/resources/refresh", map[string]string{}, &job)
	refresh := job.JobID
	c.Service.WaitSettled()
	c.Call(http.MethodPost, "/cloud-accounts/"+account+"/discover", map[string]string{}, &job)
	c.Service.WaitSettled()
	var group struct{ ID string }
	c.Call(http.MethodPost, "/resource-groups", map[string]any{
		"name": "Group of " + number, "members": []any{map[string]any{"resourceID": all[1].ID}},
	}, &group)
	action := testenv.SubmitAction(c.Client, all[0], "stop")
	var bulk struct {
		ID string `json:"bulkActionID"`
	}
	c.Call(http.MethodPost, "/actions/bulk", map[string]string{"type": "stop", "groupID": group.ID}, &bulk)
	c.Service.WaitSettled()
	var members struct{ ID string }
	c.Call(http.MethodPost, "/cloud-organisations", map[string]any{
		"provider": "simulated", "name": "Organization of " + number, "authMethod": "simulated",
		"permissionLevel": "read_only",
		"credentials":     map[string]string{"organisation": "o-" + number, "members": "1", "size": "0"},
		"exclude":         map[string]any{"units": []string{"Root"}},
	}, &members)
	c.Service.WaitSettled()
	var upload struct {
		JobID string `json:"jobID"`
	}
	c.Call(http.MethodPost, "/billing/imports",
		map[string]any{"vendor": "vendor-" + number, "fileName": "bill.csv", "bytes": 7}, &upload)
	var export, resourceExport struct {
		JobID string `json:"jobID"`
	}
	c.Call(http.MethodGet, "/reports/export?format=parquet", nil, &export)
	c.Call(http.MethodGet, "/resources/export?async=true", nil, &resourceExport)
	c.Service.WaitSettled()
	e := c.hire(t, number, all[1].ID)
	maps.Copy(e, Values{
		"accountID": account, "cloudAccountID": account, "cloud_account_id": account, "jobID": job.JobID,
		"refresh": refresh, "importID": upload.JobID, "export": export.JobID,
		"resourceExport": resourceExport.JobID,
		"groupID":        group.ID, "group_id": group.ID, "groupIDs": group.ID, "resourceID": all[1].ID,
		"resource_id": all[1].ID, "resourceUID": all[1].UID, "resource_uid": all[1].UID,
		"uids": all[1].UID, "actionID": action, "bulkActionID": bulk.ID, "bulk_action_id": bulk.ID,
		"tenantID": c.Org, "region": all[1].Region,
		"clusterName": "none", "clusterID": "arn:simulated:eks:" + all[1].Region + ":" + number + ":cluster/main",
		"cloudOrganisationID": members.ID, "organisationID": "o-" + number,
	})
	maps.Copy(e, c.plan(number, all[1].ID, all[1].UID))
	maps.Copy(e, c.budget(t, number, account, e["teamID"]))
	maps.Copy(e, c.notify(number, e["teamID"]))
	maps.Copy(e, c.listen(number))
	maps.Copy(e, c.scale(t, number, account))
	maps.Copy(e, c.event(t, number, account))
	maps.Copy(e, c.recommend(t, number, e))
	maps.Copy(e, c.remediate(t, number, e))
	e["sessionID"] = c.spare(t).Claims.Session
	maps.Copy(e, c.beInvited(t, number))
	return e
}

// govern makes an own rule of recommendations and a plan of another one, and returns their ids.
func (c *Caller) govern(number string) Values {
	own := map[string]any{
		"id": "custom-rule-of" + strings.ReplaceAll(number, "-", ""), "title": "Rule of " + number,
		"resourceType": "aws-ec2", "category": "governance", "severity": "low", "remediation": "Stop it",
		// no simulated machine has the fact, so no evaluation changes the recommendation that the caller gets
		"condition": "res.imds_tokens == 'of " + number + "'",
		"fixtures": map[string]any{
			"true":    map[string]any{"res": map[string]any{"imds_tokens": "of " + number}},
			"false":   map[string]any{"res": map[string]any{"imds_tokens": "required"}},
			"unknown": []string{"res.imds_tokens"},
		},
	}
	c.Call(http.MethodPost, "/recommendations/rules", own, nil)
	id := own["id"]
	own["id"] = "custom-planned-of" + strings.ReplaceAll(number, "-", "")
	var plan struct{ JobID string }
	c.Call(http.MethodPost, "/recommendations/rules/plan", map[string]any{"rules": []any{own}}, &plan)
	return Values{"recommendationRule": id.(string), "rulePlan": plan.JobID, "ruleScope": "account"}
}

// recommend evaluates all rules, and makes a recommendation for the caller's resource, whatever the rules say of it.
func (c *Caller) recommend(t *testing.T, number string, e Values) Values {
	t.Helper()
	maps.Copy(e, c.govern(number))
	var job struct{ JobID string }
	c.Call(http.MethodPost, "/recommendations/refresh", map[string]string{}, &job)
	c.Service.WaitSettled()
	f := recommendation.Finding{
		RuleID: e["recommendationRule"], RuleVersion: 1, Outcome: recommendation.True, Category: "idle",
		Severity: recommendation.High, Effort: "low", Risk: "low", Title: "Idle of " + number,
		Reason: "It is of " + number,
		Resource: recommendation.Resource{
			ResourceID: e["resourceID"], ResourceUID: e["resourceUID"], ResourceName: "Resource of " + number,
			ResourceType: "aws-ec2", Provider: "simulated", CloudAccountID: e["accountID"], Region: e["region"],
		},
		Savings: recommendation.Savings{
			Gross: money.FromInt(9), Net: money.FromInt(9), Basis: recommendation.Estimated,
			Strength: recommendation.ByStop,
		},
	}
	pass := recommendation.Pass{ID: id.New("job", c.Service.Clock.Now()), At: c.Service.Clock.Now()}
	_, err := recommendation.New(c.Service.Platform).Settle(table.WithOrg(t.Context(), c.Org), c.Org,
		recommendation.ShardOf(f.Resource.ResourceUID), pass, []recommendation.Finding{f})
	if err != nil {
		t.Fatal(err)
	}
	return Values{
		"recommendationRefresh": job.JobID,
		"recID":                 recommendation.IDOf(f.Resource.ResourceID, f.Resource.ResourceUID, f.RuleID),
	}
}

// remediate proposes to stop the caller's resource, whatever its rule and its cloud say.
func (c *Caller) remediate(t *testing.T, number string, e Values) Values {
	t.Helper()
	target := remediation.Target{
		RecID: e["recID"], RuleID: "custom-rule", RuleVersion: 1, Title: "Idle of " + number, Risk: "low",
		ResourceID: e["resourceID"], ResourceUID: e["resourceUID"], ResourceName: "Resource of " + number,
		ResourceType: "aws-ec2", Provider: "simulated", CloudAccountID: e["accountID"], Region: e["region"],
		Verb: rule.VerbStop, State: remediation.Waiting,
	}
	target.SetPlan(remediation.Plan{Calls: []string{"stop the resource of " + number}, Undo: "it is started again"})
	w, err := remediation.New(c.Service.Platform).Create(table.WithOrg(t.Context(), c.Org), remediation.Workflow{
		Org: c.Org, Targets: []remediation.Target{target}, Reason: "Nobody uses it in " + number,
		Requester: remediation.Person{User: "usr_colleague", Email: "colleague@example.com", At: c.Service.Clock.Now()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return Values{"workflowID": w.ID, "recommendationIDs": e["recID"]}
}

// beInvited saves a view, and makes an organization that invites the caller.
func (c *Caller) beInvited(t *testing.T, number string) Values {
	t.Helper()
	var view struct{ ID string }
	c.Call(http.MethodPost, "/resources/views", map[string]any{
		"name": "View of " + number, "filters": map[string][]string{"search": {number}}, "shared": true,
	}, &view)
	var self struct{ Email string }
	c.Call(http.MethodGet, "/users/me", nil, &self)
	host := c.Service.NewOwner("host-of-" + number + "@example.com")
	host.Call(http.MethodPost, "/users", map[string]string{"email": self.Email}, nil)
	var all struct{ Items []struct{ ID string } }
	if c.Call(http.MethodGet, "/invitations", nil, &all); len(all.Items) == 0 {
		t.Fatalf("%s has no invitation", self.Email)
	}
	return Values{"viewID": view.ID, "invitationID": all.Items[0].ID}
}

// listen makes a webhook with a failed delivery, because no server listens at its address, and an integration.
func (c *Caller) listen(number string) Values {
	var hook, sent, service struct{ ID string }
	c.Call(http.MethodPost, "/webhooks",
		map[string]any{"name": "Webhook of " + number, "url": "http://127.0.0.1:1/" + number}, &hook)
	c.Call(http.MethodPost, "/webhooks/"+hook.ID+"/test", nil, &sent)
	c.Call(http.MethodPost, "/integrations", map[string]any{
		"name": "Integration of " + number, "kind": "github",
		"config": map[string]string{"token": "token-of-" + number, "baseURL": "http://127.0.0.1:1"},
	}, &service)
	return Values{"webhookID": hook.ID, "deliveryID": sent.ID, "integrationID": service.ID}
}

// scale makes an autoscaler policy.
func (c *Caller) scale(t *testing.T, number, account string) Values {
	t.Helper()
	var groups []struct{ UID string }
	if c.Call(http.MethodGet, "/resources?type=aws-asg&status=running&limit=1&cloud_account_id="+account, nil,
		&groups); len(groups) == 0 {
		t.Fatal("no Auto Scaling group runs in the simulated cloud")
	}
	var policy struct{ ID string }
	c.Call(http.MethodPost, "/autoscaler-policies", map[string]any{
		"name": "Scaling of " + number, "cloudAccountID": account,
		"target": map[string]any{"type": "aws-asg", "uid": groups[0].UID},
	}, &policy)
	return Values{
		"autoscalerPolicyID": policy.ID, "uid": groups[0].UID, "target_uid": groups[0].UID,
		"target_type": "aws-asg",
	}
}

// event makes an autoscaler policy on another group of the account, and an event readiness plan on it.
func (c *Caller) event(t *testing.T, number, account string) Values {
	t.Helper()
	var groups []struct{ UID, Region, Status string }
	c.Call(http.MethodGet, "/resources?type=aws-asg&status=running&limit=2&cloud_account_id="+account, nil, &groups)
	if len(groups) < 2 {
		t.Fatal("the simulated cloud has no second group that runs")
	}
	var policy, plan struct{ ID string }
	c.Call(http.MethodPost, "/autoscaler-policies", map[string]any{
		"name": "Group of " + number, "mode": "recommend", "cloudAccountID": account,
		"target": map[string]string{"type": "aws-asg", "uid": groups[1].UID, "region": groups[1].Region}, "min": 1,
		"max": 4, "desired": 2, "targetCPUPercent": 60, "cooldownSeconds": 300,
	}, &policy)
	start := clock.System{}.Now().Add(24 * time.Hour)
	c.Call(http.MethodPost, "/event-readiness", map[string]any{
		"name": "Event of " + number, "eventStart": start.Format(time.RFC3339),
		"eventEnd":           start.Add(time.Hour).Format(time.RFC3339),
		"expectedMultiplier": 2, "timezone": "UTC", "targets": []any{map[string]string{"policyId": policy.ID}},
	}, &plan)
	c.Service.Clock.Advance(time.Minute) // these requests have used up the limit of this minute
	return Values{"eventID": plan.ID, "policy_id": policy.ID, "policyId": policy.ID, "multiplier": "2"}
}

// budget makes the caller's cost records: a budget, a dashboard, a rule of showback, a policy of smart tags and a
// unit metric. It also returns an anomaly from the bills of the simulated cloud.
func (c *Caller) budget(t *testing.T, number, account, team string) Values {
	t.Helper()
	var budget, dashboard, rule, policy struct{ ID string }
	c.Call(http.MethodPost, "/budgets",
		map[string]any{"name": "Budget of " + number, "scopeType": "team", "scopeID": team, "amountUSD": "10"}, &budget)
	c.Call(http.MethodPost, "/dashboards", map[string]any{"name": "Dashboard of " + number, "widgets": []any{
		map[string]any{
			"type":  "trend",
			"query": map[string]any{"filter": map[string]any{"tag:label": []string{number}}},
		},
	}}, &dashboard)
	c.Call(http.MethodPost, "/showback/rules", map[string]any{
		"name": "Rule of " + number, "split": "even", "selector": map[string]any{"region": []string{"nowhere"}},
		"shares": []any{map[string]any{"teamID": team}},
	}, &rule)
	c.Call(http.MethodPost, "/smart-tags/policies", map[string]any{
		"name": "Policy of " + number, "key": "kind", "value": map[string]any{"fields": []string{"res.type"}},
	}, &policy)
	var asked struct{ QueryID string }
	c.Call(http.MethodPost, "/reports/query", map[string]string{"from": "2026-01", "to": "2026-02"}, &asked)
	c.Call(http.MethodPost, "/reports/unit-metrics", map[string]string{"name": "orders-of-" + number, "unit": "order"},
		nil)
	if err := c.Service.JudgeCosts(t.Context()); err != nil {
		t.Fatal(err)
	}
	var found struct{ Items []struct{ ID string } }
	// an anomaly of this account has an id that no other organization has
	c.Call(http.MethodGet, "/reports/anomalies?from=2000-01-01&type=cloud_account&scope_id="+account, nil, &found)
	if len(found.Items) == 0 {
		// The bills of this account have no anomaly, so it takes one of an account that was connected before.
		c.Call(http.MethodGet, "/reports/anomalies?from=2000-01-01&type=cloud_account", nil, &found)
	}
	if len(found.Items) == 0 {
		t.Fatal("no anomaly of an account was found in the bills of the simulated cloud")
	}
	return Values{
		"budgetID": budget.ID, "scopeID": team, "scope_id": team, "dashboardID": dashboard.ID, "ruleID": rule.ID,
		"policyID": policy.ID,
		"queryID":  asked.QueryID, "metric": "orders-of-" + number, "anomalyID": found.Items[0].ID, "tagKey": "env",
		"tag_key": "env", "tagValue": "prod",
	}
}

// notify makes a channel with a subscription and a delivery, and a configuration in the form from before there were
// channels.
func (c *Caller) notify(number, team string) Values {
	var channel, sub, legacy struct{ ID string }
	c.Call(http.MethodPost, "/notifications/channels", map[string]any{
		"type": "email", "name": "Channel of " + number,
		"config": map[string]string{"email": "ops-of-" + number + "@example.com"},
	}, &channel)
	c.Call(http.MethodPost, "/notifications/subscriptions", map[string]any{
		"channelID": channel.ID, "eventType": "budget.exceeded", "scopeType": "team", "scopeID": team,
	}, &sub)
	c.Call(http.MethodPost, "/notifications",
		map[string]any{"channel": "email", "webhookURL": "ops-of-" + number + "@example.com"}, &legacy)
	c.Call(http.MethodPost, "/notifications/channels/"+channel.ID+"/test", nil, nil)
	return Values{
		"channelID": channel.ID, "channel_id": channel.ID, "channelIDs": channel.ID, "target_id": channel.ID,
		"subID": sub.ID, "notificationID": legacy.ID,
		"eventKey": "budget.exceeded", "event_key": "budget.exceeded", "recID": "rec_01k6v0e4y0c2b7m9q8r5t3w1xz",
	}
}

// plan makes a schedule with an attachment and a calendar, an override that has ended again, and a wake link.
func (c *Caller) plan(number, resource, uid string) Values {
	var calendar, schedule, attachment, override, link struct {
		ID  string
		URL string
	}
	c.Call(http.MethodPost, "/calendars", map[string]any{
		"name": "Calendar of " + number, "effect": "no_action",
		"entries": []any{map[string]any{"from": "2026-12-24", "yearly": true}},
	}, &calendar)
	c.Call(http.MethodPost, "/schedules", map[string]any{
		"name": "Schedule of " + number, "timezone": "UTC", "calendarIDs": []string{calendar.ID},
		"crons": []any{map[string]any{"cronExpression": "0 3 29 2 *", "action": "stop"}},
	}, &schedule)
	c.Call(http.MethodPost, "/schedules/"+schedule.ID+"/attachments", map[string]string{"resourceID": resource},
		&attachment)
	c.Call(http.MethodPost, "/overrides", map[string]any{
		"resourceUID": uid, "action": "force_off",
		"expiresAt": clock.System{}.Now().Add(24 * time.Hour).Format(time.RFC3339),
	}, &override)
	c.Service.WaitSettled()
	c.Call(http.MethodDelete, "/overrides/"+override.ID, nil, nil)
	c.Call(http.MethodPost, "/resources/"+resource+"/wake-links", map[string]any{}, &link)
	_, token, _ := strings.Cut(link.URL, "/wake/")
	return Values{
		"calendarID": calendar.ID, "scheduleID": schedule.ID, "attachmentID": attachment.ID, "overrideID": override.ID,
		"wakeLinkID": link.ID, "wakeToken": token, "calendarIDs": calendar.ID,
	}
}

// hire makes a second member, an invitation, a team, a role, an assignment, and a personal access token in the
// caller's organization.
func (c *Caller) hire(t *testing.T, number, resource string) Values {
	t.Helper()
	member := c.AddColleague(t, "member-of-"+number+"@example.com")
	c.Call(http.MethodPost, "/users",
		map[string]string{"email": "invited-by-" + number + "@example.com", "name": "Invited"}, nil)
	var team, role, assignment, token struct {
		ID     string
		Secret string `json:"token"`
	}
	c.Call(http.MethodPost, "/teams", map[string]string{"name": "Team of " + number}, &team)
	c.Call(http.MethodPost, "/teams/"+team.ID+"/members", map[string]string{"email": member}, nil)
	c.Call(http.MethodPost, "/teams/"+team.ID+"/resources", map[string]any{"resourceIDs": []string{resource}}, nil)
	c.Call(http.MethodPost, "/roles",
		map[string]any{"name": "Role of " + number, "policies": []string{"resources:read"}}, &role)
	c.Call(http.MethodPost, "/assignments",
		map[string]string{"email": member, "roleID": role.ID, "scope": "team:" + team.ID}, &assignment)
	c.Call(http.MethodPost, "/personal-access-tokens", map[string]string{"name": "Token of " + number}, &token)
	c.Program = token.Secret
	return Values{
		"passkeyID": c.givePasskey(t),
		"email":     member, "teamID": team.ID, "team_id": team.ID, "roleID": role.ID, "role": role.ID,
		"defaultRole":  role.ID,
		"assignmentID": assignment.ID, "scope": "team:" + team.ID, "tokenID": token.ID, "resources": resource,
		"resourceIDs": resource,
	}
}

// givePasskey stores a passkey of the caller that no authenticator has, and returns its id. The caller still logs in by
// password: the account does not count it.
func (c *Caller) givePasskey(t *testing.T) string {
	t.Helper()
	now := c.Service.Platform.Clock.Now()
	k := secondfactor.Passkey{ID: id.New("pk", now), Name: "Key of " + c.Claims.User, Created: now}
	it, err := table.NewItem(identity.SecondFactorKey(c.Claims.User, "PASSKEY#probe"), k)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.Service.Platform.Table.Write(table.Within(t.Context(), it.PK), table.Put(it)); err != nil {
		t.Fatal(err)
	}
	return k.ID
}

// AddColleague makes a user who is a viewer in the caller's organization, and returns the address.
func (c *Caller) AddColleague(t *testing.T, email string) string {
	t.Helper()
	u, err := auth.CreateVerifiedUser(t.Context(), c.Service.Platform, email, testenv.Password, "Colleague")
	if err != nil {
		t.Fatal(err)
	}
	viewer := []grant.Grant{{Role: grant.Viewer, Scope: grant.OrgScope}}
	if err = membership.New(c.Service.Platform).JoinOrganisation(t.Context(), c.Org, u, viewer); err != nil {
		t.Fatal(err)
	}
	return email
}

// QuerySeparator returns the character before the next query parameter of a path: "?" or "&".
func QuerySeparator(path string) string {
	if strings.Contains(path, "?") {
		return "&"
	}
	return "?"
}

// Yesterday is the start of the day before the test ran, in UTC.
var Yesterday = clock.System{}.Now().Truncate(24*time.Hour).AddDate(0, 0, -1)

// IDPattern matches an id of the service.
var IDPattern = regexp.MustCompile(
	`\b(usr|pk|org|corg|ca|res|grp|act|bulk|job|aud|team|role|asgn|pat|sch|cal|ovr|wake|bud|dash|rule|tagp|chn|sub|` +
		`ntf|whk|int|dlv|asp|evt|inv|view|rem)_[0-9a-z]{26}\b`)

// IssuedIDs returns the ids in texts.
func IssuedIDs(texts map[string]string) map[string]bool {
	out := map[string]bool{}
	for _, text := range texts {
		for _, id := range IDPattern.FindAllString(text, -1) {
			out[id] = true
		}
	}
	return out
}

// KnownValues returns the values by name, each as a list, and adds values of other settings of operations.
func KnownValues(e Values) map[string][]string {
	out := map[string][]string{}
	for name, v := range e {
		out[name] = []string{v}
	}
	out["policyID"] = []string{e["policyID"], e["autoscalerPolicyID"]}
	out["jobID"] = []string{
		e["jobID"], e["refresh"], e["importID"], e["export"], e["resourceExport"], e["recommendationRefresh"],
	}
	out["ruleID"] = []string{e["ruleID"], e["recommendationRule"]}
	out["planID"] = []string{e["rulePlan"]}
	out["provider"] = []string{"simulated"}
	out["policies"] = []string{"resources:read", "actions:execute"}
	out["email"] = []string{e["email"], "newcomer@example.com"}
	out["authMethod"] = []string{"simulated"}
	out["preset"] = []string{"night"}
	out["resourceType"] = []string{"aws-ec2"}
	out["password"] = []string{testenv.Password}
	out["expiresAt"] = []string{clock.System{}.Now().Add(30 * 24 * time.Hour).Format(time.RFC3339)}
	out["timezone"], out["cronExpression"], out["token"] = []string{"UTC"}, []string{"0 20 * * 1-5"},
		[]string{e["wakeToken"]}
	delete(out, "tenantID")
	return out
}
