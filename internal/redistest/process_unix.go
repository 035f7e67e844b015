//go:build unix

package redistest

import "syscall"

//nolint:wrapcheck // The caller says what for.
func (p *process) terminateSignal() error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return p.Signal(syscall.SIGCONT) // A frozen process gets no signal but SIGKILL until it runs.
}

//nolint:wrapcheck // The caller says what for.
func (p *process) freeze() error { return p.Signal(syscall.SIGSTOP) }

//nolint:wrapcheck // The caller says what for.
func (p *process) thaw() error { return p.Signal(syscall.SIGCONT) }
