package table_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
)

// crashVariable makes the test binary a process that writes until it is killed.
const crashVariable = "TABLE_CRASH_STORE"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashVariable); path != "" {
		writeForever(path)
		return
	}
	os.Exit(m.Run())
}

// writeForever runs 16 writers that put items, and prints each acknowledged key.
func writeForever(path string) {
	s, err := table.Open(path, table.Options{})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	said := make(chan string, 64)
	for w := range 16 {
		go func() {
			for i := 0; ; i++ {
				k := table.Key{PK: fmt.Sprintf("w%d-%d", os.Getpid(), w), SK: fmt.Sprintf("%06d", i)}
				if _, err := s.Write(context.Background(), crashWrite(k, i)); err != nil {
					said <- "error " + err.Error()
				}
				said <- k.PK + " " + k.SK
			}
		}()
	}
	for line := range said {
		fmt.Println(line)
	}
}

// crashWrite returns a put or an update.
func crashWrite(k table.Key, i int) table.Write {
	if i%2 == 0 {
		return table.Update(k, []table.Change{table.Add("n", int64(i))}, table.Absent())
	}
	return table.Put(table.Item{Key: k, Data: fmt.Appendf(nil, `{"n":%d,"pad":%q}`, i, strings.Repeat("x", i%700))},
		table.Absent())
}

func TestNoAcknowledgedWriteIsLostToKill(t *testing.T) {
	rounds := 5
	if testing.Short() || race.Enabled {
		rounds = 2
	}
	path := filepath.Join(t.TempDir(), "store.db")
	var acked []table.Key
	r := seed.Random(t)
	for range rounds {
		acked = append(acked, runAndKill(t, path, 200*time.Millisecond+time.Duration(r.IntN(400))*time.Millisecond)...)
	}
	if len(acked) < 100 {
		t.Fatalf("only %d writes were acknowledged", len(acked))
	}
	s, err := table.Open(path, table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	found, err := s.BatchGet(t.Context(), acked...)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range acked {
		if found[k].Data == nil {
			t.Errorf("%s %s was acknowledged and is lost", k.PK, k.SK)
		}
	}
	t.Logf("%d acknowledged writes are all there", len(acked))
}

// runAndKill runs writers on the store for some time, kills them, and returns the acknowledged keys.
func runAndKill(t *testing.T, path string, after time.Duration) []table.Key {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this test itself
	cmd.Env = append(os.Environ(), crashVariable+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) // the writers use the machine's clock
	var acked []table.Key
	for lines := bufio.NewScanner(out); lines.Scan(); {
		pk, sk, ok := strings.Cut(lines.Text(), " ")
		if !ok || pk == "error" || len(sk) < 6 {
			if pk == "error" {
				t.Error(lines.Text())
			}
			continue // the last line may be incomplete
		}
		acked = append(acked, table.Key{PK: pk, SK: sk})
	}
	_ = cmd.Wait() // it was killed
	return acked
}
