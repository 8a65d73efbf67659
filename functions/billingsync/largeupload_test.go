package billingsync_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/billing"
	"lamplighter.dev/functions/billingsync"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
)

// uploadOf returns a file with so many rows of each month.
func uploadOf(r *rand.Rand, months, rows int, inTurns bool) string {
	var b strings.Builder
	b.WriteString(largeHeader)
	for i := range months * rows {
		month := i / rows
		if inTurns {
			month = i % months
		}
		b.WriteString(largeRow(r, october.AddDate(0, -month, 0)))
	}
	return b.String()
}

// uploadService is service for uploads, with limits. It measures the calls.
func (s *fixture) uploadService(limits billingsync.Limits) killpoint.Service {
	out := s.service()
	of := out.Handlers
	out.Handlers = func(p *platform.Platform) map[string]workflow.Handler {
		handlers := of(p)
		handlers["billingsync"] = billingsync.HandlerWithin(limits, p, cloud.Providers{})
		return handlers
	}
	return out
}

// importUpload imports a file in processes until one completes the import.
func (s *fixture) importUpload(lives *killpoint.Lives, limits billingsync.Limits, content string) billing.ImportedFile {
	s.Helper()
	jobID := s.offer("acme", content)
	lives.Run(s.In("org_a"), s, func(ctx context.Context, p *killpoint.Process) error {
		mine := p.Platform(s.Platform)
		mine.Inbox, mine.Lines = mortalInbox{s.inbox, p}, slowFiles{mortalFiles{s.Lines, p}, s.clk, nil}
		return s.uploadService(limits).Run(ctx, mine)
	})
	return apitest.Data[billing.ImportedFile](s.Call(alice, "GET /billing/imports/"+jobID, nil))
}

// slowFiles lets the time pass that storing an object takes.
type slowFiles struct {
	mortalFiles
	clk    *clock.Manual
	stored func() // called for each object; nil calls nothing
}

func (f slowFiles) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	f.clk.Advance(20 * time.Second)
	if f.stored != nil {
		f.stored()
	}
	return f.mortalFiles.Put(ctx, name, write)
}

// uploadState returns everything that is known of an upload.
func (s *fixture) uploadState(got *billing.ImportedFile) string {
	s.Helper()
	return fmt.Sprintf("%s with %d rows (%d late, %d corrections) of %v, %v\n%s\n%s\n%s", got.Status, got.Rows,
		got.LateRows, got.CorrectionRows, got.Periods, got.Errors, s.periodTexts(), s.lineItems(),
		s.booked())
}

var unlimited = billingsync.Limits{PartLines: 1 << 20, OpenMonths: 100, OpenLines: 1 << 20}

// However few months are open at a time, and however few lines, each month and each line item is the same.
func TestLargeUpload_IsTheSameWithinAnyLimits(t *testing.T) {
	for name, inTurns := range map[string]bool{"sorted by month": false, "in turns": true} {
		t.Run(name, func(t *testing.T) {
			content := uploadOf(seed.Random(t), 7, 400, inTurns)
			want := ""
			for _, limits := range []billingsync.Limits{
				unlimited,
				{PartLines: 1000, OpenMonths: 2, OpenLines: 1 << 20},
				{PartLines: 100, OpenMonths: 100, OpenLines: 700},
				{PartLines: 64, OpenMonths: 1, OpenLines: 1},
			} {
				s := newFixture(t)
				got := s.importUpload(&killpoint.Lives{}, limits, content)
				state := s.uploadState(&got)
				if want == "" {
					want = state
				}
				if state != want || got.Status != "succeeded" || len(got.Periods) != 7 {
					t.Errorf("%+v: the state is\n%s\nwithout limits it is\n%s", limits, state, want)
				}
			}
		})
	}
}

func TestLargeUpload_OfManyMonthsHasFewFilesOpen(t *testing.T) {
	for name, inTurns := range map[string]bool{"sorted by month": false, "in turns": true} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			files := &openFiles{Files: s.Lines}
			s.Lines = files
			s.worker = billingsync.Handler(s.Clone(), nil)
			got := s.upload(fields{"vendor": "acme"}, uploadOf(seed.Random(t), 36, 20, inTurns))
			if got.Status != "succeeded" || got.Rows != 720 || len(got.Periods) != 36 || files.most > 4 {
				t.Errorf("%+v; %d files were open at once", got, files.most)
			}
		})
	}
}

// An error in a month that waits replaces none of the months before it.
func TestLargeUpload_ThatIsFaultyInAMonthThatWaitsReplacesNone(t *testing.T) {
	content, row := uploadOf(seed.Random(t), 6, 10, false), largeRow(seed.Fixed(t, 1, 1), october)
	for name, tt := range map[string]struct {
		row, says string
		later     bool
	}{
		"a date that is none":     {strings.Replace(row, "2026-", "20x6-", 1), "row 61", false},
		"a month in the future":   {largeRow(seed.Fixed(t, 1, 1), october.AddDate(1, 0, 0)), "in the future", false},
		"a charge of no currency": {strings.NewReplacer(",USD,", ",,", ",EUR,", ",,").Replace(row), "urrency", false},
		"a later delivery is in":  {"", "later delivery", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			if tt.later {
				b, err := cost.New(s.Platform).Begin(s.In("org_a"), cost.Import{
					Org: "org_a", AccountID: "other:acme", Provider: "other", Fingerprint: "later",
					Month: cost.MonthOf(october.AddDate(0, -5, 0)), DeliveredAt: noon.Add(time.Hour),
				})
				s.Must(err)
				apitest.Value(b.Commit(s.In("org_a")))(s)
			}
			before := s.periodTexts()
			got := s.importUpload(&killpoint.Lives{}, billingsync.Limits{PartLines: 64, OpenMonths: 2, OpenLines: 1000},
				content+tt.row)
			if got.Status != "failed" || len(got.Errors) != 1 || !strings.Contains(got.Errors[0].Message, tt.says) ||
				s.periodTexts() != before {
				t.Errorf("%+v; the months are %s", got, s.periodTexts())
			}
		})
	}
}

// A client may upload another file while the address is valid. The rows before the checkpoint are then others, and all
// are read again.
func TestLargeUpload_ReplacedMeanwhileIsReadFromItsBeginning(t *testing.T) {
	r := seed.Random(t)
	limits := billingsync.Limits{PartLines: 40, OpenMonths: 1, OpenLines: 1000}
	for name, content := range map[string]string{
		"other rows": uploadOf(r, 1, 400, false), "fewer rows": uploadOf(r, 1, 50, false),
		"another month": strings.ReplaceAll(uploadOf(r, 1, 400, false), "2026-", "2025-"),
	} {
		t.Run(name, func(t *testing.T) {
			whole := newFixture(t)
			got := whole.importUpload(&killpoint.Lives{}, limits, content)
			want := whole.uploadState(&got)
			s := newFixture(t)
			jobID, kills := s.offer("acme", uploadOf(r, 1, 400, false)), 0
			(&killpoint.Lives{}).Run(s.In("org_a"), t, func(ctx context.Context, p *killpoint.Process) error {
				files := slowFiles{mortalFiles{s.Lines, p}, s.clk, nil}
				if kills == 0 { // after some checkpoints
					stored := 0
					files.stored = func() {
						if stored++; stored == 10 {
							p.Kill()
						}
					}
				} else {
					s.Must(s.inbox.Put(ctx, "org_a/uploads/"+jobID, func(to io.Writer) error {
						_, err := io.WriteString(to, content)
						return err
					}))
				}
				kills++
				mine := p.Platform(s.Platform)
				mine.Inbox, mine.Lines = mortalInbox{s.inbox, p}, files
				return s.uploadService(limits).Run(ctx, mine)
			})
			got = apitest.Data[billing.ImportedFile](s.Call(alice, "GET /billing/imports/"+jobID, nil))
			if state := s.uploadState(&got); state != want || kills != 2 {
				t.Errorf("after %d processes the state is\n%s\nof the new file it is\n%s", kills, state, want)
			}
		})
	}
}

// A file that is replaced after its first months are imported would give the months of two files.
func TestLargeUpload_ReplacedBetweenTwoReadingsFails(t *testing.T) {
	r := seed.Random(t)
	limits := billingsync.Limits{PartLines: 1 << 20, OpenMonths: 1, OpenLines: 1 << 20}
	s := newFixture(t)
	content := uploadOf(r, 3, 40, false)
	jobID := s.offer("acme", content)
	amount, _, _ := strings.Cut(strings.TrimPrefix(content, largeHeader), ",")
	digit := string(amount[len(amount)-1]) // the address is for a file of the same length
	other := strings.Replace(content, amount+",", amount[:len(amount)-1]+string('0'+(digit[0]-'0'+1)%10)+",", 1)
	(&killpoint.Lives{}).Run(s.In("org_a"), t, func(ctx context.Context, p *killpoint.Process) error {
		mine, stored := p.Platform(s.Platform), 0
		mine.Inbox = mortalInbox{s.inbox, p}
		mine.Lines = slowFiles{mortalFiles{s.Lines, p}, s.clk, func() {
			if stored++; stored == 2 { // the line items of the second month
				s.Must(s.inbox.Put(ctx, "org_a/uploads/"+jobID, func(to io.Writer) error {
					_, err := io.WriteString(to, other)
					return err
				}))
			}
		}}
		return s.uploadService(limits).Run(ctx, mine)
	})
	got := apitest.Data[billing.ImportedFile](s.Call(alice, "GET /billing/imports/"+jobID, nil))
	if got.Status != "failed" || len(got.Errors) != 1 || len(got.Periods) != 2 || !strings.Contains(
		got.Errors[0].Message, "was replaced while it was imported") {
		t.Errorf("%+v", got)
	}
	s.Workflow = s.engine
	s.Call(alice, "DELETE /billing/imports/"+jobID, nil).Want(202)
	s.idle()
	s.Equal("months after the withdrawal", len(s.periods()), 0)
}

func TestLargeUpload_KilledAtAnyStepIsImportedExactly(t *testing.T) {
	race.SkipRepetition(t)
	content := uploadOf(seed.Random(t), 5, 150, true)
	killpoint.LosesNothing(t, 20, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		s := newFixture(t)
		got := s.importUpload(lives, billingsync.Limits{PartLines: 40, OpenMonths: 2, OpenLines: 1000}, content)
		_, err := s.inbox.Size(t.Context(), "org_a/uploads/"+got.JobID)
		return s.uploadState(&got) + strconv.FormatBool(fault.Is(err, fault.NotFound))
	})
}
