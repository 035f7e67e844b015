package memory

import (
	"fmt"
	"io"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/benchmarks/rival"
)

// Tables runs every race of this package and prints what came of it, the
// targets last.
func Tables(o duel.Options, w io.Writer) error {
	keys := inserted(million(o.Quick))
	var found findings
	found.allowed = hot("hot key, allowed", rival.Endless).run(o)
	found.refused = hot("hot key, refused", rival.Once).run(o)
	found.many = scenario{
		name: fmt.Sprintf("%d keys, allowed", len(keys)), limit: rival.Lasting,
		known: keys, asked: asked(keys, o.Seed),
	}.run(o)
	found.many.scenario = scenario{name: found.many.name} // a million strings that no collection has to visit
	found.inserts = insert(o, keys)
	found.weights = weigh(keys)
	found.stalls = stalls(o, keys)
	for _, r := range []result{found.allowed, found.refused, found.many} {
		t := r.table()
		if err := t.Write(w); err != nil {
			return err
		}
	}
	t := found.table()
	if err := t.Write(w); err != nil {
		return err
	}
	return duel.WriteTargets(w, found.targets())
}

// findings are all that was measured, each in the order of rival.All.
type findings struct {
	allowed, refused, many result
	inserts                []duel.Row
	weights                []weight
	stalls                 []stall
}

// table is what keeping the keys costs.
func (f findings) table() duel.Table {
	t := duel.Table{Head: []string{
		"the keys themselves", "insert ns", "ours / theirs", "heap B a key", "full GC, ms more",
		"longest check ms", "while all run out", "heap freed then",
	}}
	for i, r := range f.inserts {
		rests, sweeps, freed := "", "never drops", ""
		if s := f.stalls[i]; s.dropped {
			rests, sweeps, freed = duel.Number(s.rests), duel.Number(s.sweeps), duel.Number(100*s.freed)+" %"
		}
		t.Add(r.Name, duel.Number(r.Ns), ratio(r), duel.Number(f.weights[i].bytes), duel.Number(milliseconds(f.weights[i].more)),
			rests, sweeps, freed)
	}
	return t
}
