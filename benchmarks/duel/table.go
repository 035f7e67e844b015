package duel

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Table is printed as Markdown. Every row has as many cells as Head.
type Table struct {
	Head []string
	Rows [][]string
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Write prints the table and an empty line. The first column stands to the
// left, the others to the right.
func (t *Table) Write(w io.Writer) error {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.Head)
	b.WriteString("|---" + strings.Repeat("|---:", max(0, len(t.Head)-1)) + "|\n")
	for _, row := range t.Rows {
		line(row)
	}
	b.WriteByte('\n')
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write a table: %w", err)
	}
	return nil
}

// Write prints the rows of a race as a [Table].
func Write(w io.Writer, rows []Row) error {
	t := Table{Head: []string{"", "ns", "ours / theirs", "quartiles", "allocs", "B"}}
	for _, r := range rows {
		t.Add(r.Name, Number(r.Ns), Ratio(r.Ratio), Ratio(r.Low)+" to "+Ratio(r.High), Number(r.Allocs), Number(r.Bytes))
	}
	return t.Write(w)
}

// Number is v with three digits that count, or as many as stand before the
// point, and no more than two behind it: 0.25, 98.7, 1234.
func Number(v float64) string {
	digits := 2
	switch a := math.Abs(v); {
	case a >= 99.95:
		digits = 0
	case a >= 9.995:
		digits = 1
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

// Ratio is v with two digits behind the point.
func Ratio(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
