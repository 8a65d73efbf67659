package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// lifeMode is the environment variable that tells a child process of the test how to end.
const lifeMode = "LAMPLIGHTER_TEST_LIFE"

func overflow(n int) int {
	if n < 0 {
		return n
	}
	return overflow(n+1) + 1
}

// liveOnce begins a life in a folder, and ends it.
func liveOnce(t *testing.T, dir, mode string) {
	t.Helper()
	l := &life{dir: dir}
	if _, err := l.begin(); err != nil {
		t.Fatal(err)
	}
	switch mode {
	case "fatal error":
		debug.SetMaxStack(1 << 20)
		_ = overflow(0)
	case "panic":
		go panic("in a goroutine")
		select {}
	case "kill":
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		select {}
	}
	if err := l.end(); err != nil {
		t.Fatal(err)
	}
}

func TestLife_TellsHowTheOneBeforeEnded(t *testing.T) {
	if mode := os.Getenv(lifeMode); mode != "" {
		liveOnce(t, os.Getenv(lifeMode+"_DIR"), mode)
		return
	}
	for mode, died := range map[string]bool{"fatal error": true, "panic": true, "kill": false, "its own end": false} {
		t.Run(mode, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), os.Args[0], //nolint:gosec // this very binary
				"-test.run=^TestLife_TellsHowTheOneBeforeEnded$")
			cmd.Env = append(os.Environ(), lifeMode+"="+mode, lifeMode+"_DIR="+dir)
			if err := cmd.Run(); (err == nil) != (mode == "its own end") {
				t.Fatalf("the process ended with %v", err)
			}
			for _, want := range []bool{died, false} { // the second one finds that the first has ended
				l := &life{dir: dir}
				if died, err := l.begin(); err != nil || died != want {
					t.Errorf("died: %t, %v; want %t", died, err, want)
				}
				if err := l.end(); err != nil {
					t.Error(err)
				}
				// otherwise a later kill of any process of the machine would count as this one's
				if _, err := os.Stat(l.path(lifeFile)); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the end leaves %s: %v", lifeFile, err)
				}
			}
		})
	}
}

func TestLife_CountsKillsForWantOfMemory(t *testing.T) {
	dir := t.TempDir()
	b, err := json.Marshal(life{Kills: memoryKills() - 1})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, lifeFile), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	l := &life{dir: dir}
	if died, err := l.begin(); err != nil || !died {
		t.Errorf("a service that the machine killed for want of memory: died %t, %v", died, err)
	}
	if err := l.end(); err != nil {
		t.Error(err)
	}
}
