package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/shared/testkit/hostilebill"
	"lamplighter.dev/shared/testkit/race"
)

// TestServe_OutlivesHostileBills uploads files that once crashed the service to a service in a process of its own.
func TestServe_OutlivesHostileBills(t *testing.T) {
	race.SkipRacedBy(t, "cmd/lamplighter/e2e")
	t.Parallel()
	if testing.Short() {
		t.Skip("runs the command for some seconds: not with -short")
	}
	dir := t.TempDir()
	base := serveForTest(t, dir)
	c := &uploader{t: t, base: base}
	password, err := local.DemoPassword(dir)
	if err != nil {
		t.Fatal(err)
	}
	c.token = c.call("POST", "/auth/login",
		map[string]string{"email": local.DemoEmail, "password": password})["accessToken"].(string)
	for _, f := range hostilebill.Five() {
		status, message := c.upload(f.Content)
		if status != "failed" || !strings.Contains(message, f.Refused) {
			t.Errorf("%s: %s, %s", f.Name, status, message)
		}
	}
	sound := strings.Join(hostilebill.Columns, ",") + "\n1.5,1.5,1.5,USD,2026-10-01,2026-10-02,Usage\n"
	if status, message := c.upload([]byte(sound)); status != "succeeded" {
		t.Errorf("a sound file afterwards: %s, %s", status, message)
	}
}

// serveForTest runs the command in a process of its own, and returns the address of its API.
func serveForTest(t *testing.T, dir string) string {
	t.Helper()
	root := filepath.Join("..", "..")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "serve", //nolint:gosec // TestMain
		"-root", root, "-dir", dir, "-addr", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err == nil {
		cmd.Stderr = os.Stderr
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	said, b := "", make([]byte, 4096)
	for !strings.Contains(said, "Docs") {
		n, err := out.Read(b)
		if said += string(b[:n]); err != nil {
			t.Fatalf("the service did not start: %v\n%s", err, said)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	_, base, _ := strings.Cut(said, "API     ")
	base, _, _ = strings.Cut(base, "\n")
	return base
}

// uploader is a client that uploads bills.
type uploader struct {
	t           *testing.T
	base, token string
}

// call calls an operation and returns the data of its answer.
func (c *uploader) call(method, path string, body any) map[string]any {
	c.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, bytes.NewReader(b))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatalf("the service does not answer: %v", err)
	}
	defer res.Body.Close()
	var answer struct{ Data map[string]any }
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 != 2 || json.Unmarshal(raw, &answer) != nil {
		c.t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, raw)
	}
	return answer.Data
}

// upload uploads a file, and waits for the end of its import.
func (c *uploader) upload(content []byte) (status, message string) {
	c.t.Helper()
	started := c.call("POST", "/billing/imports",
		map[string]any{"vendor": "acme", "fileName": "bill.parquet", "bytes": len(content)})
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPut, started["uploadURL"].(string),
		bytes.NewReader(content))
	if err != nil {
		c.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		c.t.Fatalf("the upload failed: %v %v", res, err)
	}
	_ = res.Body.Close()
	for range 60 {
		got := c.call("GET", started["statusURL"].(string), nil)
		if status = got["status"].(string); status == "failed" || status == "succeeded" {
			return status, fmt.Sprint(got["errors"])
		}
		time.Sleep(time.Second) // the service lives on the machine's time
	}
	c.t.Fatal("the import did not end")
	return "", ""
}
