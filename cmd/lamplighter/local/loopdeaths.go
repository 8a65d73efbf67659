package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"lamplighter.dev/shared/engine/workflow/asl"
	"lamplighter.dev/shared/foundation/clock"
)

// loopsFile is the file in the folder of the local service that records the loops that ran when a process died.
const loopsFile = "loops.json"

// acquittal is the process lifetime after which its loops are no longer blamed for earlier deaths.
const acquittal = time.Hour

// loopDeaths counts the deaths of the process while a loop ran, and pauses a loop that ran each of asl.MaxDeaths
// times. A loop repeats its work at each start, as a state machine resumes it, so it could end each process. No file
// is written before the first death, so that death is counted for no loop.
type loopDeaths struct {
	path  string
	clock clock.Clock
	began time.Time
	trial func(context.Context) (release func(), err error) // workflow.Embedded.Trial

	mu    sync.Mutex
	noted bool // the running loops are on record
	loops map[string]*loopRecord
}

// loopRecord is the number of deaths of a loop, and whether it is running.
type loopRecord struct {
	Deaths  int  `json:"deaths"`
	Running bool `json:"running,omitempty"`
}

// readLoopDeaths reads the record of the process before from the folder. If that process died, its death counts for
// the loops that were running. If not, only the paused loops stay on record.
func readLoopDeaths(dir string, died bool, c clock.Clock) (*loopDeaths, error) {
	d := &loopDeaths{
		path: filepath.Join(dir, loopsFile), clock: c, began: c.Now(), noted: died,
		loops: map[string]*loopRecord{},
	}
	b, err := os.ReadFile(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &d.loops)
	}
	if err != nil {
		return nil, fmt.Errorf(
			"read which loops ran when the service died (%s; delete it to begin anew): %w", d.path, err)
	}
	for name, l := range d.loops {
		switch {
		case died && l.Running:
			l.Deaths++
		case !died && l.Deaths < asl.MaxDeaths:
			delete(d.loops, name)
			continue
		}
		l.Running = false
	}
	return d, d.write()
}

// write writes the record to its file. The caller holds mu, or has the only reference to d.
func (d *loopDeaths) write() error {
	b, err := json.Marshal(d.loops)
	if err == nil {
		err = os.WriteFile(d.path, b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note which loops run: %w", err)
	}
	return nil
}

// isPaused reports whether the loop ended the process asl.MaxDeaths times.
func (d *loopDeaths) isPaused(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.loops[name]
	return l != nil && l.Deaths >= asl.MaxDeaths
}

// begin records that the loop runs, and returns the function that ends its turn. A loop that ran at all but one of
// its deaths runs only while no other suspect does.
func (d *loopDeaths) begin(ctx context.Context, name string) (end func() error, err error) {
	release := func() {}
	if d.isSuspect(name) {
		if release, err = d.trial(ctx); err != nil {
			return nil, err
		}
	}
	if err = d.note(name, true); err != nil {
		release()
		return nil, err
	}
	return func() error {
		defer release()
		return d.note(name, false)
	}, nil
}

func (d *loopDeaths) isSuspect(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.loops[name]
	return l != nil && l.Deaths == asl.MaxDeaths-1
}

// note records whether the loop runs. It does nothing if no process has died lately: after acquittal the deaths count
// for no loop of this process.
func (d *loopDeaths) note(name string, running bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.noted {
		return nil
	}
	if d.loops[name] == nil {
		d.loops[name] = &loopRecord{}
	}
	d.loops[name].Running = running
	if d.clock.Now().Sub(d.began) > acquittal {
		d.noted = false
		for name, l := range d.loops {
			if l.Deaths < asl.MaxDeaths {
				delete(d.loops, name)
			}
		}
	}
	return d.write()
}
