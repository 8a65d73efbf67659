// Package showback is the operation group Showback (Cost Attribution): the rules that share unowned costs among teams.
package showback

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/people/teams"
)

const (
	rules   = "/showback/rules"
	one     = rules + "/{ruleID}"
	reading = "showback:read"
	writing = "showback:write"
)

type service struct {
	p     *platform.Platform
	store report.ShowbackStore
	teams teams.Store
}

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Showback (Cost Attribution)")
	s := &service{p, report.NewShowbackStore(p.Table), teams.New(p.Table)}
	rest.Handle(g, rest.Op{
		ID: "listShowbackRules", Method: http.MethodGet, Path: rules, Policy: reading, Summary: "List showback rules",
		Description: "All rules, in the order of their evaluation. " + shape,
	}, s.list)
	rest.Handle(g, rest.Op{
		ID: "createShowbackRule", Method: http.MethodPost, Path: rules, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict},
		Summary:  "Create a showback rule", Description: shape,
	}, s.create)
	rest.Handle(g, rest.Op{
		ID: "getShowbackRule", Method: http.MethodGet, Path: one, Policy: reading, Statuses: []int{http.StatusNotFound},
		Summary: "Read a showback rule",
	}, s.get)
	rest.Handle(g, rest.Op{
		ID: "updateShowbackRule", Method: http.MethodPut, Path: one, Policy: writing,
		Statuses:    []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:     "Change a showback rule",
		Description: "Changes only the fields present; selector and shares replace all of theirs. " + shape,
	}, s.update)
	rest.Handle(g, rest.Op{
		ID: "deleteShowbackRule", Method: http.MethodDelete, Path: one, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary:  "Delete a showback rule",
	}, s.remove)
	return g
}

const shape = "The first rule with a matching selector and matching days splits a cost that no team owns. Rules " +
	"are tried in the order of their numbers, then of their ids. A rule splits a cost in one of three ways: " +
	"evenly; in proportion to the direct cost of each team on the day (evenly if there is none); by fixed " +
	"percents. Costs not covered by a rule, and the remainder when percents add up to less than 100, stay " +
	"Unassigned. Parts add up to the whole to the last digit. A cost matches a selector if, in every dimension, it " +
	"has one of the listed values; an empty selector matches every cost. A change shows in the next report, also " +
	"of past days: validFrom and validTo, which is exclusive, bound a rule. At most 100 rules an organization, of " +
	"100 teams each, whose selectors name at most 5 dimensions together. Names are unique without regard to case."

// RuleInput names the rule of a request.
type RuleInput struct {
	RuleID string `path:"ruleID" maxLength:"64"`
}
