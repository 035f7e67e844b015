package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
)

// command is what the flags say.
type command struct {
	options duel.Options
	parts   []part
	svg     string
	readme  string // into which the tables go as well; "" for none
	args    []string
}

func main() {
	c, err := parse(os.Args[1:])
	if err == nil {
		err = c.run(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1)
	}
}

func parse(args []string) (command, error) {
	var c command
	flags := flag.NewFlagSet("benchmarks", flag.ExitOnError)
	only := flags.String("only", "", "the `parts` to run, by commas: "+partNames()+"; all of them by default")
	flags.IntVar(&c.options.Rounds, "rounds", 51, "in how many rounds each candidate has its turn")
	flags.DurationVar(&c.options.Slice, "slice", 10*time.Millisecond, "how long a turn takes, about")
	flags.Uint64Var(&c.options.Seed, "seed", 1, "of the order of the turns")
	flags.BoolVar(&c.options.Quick, "quick", false, "a smoke run: small worlds, 3 short rounds, figures that mean nothing")
	flags.StringVar(&c.svg, "svg", "", "the `file` for the plot of how costs grow")
	write := flags.Bool("write", false, "put the tables into README.md as well")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	if flags.NArg() > 0 {
		return c, fmt.Errorf("unexpected %q: all is told by flags", flags.Arg(0))
	}
	if c.options.Quick {
		c.options.Rounds, c.options.Slice = 3, time.Millisecond
	}
	if *write {
		c.readme = "README.md"
	}
	var err error
	c.parts, err = choose(*only)
	c.args = args
	return c, err
}

// run prints each part as soon as it has ended.
func (c command) run(w io.Writer) error {
	if len(c.parts) > 1 {
		return c.apart(w)
	}
	for _, p := range c.parts {
		text, err := p.text(c)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if _, err := fmt.Fprintf(w, "## %s\n\n%s", p.name, text); err != nil {
			return err
		}
		if c.readme != "" {
			if err := rewrite(c.readme, p.name, text); err != nil {
				return err
			}
		}
	}
	return nil
}
