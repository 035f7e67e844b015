package plot

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	width, height = 760, 440
	left, right   = 64, 590 // of the field; behind it stand the names of the lines
	top, bottom   = 44, 390
	apart         = 18 // from one name to the next, at least
)

// style has a grey that is readable on white and on black, and for each line a
// colour of its own for either ground.
const style = `text{font:13px system-ui,sans-serif;fill:#57606a}.t{font-size:15px;font-weight:600}
.g{stroke:#8c959f;stroke-opacity:.35}.l{fill:none;stroke-width:2}
.c0{stroke:#0969da;fill:#0969da}.c1{stroke:#bc4c00;fill:#bc4c00}.c2{stroke:#1a7f37;fill:#1a7f37}
.c3{stroke:#8250df;fill:#8250df}.c4{stroke:#bf3989;fill:#bf3989}
.l{fill:none!important}text.n{stroke:none}
@media(prefers-color-scheme:dark){text{fill:#9198a1}
.c0{stroke:#58a6ff;fill:#58a6ff}.c1{stroke:#f0883e;fill:#f0883e}.c2{stroke:#3fb950;fill:#3fb950}
.c3{stroke:#bc8cff;fill:#bc8cff}.c4{stroke:#f778ba;fill:#f778ba}}`

// Point is a value and where it was measured, both above 0.
type Point struct{ X, Y float64 }

// Line is a name and what was measured under it, by rising X.
type Line struct {
	Name   string
	Points []Point
}

// Chart is a picture with up to five lines.
type Chart struct {
	Title, X, Y string
	Lines       []Line
}

// SVG writes the picture.
func (c Chart) SVG(w io.Writer) error {
	var b bytes.Buffer
	var xs, ys []float64
	for _, l := range c.Lines {
		for _, p := range l.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	x, y := newAxis(xs, left, right), newAxis(ys, bottom, top)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n<style>%s</style>\n",
		width, height, escaped(c.Title), style)
	fmt.Fprintf(&b, `<text class="t" x="%d" y="24">%s</text>`+"\n", left, escaped(c.Title))
	c.grid(&b, x, y)
	for i, l := range c.Lines {
		l.draw(&b, x, y, i)
	}
	c.names(&b, y)
	b.WriteString("</svg>\n")
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write a chart: %w", err)
	}
	return nil
}

func (c Chart) grid(b *bytes.Buffer, x, y axis) {
	for d := x.low; d <= x.high; d++ {
		at := left + float64(d-x.low)/float64(x.high-x.low)*(right-left)
		fmt.Fprintf(b, `<path class="g" d="M%.1f %dV%d"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			at, top, bottom, at, bottom+18, decade(d))
	}
	for d := y.low; d <= y.high; d++ {
		at := bottom + float64(d-y.low)/float64(y.high-y.low)*(top-bottom)
		fmt.Fprintf(b, `<path class="g" d="M%d %.1fH%d"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			left, at, right, left-8, at+4, decade(d))
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", (left+right)/2, bottom+40, escaped(c.X))
	fmt.Fprintf(b, `<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (top+bottom)/2, escaped(c.Y))
}

func (l Line) draw(b *bytes.Buffer, x, y axis, colour int) {
	var path strings.Builder
	for i, p := range l.Points {
		fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(i, 1)], x.at(p.X), y.at(p.Y))
		fmt.Fprintf(b, `<circle class="c%d" cx="%.1f" cy="%.1f" r="3"/>`, colour, x.at(p.X), y.at(p.Y))
	}
	fmt.Fprintf(b, `<path class="c%d l" d="%s"/>`+"\n", colour, path.String())
}

// names stand beside the field at the height of their lines' ends, each below
// the one before.
func (c Chart) names(b *bytes.Buffer, y axis) {
	type name struct {
		colour int
		at     float64
	}
	var names []name
	for i, l := range c.Lines {
		if len(l.Points) > 0 {
			names = append(names, name{i, y.at(l.Points[len(l.Points)-1].Y)})
		}
	}
	slices.SortFunc(names, func(a, b name) int { return cmp.Compare(a.at, b.at) })
	free := 0.0
	for _, n := range names {
		at := max(n.at, free)
		free = at + apart
		fmt.Fprintf(b, `<text class="n c%d" x="%d" y="%.1f">%s</text>`+"\n", n.colour, right+10, at+4, escaped(c.Lines[n.colour].Name))
	}
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
