//go:build unix

package takeover

import (
	"os/exec"
	"syscall"
)

// inGroup makes the end of cmd's context kill all processes that cmd starts.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}
