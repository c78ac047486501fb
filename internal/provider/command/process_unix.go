//go:build unix

package command

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the program the leader of a new process group, so that its
// children can be reached with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks the whole group to stop.
func terminate(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// kill ends the whole group. The group's number outlives its leader for as long
// as it has members; systems give numbers out in turn, so that one without
// members is not another's already.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// signaled names the signal that ended a program, if one did.
func signaled(exit *exec.ExitError) string {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}
