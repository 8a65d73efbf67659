package billingsync_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/functions/billingsync"
	"lamplighter.dev/functions/discovery"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
)

// largeMonth is a cloud that delivers October in files. Reading a file takes fileTime.
type largeMonth struct {
	cloud.Provider
	clk      *clock.Manual
	files    []string
	fileTime time.Duration
	// the time of each piece of a file, and the rows of the manifest, or -1
	pieceTime      time.Duration
	rows, fileRows int64
	version        int
	mu             sync.Mutex
	opened         []int          // how often each file was opened
	reading        func(file int) // called within each file, after half of its time
	process        *killpoint.Process
	isQuery        bool
	limits         billingsync.Limits
}

func (l *largeMonth) Connect(ctx context.Context, a cloud.Account) (cloud.Conn, error) {
	inner, err := l.Provider.Connect(ctx, a)
	return &largeConn{inner, l}, err
}

type largeConn struct {
	cloud.Conn
	*largeMonth
}

var october = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)

// Deliveries returns one delivery, with a file for each content.
func (c *largeConn) Deliveries(context.Context, time.Time) ([]cloud.Delivery, error) {
	d := cloud.Delivery{
		Source: cloud.DataExport, Export: "large", Period: october, Form: cloud.FOCUSForm, Rows: c.rows,
		Fingerprint: fmt.Sprint("version ", c.version), DeliveredAt: noon.Add(time.Duration(c.version) * time.Hour),
	}
	for i := range c.files {
		d.Files = append(d.Files, cloud.BillFile{Name: fmt.Sprintf("large-%02d.csv", i), Size: -1, Rows: c.fileRows})
	}
	return []cloud.Delivery{d}, nil
}

// OpenBill opens a file.
func (c *largeConn) OpenBill(_ context.Context, _ cloud.Delivery, f cloud.BillFile) (cloud.BillReader, error) {
	var n int
	_, err := fmt.Sscanf(f.Name, "large-%02d.csv", &n)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened[n]++
	return &largeFile{content: content{}, month: c.largeMonth, file: n, left: c.files[n]}, err
}

func (*largeConn) ControlTotal(context.Context, time.Time) (total, currency string, ok bool, err error) {
	return "", "", false, nil
}

const pieceBytes = 700

// largeFile is read in short pieces. Each is a step of the process.
type largeFile struct {
	content
	month *largeMonth
	file  int
	left  string
	half  bool
}

// Size returns -1 for an answer to a query.
func (f *largeFile) Size() int64 {
	if f.month.isQuery {
		return -1
	}
	return int64(len(f.month.files[f.file]))
}

func (f *largeFile) ReadAt(p []byte, off int64) (int, error) {
	return strings.NewReader(f.month.files[f.file]).ReadAt(p, off)
}

func (f *largeFile) Close() error { return nil }

func (f *largeFile) Read(p []byte) (n int, err error) {
	m := f.month
	step := func() error {
		if len(f.left) == 0 {
			return io.EOF
		}
		n = copy(p[:min(len(p), pieceBytes)], f.left)
		f.left = f.left[n:]
		m.clk.Advance(m.pieceTime)
		if !f.half && len(f.left) < len(m.files[f.file])/2 {
			f.half = true
			m.clk.Advance(m.fileTime)
			if m.reading != nil {
				m.reading(f.file)
			}
		}
		return nil
	}
	if m.process != nil {
		return n, m.process.Do(step)
	}
	err = step()
	return n, err
}

const largeHeader = "BilledCost,EffectiveCost,ListCost,BillingCurrency,BillingAccountId,SubAccountId," +
	"BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,ChargeClass,ServiceName," +
	"ProviderName,RegionId," +
	"ResourceId,x_BillingExchangeRate,Tags\n"

// largeRow returns a charge of a month: usage, late usage, a refund of an earlier month, a fee, or a charge in EUR.
func largeRow(r *rand.Rand, month time.Time) string {
	at, category, class, currency, rate := month.AddDate(0, 0, r.IntN(28)), "Usage", "", "USD", ""
	switch r.IntN(9) {
	case 0:
		at, class = at.AddDate(0, -1, 0), "Correction"
	case 1:
		at = at.AddDate(0, -2, 0)
	case 2:
		category = "Purchase"
	case 3:
		currency, rate = "EUR", fmt.Sprintf("0.9%02d", r.IntN(100))
	}
	amount := money.FromScaled(r.Int64N(1e12)-1e11, 3+r.IntN(12))
	effective := amount
	if r.IntN(3) == 0 {
		effective = money.FromScaled(r.Int64N(1e9), 9)
	}
	day := at.Format(time.RFC3339)
	return strings.Join([]string{
		amount.String(), effective.String(), amount.String(), currency, "payer",
		fmt.Sprintf("1000000000%02d", r.IntN(3)),
		month.Format(time.RFC3339), month.AddDate(0, 1, 0).Format(time.RFC3339), day, day, category, class,
		[]string{"EC2", "RDS", "S3"}[r.IntN(3)], "AWS", "eu-west-1", fmt.Sprint("i-", r.IntN(60)), rate,
		fmt.Sprintf(`"{""team"":""t%d""}"`, r.IntN(4)),
	}, ",") + "\n"
}

func largeFiles(r *rand.Rand, files, rows int) []string {
	out := make([]string, files)
	for i := range out {
		out[i] = largeHeader
		for range rows {
			out[i] += largeRow(r, october)
		}
	}
	return out
}

// largeService is service with the large month. It measures the calls.
func (s *fixture) largeService(l *largeMonth) killpoint.Service {
	out := s.service()
	out.Handlers = func(p *platform.Platform) map[string]workflow.Handler {
		l.Provider = simulated.New(p.Table, p.Clock)
		providers := cloud.Providers{simulated.Name: l}
		worker := billingsync.HandlerWithin(l.limits, p, providers)
		return map[string]workflow.Handler{
			"discovery": discovery.Handler(p, providers),
			"billingsync": func(ctx context.Context, input json.RawMessage) (any, error) {
				began := s.clk.Now()
				out, err := worker(ctx, input)
				if took := s.clk.Now().Sub(began); took > longestCall && err == nil {
					s.Errorf("a call took %s", took)
				}
				return out, err
			},
		}
	}
	return out
}

// longestCall is the time limit of a call.
const longestCall = 15 * time.Minute

var smallLimits = billingsync.Limits{PartLines: 64, OpenMonths: 2, OpenLines: 1000}

// newLarge returns a fixture with an account whose bill is a large month. Its import is requested.
func newLarge(t *testing.T, files []string, fileTime time.Duration) (*fixture, *largeMonth) {
	t.Helper()
	s := newFixture(t)
	s.connect(settings{"size": "3", "bills": "none"})
	s.request()
	l := &largeMonth{
		clk: s.clk, files: files, fileTime: fileTime, rows: -1, fileRows: -1,
		opened: make([]int, len(files)),
		limits: smallLimits,
	}
	return s, l
}

// request requests an import. No machine begins it.
func (s *fixture) request() {
	s.Helper()
	s.Workflow = apitest.Idle{}
	apitest.Data[rest.Job](s.Call(alice, "POST /billing/verify", nil), 202)
}

// importLarge works in processes until one completes the import.
func (s *fixture) importLarge(lives *killpoint.Lives, l *largeMonth) {
	s.Helper()
	lives.Run(s.In("org_a"), s, func(ctx context.Context, p *killpoint.Process) error {
		mine := p.Platform(s.Platform)
		mine.Lines = mortalFiles{s.Lines, p}
		l.process = p
		return s.largeService(l).Run(ctx, mine)
	})
}

// largeState returns everything that is known of the month: the period, all costs by day, and all line items.
func (s *fixture) largeState() string {
	s.Helper()
	out := []string{s.periodTexts(), s.status().Message, s.status().Status}
	for _, metric := range cost.Metrics {
		for _, dims := range [][]string{
			{cost.ResourceDim, cost.ServiceDim, cost.SubAccountDim},
			{cost.ClassDim, cost.CurrencyDim, cost.CategoryDim},
			{"tag:team"},
		} {
			a := apitest.Value(cost.New(s.Platform).Ask(s.In("org_a"), "org_a", cost.Question{
				From: october, To: october.AddDate(0, 1, 0), Metric: metric, Dims: dims, Daily: true,
			}))(s)
			a.Attribution = nil // times
			out = append(out, fmt.Sprintf("%+v", a))
		}
	}
	for i := 3; i < len(out); i++ { // a failed test shows only the beginning
		out[i] = fmt.Sprintf("%.200s… of %x", out[i], sha256.Sum256([]byte(out[i])))
	}
	return strings.Join(append(out, s.lineItems()), "\n")
}

// periodTexts returns a text of all periods with their totals.
func (s *fixture) periodTexts() string {
	s.Helper()
	periods := apitest.Value(cost.New(s.Platform).Periods(s.In("org_a"), "org_a"))(s)
	for i := range periods {
		p := &periods[i]
		p.AccountID, p.Generation, p.Fingerprint = "", "", ""
		p.ImportedAt, p.AttributedAt = time.Time{}, time.Time{}
	}
	return fmt.Sprintf("%+v", periods)
}

// lineItems returns a text of the stored line items, whatever their order.
func (s *fixture) lineItems() string {
	s.Helper()
	var out []string
	for _, l := range apitest.Value(cost.New(s.Platform).LineItems(s.In("org_a"), "org_a", 0, 9999*12))(s) {
		told := l.Rows
		for k := range l.Parts {
			name := l.Part("org_a", k)
			size := apitest.Value(s.Lines.Size(s.Context(), name))(s)
			file := cloud.NewRangedBill(s.Context(), size, func(ctx context.Context, p []byte, off int64) error {
				return s.Lines.ReadAt(ctx, name, p, off)
			})
			_, err := billfile.Read(s.Context(), cloud.FOCUSForm, name, file, func(c *bill.Charge) error {
				told--
				out = append(out, fmt.Sprintf("%+v", *c))
				return nil
			})
			s.Must(err)
		}
		if told != 0 {
			s.Errorf("%d line items are missing", told)
		}
	}
	slices.Sort(out)
	return fmt.Sprintf("%d line items of %x", len(out), sha256.Sum256([]byte(strings.Join(out, "\n"))))
}
