package billfile_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
)

func TestParquetWriter_RoundTrip(t *testing.T) {
	race.SkipRepetition(t)
	random := seed.Fixed(t, 1, 2)
	for _, n := range []int{0, 1, 1000, 140_000} {
		t.Run(strconv.Itoa(n)+" charges", func(t *testing.T) {
			charges := make([]bill.Charge, n)
			for i := range charges {
				charges[i] = randomCharge(random)
			}
			file := writeParquet(t, charges)
			got, totals, err := readAll("", "round trip", file)
			if err != nil || totals.Rows != int64(n) {
				t.Fatalf("%d rows: %v", totals.Rows, err)
			}
			for group := range slices.Chunk(charges, 64<<10) {
				slices.SortStableFunc(group, byTimeAndResource)
			}
			for i := range got {
				if !reflect.DeepEqual(got[i], charges[i]) {
					t.Fatalf("charge %d:\ngot  %+v\nwant %+v", i, got[i], charges[i])
				}
			}
		})
	}
}

func byTimeAndResource(a, b bill.Charge) int {
	if c := a.ChargePeriodStart.Compare(b.ChargePeriodStart); c != 0 {
		return c
	}
	return strings.Compare(a.ResourceID, b.ResourceID)
}

func writeParquet(t testing.TB, charges []bill.Charge) []byte {
	t.Helper()
	var b bytes.Buffer
	w := billfile.NewParquetWriter(&b)
	for i := range charges {
		if err := w.Add(&charges[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// randomCharge returns a charge with each column filled or empty, and amounts of all lengths.
func randomCharge(r *rand.Rand) bill.Charge {
	start := time.Date(2026, 3, 1, r.IntN(700), 0, 0, 0, time.UTC)
	c := bill.Charge{
		BillingPeriodStart: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), ChargePeriodStart: start,
		BillingCurrency: "USD",
		ChargeCategory:  []string{bill.Usage, bill.Purchase, bill.Tax, bill.Credit, bill.Adjustment}[r.IntN(5)],
	}
	if r.IntN(2) == 0 {
		c.ChargePeriodEnd = start.Add(time.Hour)
	}
	for _, text := range []*string{
		&c.BillingAccountID, &c.SubAccountID, &c.SubAccountName, &c.ProviderName, &c.PublisherName,
		&c.InvoiceIssuerName, &c.InvoiceID,
		&c.ChargeClass, &c.ChargeFrequency, &c.ChargeText, &c.ServiceCategory, &c.ServiceName, &c.RegionID,
		&c.ResourceID,
		&c.ResourceName, &c.ResourceType, &c.SkuID, &c.PricingCategory, &c.CommitmentID, &c.CommitmentStatus, &c.Unit,
	} {
		if r.IntN(3) > 0 {
			*text = "ä" + strconv.Itoa(r.IntN(50))
		}
	}
	for _, a := range []*money.Amount{&c.BilledCost, &c.EffectiveCost, &c.ListCost, &c.ContractedCost, &c.Quantity} {
		*a = money.MustParse(strconv.Itoa(r.IntN(2000)-1000) + "." + strings.Repeat("5", r.IntN(31)) + "1")
	}
	for i := range r.IntN(4) {
		c.Tags = append(c.Tags, bill.Tag{Key: "key" + strconv.Itoa(i), Value: strconv.Itoa(r.IntN(9))})
	}
	return c
}
