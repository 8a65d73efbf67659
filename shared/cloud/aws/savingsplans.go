package aws

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// planIndex is the path of the list of files of compute savings plans by region, on the host of priceLists.
const planIndex = "/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/current/region_index.json"

// planName matches the descriptions of compute savings plans. The same file has EC2 instance savings plans: "3 year No
// Upfront m5 EC2 Instance Savings Plan in eu-west-1". They are left out, because no rule recommends them.
var planName = regexp.MustCompile(`^([13]) year ((?:No|Partial|All) Upfront) Compute Savings Plan$`)

// planYears are the terms of plans, by the number in their names.
var planYears = map[string]int{"1": 1, "3": 3}

// planOf returns the commitment that a plan with the description is, without a family, or nil if it is another plan.
func planOf(description string) *cloud.CommitmentRate {
	m := planName.FindStringSubmatch(description)
	if m == nil {
		return nil
	}
	return &cloud.CommitmentRate{Kind: "plan", Group: "ec2", Years: planYears[m[1]], Payment: reservedPayments[m[2]]}
}

// tellPlans passes the rates of compute savings plans to take, by family. A region without a file has none.
func (r *priceReading) tellPlans(ctx context.Context, ec2 *priceFile) error {
	path, err := r.planPath(ctx)
	if err != nil || path == "" {
		return err
	}
	f := &planFile{ec2: ec2}
	if err = r.get(ctx, path, f.read); err != nil && !isMissing(err) {
		return fmt.Errorf("read the savings plans of %s: %w", r.region, err)
	}
	return f.rates.Tell(r.take)
}

// planPath returns the path of the region's file of savings plans; "" if there is none.
func (r *priceReading) planPath(ctx context.Context) (string, error) {
	var index struct {
		Regions []struct {
			Code string `json:"regionCode"`
			Path string `json:"versionUrl"`
		} `json:"regions"`
	}
	err := r.get(ctx, planIndex, func(from io.Reader) error { return json.NewDecoder(from).Decode(&index) })
	if err != nil && !isMissing(err) {
		return "", fmt.Errorf("read the regions of savings plans: %w", err)
	}
	for _, in := range index.Regions {
		if in.Code == r.region && strings.HasPrefix(in.Path, "/") && !strings.HasPrefix(in.Path, "//") {
			return in.Path, nil
		}
	}
	return "", nil
}

// get reads a file of the host of the lists by its path.
func (r *priceReading) get(ctx context.Context, path string, read func(io.Reader) error) error {
	base, err := url.Parse(r.base)
	if err != nil {
		return fmt.Errorf("the address of the price lists: %w", err)
	}
	return r.lists.Read(ctx, base.Scheme+"://"+base.Host+path, read)
}

// planFile is a region's file of savings plans that is being read. It has hundreds of megabytes, most of them rates, so
// each rate is read on its own.
type planFile struct {
	ec2   *priceFile // the prices on demand
	rates cloud.CommitmentRates
}

// planRate is what an hour of some usage costs under a plan. With each payment it is the cost of the whole hour.
type planRate struct {
	Usage     string `json:"discountedUsageType"`
	Operation string `json:"discountedOperation"`
	Service   string `json:"discountedServiceCode"`
	Rate      struct {
		Price    string `json:"price"`
		Currency string `json:"currency"`
	} `json:"discountedRate"`
}

// read reads the file: its plans are in "terms", "savingsPlan". Other members are skipped.
func (f *planFile) read(from io.Reader) error {
	d := json.NewDecoder(from)
	return eachMember(d, func(name string) error {
		switch name {
		case "products":
			return eachElement(d, func() error { return skipValue(d) })
		case "terms":
			return eachMember(d, func(name string) error {
				if name != "savingsPlan" {
					return skipValue(d)
				}
				return eachElement(d, func() error { return f.readPlan(d) })
			})
		}
		return skipValue(d)
	})
}

// readPlan reads a plan. AWS names it before its rates. Rates before the name are skipped.
func (f *planFile) readPlan(d *json.Decoder) error {
	var of *cloud.CommitmentRate
	return eachMember(d, func(name string) error {
		switch {
		case name == "description":
			var text string
			err := d.Decode(&text)
			of = planOf(text)
			return err
		case name == "rates" && of != nil:
			return eachElement(d, func() error { return f.readRate(d, *of) })
		case name == "rates":
			return eachElement(d, func() error { return skipValue(d) })
		}
		return skipValue(d)
	})
}

// readRate reads a rate, and adds that of a Linux machine on shared hardware: a plan leaves out licences.
func (f *planFile) readRate(d *json.Decoder, of cloud.CommitmentRate) error {
	var r planRate
	if err := d.Decode(&r); err != nil {
		return err
	}
	class, isMachine := strings.CutPrefix(usagePrefix.ReplaceAllString(r.Usage, ""), "BoxUsage:")
	key := "ec2/" + class + "/linux/default"
	onDemand, known := f.ec2.prices[key]
	if !isMachine || !known || f.ec2.unclear[key] || r.Service != "AmazonEC2" || r.Operation != "RunInstances" ||
		r.Rate.Currency != "USD" {
		return nil
	}
	usd, err := money.Parse(r.Rate.Price)
	if err != nil {
		return fmt.Errorf("the rate of %s: %w", r.Usage, err)
	}
	of.Family = cloud.FamilyOf(class)
	f.rates.Add(of, usd, onDemand.USD)
	return nil
}

// eachMember calls f with the name of each member of an object. f reads the value.
func eachMember(d *json.Decoder, f func(name string) error) error {
	return eachIn(d, '{', func() error {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string) // the decoder checks that it is one
		return f(name)
	})
}

// eachElement calls f before each element of an array. f reads the element.
func eachElement(d *json.Decoder, f func() error) error { return eachIn(d, '[', f) }

// eachIn calls f before each part of a value that begins with a delimiter.
func eachIn(d *json.Decoder, begin json.Delim, f func() error) error {
	t, err := d.Token()
	if err != nil {
		return fmt.Errorf("read a list of prices: %w", err)
	}
	if t != begin {
		return fault.New(fault.Unavailable, "the file has %v where %v is expected: it is no list of prices", t, begin)
	}
	for d.More() {
		if err = f(); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// skipValue reads a small value that is not used.
func skipValue(d *json.Decoder) error {
	var unused json.RawMessage
	return d.Decode(&unused)
}
