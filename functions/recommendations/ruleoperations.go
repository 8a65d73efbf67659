package recommendations

import (
	"net/http"

	"lamplighter.dev/shared/api/rest"
)

func (s *service) ruleOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "createRecommendationRule", Method: http.MethodPost, Path: rules, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict}, Summary: "Create an own rule",
		Description: "The id begins with custom-. " + checked + "An organization has at most 500 own rules.",
	}, s.createRule)
	rest.Handle(g, rest.Op{
		ID: "updateRecommendationRule", Method: http.MethodPut, Path: oneRule, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Change an own rule, or override a built-in one",
		Description: "Changes only the fields present. Of a built-in rule, enabled, severity, params and excludes " +
			"can be overridden for the organization, a cloud account or a resource group (scope, scopeID); null " +
			"gives the rule's own value back. An override for an account or a group that is gone holds for " +
			"nothing. The recommendations of a disabled rule, and of excluded resources, end at the next " +
			"evaluation with the reason rule_off. " + checked,
	}, s.updateRule)
	rest.Handle(g, rest.Op{
		ID: "deleteRecommendationRule", Method: http.MethodDelete, Path: oneRule, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary:  "Delete an own rule, or all overrides of a built-in one",
		Description: "The recommendations of a deleted own rule end at the next evaluation. Its versions stay, and " +
			"a plan with restoreVersion brings them back.",
	}, s.deleteRule)
	rest.Handle(g, rest.Op{
		ID: "exportRecommendationRules", Method: http.MethodGet, Path: rules + "/export", Policy: reading,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound}, Produces: yamlType + ", " + jsonType,
		Summary: "Export the own rules and overrides",
		Description: "A document that can be kept in a repository and sent to POST /recommendations/rules/plan: in " +
			"JSON as the body, in YAML as its member document.",
	}, s.exportRules)
	rest.Handle(g, rest.Op{
		ID: "listRecommendationRuleVersions", Method: http.MethodGet, Path: rules + "/versions", Policy: reading,
		Summary:     "List the versions of the own rules and overrides",
		Description: "The newest 100, the newest first. Each change makes a version, and each can be restored.",
	}, s.listVersions)
}

func (s *service) planOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "planRecommendationRules", Method: http.MethodPost, Path: rules + "/plan", Policy: writing,
		Status:   http.StatusAccepted,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Plan a change of own rules and overrides",
		Description: "Evaluates the changed rules, and those in force, for all resources, and tests them on earlier " +
			"days and bills. It changes no rule and no recommendation. What is already as sent is 409. " + checked,
	}, s.startPlan)
	rest.Handle(g, rest.Op{
		ID: "getRecommendationRulePlan", Method: http.MethodGet, Path: plans + "/{planID}", Policy: reading,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound}, Summary: "Read a plan",
		Description: "The results are there when it is completed, a page of rules at a time. Plans are kept for 7 " +
			"days.",
	}, s.getPlan)
	rest.Handle(g, rest.Op{
		ID: "applyRecommendationRulePlan", Method: http.MethodPost, Path: plans + "/{planID}/apply", Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Put a plan into force",
		Description: "409 if another version of the rules is in force than the plan was compared with, if resources " +
			"of the types of its rules have changed since, if it is older than 24 hours, if it is not completed, " +
			"and if it was applied before.",
	}, s.applyPlan)
}

const checked = "The condition must compile, be true or false, cost at most 10,000 and read declared names and every " +
	"parameter; each fixture must have its result. A mistake is 400 with the place and the nearest name. A rule has " +
	"at most 16,000 bytes as JSON without spaces, and so have the overrides of a built-in rule together. "
