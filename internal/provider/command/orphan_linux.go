package command

import (
	"os/exec"
	"runtime"
	"syscall"
)

// endWithUs has the system kill the program when this process is gone, however
// that came about. The system watches the thread that starts the program, so
// the goroutine that calls it must start the program, wait for its end, and
// then call release.
func endWithUs(cmd *exec.Cmd) (release func()) {
	runtime.LockOSThread()
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return runtime.UnlockOSThread
}
