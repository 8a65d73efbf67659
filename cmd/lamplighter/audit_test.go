package main

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// exports are the files of a log of ten rows: two parts as NDJSON and CSV.
type exports struct{ first, second, sheet string }

// exported returns the exports under testdata, or makes them.
func exported(t *testing.T) exports {
	t.Helper()
	if *update {
		remade.Do(func() { remake(t) })
	}
	var x exports
	for name, to := range map[string]*string{
		"first.ndjson": &x.first, "second.ndjson": &x.second,
		"second.csv": &x.sheet,
	} {
		b, err := os.ReadFile(filepath.Join("testdata", "audit", name))
		if err != nil {
			t.Fatal(err)
		}
		*to = string(b)
	}
	return x
}

var remade sync.Once // the golden files show one log

func remake(t *testing.T) {
	t.Helper()
	c := clock.NewManual(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))
	store := tabletest.NewAt(t, c)
	l := audit.NewLog(audit.Options{Store: table.Fenced(store), Clock: c})
	for i := range 10 {
		row := audit.Row{
			Actor: "ada@example.com", UserID: "usr_1", Credential: "jwt", Action: "updateTeam", ResourceType: "teams",
			Category: audit.Platform,
			Method:   "PUT", Path: fmt.Sprint("/teams/team_", i), Status: 200, RequestID: fmt.Sprint("request-", i),
			IP: "192.0.2.1", Target: fmt.Sprint("=team_", i),
			Changes: audit.Changes{
				Before: map[string]any{"name": "a, \"b\"\n"},
				After:  map[string]any{"name": "ü<&>", "size": nil},
			},
		}
		if _, err := l.Append(t.Context(), "org_1", row); err != nil {
			t.Fatal(err)
		}
		c.Advance(90 * time.Second)
	}
	var all bytes.Buffer
	if _, err := l.Link(t.Context(), audit.PlaceOf("org_1"), func() bool { return false }); err != nil {
		t.Fatal(err)
	}
	if err := printChain(t.Context(), store, audit.PlaceOf("org_1"), &all); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSpace(all.String()), "\n")
	var sheet bytes.Buffer
	w := csv.NewWriter(&sheet)
	w.Write(audit.Columns)
	for _, line := range lines[6:] {
		row, err := audit.ParseRow([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		w.Write(row.Cells())
	}
	w.Flush()
	for name, text := range map[string]string{
		"first.ndjson": strings.Join(lines[:6], ""), "second.ndjson": strings.Join(lines[6:], "") + "\n",
		"second.csv": sheet.String(),
	} {
		if err := os.WriteFile(filepath.Join("testdata", "audit", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

var hash = regexp.MustCompile(`"hash":"([0-9a-f]{64})"`)

func TestAuditVerify(t *testing.T) {
	x := exported(t)
	lines := strings.SplitAfter(x.first, "\n")
	head := hash.FindStringSubmatch(lines[3])[1]
	cells := strings.SplitAfter(x.sheet, "\n")
	for name, c := range map[string]struct {
		files []string
		args  []string
	}{
		"two files":             {[]string{x.first, x.second}, nil},
		"one as CSV":            {[]string{x.first, x.sheet}, nil},
		"the second alone":      {[]string{x.second}, nil},
		"with an earlier head":  {[]string{x.first, x.second}, []string{"-head", head}},
		"that follow the head":  {[]string{strings.Join(lines[4:], "")}, []string{"-head", head}},
		"without the head":      {[]string{x.second}, []string{"-head", head}},
		"in the wrong order":    {[]string{x.second, x.first}, nil},
		"one twice":             {[]string{x.first, x.first}, nil},
		"a row altered":         {[]string{strings.Replace(x.first, "ada@", "eve@", 1)}, nil},
		"a row altered in CSV":  {[]string{strings.Replace(x.sheet, "ada@", "eve@", 1)}, nil},
		"a change altered":      {[]string{x.first, strings.Replace(x.second, "ü<&>", "ü<&", 1)}, nil},
		"a row left out":        {[]string{lines[0] + lines[2]}, nil},
		"a row left out of CSV": {[]string{cells[0] + cells[1] + strings.Join(cells[3:], "")}, nil},
		"two rows exchanged":    {[]string{lines[1] + lines[0]}, nil},
		"a member twice": {[]string{strings.Replace(x.first, `"actor":`,
			`"actor":"eve@example.com","actor":`, 1)}, nil},
		"a member more": {[]string{strings.Replace(x.first, `"actor":`,
			`"also":"eve@example.com","actor":`, 1)}, nil},
		"the beginning made up": {[]string{strings.Replace(lines[0], strings.Repeat("0", 64),
			strings.Repeat("1", 64), 1)}, nil},
		"no JSON":                {[]string{lines[0] + "{\n"}, nil},
		"neither NDJSON nor CSV": {[]string{"id,seq\n"}, nil},
		"CSV of too few cells":   {[]string{cells[0] + "a,b\n"}, nil},
		"nothing":                {[]string{""}, nil},
		"spread out, with its marks": {[]string{"\ufeff" + strings.ReplaceAll(strings.ReplaceAll(x.first, `":`, `": `),
			"\n", "\r\n\r\n")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir, args := t.TempDir(), append([]string{"verify"}, c.args...)
			for i, text := range c.files {
				path := filepath.Join(dir, fmt.Sprint("file", i+1))
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, path)
			}
			var out bytes.Buffer
			if err := runAudit(t.Context(), args, &out, io.Discard); err != nil {
				fmt.Fprintln(&out, "lamplighter:", err)
			}
			compare(t, filepath.Join("audit", strings.ReplaceAll(name, " ", "-")+".txt"),
				strings.ReplaceAll(out.String(), dir+string(filepath.Separator), ""))
		})
	}
}

// compare compares got with a golden file, or writes it.
func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; -update writes it anew. Got:\n%s", name, got)
	}
}

func TestAuditVerifyReadsTheStandardInput(t *testing.T) {
	x := exported(t)
	var out bytes.Buffer
	if err := auditVerify(t.Context(), []string{"-"}, strings.NewReader(x.first+x.second), &out); err != nil ||
		!strings.Contains(out.String(), "the chain holds") {
		t.Errorf("%s %v", &out, err)
	}
}

// TestAnAuditLogFromItsFirstRequestToItsProof makes changes at the gateway, exports their audit rows, and proves the
// rows with the tools of an operator: the interface and the program.
func TestAnAuditLogFromItsFirstRequestToItsProof(t *testing.T) {
	t.Parallel()
	s := testenv.Start(t, testenv.Setup{})
	owner := s.NewOwner("auditor@example.com")
	for i := range 5 {
		owner.Call(http.MethodPost, "/resource-groups", map[string]any{"name": fmt.Sprint("group ", i)}, nil)
	}
	owner.CallRefused(http.StatusConflict, http.MethodPost, "/resource-groups", map[string]any{"name": "group 1"})
	s.NewClient().CallRefused(http.StatusUnauthorized, http.MethodPost, "/auth/login",
		map[string]any{"email": "nobody@example.com", "password": "not the password"})
	var verdict audit.Verdict
	owner.Call(http.MethodGet, "/audit-logs/verify", nil, &verdict)
	if !verdict.Holds || !verdict.Complete || verdict.Rows < 6 {
		t.Fatalf("%+v", verdict)
	}
	dir := t.TempDir()
	var files []string
	for _, format := range []string{"ndjson", "csv"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/audit-logs/export?format="+format,
			http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+owner.Token)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatal(res.Status, string(body), err)
		}
		files = append(files, filepath.Join(dir, "export."+format))
		if err = os.WriteFile(files[len(files)-1], body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.Stop()
	straight := printed(t, "export", "-dir", s.Setup.Dir, "-org", owner.Org)
	if got, err := os.ReadFile(files[0]); err != nil || string(got) != straight {
		t.Errorf("the store has\n%s\nand the interface gave\n%s", straight, got)
	}
	if !strings.HasPrefix(straight, `{"action":"createOrganisation","actor":"auditor@example.com"`) {
		t.Errorf("the record does not begin with the organization itself: %.300s", straight)
	}
	for _, file := range files {
		want := fmt.Sprintf("rows           %d, numbered 1 to %d\n", verdict.Rows, verdict.LastSeq)
		if got := printed(t, "verify", "-head", verdict.Hash, file); !strings.Contains(got, want) ||
			!strings.HasSuffix(got, "the chain holds\n") {
			t.Errorf("%s: %s", file, got)
		}
	}
	var chains []string
	for n := range 16 {
		chains = append(chains, printed(t, "export", "-dir", s.Setup.Dir, "-system", strconv.Itoa(n)))
	}
	system := strings.Join(chains, "")
	if !strings.Contains(system, `"action":"logIn"`) || !strings.Contains(system, `"status":401`) ||
		strings.Contains(system+straight, "not the password") {
		t.Errorf("the installation has on record %s", system)
	}
}

// printed runs `lamplighter audit` and returns its output.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), append([]string{"audit"}, args...), &out, io.Discard); err != nil {
		t.Fatalf("audit %v: %v", args, err)
	}
	return out.String()
}

func TestAuditSaysWhatItWants(t *testing.T) {
	dir := t.TempDir()
	for want, args := range map[string][]string{
		"has no command":                     {"prove"},
		"wants files":                        {"verify"},
		"no such file":                       {"verify", filepath.Join(dir, "none")},
		"either -org ID or -system N":        {"export", "-dir", dir},
		"from 0 to 15":                       {"export", "-dir", dir, "-system", "16"},
		"there is no store in":               {"export", "-dir", dir, "-org", "org_1"},
		"flag provided but not defined: -no": {"export", "-no"},
	} {
		if err := runAudit(t.Context(), args, io.Discard, io.Discard); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
	for _, args := range [][]string{nil, {"help"}, {"verify", "-help"}, {"export", "-h"}} {
		if err := runAudit(t.Context(), args, io.Discard, io.Discard); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestAnExportDoesNotSpeakToTheTerminal(t *testing.T) {
	x := exported(t)
	path := filepath.Join(t.TempDir(), "hostile")
	hostile := strings.Replace(x.first, `"id":"aud_`, `"id":"\u001b[2J\nthe chain holds\naud_`, 1)
	if err := os.WriteFile(path, []byte(hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	err := runAudit(t.Context(), []string{"verify", path}, io.Discard, io.Discard)
	if err == nil || strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Errorf("%q", fmt.Sprint(err))
	}
}

// The verification tells a kept hash whose row was removed by a restore from one whose row was rewritten.
func TestAuditVerify_TellsARestoreFromALogThatWasRewritten(t *testing.T) {
	c := clock.NewManual(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))
	store := tabletest.NewAt(t, c)
	leave := func(epoch time.Time, n int) {
		l := audit.NewLog(audit.Options{Store: table.Fenced(store), Clock: c, Epoch: epoch})
		for range n {
			if _, err := l.Append(t.Context(), "org_1", audit.Row{Action: "updateTeam"}); err != nil {
				t.Fatal(err)
			}
			c.Advance(time.Second)
		}
		if _, err := l.Link(t.Context(), audit.PlaceOf("org_1"), func() bool { return false }); err != nil {
			t.Fatal(err)
		}
	}
	leave(time.Time{}, 3)
	leave(c.Now(), 2)
	var text bytes.Buffer
	if err := printChain(t.Context(), store, audit.PlaceOf("org_1"), &text); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "audit.ndjson")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := printed(t, "verify", file); !strings.Contains(got,
		"restored       before row 4, of 2026-03-02T12:00:0") || !strings.Contains(got, "numbered 1 to 6") {
		t.Error(got)
	}
	kept := strings.Repeat("e", 64)
	for row, want := range map[string]string{
		"5": "the log says why: the service was restored before row 4",
		"2": "was rewritten", "0": "with -row",
	} {
		err := run(t.Context(), []string{"audit", "verify", "-head", kept, "-row", row, file}, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) || row == "2" &&
			strings.Contains(err.Error(), "restored") {
			t.Errorf("-row %s: %v", row, err)
		}
	}
}
