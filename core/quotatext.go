package core

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// String is the text form that [ParseQuota] reads: "20/s burst 40 and
// 50000/24h", "5/10s sliding", "1000/24h fixed", "unlimited", "blocked",
// "10/min shadow"; "unset" for the zero Quota.
func (q Quota) String() string {
	var text string
	switch q.kind {
	case quotaUnlimited:
		text = "unlimited"
	case quotaBlocked:
		text = "blocked"
	case quotaLimited:
		parts := make([]string, 0, q.n)
		for _, l := range q.limits[:q.n] {
			parts = append(parts, l.text())
		}
		text = strings.Join(parts, " and ")
	default:
		return "unset"
	}
	if q.shadow {
		text += " shadow"
	}
	return text
}

// text is l as part of a quota's text form.
func (l Limit) text() string {
	text := strconv.Itoa(l.Count) + "/" + windowText(l.Window)
	switch {
	case l.Algorithm == FixedWindow:
		return text + " fixed"
	case l.Algorithm == SlidingLog:
		return text + " sliding"
	case l.Burst != l.Count:
		return text + " burst " + strconv.Itoa(l.Burst)
	}
	return text
}

// windowText is the shortest form of d that parseWindow reads.
func windowText(d time.Duration) string {
	switch d {
	case time.Second:
		return "s"
	case time.Minute:
		return "min"
	case time.Hour:
		return "h"
	}
	text := d.String() // 1h0m0s
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// MarshalText returns the text form, or everything that is wrong with q.
func (q Quota) MarshalText() ([]byte, error) {
	if err := q.check(); err != nil {
		return nil, fmt.Errorf("core: bad quota: %w", err)
	}
	return []byte(q.String()), nil
}

// UnmarshalText is [ParseQuota] into q, which it leaves alone on an error.
func (q *Quota) UnmarshalText(text []byte) error {
	parsed, err := ParseQuota(string(text))
	if err != nil {
		return err
	}
	*q = parsed
	return nil
}

// ParseQuota reads a quota from its text form: one or more windows joined by
// "and", each a count, a slash and a window (s, min, h, day, or a number with
// ms, s, m, h or d, as in 10s), then "burst N", "fixed" or "sliding"; or
// "unlimited" or "blocked". A last word "shadow" is for the whole quota. Case
// and extra spaces between words do not matter. The error tells what could not be read, or
// everything that [New] would refuse.
func ParseQuota(s string) (Quota, error) {
	words := strings.Fields(strings.ToLower(s))
	shadow := len(words) > 1 && words[len(words)-1] == "shadow"
	if shadow {
		words = words[:len(words)-1]
	}
	q, err := parseWindows(words)
	if err == nil {
		if shadow {
			q = q.Shadow()
		}
		err = q.check()
	}
	if err != nil {
		return Quota{}, fmt.Errorf("core: bad quota %q: %w", s, err)
	}
	return q, nil
}

func parseWindows(words []string) (Quota, error) {
	switch {
	case len(words) == 0:
		return Quota{}, errors.New("empty, write a limit such as 10/min")
	case len(words) == 1 && words[0] == "unlimited":
		return Unlimited(), nil
	case len(words) == 1 && words[0] == "blocked":
		return Blocked(), nil
	}
	var q Quota
	for first := true; ; first = false {
		end := slices.Index(words, "and")
		part := words
		if end >= 0 {
			part = words[:end]
		}
		next, err := parseWindow(part)
		if err != nil {
			return Quota{}, err
		}
		if first {
			q = next
		} else {
			q = q.And(next)
		}
		if end < 0 {
			return q, nil
		}
		words = words[end+1:]
	}
}

// parseWindow reads one window: "10/min", "100/h burst 20", "5/10s sliding".
func parseWindow(words []string) (Quota, error) {
	if len(words) == 0 {
		return Quota{}, errors.New("a limit is missing beside and, write one such as 10/min")
	}
	count, unit, ok := strings.Cut(words[0], "/")
	if !ok {
		return Quota{}, fmt.Errorf("%q is no limit, write one such as 10/min", words[0])
	}
	n, err := strconv.Atoi(count)
	if err != nil || strings.HasPrefix(count, "+") {
		return Quota{}, fmt.Errorf("%q is no count in %q", count, words[0])
	}
	window, err := parseDuration(unit)
	if err != nil {
		return Quota{}, err
	}
	q := Per(n, window)
	switch rest := words[1:]; {
	case len(rest) == 0:
		return q, nil
	case len(rest) == 1 && rest[0] == "fixed":
		return q.Using(FixedWindow), nil
	case len(rest) == 1 && rest[0] == "sliding":
		return q.Using(SlidingLog), nil
	case len(rest) == 2 && rest[0] == "burst":
		burst, err := strconv.Atoi(rest[1])
		if err != nil || strings.HasPrefix(rest[1], "+") {
			return Quota{}, fmt.Errorf("%q is no burst", rest[1])
		}
		return q.WithBurst(burst), nil
	default:
		return Quota{}, fmt.Errorf("%q after %q, write burst N, fixed or sliding", strings.Join(rest, " "), words[0])
	}
}

// parseDuration reads the part behind the slash.
func parseDuration(unit string) (time.Duration, error) {
	switch unit {
	case "s", "sec", "second":
		return time.Second, nil
	case "m", "min", "minute":
		return time.Minute, nil
	case "h", "hour":
		return time.Hour, nil
	case "d", "day":
		return 24 * time.Hour, nil
	}
	if days, ok := strings.CutSuffix(unit, "d"); ok {
		if n, err := strconv.ParseInt(days, 10, 32); err == nil && n > 0 && n < 106_752 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	if d, err := time.ParseDuration(unit); err == nil && !strings.HasPrefix(unit, "+") {
		return d, nil
	}
	return 0, fmt.Errorf("%q is no window, write s, min, h, day or a duration such as 10s", unit)
}
