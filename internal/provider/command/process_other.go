//go:build !unix

package command

import "os/exec"

// ownGroup does nothing: without process groups only the program itself is
// ended, and what it started is not.
func ownGroup(*exec.Cmd) {}

func terminate(cmd *exec.Cmd) { kill(cmd) }

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func signaled(*exec.ExitError) string { return "" }
