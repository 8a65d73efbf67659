package billfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

// kept is the line items of an organization in a folder.
type kept struct {
	*apitest.Fixture
	dir   string
	files archive.Files
}

func newKept(t testing.TB) *kept {
	t.Helper()
	dir := t.TempDir()
	k := &kept{apitest.New(t), dir, archive.NewFolder(dir)}
	k.Lines = k.files
	return k
}

// bring imports a billing period with the charges of each, and returns the location of its line items.
func (k *kept) bring(account string, m cost.Month, each func(take func(*bill.Charge) error) error) cost.LineItems {
	k.Helper()
	k.bringAs(cost.Import{AccountID: account, Month: m}, each)
	items := apitest.Value(cost.New(k.Platform).LineItems(k.In(apitest.Org), apitest.Org, m, m))(k)
	return items[len(items)-1]
}

// bringAs imports a billing period as described by in.
func (k *kept) bringAs(in cost.Import, each func(take func(*bill.Charge) error) error) {
	k.Helper()
	in.Org, in.Provider, in.Fingerprint, in.DeliveredAt = apitest.Org, "aws", "1", k.Clock.Now()
	b, err := cost.New(k.Platform).Begin(k.In(apitest.Org), in)
	k.Must(err)
	w := billfile.NewLineItemWriter(k.files, b)
	k.Must(each(func(c *bill.Charge) error {
		if in.Native == "" { // no test asks for its sums
			return w.Add(k.In(apitest.Org), c)
		}
		return errors.Join(b.Add(c), w.Add(k.In(apitest.Org), c))
	}))
	k.Must(w.Close(k.In(apitest.Org)))
	_, err = b.Commit(k.In(apitest.Org))
	k.Must(err)
}

var importedMonth = cost.MonthOf(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC))

// hostile are values that would break out of a literal.
var hostile = []string{
	"'", "''", "' OR '1'='1", `\'`, `\`, "\"; DROP TABLE line_items; --", "a\nb", "*/ --",
	"x') UNION SELECT 1 --", "データ", "%_", "?",
}

// random returns a charge of the month, or one billed in it, with hostile texts and amounts of up to 30 places.
func random(r *rand.Rand) bill.Charge {
	c := bill.Charge{
		BillingPeriodStart: importedMonth.Start(),
		ChargePeriodStart:  importedMonth.Start().Add(time.Duration(r.IntN(28*24)) * time.Hour),
		ChargeCategory:     bill.Usage,
		BillingCurrency:    []string{"USD", "EUR"}[r.IntN(2)], ServiceName: "EC2",
		RegionID:   []string{"us-east-1", "eu-west-1", ""}[r.IntN(3)],
		ResourceID: "i-" + strconv.Itoa(r.IntN(40)), ResourceName: hostile[r.IntN(len(hostile))],
	}
	if r.IntN(8) == 0 {
		c.ChargeCategory, c.ChargePeriodStart = bill.Purchase, c.ChargePeriodStart.AddDate(0, r.IntN(5)-2, 0)
	}
	if r.IntN(3) > 0 {
		c.Tags = []bill.Tag{{Key: "it's", Value: hostile[r.IntN(len(hostile))]}}
	}
	for _, a := range []*money.Amount{&c.BilledCost, &c.EffectiveCost, &c.ListCost, &c.Quantity} {
		*a = money.MustParse(strconv.Itoa(r.IntN(300)-100) + "." + strconv.Itoa(r.IntN(1000)) + strings.Repeat("7",
			r.IntN(27)))
	}
	switch r.IntN(12) { // more digits than a column or a DECIMAL has
	case 0:
		c.Quantity = money.MustParse("-1234567890123.25")
	case 1:
		c.Quantity = money.MustParse("98765432109876543." + strings.Repeat("3", 30))
	case 2:
		c.Quantity = money.MustParse("999999999999.9")
		c.BilledCost = money.MustParse("-123456789.0000000000000000000000000001")
	case 3: // it fits into its column, and its nearest whole unit has a digit more
		c.Quantity = money.MustParse("999999999999.9")
		c.BilledCost, c.EffectiveCost, c.ListCost = money.FromInt(1), money.FromInt(1), money.FromInt(1)
	}
	return c
}

func all(charges []bill.Charge) func(func(*bill.Charge) error) error {
	return func(take func(*bill.Charge) error) error {
		for i := range charges {
			if err := take(&charges[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

// texts formats rows as lines.
func texts(rows [][]string) string {
	var b bytes.Buffer
	for _, r := range rows {
		fmt.Fprintf(&b, "%q\n", r)
	}
	return b.String()
}
