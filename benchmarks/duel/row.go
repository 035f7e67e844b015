package duel

// Row is what one candidate cost. Ns, Allocs and Bytes are medians over the
// rounds, per operation.
type Row struct {
	Name string
	Ns   float64
	// Ratio is the first candidate's time over this one's, in the same round,
	// as a median over the rounds, with its quartiles: below 1 the first is
	// faster. Of the first itself it is 1.
	Ratio, Low, High float64
	Allocs, Bytes    float64
	// Rounds are the times of an operation in ns, one for each round.
	Rounds []float64
}

func (l *lane) row(ours []float64) Row {
	ratios := Ratios(ours, l.ns)
	return Row{
		Name: l.Name, Ns: Quantile(l.ns, 0.5),
		Ratio: Quantile(ratios, 0.5), Low: Quantile(ratios, 0.25), High: Quantile(ratios, 0.75),
		Allocs: Quantile(l.allocs, 0.5), Bytes: Quantile(l.bytes, 0.5),
		Rounds: l.ns,
	}
}

// Best is the fastest of the rows after the first: the one with the highest
// ratio. It is the zero Row where there is none.
func Best(rows []Row) Row {
	var best Row
	for _, r := range rows[min(1, len(rows)):] {
		if r.Ratio > best.Ratio {
			best = r
		}
	}
	return best
}
