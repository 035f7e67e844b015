//go:build !linux

package redistest

import "os/exec"

// tieToParent does nothing where no such tie exists: a killed test leaves its
// servers behind there.
func tieToParent(*exec.Cmd) {}

// frozen trusts the signal where the state of a process is hard to ask.
func (p *process) frozen() bool { return true }
