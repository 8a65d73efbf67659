package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/api/client"
	"lamplighter.dev/shared/foundation/money"
)

const (
	// maxPlanRows is how many resources of a plan are printed one by one.
	maxPlanRows = 50
	// maxPriced is how many resources the service returns at once with prices and tags.
	maxPriced = 500
	// maxAccounts is how many cloud accounts are read to find those of production.
	maxAccounts = 1000
	// manyResources is the number above which the user types the number instead of y.
	manyResources = 20
)

// bulkOrder is the body of a bulk action.
type bulkOrder struct {
	Type        string         `json:"type"`
	DryRun      bool           `json:"dryRun,omitempty"`
	Force       bool           `json:"force,omitempty"`
	GroupID     string         `json:"groupID,omitempty"`
	ResourceIDs []string       `json:"resourceIDs,omitempty"`
	Filter      map[string]any `json:"filter,omitempty"`
}

// bulkAnswer is the answer to a bulk action; with dryRun it has a plan.
type bulkAnswer struct {
	BulkActionID string    `json:"bulkActionID"`
	Total        int       `json:"total"`
	Plan         *bulkPlan `json:"plan"`
}

type bulkPlan struct {
	Steps   []planStep `json:"steps"`
	LeftOut []leftOut  `json:"leftOut"`
}

type planStep struct {
	Resources []planResource `json:"resources"`
}

type planResource struct {
	ResourceID     string `json:"resourceID"`
	ResourceUID    string `json:"resourceUID"`
	Name           string `json:"name"`
	Type           string `json:"type"`
	Region         string `json:"region"`
	Status         string `json:"status"`
	CloudAccountID string `json:"cloudAccountID"`
}

// leftOut is a resource on which the service would not act.
type leftOut struct {
	Name   string  `json:"name"`
	Type   string  `json:"type"`
	Region string  `json:"region"`
	Reason string  `json:"reason"`
	Detail *string `json:"detail"`
}

// uidsOrder is the body that asks for resources by their native ids.
type uidsOrder struct {
	UIDs []string `json:"uids"`
}

// details are the members of a resource that a plan lacks.
type details struct {
	Tags        map[string]string `json:"tags"`
	RackRateUSD *rackRate         `json:"rackRateUSD"`
}

type rackRate struct {
	Hourly string `json:"hourly"`
}

// accountDetails are the members of a cloud account that tell whether it is one of production.
type accountDetails struct {
	ID          string  `json:"id"`
	Environment *string `json:"environment"`
}

// plan is the dry run of an act.
type plan struct {
	verb         string
	order        bulkOrder
	steps        [][]planResource
	leftOut      []leftOut
	hourly       money.Amount // of the resources that have a price
	unpriced     int
	isProduction bool
}

// makePlan returns the service's dry run of the order.
func makePlan(ctx context.Context, to *client.Client, order bulkOrder) (*plan, error) {
	order.DryRun = true
	var answer bulkAnswer
	err := to.Call(ctx, client.Request{Method: http.MethodPost, Path: "/actions/bulk", Body: order}, &answer)
	if err != nil {
		return nil, err
	}
	if order.DryRun = false; answer.Plan == nil {
		return nil, fmt.Errorf("%s answered a dry run without a plan: %w", to.Address(), errNothingDone)
	}
	p := &plan{verb: order.Type, order: order, leftOut: answer.Plan.LeftOut}
	for _, s := range answer.Plan.Steps {
		p.steps = append(p.steps, s.Resources)
	}
	return p, p.addDetails(ctx, to)
}

// resources returns all resources of the plan.
func (p *plan) resources() []planResource { return slices.Concat(p.steps...) }

// addDetails adds prices, and whether a resource is one of production.
func (p *plan) addDetails(ctx context.Context, to *client.Client) error {
	all := p.resources()
	if len(all) == 0 || len(all) > maxPriced {
		return nil
	}
	in := uidsOrder{}
	for _, r := range all {
		in.UIDs = append(in.UIDs, r.ResourceUID)
	}
	var found []details
	err := to.Call(ctx, client.Request{Method: http.MethodPost, Path: "/resources/by-uids", Body: in}, &found)
	if err != nil {
		return err
	}
	p.unpriced = len(all)
	for _, d := range found {
		p.isProduction = p.isProduction || isProduction(d.Tags)
		if d.RackRateUSD == nil {
			continue
		}
		if rate, err := money.Parse(d.RackRateUSD.Hourly); err == nil {
			p.hourly = p.hourly.Add(rate)
			p.unpriced--
		}
	}
	return p.addAccounts(ctx, to, all)
}

// addAccounts looks whether an account of the plan is one of production. A user who may not see accounts has no such
// warning.
func (p *plan) addAccounts(ctx context.Context, to *client.Client, all []planResource) error {
	used := map[string]bool{}
	for _, r := range all {
		used[r.CloudAccountID] = true
	}
	list := client.Request{Method: http.MethodGet, Path: "/cloud-accounts"}
	for raw, err := range to.Records(ctx, list, maxAccounts, true) {
		if client.IsStatus(err, http.StatusForbidden) {
			return nil
		}
		if err != nil {
			return err
		}
		var a accountDetails
		if err = decode(raw, &a); err != nil {
			return err
		}
		p.isProduction = p.isProduction || used[a.ID] && a.Environment != nil && *a.Environment == "prod"
	}
	return nil
}

// isProduction reports whether tags name production.
func isProduction(tags map[string]string) bool {
	for key, value := range tags {
		switch strings.ToLower(key) {
		case "env", "environment", "stage":
			if v := strings.ToLower(value); v == "prod" || v == "production" || v == "live" {
				return true
			}
		}
	}
	return false
}

// print shows the plan, to the user and not as requested data.
func (p *plan) print(a *app) {
	all := p.resources()
	w := &tableWriter{columns: []column{
		{"STEP", "step"}, {"DOES", "does"}, {"NAME", "name"}, {"TYPE", "type"}, {"REGION", "region"}, {"NOW", "now"},
	}}
	rows := [][]string{{"STEP", "DOES", "NAME", "TYPE", "REGION", "NOW"}}
	for i, step := range p.steps {
		for _, r := range step {
			rows = append(rows, []string{strconv.Itoa(i + 1), p.verb, r.Name, r.Type, r.Region, r.Status})
		}
	}
	for _, r := range p.leftOut {
		reason := r.Reason
		if r.Detail != nil {
			reason += ": " + *r.Detail
		}
		rows = append(rows, []string{"-", "left out", r.Name, r.Type, r.Region, reason})
	}
	hidden := max(0, len(rows)-1-maxPlanRows)
	rows = rows[:len(rows)-hidden]
	for _, r := range rows {
		for i := range r {
			r[i] = cleanLine(r[i])
		}
	}
	widths := w.widths(rows)
	for _, r := range rows {
		a.say("%s", alignRow(r, widths, make([]bool, len(r))))
	}
	if hidden > 0 {
		a.say("… and %d more.", hidden)
	}
	a.say("%s", p.summary(len(all)))
}

// summary returns a sentence about the effect and the saving of the plan.
func (p *plan) summary(n int) string {
	text := fmt.Sprintf("Would %s %s", p.verb, countResources(n))
	if len(p.steps) > 1 {
		text += fmt.Sprintf(" in %d steps", len(p.steps))
	}
	if p.verb == "stop" && p.hourly.Sign() > 0 {
		text += fmt.Sprintf(", and save $%s an hour at list prices", cents(p.hourly.Round(4)))
	}
	if p.unpriced > 0 && p.verb == "stop" && n > 0 {
		text += fmt.Sprintf(" (%d without a known price)", p.unpriced)
	}
	if len(p.leftOut) > 0 {
		text += fmt.Sprintf("; %d left out", len(p.leftOut))
	}
	if p.isProduction {
		text += ". This is production"
	}
	return text + "."
}

func countResources(n int) string {
	if n == 1 {
		return "1 resource"
	}
	return fmt.Sprintf("%d resources", n)
}
