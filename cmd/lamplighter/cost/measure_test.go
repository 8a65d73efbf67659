package cost

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"lamplighter.dev/infra/stacks"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

// measure measures an organization of the size of w.
func measure(t *testing.T, w Workload) (m Measured) {
	t.Helper()
	s := open(t)
	m.Template = s.template(&m)
	m.Bare = s.bare()
	s.beginOrganization()
	s.others(w)
	m.Requests = map[string]Sample{}
	s.Take()
	account := s.connect("111122223333", w.PerAccount, everywhere)
	m.First = s.linked(m.Bare, s.sample(account))
	m.Collection = s.pass(m.Bare, account) // the first one that has something to measure
	m.Pass = s.pass(m.Bare, account)
	m.Costs = s.costs(m.Bare, w)
	s.logIn(s.org) // the token has expired
	acted := s.connect("444455556666", 2*w.GroupSize, together)
	group, resource := s.group(acted, w.GroupSize)
	s.bulk(group, "stop") // the first delta, and work that only the first stop does
	s.bulk(group, "start")
	s.sample(acted)
	s.linked(m.Bare, newSample())
	s.bulk(group, "stop")
	s.bulk(group, "start")
	m.Bulks = s.linked(m.Bare, s.sample(acted))
	s.requests(&m, group, resource)
	m.Mail = s.mail()
	m.Found = s.found()
	m.Bytes = map[string]int{"line items": s.folderSize("line-items") / m.Costs.Accounts}
	m.Archived = s.archived(&m, w)
	s.stored(m.Bytes, w)
	return m
}

// others connects the accounts of w except the one that is measured, so that passes and groups read an index of the
// size of w.
func (s *site) others(w Workload) {
	s.Helper()
	if w.Lumped {
		s.connect("999999999999", (w.Accounts-1)*w.PerAccount, everywhere)
		return
	}
	for i := range w.Accounts - 1 {
		s.connect(fmt.Sprintf("9999999%05d", i), w.PerAccount, everywhere)
	}
}

// pass discovers the account once more.
func (s *site) pass(bare map[string]Sample, account string) Sample {
	s.Helper()
	s.ask(http.MethodPost, "/cloud-accounts/"+account+"/discover", nil, nil)
	s.must(s.AwaitIdle(s.Context()))
	return s.linked(bare, s.sample(account))
}

// repeated returns the usage of the second run of do, when there is nothing left to do.
func (s *site) repeated(do func(context.Context) error) Sample {
	s.Helper()
	s.must(do(s.Context()))
	s.must(s.AwaitIdle(s.Context()))
	s.Take()
	s.must(do(s.Context()))
	return s.Take()
}

// linked returns took plus the usage of linking its audit log entries and of the notifier for its events. The usage of
// a run of the linker that finds no entries is not counted.
func (s *site) linked(bare map[string]Sample, took Sample) Sample {
	s.Helper()
	s.Take()
	s.must(s.LinkAudit(s.Context()))
	s.must(s.Notify(s.Context()))
	return took.plus(s.Take().minus(bare["auditlinker"]))
}

// group makes a group of size instances of the account.
func (s *site) group(account string, size int) (id, resource string) {
	s.Helper()
	var found []struct{ ID string }
	s.ask(http.MethodGet,
		fmt.Sprintf("/resources?type=aws-ec2&cloud_account_id=%s&schedulable=true&status=running&limit=%d", account,
			size), nil, &found)
	if len(found) < size {
		s.Fatalf("%d of %d instances", len(found), size)
	}
	members := make([]map[string]any, size)
	for i, r := range found[:size] {
		members[i] = map[string]any{"resourceID": r.ID, "tier": 1, "order": 1}
	}
	var made struct{ ID string }
	s.ask(http.MethodPost, "/resource-groups", map[string]any{"name": "Nightly", "members": members}, &made)
	s.Take()
	return made.ID, found[0].ID
}

// bulk stops or starts the group, and waits until the bulk action has succeeded.
func (s *site) bulk(group, verb string) {
	s.Helper()
	var b struct {
		ID string `json:"bulkActionID"`
	}
	s.ask(http.MethodPost, "/actions/bulk", map[string]string{"type": verb, "groupID": group}, &b)
	s.must(s.AwaitIdle(s.Context()))
	s.must(s.Notify(s.Context()))
	kept := s.Take() // the reads below are not the bulk action's
	var done struct {
		Status           string
		Total, Completed int
	}
	s.ask(http.MethodGet, "/actions/bulk/"+b.ID, nil, &done)
	s.Take()
	s.put(kept)
	if done.Status != "completed" || done.Completed != done.Total || done.Total == 0 {
		s.Fatalf("%s: %+v", verb, done)
	}
}

// put sets the usage back to s.
func (l *Ledger) put(s Sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.s = s
}

// requests measures the second request of each operation.
func (s *site) requests(m *Measured, group, resource string) {
	s.Helper()
	for _, r := range requests {
		path := strings.NewReplacer("{resourceID}", resource, "{groupID}", group).Replace(r.Path)
		for i := range 2 {
			s.Take()
			switch r.Path {
			case "/auth/login":
				s.logIn("")
			case "/auth/refresh":
				var out session
				s.ask(r.Method, path, map[string]string{"refreshToken": s.refresh}, &out)
				s.refresh = out.RefreshToken
			case "/resource-groups/{groupID}":
				s.ask(r.Method, path, map[string]any{"name": fmt.Sprint("Nightly ", i)}, nil)
			default:
				s.ask(r.Method, path, nil, nil)
			}
		}
		took := s.Take()
		m.Requests[r.Method+" "+r.Path] = s.linked(m.Bare, took)
	}
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
	m.Bytes["archived"] = int(size) / (4 * w.GroupSize)
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
	sum["action"] /= 4 * w.GroupSize
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
	return map[string]bool{"detailed metrics": strings.Contains(string(b), "MetricsEnabled: true")}
}
