package growth

import (
	"io"
	"strconv"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/benchmarks/plot"
)

// Curves are all that grows.
type Curves struct {
	keys, windows, tiers curve
	admitted, refused    curve // by the limit of a sliding log
}

// Measure runs every race of this package.
func Measure(o duel.Options) (Curves, error) {
	o.Rounds = min(o.Rounds, 51) // the limits are for no more
	var c Curves
	var err error
	c.keys = keys(o)
	c.windows = windows(o)
	c.tiers, err = tiers(o)
	c.admitted, c.refused = logs(o)
	return c, err
}

// Tables measures and prints.
func Tables(o duel.Options, w io.Writer) error {
	c, err := Measure(o)
	if err != nil {
		return err
	}
	return c.Write(w)
}

// Write prints a table for each curve.
func (c Curves) Write(w io.Writer) error {
	if err := c.keys.write(w, "keys in memory", "heap B a key"); err != nil {
		return err
	}
	if err := c.windows.write(w, "windows a plan", "heap B a key"); err != nil {
		return err
	}
	if err := c.tiers.write(w, "tiers, Limiter.Take", "heap B, limiter and a thousand accounts"); err != nil {
		return err
	}
	t := duel.Table{Head: []string{"units in a sliding log", "admitted ns", "refused ns", "allocs", "heap B a key"}}
	for i, s := range c.admitted {
		t.Add(strconv.Itoa(s.size), duel.Number(s.ns), duel.Number(c.refused[i].ns), duel.Number(s.allocs), duel.Number(s.bytes))
	}
	return t.Write(w)
}

func (c curve) write(w io.Writer, size, bytes string) error {
	t := duel.Table{Head: []string{size, "ns", "allocs", bytes}}
	for _, s := range c {
		t.Add(strconv.Itoa(s.size), duel.Number(s.ns), duel.Number(s.allocs), duel.Number(s.bytes))
	}
	return t.Write(w)
}

// Chart is the picture of all curves.
func (c Curves) Chart() plot.Chart {
	return plot.Chart{
		Title: "What a check costs as what the limiter holds grows",
		X:     "how many", Y: "ns a check",
		Lines: []plot.Line{
			c.keys.line("keys"),
			c.windows.line("windows a plan"),
			c.tiers.line("tiers (Limiter)"),
			c.admitted.line("sliding log, admitted"),
			c.refused.line("sliding log, refused"),
		},
	}
}
