package redisstore

import (
	"context"
	"fmt"
	"strconv"

	"github.com/tierlimit/tierlimit/core"
)

var modes = [...]string{core.Charge: "charge", core.Look: "look", core.Force: "force"}

// takeWindows does r to any other set of windows.
func (s *Store) takeWindows(ctx context.Context, set *set, r *core.Request) (core.Result, error) {
	main := s.keys.set(&r.Key, set.name)
	args := make([]string, 0, 3+len(set.args))
	args = append(args, modes[min(int(r.Mode), len(modes)-1)], strconv.FormatInt(bounded(r.Cost), 10), s.now())
	args = append(args, set.args...)
	keys := set.keys(main)
	reply, err := s.integers(ctx, windowsScript, keys[0], keys, args, 2+3*len(set.order))
	if err != nil {
		return core.Result{}, err
	}
	res := core.Result{Allowed: reply[0] == 1, Charged: clampInt(reply[1])}
	if r.Mode == core.Force && reply[1] == bounded(r.Cost) {
		res.Charged = r.Cost
	}
	for i, at := range set.order {
		level := reply[2+3*i:]
		res.Levels[at] = core.Level{
			Remaining:  clampInt(level[0]),
			ResetAfter: duration(level[1]),
			RetryAfter: duration(level[2]),
		}
	}
	return res, nil
}

// unexpected is a reply of another shape than the script gives.
func unexpected(got, want int) error {
	return fmt.Errorf("%w: %d numbers, want %d", errParse, got, want)
}
