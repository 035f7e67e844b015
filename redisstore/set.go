package redisstore

import (
	"cmp"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/tierlimit/tierlimit/core"
)

// set is what asking Redis about one set of limits needs again and again.
type set struct {
	limits  []core.Limit
	name    string
	lone    bool   // one GCRA window: the plain key and the cheapest script
	rates   []rate // of one or two GCRA windows, in the scripts' order; else none
	order   []int  // order[i] is where the i-th window of a script stands in the request
	numbers bool   // some window is no log
	logs    int
	args    []string // of windows.lua: three for each window

	charges [cachedCosts]atomic.Pointer[[]string]
}

// cachedCosts is how many costs from 1 on have their arguments kept.
const cachedCosts = 32

func newSet(limits []core.Limit) *set {
	s := &set{limits: slices.Clone(limits)}
	for i := range limits {
		s.order = append(s.order, i)
	}
	slices.SortStableFunc(s.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(limits[a].Algorithm, limits[b].Algorithm), cmp.Compare(limits[a].Window, limits[b].Window))
	})
	sorted := make([]core.Limit, 0, len(limits))
	for _, i := range s.order {
		sorted = append(sorted, limits[i])
		s.add(limits[i])
	}
	s.name = setName(sorted)
	if len(s.rates) != len(limits) || len(limits) > 2 {
		s.rates = nil
	}
	s.lone = len(s.rates) == 1
	return s
}

// add notes l, and appends its arguments for windows.lua.
func (s *set) add(l core.Limit) {
	kind, a, b := "g", micros(l.Emission()), micros(l.Tolerance())
	switch l.Algorithm {
	case core.FixedWindow:
		kind, a, b = "f", micros(l.Window), int64(l.Count)
	case core.SlidingLog:
		kind, a, b = "l", micros(l.Window), int64(l.Count)
		s.logs++
	case core.GCRA:
		s.rates = append(s.rates, rate{step: a, tau: b})
	}
	s.numbers = s.numbers || kind != "l"
	s.args = append(s.args, kind, strconv.FormatInt(max(a, 1), 10), strconv.FormatInt(max(b, 0), 10))
}

// keys are those of windows.lua: the main one holds the numbers, or a lone log.
func (s *set) keys(main string) []string {
	if s.logs == 0 || s.logs == 1 && !s.numbers {
		return []string{main}
	}
	keys := make([]string, 0, s.logs+1)
	if s.numbers {
		keys = append(keys, main)
	}
	for i := range s.logs {
		keys = append(keys, main+":"+strconv.Itoa(i+1))
	}
	return keys
}

// charge is the arguments of a charge by gcra.lua or gcra2.lua.
func (s *set) charge(cost int64) []string {
	if cost > cachedCosts {
		return s.chargeArgs(cost)
	}
	cached := &s.charges[cost-1]
	if args := cached.Load(); args != nil {
		return *args
	}
	args := s.chargeArgs(cost)
	cached.Store(&args)
	return args
}

func (s *set) chargeArgs(cost int64) []string {
	args := make([]string, 0, 4)
	for _, r := range s.rates {
		args = append(args, strconv.FormatInt(r.inTime(cost), 10))
	}
	for _, r := range s.rates {
		args = append(args, strconv.FormatInt(r.tau, 10))
	}
	return args
}

func micros(d time.Duration) int64 {
	return (int64(d)-1)/int64(time.Microsecond) + 1
}

// sets keeps what was made ready. Plans have few sets of limits; whoever makes
// up new ones all the time is served without the cache.
type sets struct {
	known  *xsync.Map[limitKey, *set]
	recent [16]atomic.Pointer[set] // asked first: comparing is cheaper than hashing
}

type limitKey [core.MaxLimits]core.Limit

const mostSets = 4096

func (s *sets) of(limits []core.Limit) *set {
	if len(limits) == 0 {
		return s.find(limits)
	}
	recent := &s.recent[uint(limits[0].Count)%uint(len(s.recent))]
	if was := recent.Load(); was != nil && slices.Equal(was.limits, limits) {
		return was
	}
	found := s.find(limits)
	recent.Store(found)
	return found
}

func (s *sets) find(limits []core.Limit) *set {
	var key limitKey
	copy(key[:], limits)
	if known, ok := s.known.Load(key); ok {
		return known
	}
	made := newSet(limits[:min(len(limits), core.MaxLimits)])
	if s.known.Size() < mostSets {
		s.known.Store(key, made)
	}
	return made
}
