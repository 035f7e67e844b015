package core_test

import (
	"math/big"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// model is one window, written as plainly as the rules are: no clamps, no
// rings, one entry for each unit. view mends what stands for the moment now
// and tells whether that changed it; write keeps it.
type model interface {
	view(now int64) (mended bool)
	write()
	wait(cost int64) int64 // 0: it fits
	force(cost int64) (taken int64)
	giveBack(units int64)
	level() (remaining, reset int64)
}

func newModel(l core.Limit) model {
	window := l.Window.Microseconds()
	switch l.Algorithm {
	case core.FixedWindow:
		return &fixedModel{count: int64(l.Count), window: window}
	case core.SlidingLog:
		return &logModel{count: int64(l.Count), window: window}
	default:
		step := big.NewInt((window + int64(l.Count) - 1) / int64(l.Count))
		return &gcraModel{step: step, tau: new(big.Int).Mul(step, big.NewInt(int64(l.Burst)))}
	}
}

const modelJitter = 1_000_000

// gcraModel is in big.Int, which cannot wrap.
type gcraModel struct {
	step, tau   *big.Int
	stored      *big.Int // nil: fresh
	now, tat    *big.Int
	lastAllowed *big.Int // now + tau
}

func (m *gcraModel) view(now int64) bool {
	m.now = big.NewInt(now)
	m.tat = m.now
	if m.stored != nil && m.stored.Cmp(m.now) > 0 {
		m.tat = m.stored
	}
	m.lastAllowed = new(big.Int).Add(m.now, m.tau)
	if ahead := new(big.Int).Sub(m.tat, m.lastAllowed); ahead.Cmp(big.NewInt(modelJitter)) > 0 {
		m.tat = m.lastAllowed
		return true
	}
	return false
}

func (m *gcraModel) write() { m.stored = m.tat }

func (m *gcraModel) after(cost int64) *big.Int {
	return new(big.Int).Add(m.tat, new(big.Int).Mul(m.step, big.NewInt(cost)))
}

func (m *gcraModel) wait(cost int64) int64 {
	if d := new(big.Int).Sub(m.after(cost), m.lastAllowed); cost > 0 && d.Sign() > 0 {
		if !d.IsInt64() {
			return 1<<63 - 1
		}
		return d.Int64()
	}
	return 0
}

func (m *gcraModel) force(cost int64) int64 {
	room := new(big.Int).Sub(m.lastAllowed, m.tat)
	taken := max(new(big.Int).Div(room, m.step).Int64(), 0)
	next := m.after(cost)
	if next.Cmp(m.lastAllowed) > 0 {
		next = m.lastAllowed
	}
	if next.Cmp(m.tat) > 0 {
		m.tat = next
	}
	return min(taken, cost)
}

func (m *gcraModel) giveBack(units int64) {
	m.tat = m.after(-units)
	if m.tat.Cmp(m.now) < 0 {
		m.tat = m.now
	}
}

func (m *gcraModel) level() (remaining, reset int64) {
	debt := new(big.Int).Sub(m.tat, m.now)
	room := new(big.Int).Sub(m.tau, debt)
	if room.Sign() < 0 {
		room = new(big.Int)
	}
	return room.Div(room, m.step).Int64(), debt.Int64()
}

// fixedModel counts what was used since when.
type fixedModel struct {
	count, window           int64
	storedStart, storedUsed int64
	now, start, used        int64
}

func (m *fixedModel) view(now int64) bool {
	m.now, m.start, m.used = now, now-((now%m.window)+m.window)%m.window, 0
	switch {
	case m.storedStart < m.start: // gone
	case m.storedStart-modelJitter <= now:
		m.start, m.used = m.storedStart, m.storedUsed
	default:
		m.used = m.storedUsed
		return true
	}
	return false
}

func (m *fixedModel) write() { m.storedStart, m.storedUsed = m.start, m.used }

func (m *fixedModel) wait(cost int64) int64 {
	if cost > 0 && m.used+cost > m.count {
		return m.start + m.window - m.now
	}
	return 0
}

func (m *fixedModel) force(cost int64) int64 {
	taken := max(min(cost, m.count-m.used), 0)
	m.used += taken
	return taken
}

func (m *fixedModel) giveBack(units int64) { m.used = max(m.used-units, 0) }

func (m *fixedModel) level() (remaining, reset int64) {
	if m.used > 0 {
		reset = m.start + m.window - m.now
	}
	return max(m.count-m.used, 0), reset
}

// logModel keeps the moment of every single unit.
type logModel struct {
	count, window int64
	stored        []int64
	now           int64
	times         []int64
}

func (m *logModel) view(now int64) bool {
	m.now, m.times = now, nil
	for _, at := range m.stored {
		if at+m.window > now {
			m.times = append(m.times, at)
		}
	}
	if n := len(m.times); n == 0 || m.times[n-1] <= now+modelJitter {
		return false
	}
	for i := range m.times {
		m.times[i] = min(m.times[i], now)
	}
	return true
}

func (m *logModel) write() { m.stored = m.times }

func (m *logModel) wait(cost int64) int64 {
	over := int64(len(m.times)) + cost - m.count
	switch {
	case cost <= 0 || over <= 0:
		return 0
	case cost > m.count:
		return m.window // any positive wait: it never fits
	}
	return m.times[over-1] + m.window - m.now
}

func (m *logModel) force(cost int64) int64 {
	taken := max(min(cost, m.count-int64(len(m.times))), 0)
	at := m.now
	if n := len(m.times); n > 0 {
		at = max(at, m.times[n-1])
	}
	for range taken {
		m.times = append(m.times, at)
	}
	return taken
}

func (m *logModel) giveBack(units int64) {
	m.times = m.times[:max(int64(len(m.times))-units, 0)]
}

func (m *logModel) level() (remaining, reset int64) {
	n := int64(len(m.times))
	if n > 0 {
		reset = m.times[n-1] + m.window - m.now
	}
	return max(m.count-n, 0), reset
}

// models is a whole bucket.
type models struct {
	windows []model
	written bool // a fresh bucket has nothing to give back, so it stays fresh
}

func newModels(limits []core.Limit) *models {
	ms := &models{}
	for _, l := range limits {
		ms.windows = append(ms.windows, newModel(l))
	}
	return ms
}

// apply is what core.Apply has to answer.
func (ms *models) apply(at time.Time, cost int64, mode core.Mode) core.Result {
	res := core.Result{Allowed: true, Now: at}
	mended := make([]bool, len(ms.windows))
	for i, m := range ms.windows {
		mended[i] = m.view(at.UnixMicro())
		if wait := m.wait(cost); mode != core.Force && wait > 0 {
			res.Allowed = false
			res.Levels[i].RetryAfter = span(wait)
		}
	}
	switch {
	case mode == core.Look || mode == core.Charge && cost == 0:
	case mode == core.Force && cost <= 0 && !ms.written:
		res.Charged = int(cost)
	case mode == core.Force && cost < 0:
		res.Charged = int(cost)
		for _, m := range ms.windows {
			m.giveBack(-cost)
			m.write()
		}
	case res.Allowed: // a charge fits as a whole
		res.Charged, ms.written = int(cost), true
		for _, m := range ms.windows {
			res.Charged = min(res.Charged, int(m.force(cost)))
			m.write()
		}
	default:
		for i, m := range ms.windows {
			if mended[i] {
				m.write()
			}
		}
	}
	for i, m := range ms.windows {
		remaining, reset := m.level()
		res.Levels[i].Remaining, res.Levels[i].ResetAfter = int(remaining), span(reset)
	}
	return res
}

// span is microseconds as a Duration, which ends at 292 years.
func span(micros int64) time.Duration {
	if micros > int64(1<<63-1)/1000 {
		return 1<<63 - 1
	}
	return time.Duration(micros) * time.Microsecond
}
