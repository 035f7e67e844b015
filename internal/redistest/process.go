package redistest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// logName is the file in a process's directory that has what it prints.
const logName = "redis.log"

// process is a child that runs, or ran.
type process struct {
	*os.Process

	exited chan struct{} // closed when it is gone and reaped
}

// spawn starts a program in dir.
func spawn(dir, name string, args ...string) (*process, error) {
	log, err := os.OpenFile(filepath.Join(dir, logName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // The test's own directory.
	if err != nil {
		return nil, fmt.Errorf("redistest: %w", err)
	}
	defer func() { _ = log.Close() }() // The child has its own descriptor.
	// It outlives any context: tests stop it by name.
	cmd := exec.CommandContext(context.Background(), name, args...) //nolint:gosec // The package names the program.
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	tieToParent(cmd)

	p := &process{exited: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel signals the death of a parent when the thread that forked
		// ends, which in Go may be long before the process. This one lasts.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		p.Process = cmd.Process
		started <- err
		if err == nil {
			_ = cmd.Wait() // "signal: killed" is how most of them end.
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("redistest: start %s: %w", name, err)
	}
	return p, nil
}

// alive says whether it has not exited; a frozen one is alive.
func (p *process) alive() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// kill ends it at once, frozen or not, and returns when it is gone.
func (p *process) kill() error {
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("redistest: kill: %w", err)
	}
	<-p.exited
	return nil
}

// terminate asks it to end and returns when it is gone.
func (p *process) terminate(within time.Duration) error {
	if err := p.terminateSignal(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("redistest: terminate: %w", err)
	}
	select {
	case <-p.exited:
		return nil
	case <-time.After(within):
		return fmt.Errorf("redistest: still there %v after SIGTERM", within)
	}
}
