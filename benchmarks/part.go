package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tierlimit/tierlimit/benchmarks/accuracy"
	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/benchmarks/growth"
	"github.com/tierlimit/tierlimit/benchmarks/memory"
	"github.com/tierlimit/tierlimit/benchmarks/overredis"
	"github.com/tierlimit/tierlimit/benchmarks/web"
)

// part is one chapter of the tables.
type part struct {
	name   string
	tables func(o duel.Options, w io.Writer) error
}

func parts() []part {
	return []part{
		{"memory", memory.Tables},
		{"web", web.Tables},
		{"redis", overredis.Tables},
		{"accuracy", accuracy.Tables},
		{"growth", nil}, // see text
	}
}

func partNames() string {
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return strings.Join(names, ",")
}

// choose are the parts named, in the order of parts; all of them for "".
func choose(only string) ([]part, error) {
	if only == "" {
		return parts(), nil
	}
	wanted := map[string]bool{}
	for name := range strings.SplitSeq(only, ",") {
		wanted[strings.TrimSpace(name)] = true
	}
	var chosen []part
	for _, p := range parts() {
		if wanted[p.name] {
			chosen = append(chosen, p)
			delete(wanted, p.name)
		}
	}
	for name := range wanted {
		return nil, fmt.Errorf("no part %q, there are %s", name, partNames())
	}
	return chosen, nil
}

// text runs the part.
func (p part) text(c command) (string, error) {
	var b strings.Builder
	if p.tables != nil {
		err := p.tables(c.options, &b)
		return b.String(), err
	}
	curves, err := growth.Measure(c.options)
	if err != nil {
		return "", err
	}
	if err := curves.Write(&b); err != nil {
		return "", err
	}
	return b.String(), draw(curves, c.svg)
}

// draw writes the plot, if it has a file to go to.
func draw(curves growth.Curves, name string) error {
	if name == "" {
		return nil
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := curves.Chart().SVG(file); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
