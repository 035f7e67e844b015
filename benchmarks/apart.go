package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
)

// apart runs each part in a process of its own: a heap that has once held a
// million keys eleven times is no place to measure a middleware in.
func (c command) apart(w io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, p := range c.parts {
		child := exec.CommandContext(context.Background(), self, c.argsOf(p)...)
		child.Stdout, child.Stderr = w, os.Stderr
		if err := child.Run(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// argsOf are c's arguments for p alone: of a flag that is set twice, the last
// counts.
func (c command) argsOf(p part) []string {
	return append(slices.Clip(c.args), "-only", p.name)
}
