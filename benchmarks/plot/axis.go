package plot

import (
	"math"
	"strconv"
)

// axis maps values from 10^low to 10^high onto a length in pixels.
type axis struct {
	low, high int
	from, to  float64
}

// newAxis spans whole decades, at least one, around all values above 0.
func newAxis(values []float64, from, to float64) axis {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if v > 0 {
			low, high = min(low, math.Log10(v)), max(high, math.Log10(v))
		}
	}
	if low > high {
		low, high = 0, 1
	}
	a := axis{low: int(math.Floor(low)), high: int(math.Ceil(high)), from: from, to: to}
	if a.low == a.high {
		a.high++
	}
	return a
}

// at is the place of v.
func (a axis) at(v float64) float64 {
	share := (math.Log10(v) - float64(a.low)) / float64(a.high-a.low)
	return a.from + share*(a.to-a.from)
}

// decade names 10^d: 0.1, 10, 100k, 10M.
func decade(d int) string {
	switch {
	case d >= 6:
		return strconv.Itoa(int(math.Pow10(d-6))) + "M"
	case d >= 4:
		return strconv.Itoa(int(math.Pow10(d-3))) + "k"
	case d >= 0:
		return strconv.Itoa(int(math.Pow10(d)))
	}
	return strconv.FormatFloat(math.Pow10(d), 'f', -d, 64)
}
