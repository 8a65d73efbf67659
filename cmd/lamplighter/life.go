package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
)

// The files in the folder of the local service that record the end of the last service.
const (
	lifeFile  = "running.json" // is there while the service runs
	crashFile = "crash.log"    // Go's report of a fatal error
	oldCrash  = "crash.old.log"
)

// life is one run of the service, from its start to its end.
type life struct {
	dir   string
	begun bool
	// Kills is how many processes this machine has killed for want of memory, when the service began.
	Kills int64 `json:"kills"`
}

// begin records that the service runs, and reports whether the one before it died by its own fault. It did if Go
// reported a fatal error (a stack overflow, no memory, a panic), or if the machine has since killed a process for
// lack of memory. A kill from outside does not count, because it is no reason to give up the work of that service.
func (l *life) begin() (died bool, err error) {
	l.Kills = memoryKills()
	var before life
	b, err := os.ReadFile(l.path(lifeFile))
	if err == nil && json.Unmarshal(b, &before) == nil {
		info, err := os.Stat(l.path(crashFile))
		died = err == nil && info.Size() > 0 || before.Kills < l.Kills
	}
	if err = l.keepCrash(); err != nil {
		return false, err
	}
	l.begun = true
	if b, err = json.Marshal(l); err == nil {
		err = os.WriteFile(l.path(lifeFile), b, 0o600)
	}
	if err != nil {
		return false, fmt.Errorf("note that the service runs: %w", err)
	}
	return died, nil
}

func (l *life) path(name string) string { return filepath.Join(l.dir, name) }

// keepCrash keeps the report of the last crash, and opens the file for the next one.
func (l *life) keepCrash() error {
	if info, err := os.Stat(l.path(crashFile)); err == nil && info.Size() > 0 {
		if err = os.Rename(l.path(crashFile), l.path(oldCrash)); err != nil {
			return fmt.Errorf("keep the report of the last crash: %w", err)
		}
	}
	f, err := os.OpenFile(l.path(crashFile), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the file for reports of crashes: %w", err)
	}
	return errors.Join(debug.SetCrashOutput(f, debug.CrashOptions{}), f.Close())
}

// end records an orderly end of the service. It does nothing if begin was not called.
func (l *life) end() error {
	if !l.begun {
		return nil
	}
	err := debug.SetCrashOutput(nil, debug.CrashOptions{})
	return errors.Join(err, os.Remove(l.path(crashFile)), os.Remove(l.path(lifeFile)))
}

// memoryKills returns how many processes this machine has killed for lack of memory since it started, as Linux counts
// them. On other systems it returns 0.
func memoryKills() int64 {
	b, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(b) {
		if count, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
			n, _ := strconv.ParseInt(string(bytes.TrimSpace(count)), 10, 64)
			return n
		}
	}
	return 0
}
