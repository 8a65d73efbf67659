package references

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
)

var tomorrow = func(w *references) string {
	return w.Service.Clock.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)
}

// scopeTypes are the types of scopes by the kinds of records.
var scopeTypes = map[string]string{"cloud account": "cloud_account", "resource group": "resource_group", "team": "team"}

// scopedNamers make records that refer to a scope.
var scopedNamers = map[string]func(w *references, scopeType, scopeID string) record{
	"budget": func(w *references, scopeType, scopeID string) record {
		return w.make("/budgets",
			map[string]any{"name": w.name("Budget"), "scopeType": scopeType, "scopeID": scopeID, "amountUSD": "10"})
	},
	"subscription": func(w *references, scopeType, scopeID string) record {
		sub := w.make("/notifications/subscriptions", map[string]any{
			"channelID": w.channel().id, "eventType": "budget.exceeded", "scopeType": scopeType, "scopeID": scopeID,
		})
		return record{id: sub.id, list: sub.list}
	},
	"webhook": func(w *references, scopeType, scopeID string) record {
		return w.make("/webhooks", map[string]any{
			"name": w.name("Hook"), "url": "http://127.0.0.1:1/", "scopeType": scopeType, "scopeID": scopeID,
		})
	},
	"integration": func(w *references, scopeType, scopeID string) record {
		return w.make("/integrations", map[string]any{
			"name": w.name("Service"), "kind": "github", "scopeType": scopeType, "scopeID": scopeID,
			"config": map[string]string{"token": "swept", "baseURL": "http://127.0.0.1:1"},
		})
	},
}

func init() {
	for from, makeScoped := range scopedNamers {
		for to, scopeType := range scopeTypes {
			name := from + " names " + to
			if from == "integration" && to == "cloud account" {
				name += " by scopeID"
			}
			namers[name] = func(w *references, target record) record { return makeScoped(w, scopeType, target.id) }
		}
	}
}

func (w *references) channel() record {
	w.t.Helper()
	c := w.make("/notifications/channels", map[string]any{
		"type": "email", "name": w.name("Channel"), "config": map[string]string{"email": "ops@example.com"},
	})
	return record{id: c.id, list: c.list, remove: c.read}
}

func (w *references) role() record {
	return w.make("/roles", map[string]any{"name": w.name("Role"), "policies": []string{"resources:read"}})
}

// policy returns an autoscaler policy on a group without one.
func (w *references) policy(accountID string) record {
	w.t.Helper()
	w.Credential(w.t)
	var groups, all []struct{ UID string }
	w.Call(http.MethodGet, "/resources?type=aws-asg&status=running&limit=100&cloud_account_id="+accountID, nil, &all)
	for _, g := range all {
		if res := w.Ask(w.t, http.MethodGet, "/autoscaler-policies?limit=100", ""); !strings.Contains(res.Body.String(),
			g.UID) {
			groups = append(groups, g)
		}
	}
	if len(groups) == 0 {
		w.t.Fatalf("no Auto Scaling group of %s is free", accountID)
	}
	return w.make("/autoscaler-policies", map[string]any{
		"name": w.name("Policy"), "mode": "recommend", "cloudAccountID": accountID, "min": 1, "max": 4, "desired": 2,
		"targetCPUPercent": 60,
		"cooldownSeconds":  300, "target": map[string]string{"type": "aws-asg", "uid": groups[0].UID},
	})
}

// group returns a group of one running instance of an account.
func (w *references) group(accountID string) record {
	w.t.Helper()
	return w.make("/resource-groups", map[string]any{
		"name": w.name("Group"), "members": []any{map[string]any{"resourceID": w.resource(accountID).ID}},
	})
}

func (w *references) schedule(calendars ...string) record {
	w.t.Helper()
	return w.make("/schedules", map[string]any{
		"name": w.name("Schedule"), "timezone": "UTC", "calendarIDs": slices.Concat([]string{}, calendars),
		"crons": []any{map[string]any{"cronExpression": "0 3 29 2 *", "action": "stop"}},
	})
}

// member returns a new member of the organization.
func (w *references) member() record {
	w.t.Helper()
	email := w.AddColleague(w.t, fmt.Sprintf("member-%d@example.com", w.made+1))
	w.made++
	return record{id: email, list: "/users", read: "/users/" + email}
}

// targets make records that other records refer to, by their kinds.
var targets = map[string]func(*references) record{
	"resource group": func(w *references) record { return w.group(w.account) },
	"cloud account": func(w *references) record {
		id := w.ConnectAccount(strings.ReplaceAll(w.name("account"), " ", "-"), testenv.FastCloud(40))
		return record{id: id, read: "/cloud-accounts/" + id}
	},
	"team": func(w *references) record {
		return w.make("/teams", map[string]string{"name": w.name("Team")})
	},
	"role":                 (*references).role,
	"user":                 (*references).member,
	"autoscaler policy":    func(w *references) record { return w.policy(w.account) },
	"notification channel": (*references).channel,
	"calendar": func(w *references) record {
		return w.make("/calendars", map[string]any{
			"name": w.name("Calendar"), "effect": "no_action", "entries": []any{map[string]any{"from": "2099-12-24"}},
		})
	},
	"dashboard": func(w *references) record {
		return w.make("/dashboards",
			map[string]any{"name": w.name("Dashboard"), "widgets": []any{map[string]any{"type": "trend"}}})
	},
	"wake link": func(w *references) record {
		var link struct{ ID, URL string }
		group := w.group(w.account)
		w.Call(http.MethodPost, group.read+"/wake-links", map[string]any{}, &link)
		_, token, _ := strings.Cut(link.URL, "/wake/")
		return record{id: link.ID, list: "/wake-links", remove: "/wake-links/" + link.ID, shows: token}
	},
	"cloud organisation": func(w *references) record {
		o := w.make("/cloud-organisations", map[string]any{
			"provider": "simulated", "name": w.name("Organization"), "authMethod": "simulated",
			"permissionLevel": "read_only",
			"credentials":     map[string]string{"organisation": "o-1", "members": "1", "size": "0"},
		})
		w.Service.WaitSettled()
		return o
	},
}

// namers make records that refer to another one, by the references.
var namers = map[string]namer{
	"schedule names resource group": func(w *references, to record) record {
		sch := w.schedule()
		w.Call(http.MethodPost, sch.read+"/attachments", map[string]string{"groupID": to.id}, nil)
		return record{id: sch.id, read: sch.read + "/attachments"}
	},
	"schedule names calendar": func(w *references, to record) record { return w.schedule(to.id) },
	"schedule names cloud account": func(w *references, to record) record {
		sch, id := w.schedule(), w.resource(to.id).ID
		w.Call(http.MethodPost, sch.read+"/attachments", map[string]string{"resourceID": id}, nil)
		return record{id: sch.id, read: sch.read + "/attachments", names: id}
	},
	"override names resource group": func(w *references, to record) record {
		return w.make("/overrides", map[string]string{"groupID": to.id, "action": "force_on", "expiresAt": tomorrow(w)})
	},
	"override names cloud account": func(w *references, to record) record {
		return w.make("/overrides",
			map[string]string{"resourceUID": w.resource(to.id).UID, "action": "force_on", "expiresAt": tomorrow(w)})
	},
	"override names wake link": func(w *references, to record) record {
		if res := w.Ask(w.t, http.MethodPost, "/wake/"+to.shows, ""); res.Code != http.StatusOK {
			w.t.Fatalf("POST /wake: %d %s", res.Code, res.Body)
		}
		var all struct {
			Items []struct{ ID, CreatedBy string }
		}
		w.Call(http.MethodGet, "/overrides?status=active&limit=100", nil, &all)
		for _, o := range all.Items {
			if o.CreatedBy == to.id {
				return record{id: o.ID, read: "/overrides/" + o.ID}
			}
		}
		w.t.Fatal("the wake link has made no override")
		return record{}
	},
	"wake link names resource group": func(w *references, to record) record {
		link := w.make(to.read+"/wake-links", map[string]any{})
		return record{id: link.id, list: "/wake-links"}
	},
	"wake link names cloud account": func(w *references, to record) record {
		link := w.make("/resources/"+w.resource(to.id).ID+"/wake-links", map[string]any{})
		return record{id: link.id, list: "/wake-links"}
	},
	"resource group names cloud account": func(w *references, to record) record {
		group := w.group(to.id)
		group.names = w.resource(to.id).ID
		return group
	},
	"team names cloud account": func(w *references, to record) record {
		team := targets["team"](w)
		team.names = w.resource(to.id).ID
		w.Call(http.MethodPost, team.read+"/resources", map[string]any{"resourceIDs": []string{team.names}}, nil)
		return team
	},
	"team names user": func(w *references, to record) record {
		team := targets["team"](w)
		w.Call(http.MethodPost, team.read+"/members", map[string]string{"email": to.id}, nil)
		return team
	},
	"autoscaler policy names cloud account": func(w *references, to record) record { return w.policy(to.id) },
	"event readiness plan names autoscaler policy": func(w *references, to record) record {
		start := w.Service.Clock.Now().Add(24 * time.Hour)
		return w.make("/event-readiness", map[string]any{
			"name": w.name("Event"), "eventStart": start.Format(time.RFC3339),
			"eventEnd":           start.Add(time.Hour).Format(time.RFC3339),
			"expectedMultiplier": 2, "timezone": "UTC", "targets": []any{map[string]string{"policyId": to.id}},
		})
	},
	"subscription names notification channel": func(w *references, to record) record {
		sub := w.make("/notifications/subscriptions",
			map[string]string{"channelID": to.id, "eventType": "budget.exceeded", "scopeType": "org"})
		return record{id: sub.id, list: sub.list}
	},
	"integration names cloud account by config": func(w *references, to record) record {
		return w.make("/integrations", map[string]any{
			"name": w.name("Images"), "kind": "ecr",
			"config": map[string]string{"cloudAccountID": to.id, "region": "eu-west-1"},
		})
	},
	"showback rule names team": func(w *references, to record) record {
		return w.make("/showback/rules", map[string]any{
			"name": w.name("Rule"), "split": "even", "selector": map[string]any{"region": []string{"nowhere"}},
			"shares": []any{map[string]any{"teamID": to.id}},
		})
	},
	"assignment names role": func(w *references, to record) record { return w.assign(w.member().id, to.id, "org") },
	"assignment names team": func(w *references, to record) record {
		return w.assign(w.member().id, "viewer", "team:"+to.id)
	},
	"assignment names user": func(w *references, to record) record { return w.assign(to.id, w.role().id, "org") },
	"invitation names role": func(w *references, to record) record {
		email := fmt.Sprintf("invited-%d@example.com", w.made+1)
		w.made++
		w.Call(http.MethodPost, "/users", map[string]string{"email": email, "name": "Invited", "role": to.id}, nil)
		return record{id: email, read: "/users/" + email}
	},
	"user names role": func(w *references, to record) record {
		m := w.member()
		w.Call(http.MethodPatch, m.read, map[string]string{"role": to.id}, nil)
		return m
	},
	"single sign-on names role": func(w *references, to record) record {
		o := testenv.OpenOffice(w.t, w.Service.Env)
		w.Call(http.MethodPut, "/organisation/saml", map[string]any{
			"metadataURL": o.MetadataURL.String(), "domains": []string{"works.test"}, "defaultRole": to.id,
		}, nil)
		return record{id: w.Org, read: "/organisation/saml", shows: "single sign-on"}
	},
	"organisation names dashboard": func(w *references, to record) record {
		w.Call(http.MethodPut, "/organisation", map[string]string{"defaultDashboard": to.id}, nil)
		return record{id: w.Org, read: "/organisation"}
	},
	"cloud account names cloud organisation": func(w *references, to record) record {
		var all struct {
			Items []struct{ ID, OrganisationID string }
		}
		w.Call(http.MethodGet, "/cloud-accounts?limit=100", nil, &all)
		for _, a := range all.Items {
			if res := w.Ask(w.t, http.MethodGet, "/cloud-accounts/"+a.ID, ""); strings.Contains(res.Body.String(),
				to.id) {
				return record{id: a.ID, read: "/cloud-accounts/" + a.ID}
			}
		}
		w.t.Fatal("the cloud organisation has connected no account")
		return record{}
	},
}

func (w *references) assign(email, roleID, scope string) record {
	w.t.Helper()
	a := w.make("/assignments", map[string]string{"email": email, "roleID": roleID, "scope": scope})
	return record{id: a.id, list: "/assignments?limit=100"}
}
