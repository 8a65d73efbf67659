package authorizer

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

// childVariable is the variable with the settings of a child process of TestTwelveProcessesShareAMinute.
const childVariable = "LAMPLIGHTER_TEST_AUTHORIZER"

type child struct {
	Remote table.Remote
	Keys   string
	Header string
	Now    time.Time
}

func (c child) platform(t *testing.T) *platform.Platform {
	t.Helper()
	clk := clock.NewManual(c.Now)
	keys := apitest.Value(token.OpenKeyFile(c.Keys, clk))(t)
	return &platform.Platform{
		Table: table.Fenced(table.NewDynamoDB(c.Remote)), Clock: clk,
		Log:    slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Tokens: token.NewJWTs(keys, "https://lamplighter.test", clk),
	}
}

// The exactness that the design promises for Lambda environments, with real processes and a real wire between them and
// the table. check 68.
func TestTwelveProcessesShareAMinute(t *testing.T) {
	if told := os.Getenv(childVariable); told != "" {
		runChild(t, told)
		return
	}
	c := child{
		Remote: tabletest.NewTable(t, tabletest.StartDynoxide(t)),
		Keys:   filepath.Join(t.TempDir(), "signing.pem"), Now: time.Now().UTC(),
	}
	c.Header = enterOrg(apitest.On(t, c.platform(t)), org)
	told := apitest.Value(json.Marshal(c))(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	allowed, denied, lost := 0, 0, 0
	for range 12 {
		wg.Go(func() {
			//nolint:noctx // ends with its 200 requests
			cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
			cmd.Env = append(os.Environ(), childVariable+"="+string(told))
			out, err := cmd.CombinedOutput()
			yes, no, found := parseCounts(string(out))
			mu.Lock()
			defer mu.Unlock()
			again := strings.Count(string(out), "the request is counted again") // on a very busy machine
			if err != nil || !found || strings.Count(string(out), "level=WARN") != again ||
				strings.Contains(string(out), "level=ERROR") {
				t.Errorf("%v: %s", err, out)
			}
			allowed, denied, lost = allowed+yes, denied+no, lost+again
		})
	}
	wg.Wait()
	if allowed > perMinute || allowed < perMinute-lost || allowed+denied != 12*200 {
		t.Errorf("%d allowed, %d denied, %d replies lost", allowed, denied, lost)
	}
}

func runChild(t *testing.T, told string) {
	t.Helper()
	var c child
	if err := json.Unmarshal([]byte(told), &c); err != nil {
		t.Fatal(err)
	}
	allowed, denied := sendStorm([]Function{Handler(c.platform(t))}, c.Header, 200)
	fmt.Printf("counted %d %d\n", allowed, denied)
}

func parseCounts(out string) (allowed, denied int, found bool) {
	for line := range strings.Lines(out) {
		if n, err := fmt.Sscanf(line, "counted %d %d", &allowed, &denied); err == nil && n == 2 {
			return allowed, denied, true
		}
	}
	return 0, 0, false
}
