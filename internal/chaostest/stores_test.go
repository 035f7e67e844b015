package chaostest_test

import (
	"context"
	"errors"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/redisstore"
)

// whole notes what a limiter's store is asked and answers.
type whole struct {
	core.Store

	journal *journal
}

func (s whole) Take(ctx context.Context, r core.Request) (core.Result, error) {
	j := s.journal
	asked := j.now()
	res, err := s.Store.Take(ctx, r)
	answered := j.now()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls = append(j.calls, call{asked, answered - asked, res.Degraded})
	if err == nil && res.Charged != 0 {
		a := j.accounts[r.Key]
		a.limits = r.Limits
		if res.Degraded {
			a.local.add(res.Charged, asked, answered)
		} else {
			a.shared.add(res.Charged, asked, answered)
		}
		j.accounts[r.Key] = a
	}
	return res, err
}

// inner notes the errors of one instance's shared store.
type inner struct {
	core.Store

	journal  *journal
	instance int
}

func (s inner) Take(ctx context.Context, r core.Request) (core.Result, error) {
	j := s.journal
	began := j.now()
	res, err := s.Store.Take(ctx, r)
	now := j.now()
	paused := errors.Is(err, redisstore.ErrPaused)
	j.failing.Lock()
	defer j.failing.Unlock()
	if !paused {
		j.tried[s.instance] = append(j.tried[s.instance], attempt{began, now})
	}
	if err != nil {
		j.errors[label(err)]++
		j.failures = append(j.failures, failure{now, label(err)})
		if _, seen := j.paused[s.instance]; !seen && paused {
			j.paused[s.instance] = now
		}
	}
	return res, err
}

// label is the class of an error, as one would count them.
func label(err error) string {
	for name, class := range map[string]error{
		"timeout":     redisstore.ErrTimeout,
		"unreachable": redisstore.ErrUnreachable,
		"refused":     redisstore.ErrRefused,
		"busy":        redisstore.ErrBusy,
		"paused":      redisstore.ErrPaused,
		"reply":       redisstore.ErrReply,
	} {
		if errors.Is(err, class) {
			return name
		}
	}
	return err.Error()
}
