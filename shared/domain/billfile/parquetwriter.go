package billfile

import (
	"io"

	"github.com/parquet-go/parquet-go"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
)

// groupRows is the number of rows that are sorted and written together. They are held in memory, as numbers of words,
// in addition to the sums of an import. Readers convert each word once for all rows of a group. 65,536 is the most that
// numbers of 16 bits allow.
const groupRows = 64 << 10

// mostDictionary is the size of a dictionary above which a column is written without one.
const mostDictionary = 1 << 20

// pageBytes is the size of a page before it is compressed. Pages that are not full are held in memory for each column.
const pageBytes = 64 << 10

// decimal is an amount in a Parquet file: DECIMAL(38,26), which DuckDB, Athena and Spark can add up.
type decimal = [16]byte

// lineItem is a charge as a row of a Parquet file, in the columns and types of FOCUS.
type lineItem struct {
	BillingAccountID   string `parquet:"BillingAccountId,optional,dict"`
	SubAccountID       string `parquet:"SubAccountId,optional,dict"`
	SubAccountName     string `parquet:"SubAccountName,optional,dict"`
	ProviderName       string `parquet:"ProviderName,optional,dict"`
	PublisherName      string `parquet:"PublisherName,optional,dict"`
	InvoiceIssuerName  string `parquet:"InvoiceIssuerName,optional,dict"`
	InvoiceID          string `parquet:"InvoiceId,optional,dict"`
	BillingPeriodStart int64  `parquet:"BillingPeriodStart,timestamp(microsecond),dict"`
	ChargePeriodStart  int64  `parquet:"ChargePeriodStart,timestamp(microsecond),dict"`
	ChargePeriodEnd    *int64 `parquet:"ChargePeriodEnd,optional,timestamp(microsecond),dict"`

	ChargeCategory           string `parquet:"ChargeCategory,dict"`
	ChargeClass              string `parquet:"ChargeClass,optional,dict"`
	ChargeFrequency          string `parquet:"ChargeFrequency,optional,dict"`
	ChargeDescription        string `parquet:"ChargeDescription,optional,dict"`
	ServiceCategory          string `parquet:"ServiceCategory,optional,dict"`
	ServiceName              string `parquet:"ServiceName,optional,dict"`
	RegionID                 string `parquet:"RegionId,optional,dict"`
	ResourceID               string `parquet:"ResourceId,optional,dict"`
	ResourceName             string `parquet:"ResourceName,optional,dict"`
	ResourceType             string `parquet:"ResourceType,optional,dict"`
	SkuID                    string `parquet:"SkuId,optional,dict"`
	PricingCategory          string `parquet:"PricingCategory,optional,dict"`
	CommitmentDiscountID     string `parquet:"CommitmentDiscountId,optional,dict"`
	CommitmentDiscountStatus string `parquet:"CommitmentDiscountStatus,optional,dict"`
	BillingCurrency          string `parquet:"BillingCurrency,dict"`

	BilledCost      decimal           `parquet:"BilledCost,decimal(26:38),dict"`
	EffectiveCost   decimal           `parquet:"EffectiveCost,decimal(26:38),dict"`
	ListCost        decimal           `parquet:"ListCost,decimal(26:38),dict"`
	ContractedCost  decimal           `parquet:"ContractedCost,decimal(26:38),dict"`
	PricingQuantity decimal           `parquet:"PricingQuantity,decimal(26:38),dict"`
	PricingUnit     string            `parquet:"PricingUnit,optional,dict"`
	Tags            map[string]string `parquet:"Tags,optional"`

	// ExactAmounts holds the five amounts in their order, if one of them has more digits than its column can hold.
	ExactAmounts string `parquet:"x_ExactAmounts,optional"`
	// USDRate is the value of one unit of BillingCurrency in US dollars: as the bill states it, or in an export as
	// reports convert it.
	USDRate string `parquet:"x_UsdRate,optional,dict"`
}

// ExactAmounts is a column of the files of ParquetWriter. Read it together with amounts (ReadBlocks) to get exact
// amounts; without it they are rounded.
const ExactAmounts = "x_ExactAmounts"

// ParquetWriter writes charges as line items into a Parquet file with FOCUS columns. Read returns the same charges,
// exact to the last digit.
type ParquetWriter struct {
	w    *parquet.GenericWriter[lineItem]
	rows heldRows
}

// NewParquetWriter returns a writer to w. The file is complete when Close has returned without an error.
func NewParquetWriter(w io.Writer) *ParquetWriter {
	return &ParquetWriter{rows: newHeldRows(), w: parquet.NewGenericWriter[lineItem](
		w, parquet.Compression(&parquet.Snappy), parquet.DictionaryMaxBytes(mostDictionary),
		parquet.MaxRowsPerRowGroup(groupRows), parquet.PageBufferSize(pageBytes),
		parquet.CreatedBy("lamplighter", "", ""),
		parquet.SortingWriterConfig(parquet.SortingColumns(
			parquet.Ascending("ChargePeriodStart"), parquet.NullsFirst(parquet.Ascending("ResourceId")),
		)),
	)}
}

// Add adds a charge. The caller may change the charge afterwards. Rows are sorted by ChargePeriodStart and ResourceId,
// 65,536 at a time.
func (p *ParquetWriter) Add(c *bill.Charge) error {
	p.rows.add(c)
	if p.rows.count < groupRows {
		return nil
	}
	return p.flush()
}

// Close writes the remaining rows and the end of the file. It does not close the underlying writer.
func (p *ParquetWriter) Close() error {
	if err := p.flush(); err != nil {
		return err
	}
	return fault.Wrap("close Parquet file", p.w.Close())
}

// ColumnBytes returns the packed bytes of each column in the file. A reader of the column scans that many. Call it
// after Close.
func (p *ParquetWriter) ColumnBytes() map[string]int64 {
	out := map[string]int64{}
	for _, g := range p.w.File().Metadata().RowGroups {
		for i := range g.Columns {
			m := &g.Columns[i].MetaData
			out[m.PathInSchema[0]] += m.TotalCompressedSize
		}
	}
	return out
}

func (p *ParquetWriter) flush() error {
	if p.rows.count == 0 {
		return nil
	}
	if err := p.rows.writeSorted(p.w); err != nil {
		return fault.Wrap("write Parquet file", err)
	}
	p.rows.clear()
	return fault.Wrap("write Parquet file", p.w.Flush())
}
