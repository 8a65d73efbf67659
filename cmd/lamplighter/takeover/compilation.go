package takeover

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// Compilation is a command that compiles the complete program. For each package to compile it prints a line "stale
// <package> <folder> <file>…", and after each compiled one "compiled: <n>, <package>". All other output is about a
// failure.
type Compilation struct {
	clock  clock.Clock
	began  time.Time
	failed chan struct{}
	done   chan struct{} // closed when the program is there

	mu     sync.Mutex
	sizes  map[string]int64 // of the packages that are left, in bytes of source
	listed bool             // sizes is known
	left   int64            // the sum of sizes
	ready  int64            // bytes that are compiled
	said   []string         // the last lines about a failure
	err    error
}

// StartCompilation starts the command in a shell. The command is killed when ctx ends.
func StartCompilation(ctx context.Context, command string, clk clock.Clock) (*Compilation, error) {
	c := newCompilation(clk)
	cmd := exec.CommandContext(ctx, "sh", "-c", command) //nolint:gosec // the command line names it
	inGroup(cmd)
	out, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("compile the complete program: %w", err)
	}
	cmd.Stdout, cmd.Stderr = in, in
	err = cmd.Start()
	if closing := in.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compile the complete program: %w", err), out.Close())
	}
	go func() {
		c.readLines(out)
		_ = out.Close() // it is read
		c.finish(cmd.Wait())
	}()
	return c, nil
}

func newCompilation(clk clock.Clock) *Compilation {
	return &Compilation{
		clock: clk, began: clk.Now(), failed: make(chan struct{}), done: make(chan struct{}), sizes: map[string]int64{},
		left: usualBytes,
	}
}

// readLines reads the output to its end.
func (c *Compilation) readLines(out io.Reader) {
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			c.follow(line)
		}
		if err != nil {
			return
		}
	}
}

// maxSaid is the largest number of kept output lines about a failure.
const maxSaid = 40

func (c *Compilation) follow(line string) {
	words := strings.Fields(line)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case words[0] == "stale" && len(words) > 3:
		c.expect(words[1], sourceBytes(words[2], words[3:]))
	case words[0] == "compiled:":
		c.note(words[len(words)-1])
	case words[0] == "downloading" || strings.HasPrefix(line, "go: downloading ") ||
		strings.HasPrefix(line, "Compiling "):
	default:
		c.said = append(c.said, line)
		c.said = c.said[max(len(c.said)-maxSaid, 0):]
	}
}

// expect records a package to compile. The caller holds mu.
func (c *Compilation) expect(path string, size int64) {
	if !c.listed {
		c.listed, c.left = true, 0
	}
	c.sizes[path], c.left = size, c.left+size
}

// note records a compiled package. The caller holds mu.
func (c *Compilation) note(path string) {
	size := c.sizes[path]
	delete(c.sizes, path)
	c.left, c.ready = c.left-size, c.ready+size
}

// sourceBytes returns the size of a package's files in bytes.
func sourceBytes(dir string, files []string) (n int64) {
	for _, f := range files {
		if info, err := os.Stat(filepath.Join(dir, f)); err == nil {
			n += info.Size()
		}
	}
	return n
}

func (c *Compilation) finish(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		close(c.done)
		return
	}
	c.err = fmt.Errorf("%s: %w", c.firstError(), err)
	close(c.failed)
}

// firstError returns the first line of output that describes the error. The caller holds mu.
func (c *Compilation) firstError() string {
	i := slices.IndexFunc(c.said, func(line string) bool { return !strings.HasPrefix(line, "#") })
	if i < 0 {
		return "it said nothing"
	}
	return c.said[i]
}

// Done returns a channel that is closed when the program is compiled.
func (c *Compilation) Done() <-chan struct{} { return c.done }

// Failed returns a channel that is closed when the compilation has failed.
func (c *Compilation) Failed() <-chan struct{} { return c.failed }

// Output returns the command's output about a failure.
func (c *Compilation) Output() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.said, "\n")
}

// The estimate of the remaining time uses the speed so far. It begins with the speed of two quiet cores: usualSpeed
// bytes of source a second count for the first usualTime. Linking adds linking to the time. Until the packages are
// listed, perhaps after a download, they are assumed to have usualBytes.
const (
	usualBytes = 70_000_000
	usualSpeed = 1_000_000
	usualTime  = 15 * time.Second
	linking    = 6 * time.Second
)

// Left returns an estimate of the remaining time, or the error of a failed compilation.
func (c *Compilation) Left() (time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	taken := (c.clock.Now().Sub(c.began) + usualTime).Seconds()
	speed := (float64(c.ready) + usualSpeed*usualTime.Seconds()) / taken
	return time.Duration(float64(c.left)/speed*float64(time.Second)) + linking, nil
}
