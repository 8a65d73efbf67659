package local

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// openForDemo opens a service whose demo is awaited, until the test ends.
func openForDemo(t *testing.T) *Service {
	t.Helper()
	s, err := Open(Options{
		Root: "../../..", Dir: t.TempDir(), NoSync: true, BaseURL: "http://127.0.0.1", AwaitDemo: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// health returns the status of GET /healthz, and its body.
func health(s *Service) (int, string) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", http.NoBody))
	return w.Code, w.Body.String()
}

func TestHealth_IsOKOnlyWhenTheDemoIsReady(t *testing.T) {
	s := openForDemo(t)
	if status, body := health(s); status != http.StatusServiceUnavailable ||
		!strings.HasPrefix(body, `{"error":{"message":"the demo is being made`) {
		t.Errorf("before the demo: %d %s", status, body)
	}
	srv := httptest.NewServer(s)
	defer srv.Close()
	if _, err := s.Demo(t.Context(), srv.URL); err != nil {
		t.Fatal(err)
	}
	org := s.demo.Load().org
	setStatus(t, s, org, inventory.AccountConnecting)
	if status, body := health(s); status != http.StatusServiceUnavailable || !strings.Contains(body, "discovered") {
		t.Errorf("while an account is discovered: %d %s", status, body)
	}
	setStatus(t, s, org, "connected")
	if status, body := health(s); status != http.StatusOK || !strings.HasPrefix(body, `{"data":{"status":"ok"`) {
		t.Errorf("behind the demo: %d %s", status, body)
	}
	setStatus(t, s, org, inventory.AccountConnecting) // a user connects another one
	if status, body := health(s); status != http.StatusOK {
		t.Errorf("later: %d %s", status, body)
	}
}

// setStatus sets the status of an account of the organization.
func setStatus(t *testing.T, s *Service, org, status string) {
	t.Helper()
	ctx := table.WithOrg(cloudaccounts.Declaration.As(t.Context()), org)
	page, err := s.Platform.Table.Query(ctx, table.Query{PK: inventory.AccountKey(org, "").PK, Limit: 1})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%d accounts, %v", len(page.Items), err)
	}
	if _, err = s.Platform.Table.Write(ctx, table.Update(page.Items[0].Key,
		[]table.Change{table.Set("status", status)}, table.Exists())); err != nil {
		t.Fatal(err)
	}
}

func TestHealth_NeedsNoDemoWithoutOne(t *testing.T) {
	s, err := Open(Options{Root: "../../..", Dir: t.TempDir(), NoSync: true, BaseURL: "http://127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if status, body := health(s); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}

func TestDemo_LeavesItsDataAloneWhenItsUserIsRefused(t *testing.T) {
	for name, path := range map[string]string{
		"at the log-in": "/auth/login", "in the organization": "/cloud-accounts",
	} {
		t.Run(name, func(t *testing.T) {
			s := openForDemo(t)
			refuses := false
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if refuses && r.URL.Path == path {
					w.WriteHeader(http.StatusForbidden)
					return
				}
				s.ServeHTTP(w, r)
			}))
			defer srv.Close()
			first, err := s.Demo(t.Context(), srv.URL)
			if err != nil {
				t.Fatal(err)
			}
			refuses = true
			again, err := s.Demo(t.Context(), srv.URL)
			if err != nil || again.Password != first.Password || again.UID != "" {
				t.Errorf("%+v, %v; want the password and no resource", again, err)
			}
			if status, body := health(s); status != http.StatusOK {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}

func TestDemo_NamesTheFileOfAnUnacceptablePassword(t *testing.T) {
	s := openForDemo(t)
	path := filepath.Join(s.dir, DemoPasswordFile)
	for _, password := range []string{"", "short"} {
		if err := os.WriteFile(path, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := s.Demo(t.Context(), "http://127.0.0.1")
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "delete the file") ||
			!strings.Contains(err.Error(), "12 to 128") {
			t.Errorf("%q: %v", password, err)
		}
	}
}

func TestDemoPassword_IsReadOnlyFromAFileOfItsOwner(t *testing.T) {
	dir := t.TempDir()
	first, err := DemoPassword(dir)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := DemoPassword(dir); err != nil || again != first {
		t.Errorf("%q, %v; want %q", again, err, first)
	}
	if err = os.Chmod(filepath.Join(dir, DemoPasswordFile), 0o644); err != nil { //nolint:gosec // that is the case
		t.Fatal(err)
	}
	if _, err = DemoPassword(dir); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others may read: %v", err)
	}
}
