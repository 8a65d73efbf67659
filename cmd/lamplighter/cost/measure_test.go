package cost

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"lamplighter.dev/functions"
	"lamplighter.dev/infra/stacks"
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

// measure measures an organization of the size of w.
func measure(t *testing.T, w Workload) (m Measured) {
	t.Helper()
	s := open(t)
	m.Template, m.Readers = s.template(&m), secretReaders()
	m.Bare = s.bare()
	s.awaitMonth()
	s.beginOrganization()
	s.others(w)
	account := s.connectMeasured(w)
	m.First = s.linked(m.Bare, s.sample(account))
	m.Costs = s.costs(m.Bare, w)
	s.logIn(s.org) // the token has expired
	acted := s.connect("444455556666", 2*w.GroupSize, together)
	group, resource := s.group(acted, w.GroupSize)
	s.settle(group)
	s.linked(m.Bare, s.sample(account))
	backfilled := s.pass(m.Bare, account) // the first one that has something to measure: 14 days
	s.must(clock.System{}.Sleep(s.Context(), 24*time.Hour))
	m.Collection = s.pass(m.Bare, account)
	m.Pass = s.pass(m.Bare, account)
	m.First = m.First.plus(backfilled.minus(m.Collection))
	m.Bulks, m.Pairs = s.pairs(m.Bare, acted, group)
	for range m.Pairs / 2 { // the deltas that requests read on average
		s.cycle(group, 1)
	}
	s.requests(&m, group, resource)
	m.Refreshes, m.RefreshCount = s.refreshes(m.Bare, w.Users)
	m.Mail = s.linked(m.Bare, s.mail())
	m.Found = s.found(m.Bare)
	m.Bytes = map[string]int{"line items": s.folderSize("line-items") / m.Costs.Accounts}
	m.Archived = s.archived(&m, w)
	s.stored(m.Bytes, w)
	return m
}

// awaitMonth waits for the beginning of a month, so that every organization is measured on the same days.
func (s *site) awaitMonth() {
	s.Helper()
	now := s.Platform.Clock.Now().UTC()
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	if first.Before(now) {
		s.must(clock.System{}.Sleep(s.Context(), first.AddDate(0, 1, 0).Sub(now)))
	}
}

// others connects the accounts of w except the one that is measured, so that passes and groups read an index of the
// size of w.
func (s *site) others(w Workload) {
	s.Helper()
	if w.Lumped {
		s.lumped = s.connect("999999999999", (w.Accounts-1)*w.PerAccount, lumped)
		return
	}
	for i := range w.Accounts - 1 {
		s.connect(fmt.Sprintf("9999999%05d", i), w.PerAccount, everywhere)
	}
}

// connectMeasured connects the account that is measured, and takes the usage before that. Its bills are not due in the
// hours of those of the lumped account.
func (s *site) connectMeasured(w Workload) string {
	s.Helper()
	for i := 0; ; i++ {
		s.Take()
		account := s.connect(fmt.Sprintf("1111222233%02d", i), w.PerAccount, everywhere)
		if s.lumped == "" || billimport.DueKey(account).PK != billimport.DueKey(s.lumped).PK {
			return account
		}
	}
}

// pass discovers the account once more. The schedule begins a pass without an audit log entry, so the linking of that
// of
// the request here is left out.
func (s *site) pass(bare map[string]Sample, account string) Sample {
	s.Helper()
	s.logIn(s.org)
	s.linked(bare, newSample())
	s.Take()
	s.ask(http.MethodPost, "/cloud-accounts/"+account+"/discover", nil, nil)
	s.must(s.AwaitIdle(s.Context()))
	took := s.sample(account)
	s.must(s.Notify(s.Context()))
	return took.plus(s.Take())
}

// repeated returns the usage of the second run of do, a minute after the first, when there is nothing left to do.
func (s *site) repeated(do func(context.Context) error) Sample {
	s.Helper()
	return s.repeatedAfter(time.Minute, do)
}

// repeatedAfter returns the usage of the second call of do, which comes some time after the first.
func (s *site) repeatedAfter(pause time.Duration, do func(context.Context) error) Sample {
	s.Helper()
	s.must(do(s.Context()))
	s.must(s.AwaitIdle(s.Context()))
	s.must(clock.System{}.Sleep(s.Context(), pause))
	s.Take()
	s.must(do(s.Context()))
	return s.Take()
}

// linked returns took plus the usage of linking its audit log entries and of the notifier for its events. The entries
// are linked some minutes later. The usage of a run of the linker that finds no entries is not counted.
func (s *site) linked(bare map[string]Sample, took Sample) Sample {
	s.Helper()
	s.wait(audit.LinkAfter)
	s.Take()
	s.must(s.LinkAudit(s.Context()))
	s.must(s.Notify(s.Context()))
	return took.plus(s.Take().minus(bare["auditlinker"]))
}

// mail measures a mail, with the request for it.
func (s *site) mail() Sample {
	s.Helper()
	s.must(s.Deliver(s.Context()))
	s.must(s.Notify(s.Context()))
	s.Take()
	s.ask(http.MethodPost, "/auth/password/forget", map[string]string{"email": email}, nil)
	s.must(s.Deliver(s.Context()))
	return s.Take()
}

// archived archives the month of the measurement, and returns the usage. The bytes are those of one action.
func (s *site) archived(m *Measured, w Workload) Sample {
	s.Helper()
	s.must(clock.System{}.Sleep(s.Context(), 62*24*time.Hour))
	s.Take()
	s.must(s.Archive(s.Context()))
	took, size := s.Take().minus(m.Bare["archiver"]), int64(0)
	files, err := filepath.Glob(filepath.Join(s.dir, "archive", "*", "*", "*"))
	s.must(err)
	for _, name := range files {
		info, err := os.Stat(name)
		s.must(err)
		size += info.Size()
	}
	if len(files) != lists {
		s.Fatalf("the archive holds %q", files)
	}
	m.Bytes["archived"], m.ArchivedPairs = int(size)/(s.bulks*w.GroupSize), s.bulks/2
	took.Puts = 0 // an organization has an object for each list, however many actions
	return took
}

// folderSize returns the size of all files in a folder of the service.
func (s *site) folderSize(name string) (size int) {
	s.Helper()
	s.must(filepath.WalkDir(filepath.Join(s.dir, name), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += int(info.Size())
		}
		return err
	}))
	return size
}

// stored closes the service and returns the bytes that a resource, an action and a changing request leave in the
// table.
func (s *site) stored(sum map[string]int, w Workload) {
	s.Helper()
	s.must(s.Close())
	rows := 0
	for pk, size := range tabletest.Sizes(s, filepath.Join(s.dir, "store.db")) {
		if sum[kindOf(pk)] += size.Bytes; kindOf(pk) == "audit" {
			rows += size.Rows
		}
	}
	sum["resource"] /= w.Accounts*w.PerAccount + 2*w.GroupSize
	sum["action"] /= s.bulks * w.GroupSize
	sum["audit"] /= max(rows, 1)
}

// kindOf returns the kind of a row by its partition.
func kindOf(pk string) string {
	parts := strings.Split(pk, "#")
	if len(parts) < 3 || parts[0] != "ORG" {
		return "other" // the machines and the simulated cloud have no part in AWS, and the rest is little
	}
	switch parts[2] {
	case "ACT", "HIST", "BULK", "EVENTS", "COUNT", "BULKGROUP":
		return "action"
	case "AUDIT":
		return "audit"
	default:
		return "resource"
	}
}

// template reads from the templates the memory of each function and the switched-on options.
func (s *site) template(m *Measured) map[string]bool {
	s.Helper()
	b, err := os.ReadFile(filepath.Join(root, stacks.Root))
	s.must(err)
	var doc struct {
		Parameters map[string]struct {
			Default string `yaml:"Default"`
		} `yaml:"Parameters"`
	}
	s.must(yaml.Unmarshal(b, &doc))
	m.Memory, err = stacks.ReadSizes(root)
	s.must(err)
	shared, err := os.ReadFile(filepath.Join(root, stacks.Shared))
	s.must(err)
	if m.Traced = doc.Parameters["TracedShare"].Default; strings.Contains(string(shared), "Tracing: Active") {
		m.Traced = "1"
	}
	return map[string]bool{"detailed metrics": strings.Contains(string(b), " MetricsEnabled: true")}
}

// secretReaders returns the functions that read the pepper. The other secrets are optional.
func secretReaders() map[string]bool {
	out := map[string]bool{}
	for _, f := range functions.All() {
		out[f.Name] = slices.Contains(f.Secrets, platform.PepperSecret)
	}
	return out
}
