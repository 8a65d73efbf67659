package aws

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/costexplorer"
)

const (
	// usdPerExplored is the price of a request to Cost Explorer in US dollars. Each page is one request.
	usdPerExplored = 0.01
	// exploredMonths is the number of months with daily costs in Cost Explorer.
	exploredMonths = 13
	// restated is the time after a month's end while AWS still changes it.
	restated = 15 * 24 * time.Hour
	// maxExplored is the maximum number of pages of a month.
	maxExplored = 200
)

// explore asks Cost Explorer and counts the requests: each page has its price.
func (c *conn) explore(ctx context.Context, in *costexplorer.GetCostAndUsageInput) (*costexplorer.GetCostAndUsageOutput,
	error,
) {
	c.mu.Lock()
	c.explored++
	c.mu.Unlock()
	out, err := costexplorer.NewFromConfig(c.regionConfig(billingRegion)).GetCostAndUsage(ctx, in)
	return out, resource.ClassifyError(err)
}

// Spent returns the price of the requests to Cost Explorer.
func (c *conn) Spent() cloud.BillSpending {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cloud.BillSpending{Requests: c.explored, USD: float64(c.explored) * usdPerExplored}
}

// addExplored adds a delivery of Cost Explorer for each month without another delivery, without sending a request. Its
// content is assumed to change each day until AWS no longer changes the month. Its delivery time is in the first hours
// of its month, so it never replaces a delivery of an export, and a delivery of an export always replaces it.
func (c *conn) addExplored(from time.Time, by map[time.Time]cloud.Delivery) {
	now := c.provider.options.Clock.Now().UTC()
	first := monthOf(now).AddDate(0, -exploredMonths, 0)
	if m := monthOf(from); m.After(first) {
		first = m
	}
	for period := first; !period.After(now); period = period.AddDate(0, 1, 0) {
		if _, better := by[period]; better {
			continue
		}
		quiet := period.AddDate(0, 1, 0).Add(restated)
		asOf := now.Truncate(24 * time.Hour)
		final := asOf.After(quiet)
		if final {
			asOf = quiet
		}
		by[period] = cloud.Delivery{
			Source: cloud.CostExplorer, Export: "Cost Explorer", Period: period, Form: cloud.FOCUSForm,
			Fingerprint: "cost-explorer " + period.Format("2006-01") + " " + asOf.Format(time.DateOnly),
			DeliveredAt: period.Add(asOf.Sub(period) / 1000),
			Files: []cloud.BillFile{{
				Name: "cost-explorer-" + period.Format("2006-01") + ".ndjson", Size: -1,
				Rows: -1,
			}}, Rows: -1, Final: final,
		}
	}
}

// explorerRow is a line of an answer in the columns of FOCUS.
type explorerRow struct {
	BillingAccountID   string `json:"BillingAccountId"`
	SubAccountID       string `json:"SubAccountId"`
	ProviderName       string
	PublisherName      string
	InvoiceIssuerName  string
	BillingPeriodStart string
	BillingPeriodEnd   string
	ChargePeriodStart  string
	ChargePeriodEnd    string
	ChargeCategory     string
	ServiceName        string
	RegionID           string `json:"RegionId"`
	BillingCurrency    string
	BilledCost         string
	EffectiveCost      string
}

// openExplored asks for a month by day, service and region. In a management account it asks by account instead of
// region, because Cost Explorer groups by at most two keys. It requests each page when it is read.
func (c *conn) openExplored(ctx context.Context, period time.Time) (cloud.BillReader, error) {
	self, err := c.Identify(ctx)
	if err != nil {
		return nil, err
	}
	second := "REGION"
	if c.paysForOthers(ctx, self) {
		second = "LINKED_ACCOUNT"
	}
	in := &costexplorer.GetCostAndUsageInput{
		Granularity: costexplorer.GranularityDaily, Metrics: []string{"UnblendedCost", "AmortizedCost"},
		TimePeriod: c.exploredPeriod(period),
		GroupBy: []costexplorer.GroupDefinition{
			{Type: costexplorer.GroupDefinitionTypeDimension, Key: sdk.String("SERVICE")},
			{Type: costexplorer.GroupDefinitionTypeDimension, Key: &second},
		},
	}
	pages, done := 0, false
	return cloud.NewPagedBill(func() ([]byte, error) {
		if done {
			return nil, io.EOF
		}
		if pages++; pages > maxExplored {
			return nil, cloud.ErrUnsupported(
				"Cost Explorer has more than %d pages of %s", maxExplored, period.Format("2006-01"))
		}
		out, err := c.explore(ctx, in)
		if err != nil {
			return nil, err
		}
		in.NextPageToken = out.NextPageToken
		done = sdk.ToString(out.NextPageToken) == ""
		return exploredLines(out, explorerRow{
			BillingAccountID: self, SubAccountID: self, ProviderName: "AWS", PublisherName: "AWS",
			InvoiceIssuerName:  "AWS",
			BillingPeriodStart: period.Format(time.RFC3339),
			BillingPeriodEnd:   period.AddDate(0, 1, 0).Format(time.RFC3339),
		}, second)
	}), nil
}

// exploredPeriod returns the month, until the end of today.
func (c *conn) exploredPeriod(period time.Time) *costexplorer.DateInterval {
	end := period.AddDate(0, 1, 0)
	if tomorrow := c.provider.options.Clock.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1); tomorrow.Before(end) {
		end = tomorrow
	}
	return &costexplorer.DateInterval{
		Start: sdk.String(period.Format(time.DateOnly)),
		End:   sdk.String(end.Format(time.DateOnly)),
	}
}

// paysForOthers reports whether the account is the management account of its organization. It returns false if that
// cannot be read.
func (c *conn) paysForOthers(ctx context.Context, self string) bool {
	id, err := c.managementAccount(ctx)
	return err == nil && id == self
}

// exploredLines writes a page as lines of JSON. The amounts keep all their digits.
func exploredLines(out *costexplorer.GetCostAndUsageOutput, row explorerRow, second string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for _, day := range out.ResultsByTime {
		row.ChargePeriodStart, row.ChargePeriodEnd = sdk.ToString(day.TimePeriod.Start)+"T00:00:00Z",
			sdk.ToString(day.TimePeriod.End)+"T00:00:00Z"
		for _, g := range day.Groups {
			if len(g.Keys) != 2 {
				return nil,
					cloud.ErrInvalid("Cost Explorer answered a group of %d keys to a question for 2", len(g.Keys))
			}
			r := row
			r.ServiceName, r.ChargeCategory = g.Keys[0], "Usage"
			if r.ServiceName == "Tax" {
				r.ChargeCategory = "Tax"
			}
			if second == "LINKED_ACCOUNT" {
				r.SubAccountID = g.Keys[1]
			} else if r.RegionID = g.Keys[1]; strings.EqualFold(r.RegionID, "NoRegion") {
				r.RegionID = ""
			}
			billed, effective := g.Metrics["UnblendedCost"], g.Metrics["AmortizedCost"]
			r.BillingCurrency, r.BilledCost, r.EffectiveCost = sdk.ToString(billed.Unit), sdk.ToString(billed.Amount),
				sdk.ToString(effective.Amount)
			if err := e.Encode(r); err != nil {
				return nil, cloud.ErrInvalid("Cost Explorer answered what cannot be written: %v", err)
			}
		}
	}
	return b.Bytes(), nil
}

// ControlTotal asks Cost Explorer for a month's total, with one request. ok is false if the account may not ask or has
// no data. It is also false for an account with a named export or bucket, because the costs in these may be more or
// less than the account's.
func (c *conn) ControlTotal(ctx context.Context, period time.Time) (total, currency string, ok bool, err error) {
	if set := c.account.Billing; set.Bucket != "" || set.Export != "" {
		return "", "", false, nil
	}
	if c.provider.options.Clock.Now().Before(period) ||
		period.Before(monthOf(c.provider.options.Clock.Now()).AddDate(0, -exploredMonths, 0)) {
		return "", "", false, nil
	}
	out, err := c.explore(ctx, &costexplorer.GetCostAndUsageInput{
		Granularity: costexplorer.GranularityMonthly, Metrics: []string{"UnblendedCost"},
		TimePeriod: c.exploredPeriod(period),
	})
	if e, is := errors.AsType[*cloud.Error](err); is &&
		(e.Class == cloud.Denied || e.Code == "DataUnavailableException") {
		return "", "", false, nil
	}
	if err != nil {
		return "", "", false, err
	}
	if len(out.ResultsByTime) != 1 {
		return "", "", false, nil
	}
	sum := out.ResultsByTime[0].Total["UnblendedCost"]
	return sdk.ToString(sum.Amount), sdk.ToString(sum.Unit), sum.Amount != nil && sum.Unit != nil, nil
}
