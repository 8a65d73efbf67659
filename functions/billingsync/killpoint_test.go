package billingsync_test

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/functions/billing"
	"lamplighter.dev/functions/billingsync"
	"lamplighter.dev/functions/discovery"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	domain "lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
)

// service returns the machines of bills and of discovery, and their functions.
func (s *fixture) service() killpoint.Service {
	return killpoint.Service{
		Machines:  apitest.Machines(s, "discovery", domain.Machine, domain.AccountMachine, domain.UploadMachine),
		Functions: map[string]string{"DiscoveryFunctionArn": "discovery", "BillingsyncFunctionArn": "billingsync"},
		Clock:     s.leaping,
		Handlers: func(p *platform.Platform) map[string]workflow.Handler {
			providers := cloud.Providers{simulated.Name: simulated.New(p.Table, p.Clock)}
			return map[string]workflow.Handler{
				"discovery":   discovery.Handler(p, providers),
				"billingsync": billingsync.Handler(p, providers),
			}
		},
	}
}

// offer requests an upload address and puts the content there. No machine waits for the file.
func (s *fixture) offer(vendor, content string) (jobID string) {
	s.Helper()
	s.Workflow = apitest.Idle{}
	body := fields{"vendor": vendor, "bytes": len(content), "fileName": "bill.csv"}
	got := apitest.Data[billing.StartedImport](s.Call(alice, "POST /billing/imports", body), 202)
	w := httptest.NewRecorder()
	target := strings.TrimPrefix(got.UploadURL, "http://upload.test")
	s.inbox.ServeHTTP(w, httptest.NewRequestWithContext(s.Context(), "PUT", target, strings.NewReader(content)))
	if w.Code != 200 {
		s.Fatalf("%d %s", w.Code, w.Body)
	}
	return got.JobID
}

// mortalInbox is the inbox of a process; removing a file counts as a step.
type mortalInbox struct {
	archive.Inbox
	p *killpoint.Process
}

// Remove removes a file.
func (i mortalInbox) Remove(ctx context.Context, name string) error {
	return i.p.Do(func() error { return i.Inbox.Remove(ctx, name) })
}

// mortalFiles are the line items of a process: storing an object is a step.
type mortalFiles struct {
	archive.Files
	p *killpoint.Process
}

func (f mortalFiles) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	return f.p.Do(func() error { return f.Files.Put(ctx, name, write) })
}

func (f mortalFiles) Erase(ctx context.Context, folder string) error {
	return f.p.Do(func() error { return f.Files.Erase(ctx, folder) })
}

// booked returns all costs by account, service and type.
func (s *fixture) booked() string {
	s.Helper()
	var lines []string
	for _, r := range s.ask(cost.AccountDim, cost.ServiceDim, cost.TypeDim).Rows {
		lines = append(lines, fmt.Sprintf("%v: %s", r.Keys[1:], r.Amount))
	}
	slices.Sort(lines)
	return fmt.Sprintf("%s in all\n%s", s.ask().Total, strings.Join(lines, "\n"))
}

// Two files of a vendor are imported one after the other; the second replaces a month of the first.
func TestKilledAtAnyStep_UploadsAddUpToTheCent(t *testing.T) {
	killpoint.LosesNothing(t, 50, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		s := newFixture(t)
		files := []string{
			header + charge("1.25", "2026-09", "03") + charge("2.50", "2026-10", "04") + charge("0.005", "2026-10",
				"05"),
			header + charge("7", "2026-10", "04"),
		}
		var jobs []string
		lives.Run(s.In("org_a"), t, func(ctx context.Context, p *killpoint.Process) error {
			for n := range files {
				if n == len(jobs) {
					s.clk.Advance(1)
					jobs = append(jobs, s.offer("snowflake", files[n]))
				}
				mine := p.Platform(s.Platform)
				mine.Inbox = mortalInbox{s.inbox, p}
				if err := s.service().Run(ctx, mine); err != nil {
					return err
				}
			}
			return nil
		})
		out := []string{s.booked()}
		for _, jobID := range jobs {
			got := apitest.Data[billing.ImportedFile](s.Call(alice, "GET /billing/imports/"+jobID, nil))
			_, err := s.inbox.Size(t.Context(), domain.UploadName("org_a", jobID))
			out = append(out,
				fmt.Sprintf("%s with %d rows of %v %v, the file is gone: %v", got.Status, got.Rows, got.Periods,
					got.Errors, fault.Is(err, fault.NotFound)))
		}
		return strings.Join(out, "\n")
	})
}

// Thirteen months of bills of a new account are imported.
func TestKilledAtAnyStep_ImportsAddUpToTheCent(t *testing.T) {
	killpoint.LosesNothing(t, 50, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		s := newFixture(t)
		a := s.connect(settings{"size": "3", "bills": "none"})
		s.change(a.ID, settings{"size": "3", "bills": "focus"})
		s.Workflow = apitest.Idle{}
		apitest.Data[rest.Job](s.Call(alice, "POST /billing/verify", nil), 202)
		lives.Run(s.In("org_a"), t, func(ctx context.Context, p *killpoint.Process) error {
			return s.service().Run(ctx, p.Platform(s.Platform))
		})
		s.wantPlanted(s.plan(settings{"size": "3", "bills": "focus"}))
		got := s.status()
		return fmt.Sprintf("%s %q, %d months, %d resources with a bill\n%s", got.Status, got.Message,
			got.MonthsBackfilled, s.wantBilled("after kills"), s.booked())
	})
}
