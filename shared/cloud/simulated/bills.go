package simulated

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// maxBilledMonths is how many months of bills an account has unless its settings say fewer, the current month included.
const maxBilledMonths = 13

// The billing forms of an account.
const (
	inCUR     = "cur"
	inFOCUS   = "focus"
	notBilled = "none"
)

// The faults of bills. Each is one of the newest bill unless the settings name a month.
const (
	truncatedBill = "truncated"   // the second half of its first file is missing
	brokenRow     = "brokenRow"   // a row has a cost that is no number
	wrongMonth    = "wrongMonth"  // a row is of the month after
	wrongRows     = "rows"        // the manifest says that there is one row more
	wrongTotal    = "total"       // the control total is a tenth more
	missingFile   = "missingFile" // the manifest lists a file that is not there
)

// billing is the form of an account's bills, their fault, and the number of months that there are.
type billing struct {
	form, fault, month string
	months             int
}

func (r *reader) readBilling(number string) billing {
	form := inCUR
	if number != "" && number[len(number)-1]%2 == 1 {
		form = inFOCUS
	}
	b := billing{
		form: r.readText("bills", form), fault: r.readText("billFault", ""),
		month: r.readText("billFaultMonth", ""),
	}
	b.months = r.readInteger("billedMonths", maxBilledMonths, 1, maxBilledMonths)
	if forms := []string{inCUR, inFOCUS, notBilled}; !slices.Contains(forms, b.form) {
		r.failReading("bills", b.form, "one of "+strings.Join(forms, ", "))
	}
	if faults := []string{
		"", truncatedBill, brokenRow, wrongMonth, wrongRows, wrongTotal,
		missingFile,
	}; !slices.Contains(faults, b.fault) {
		r.failReading("billFault", b.fault, "one of "+strings.Join(faults[1:], ", "))
	}
	return b
}

// rowsOf returns how many rows a line is in a file.
func (b billing) rowsOf(l *line) int64 {
	switch {
	case b.form == inCUR && l.what == coveredLine:
		return 2 // with the row that takes it back
	case b.form == inCUR && l.what == unusedLine:
		return 0 // the row of the plan tells
	}
	return 1
}

// billsAt returns the bills that there are at the time now, oldest first.
func (s *settings) billsAt(now time.Time) []*bill {
	var out []*bill
	first := monthOf(now).AddDate(0, 1-s.billing.months, 0)
	for i := range s.billing.months {
		if b := s.newBill(first.AddDate(0, i, 0), now); b != nil && s.billing.form != notBilled {
			out = append(out, b)
		}
	}
	return out
}

func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

var _ cloud.Biller = (*conn)(nil)

// Deliveries lists the bill of each of the last 13 months, or of as many as the settings say: of the current month, up
// to yesterday.
func (c *conn) Deliveries(ctx context.Context, from time.Time) ([]cloud.Delivery, error) {
	r := request{method: "Deliveries", op: "cur:DescribeReportDefinitions", capability: billingCapability}
	if err := c.simulateCall(ctx, r, nil); err != nil {
		return nil, err
	}
	if c.billing.form == notBilled {
		return nil, newFailure(cloud.NotFound, r, "NoExport", "no export of bills is set up for account "+c.number)
	}
	var out []cloud.Delivery
	for _, b := range c.billsAt(c.clk.Now()) {
		if !b.start.Before(monthOf(from)) {
			out = append(out, c.deliveryOf(b))
		}
	}
	return out, nil
}

// billingCapability is the capability of the billing permissions.
const billingCapability = "billing"

func (c *conn) deliveryOf(b *bill) cloud.Delivery {
	d := cloud.Delivery{
		Source: cloud.SimulatedBills, Export: "simulated", Period: b.start, Form: cloud.LegacyCURForm,
		Fingerprint: b.fingerprint(),
		DeliveredAt: b.deliveredAt(), Final: b.final,
	}
	if c.billing.form == inFOCUS {
		d.Form = cloud.FOCUSForm
	}
	for i := range b.fileCount() {
		f := cloud.BillFile{Name: b.fileName(i), Size: -1}
		b.eachLine(i, func(l *line) { f.Rows += c.billing.rowsOf(l) })
		d.Files, d.Rows = append(d.Files, f), d.Rows+f.Rows
	}
	fault := c.faultOf(b)
	if d.Fingerprint += fault; fault == wrongRows {
		d.Rows++
	}
	return d
}

// fileName returns the name of a file of the bill, from 0.
func (b *bill) fileName(file int) string {
	return fmt.Sprintf("%s/simulated-%05d.csv.gz", b.start.Format("2006-01"), file+1)
}

// fileNumber returns which file of the bill has the name, or -1.
func (b *bill) fileNumber(name string) int {
	for i := range b.fileCount() {
		if b.fileName(i) == name {
			return i
		}
	}
	return -1
}

// faultOf returns the fault of a bill.
func (c *conn) faultOf(b *bill) string {
	month := c.billing.month
	if month == "" {
		month = monthOf(c.clk.Now().Add(-day)).Format("2006-01")
	}
	if b.start.Format("2006-01") == month {
		return c.billing.fault
	}
	return ""
}

// OpenBill makes a file of a delivery. Like an export that is overwritten, one that has been replaced since is an
// error that says so.
func (c *conn) OpenBill(ctx context.Context, d cloud.Delivery, file cloud.BillFile) (cloud.BillReader, error) {
	r := request{method: "OpenBill", op: "s3:GetObject", capability: billingCapability}
	if err := c.simulateCall(ctx, r, nil); err != nil {
		return nil, err
	}
	b := c.billOf(d.Period)
	if b == nil || b.fingerprint()+c.faultOf(b) != d.Fingerprint {
		return nil, newFailure(
			cloud.Transient, r, "PreconditionFailed",
			"the delivery of "+d.Period.Format("2006-01")+" was replaced while it was read")
	}
	number, fault := b.fileNumber(file.Name), c.faultOf(b)
	if number < 0 || fault == missingFile && number == b.fileCount()-1 {
		return nil, newFailure(cloud.NotFound, r, "NoSuchKey", "The specified key does not exist: "+file.Name)
	}
	t, err := b.openFile(number, fault)
	if err != nil {
		return nil, err
	}
	return t.reader(fault == truncatedBill && number == 0)
}

// billOf returns the bill of the month of start as it is now, or nil if there is none. The connection keeps the last
// one: a bill looks at all resources once, and is asked for by each of its files.
func (c *conn) billOf(start time.Time) *bill {
	c.billMutex.Lock()
	defer c.billMutex.Unlock()
	b := c.outlineBill(start, c.clk.Now())
	if b == nil {
		return nil
	}
	if c.lastBill != nil && b.isSame(c.lastBill) {
		return c.lastBill
	}
	b.commitSavingsPlan()
	c.lastBill = b
	return b
}

// ControlTotal returns the total of the period, as Cost Explorer would.
func (c *conn) ControlTotal(ctx context.Context, period time.Time) (total, currency string, ok bool, err error) {
	if err = c.simulateCall(ctx,
		request{method: "ControlTotal", op: "ce:GetCostAndUsage", capability: billingCapability},
		nil); err != nil {
		return "", "", false, err
	}
	b := c.billOf(monthOf(period))
	if b == nil || c.billing.form == notBilled {
		return "", "", false, nil
	}
	m, _ := b.sumLines()
	if c.faultOf(b) == wrongTotal {
		m.Billed = m.Billed.MulInt(11).DivInt(10)
	}
	return m.Billed.String(), "USD", true, nil
}
