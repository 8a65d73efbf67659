package exporter

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// lineColumns are the columns of an export of lines: those of FOCUS that the import reads, and the rate. A CSV file
// begins with billfile.EscapeColumn in addition. The last lineNumbers columns are numbers.
var lineColumns = []string{
	"BillingAccountId", "SubAccountId", "SubAccountName", "ProviderName", "PublisherName", "InvoiceIssuerName",
	"InvoiceId", "BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart", "ChargePeriodEnd", "ChargeCategory",
	"ChargeClass", "ChargeFrequency", "ChargeDescription", "ServiceCategory", "ServiceName", "RegionId", "ResourceId",
	"ResourceName", "ResourceType", "SkuId", "PricingCategory", "PricingUnit", "CommitmentDiscountId",
	"CommitmentDiscountStatus", bill.TagsColumn, "BillingCurrency", "PricingQuantity", "BilledCost", "EffectiveCost",
	"ListCost", "ContractedCost", billfile.USDRateColumn,
}

const lineNumbers = 6

// lineFile is a file of lines under construction.
type lineFile interface {
	add(*exportedLine) error
	close() error // closes the file, not the writer below it
}

func newLineFile(format string, to io.Writer) lineFile {
	if format == report.Parquet {
		return parquetLines{billfile.NewParquetWriter(to)}
	}
	z := gzip.NewWriter(to)
	if format == report.NDJSON {
		return &objectLines{z: z}
	}
	f := cellLines{z, csv.NewWriter(z)}
	_ = f.w.Write(append([]string{billfile.EscapeColumn}, lineColumns...)) // close tells
	return f
}

type parquetLines struct{ w *billfile.ParquetWriter }

func (f parquetLines) add(l *exportedLine) error {
	line := *l.Charge
	line.USDRate = l.rate
	return f.w.Add(&line)
}

func (f parquetLines) close() error { return f.w.Close() }

type cellLines struct {
	z *gzip.Writer
	w *csv.Writer
}

func (f cellLines) add(l *exportedLine) error {
	cells := append([]string{billfile.EscapedByApostrophe}, l.cells()...)
	return fault.Wrap("write a line", f.w.Write(rest.PlainCells(cells, lineNumbers)))
}

func (f cellLines) close() error {
	f.w.Flush()
	return fault.Wrap("end the lines", errors.Join(f.w.Error(), f.z.Close()))
}

// objectLines writes an object for each line. Empty columns are left out.
type objectLines struct {
	z   *gzip.Writer
	buf bytes.Buffer
}

func (f *objectLines) add(l *exportedLine) error {
	f.buf.Reset()
	separator := byte('{')
	enc := json.NewEncoder(&f.buf)
	enc.SetEscapeHTML(false)
	for i, cell := range l.cells() {
		if cell == "" {
			continue
		}
		f.buf.WriteByte(separator)
		separator = ','
		f.buf.WriteString(`"` + lineColumns[i] + `":`)
		if lineColumns[i] == bill.TagsColumn {
			f.buf.WriteString(cell)
			continue
		}
		if err := enc.Encode(cell); err != nil {
			return fault.Wrap("encode a line", err)
		}
		f.buf.Truncate(f.buf.Len() - 1)
	}
	f.buf.WriteString("}\n")
	_, err := f.z.Write(f.buf.Bytes())
	return fault.Wrap("write a line", err)
}

func (f *objectLines) close() error { return fault.Wrap("end the lines", f.z.Close()) }

// cells returns the values of lineColumns.
func (l *exportedLine) cells() []string {
	return []string{
		l.BillingAccountID, l.SubAccountID, l.SubAccountName, l.ProviderName, l.PublisherName, l.InvoiceIssuerName,
		l.InvoiceID, timeCell(l.BillingPeriodStart), timeCell(l.periodEnd()), timeCell(l.ChargePeriodStart),
		timeCell(l.ChargePeriodEnd), l.ChargeCategory,
		l.ChargeClass, l.ChargeFrequency, l.ChargeText, l.ServiceCategory, l.ServiceName, l.RegionID, l.ResourceID,
		l.ResourceName, l.ResourceType, l.SkuID, l.PricingCategory, l.Unit, l.CommitmentID, l.CommitmentStatus,
		tagsCell(l.Tags), l.BillingCurrency, l.Quantity.String(), l.BilledCost.String(), l.EffectiveCost.String(),
		l.ListCost.String(), l.ContractedCost.String(), rateCell(l.rate),
	}
}

func timeCell(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func rateCell(rate money.Amount) string {
	if rate.IsZero() {
		return ""
	}
	return rate.String()
}

// tagsCell returns tags as a JSON object, or "" if there are none.
func tagsCell(tags []bill.Tag) string {
	if len(tags) == 0 {
		return ""
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, t := range tags {
		b.WriteByte("{,"[min(i, 1)])
		for n, text := range []string{t.Key, t.Value} {
			if n == 1 {
				b.WriteByte(':')
			}
			if err := enc.Encode(text); err != nil { // a text always encodes
				panic(err)
			}
			b.Truncate(b.Len() - 1)
		}
	}
	b.WriteByte('}')
	return b.String()
}
