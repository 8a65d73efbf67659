// Package exports is the part of the operation group Reports & Analytics that returns costs as files: small files
// directly, large files as a job of a worker.
package exports

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
)

const (
	exportPath  = "/reports/export"
	jobsPath    = "/reports/exports"
	parquetType = "application/vnd.apache.parquet"
)

type service struct {
	*report.Reader
	p      *platform.Platform
	bounds rest.Bounds // of a direct answer
}

// mostAtOnce is the most rows of a direct answer.
const mostAtOnce = 10_000

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	return operations(&service{report.NewReader(p, cost.New(p)), p, rest.Bounds{Rows: mostAtOnce}})
}

func operations(s *service) *rest.Group {
	g := rest.NewGroup("Reports & Analytics")
	rest.Handle(g, rest.Op{
		ID: "exportCosts", Method: http.MethodGet, Path: exportPath, Policy: report.Policy, Scoped: true,
		Later:    rest.Job{},
		Statuses: []int{http.StatusBadRequest, http.StatusConflict}, Produces: rest.CSVType + ", " + rest.NDJSONType,
		Summary: "Export costs",
		Description: "In columns of FOCUS 1.2, with all three costs in USD, to the last digit. Charges of one day " +
			"that agree in all columns are one row. Up to 10,000 rows (6 MB) of CSV or NDJSON are the answer " +
			"itself. A larger export, and every Parquet export, is a job: the answer is 202, and its statusURL " +
			"holds the download address when the job has ended. While a job runs, the same question of the same " +
			"caller is answered with that job. CSV cells that a spreadsheet would take for a formula begin with an " +
			"apostrophe; numbers do not. Charges in a currency without a known exchange rate are not in it: the " +
			"header X-Unconverted-Costs of a direct answer, and unconverted of a job, name their sums. The header " +
			"X-Incomplete-Months, and incomplete of a job, name the months whose bills are not all imported, because " +
			"the first import of an account is under way or has failed: their costs grow until then. The current " +
			"month unless other days are requested, at most 800; from is " +
			"the first day and to the day after the last, in UTC; period is a month. filter[dimension]=value " +
			"narrows the export, as in the other reports. A grant on teams or resources exports the costs of its " +
			"scope alone. " + lines,
	}, s.export)
	rest.Handle(g, rest.Op{
		ID: "getCostExport", Method: http.MethodGet, Path: jobsPath + "/{jobID}", Policy: report.Policy, Scoped: true,
		Statuses: []int{http.StatusNotFound},
		Summary:  "Get an export that is a job",
		Description: "For who began it, with the same rights, for a week. downloadURL opens without further " +
			"credentials for 15 minutes; ask again for another one. The file is removed after 24 hours, " +
			"and the job is expired then.",
	}, s.get)
	return g
}

const lines = "detail=lines exports the lines of bills, in the columns of FOCUS that an upload of a bill takes and " +
	"the column x_UsdRate: the value of one unit of BillingCurrency in USD with which reports convert it. It is " +
	"always a job. Costs are in the currency of the bill, and charges of a currency without a known rate are in it. " +
	"A line belongs to the day on which it counts: the day nearest to its charge period within the month of its " +
	"bill. Estimates of days without a bill are not in it. A month of which an account has no lines, because an " +
	"earlier version imported it, is exported by day, in USD; summedMonths of the job names it. An export of lines " +
	"needs a grant on the whole organization, and filters by provider, cloud_account_id, sub_account_id, region, " +
	"service_name, charge_category and currency. CSV files have the column x_TextEscape, from which an upload knows " +
	"that it must remove the apostrophes."

type exportInput struct {
	Period string `query:"period" maxLength:"7" doc:"A month; or give from and to" example:"2026-03"`
	rest.Window
	rest.Selection
	Detail string `query:"detail" enum:"days,lines" default:"days" doc:"Charges added up by day, or the lines of bills"`
	Format string `query:"format" enum:"csv,ndjson,parquet" doc:"The format; if left out, the format that Accept asks for, else csv"`
	Accept string `header:"Accept" hidden:"true"`
}

// format returns the requested file format.
func (in *exportInput) format() string {
	accept := strings.TrimSpace(in.Accept)
	switch {
	case in.Format != "":
		return in.Format
	case strings.HasPrefix(accept, rest.NDJSONType):
		return report.NDJSON
	case strings.HasPrefix(accept, parquetType):
		return report.Parquet
	}
	return report.CSV
}

// beginLines starts the job that exports the lines of the bills that q selects.
func (s *service) beginLines(ctx context.Context, q *cost.Question, format string) (rest.Raw, error) {
	if err := report.CheckLines(q); err != nil {
		return rest.Raw{}, err
	}
	return s.begin(ctx, q, report.Export{Format: format, Detail: report.DetailLines})
}

func (s *service) export(ctx context.Context, in *exportInput) (rest.Raw, error) {
	asked := report.Asked{Period: in.Period, Window: in.Window, Selection: in.Selection}
	q, err := s.Question(ctx, &asked, report.ThisMonth, cost.Billed)
	if err != nil {
		return rest.Raw{}, err
	}
	format := in.format()
	if in.Detail == report.DetailLines {
		return s.beginLines(ctx, &q, format)
	}
	if format == report.Parquet {
		if _, err = s.Ask(ctx, q); err != nil { // an invalid question fails before the job starts
			return rest.Raw{}, err
		}
		return s.begin(ctx, &q, report.Export{Format: format})
	}
	incomplete, err := s.IncompleteMonths(ctx, &q)
	if err != nil {
		return rest.Raw{}, err
	}
	form := rest.Export{Format: format}
	f, full := form.Begin(rest.Exported{
		Name: "costs", Columns: report.ExportColumns, Numbers: report.ExportNumbers,
		Bounds: s.bounds,
	}), false
	unconverted, err := report.EachExportRow(ctx, s.Ask, q, func(r *report.ExportRow) (bool, error) {
		full = !f.Add(r)
		return !full, nil
	})
	switch {
	case err != nil:
		return rest.Raw{}, err
	case full:
		return s.begin(ctx, &q, report.Export{Format: format})
	}
	out, err := f.Answer(ctx, "")
	if err != nil {
		return out, err
	}
	if len(unconverted) > 0 {
		out.Header.Set(unconvertedHeader, formatUnconverted(unconverted))
	}
	if len(incomplete) > 0 {
		out.Header.Set(incompleteHeader, strings.Join(report.PeriodsOf(incomplete), ", "))
	}
	return out, nil
}

const (
	// unconvertedHeader names the amounts that are not in a direct answer: "EUR 12.3, JPY 500".
	unconvertedHeader = "X-Unconverted-Costs"
	// incompleteHeader names the months of a direct answer whose bills are not all imported: "2026-01, 2026-02".
	incompleteHeader = "X-Incomplete-Months"
)

func formatUnconverted(all []cost.CurrencyTotal) string {
	texts := make([]string, len(all))
	for i, u := range all {
		texts[i] = u.Currency + " " + u.Amount.String()
	}
	return strings.Join(texts, ", ")
}

// begin starts an export job of a question and returns it.
func (s *service) begin(ctx context.Context, q *cost.Question, job report.Export) (rest.Raw, error) {
	job.From, job.To, job.Filter = q.From, q.To, q.Filter
	j, err := report.StartExport(ctx, s.p, job)
	if err != nil {
		return rest.Raw{}, err
	}
	return rest.Accepted(rest.Job{JobID: j.ID, Status: string(j.Status), StatusURL: jobsPath + "/" + j.ID})
}

// Export is an export job.
type Export struct {
	JobID        string               `json:"jobID"`
	Status       string               `json:"status" enum:"running,succeeded,failed,expired"`
	Format       string               `json:"format" enum:"csv,ndjson,parquet" doc:"csv and ndjson are compressed with gzip"`
	Detail       string               `json:"detail" enum:"days,lines"`
	From         string               `json:"from" doc:"The first day" example:"2026-03-01"`
	To           string               `json:"to" doc:"The day behind the last" example:"2026-04-01"`
	Rows         int64                `json:"rows"`
	BilledUSD    *string              `json:"billedUSD" doc:"The sum of the rows in USD, to the last digit; null until the job has succeeded"`
	EffectiveUSD *string              `json:"effectiveUSD"`
	ListUSD      *string              `json:"listUSD"`
	Unconverted  []report.Unconverted `json:"unconverted" doc:"The billed amounts in currencies without a known exchange rate; they are not in the sums, and only with detail lines in the file"`
	SummedMonths []string             `json:"summedMonths" doc:"Months of an export of lines whose rows are sums by day, because an account has no lines"`
	Incomplete   []string             `json:"incomplete" doc:"The months whose bills were not all imported when the file was written: export them again later"`
	Message      *string              `json:"message" doc:"The reason for the failure, and the remedy"`
	FileName     string               `json:"fileName" example:"costs-2026-03-01.parquet"`
	DownloadURL  *string              `json:"downloadURL" doc:"Where the file is fetched with GET, until linkExpiresAt"`
	LinkExpires  *time.Time           `json:"linkExpiresAt"`
	CreatedAt    time.Time            `json:"createdAt"`
	CompletedAt  *time.Time           `json:"completedAt"`
	ExpiresAt    time.Time            `json:"expiresAt" doc:"When the file is removed"`
}

type jobInput struct {
	JobID string `path:"jobID" maxLength:"64"`
}

func (s *service) get(ctx context.Context, in *jobInput) (Export, error) {
	j, err := report.ReadOwnExport(ctx, s.p, in.JobID)
	if err == nil && j.Resources != nil {
		err = report.MissingExport(in.JobID)
	}
	if err != nil {
		return Export{}, err
	}
	out := newExport(&j, s.p.Clock.Now())
	out.DownloadURL, out.LinkExpires, err = report.MakeExportLink(ctx, s.p, &j)
	return out, err
}

func newExport(j *report.Export, now time.Time) Export {
	out := Export{
		JobID: j.ID, Status: string(j.StatusAt(now)), Format: j.Format, From: j.From.Format(time.DateOnly),
		To: j.To.Format(time.DateOnly), Rows: j.Rows,
		Message: rest.Optional(j.Message), FileName: j.FileName(), CreatedAt: j.CreatedAt,
		CompletedAt: rest.Optional(j.CompletedAt), ExpiresAt: j.ExpiresAt, Unconverted: []report.Unconverted{},
		Detail: cmp.Or(j.Detail, report.DetailDays), SummedMonths: append([]string{}, j.SummedMonths...),
		Incomplete: append([]string{}, j.Incomplete...),
	}
	for _, u := range j.Unconverted {
		out.Unconverted = append(out.Unconverted, report.Unconverted{Currency: u.Currency, Amount: u.Amount.String()})
	}
	if t := j.Totals; t != nil {
		out.BilledUSD, out.EffectiveUSD, out.ListUSD = rest.Optional(t.Billed.String()),
			rest.Optional(t.Effective.String()), rest.Optional(t.List.String())
	}
	return out
}
