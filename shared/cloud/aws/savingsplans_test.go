package aws_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clocktest"
)

// plannedOffers is a server of price lists that also has files of compute savings plans.
type plannedOffers struct {
	*offers
	index string   // of the regions
	plans []string // of the file of eu-west-1
	cut   bool     // the file breaks off
	gets  []string // addresses of savings plans that were read
}

const planFolder = "/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/"

const planIndex = `{"disclaimer":"as is","publicationDate":"2026-07-20T18:11:02Z","regions":[` +
	`{"regionCode":"us-east-1","versionUrl":"` + planFolder + `20260720181102/us-east-1/index.json"},` +
	`{"regionCode":"eu-west-1","versionUrl":"` + planFolder + `20260720181102/eu-west-1/index.json"}]}`

func (o *plannedOffers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, planFolder) {
		o.offers.ServeHTTP(w, r)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, planFolder)
	o.gets = append(o.gets, name)
	text := map[string]string{
		"current/region_index.json": o.index,
		"20260720181102/eu-west-1/index.json": `{"version":"20260720181102","regionCode":"eu-west-1","products":[` +
			`{"sku":"P1","productFamily":"ComputeSavingsPlans","attributes":{"purchaseTerm":"1yr"}}],` +
			`"terms":{"savingsPlan":[` + strings.Join(o.plans, ",") + `]}}`,
	}[name]
	if text == "" {
		http.NotFound(w, r)
		return
	}
	if o.cut && strings.HasPrefix(name, "2026") {
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		text = text[:len(text)/2]
	}
	_, _ = w.Write([]byte(text))
}

// fetchRates asks for the prices of eu-west-1, and returns the rates of commitments and the number of other prices.
func (o *plannedOffers) fetchRates(t *testing.T) (rates map[string]string, others int, err error) {
	t.Helper()
	s := httptest.NewServer(o)
	t.Cleanup(s.Close)
	p := aws.New(aws.Options{
		Clock:      clocktest.Instant{Manual: clock.NewManual(time.Date(2026, 7, 21, 1, 0, 0, 0, time.UTC))},
		PriceLists: s.URL + "/offers/v1.0/aws", Transport: http.DefaultTransport,
	})
	o.prefix, rates = "/offers/v1.0/aws", map[string]string{}
	_, err = p.Prices(t.Context(), "eu-west-1", func(p cloud.Price) error {
		if others++; strings.HasPrefix(p.Key, "commitment/plan/") {
			rates[p.Key] = p.USD.String() + " " + string(p.Unit)
			others--
		}
		return nil
	})
	return rates, others, err
}

// planRate is a rate of a plan, in AWS's words.
func planRate(usage, operation, usd string) string {
	return `{"discountedSku":"D","discountedUsageType":"` + usage + `","discountedOperation":"` + operation +
		`","discountedServiceCode":"AmazonEC2","rateCode":"P1.D","unit":"Hrs","discountedRate":{"price":"` + usd +
		`","currency":"USD"}}`
}

func planTerm(description string, rates ...string) string {
	return `{"sku":"P1","description":"` + description + `","effectiveDate":"2026-07-20T18:11:02Z",` +
		`"leaseContractLength":{"duration":1,"unit":"year"},"rates":[` + strings.Join(rates, ",") + `]}`
}

// euPlans are offers with plans: m5.large costs 0.107 on demand, m5.xlarge 0.214.
func euPlans() *plannedOffers {
	o := &plannedOffers{offers: euOffers(), index: planIndex, plans: []string{
		planTerm("1 year No Upfront Compute Savings Plan",
			planRate("EU-BoxUsage:m5.large", "RunInstances", "0.0749"),
			planRate("EU-BoxUsage:m5.xlarge", "RunInstances", "0.1605"), // 0.75 of the price
			planRate("EU-BoxUsage:m5.large", "RunInstances:0002", "0.1670"),
			planRate("EU-DedicatedUsage:m5.large", "RunInstances", "0.1060"),
			planRate("EU-UnusedBox:m5.large", "RunInstances", "0.1069"),
			planRate("EU-BoxUsage:x9.large", "RunInstances", "0.5")), // without a price on demand
		planTerm("3 year All Upfront Compute Savings Plan",
			planRate("EU-BoxUsage:m5.large", "RunInstances", "0.0535")),
		planTerm("3 year All Upfront m5 EC2 Instance Savings Plan in eu-west-1",
			planRate("EU-BoxUsage:m5.large", "RunInstances", "0.0401")),
		planTerm("1 year Some Upfront Compute Savings Plan",
			planRate("EU-BoxUsage:m5.large", "RunInstances", "0.0001")),
	}}
	o.files["AmazonEC2"] = append(o.files["AmazonEC2"], instanceOffer("0.2140000000",
		map[string]string{"Instance Type": "m5.xlarge", "usageType": "EU-BoxUsage:m5.xlarge"}))
	return o
}

func TestPrices_HaveTheRatesOfComputeSavingsPlans(t *testing.T) {
	o := euPlans()
	got, _, err := o.fetchRates(t)
	want := map[string]string{
		"commitment/plan/ec2/m5/1y/none": "0.75 USD", "commitment/plan/ec2/m5/3y/all": "0.5 USD",
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}
	if len(o.gets) != 2 {
		t.Errorf("the files of savings plans were read %d times: %v; want the index and a region", len(o.gets), o.gets)
	}
}

// A rate that the files do not show stays unknown. The prices on demand are known all the same.
func TestPrices_WithoutFilesOfSavingsPlansHaveNoRates(t *testing.T) {
	_, all, _ := euPlans().fetchRates(t)
	for name, change := range map[string]func(*plannedOffers){
		"no index":                    func(o *plannedOffers) { o.index = "" },
		"an index without the region": func(o *plannedOffers) { o.index = `{"regions":[]}` },
		"a region without a file": func(o *plannedOffers) {
			o.index = strings.ReplaceAll(planIndex, "0720", "0721")
		},
		"an address on another computer": func(o *plannedOffers) {
			o.index = strings.ReplaceAll(planIndex, planFolder, "//example.com/")
		},
		"a file without plans": func(o *plannedOffers) { o.plans = nil },
		"rates before the name of their plan": func(o *plannedOffers) {
			o.plans = []string{`{"rates":[` + planRate("EU-BoxUsage:m5.large", "RunInstances", "0.05") +
				`],"description":"1 year No Upfront Compute Savings Plan"}`}
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := euPlans()
			change(o)
			if got, others, err := o.fetchRates(t); err != nil || len(got) > 0 || others != all {
				t.Errorf("rates %v and %d prices (%v); want none, and %d", got, others, err, all)
			}
		})
	}
}

func TestPrices_OfSavingsPlansThatBreakOffAreAnError(t *testing.T) {
	o := euPlans()
	o.cut = true
	if _, _, err := o.fetchRates(t); err == nil || !strings.Contains(err.Error(), "savings plans") {
		t.Errorf("the file breaks off: %v; want an error that says which", err)
	}
}
