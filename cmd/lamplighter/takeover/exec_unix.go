//go:build unix

package takeover

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Exec replaces this program by another in the same process. The new program inherits the listener and connections
// that Leave has kept. Exec returns only if that fails. args are the program's arguments, beginning with its name.
func (l *Listener) Exec(path string, args []string, left time.Time) error {
	f, err := l.legacy(left)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // exec has failed
	env := append(os.Environ(), variable+"="+strconv.Itoa(int(f.Fd())))
	if err = syscall.Exec(path, args, env); err != nil { //nolint:gosec // the program that the command line names
		return fmt.Errorf("start %s in the place of this program: %w", path, err)
	}
	return nil
}

// legacy writes the description of the kept connections to an unlinked file, which the successor inherits.
func (l *Listener) legacy(at time.Time) (*os.File, error) {
	left := legacy{Left: at}
	var err error
	if left.Listener, err = bequeath(l.TCPListener); err != nil {
		return nil, err
	}
	for _, c := range l.left {
		fd, err := bequeath(c.TCPConn)
		if err != nil {
			continue // the client has gone
		}
		left.Conns = append(left.Conns, inherit{fd, c.unread})
	}
	f, err := os.CreateTemp("", "lamplighter-takeover")
	if err != nil {
		return nil, fmt.Errorf("write what the successor inherits: %w", err)
	}
	err = errors.Join(os.Remove(f.Name()), json.NewEncoder(f).Encode(left))
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_SETFD, 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write what the successor inherits: %w", err), f.Close())
	}
	return f, nil
}

// bequeath lets the successor inherit the descriptor of a socket, and returns it.
func bequeath(c syscall.Conn) (uintptr, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("keep a socket open: %w", err)
	}
	var own uintptr
	err = raw.Control(func(fd uintptr) {
		own = fd
		_, err = unix.FcntlInt(fd, unix.F_SETFD, 0)
	})
	if err != nil {
		return 0, fmt.Errorf("keep a socket open: %w", err)
	}
	return own, nil
}
