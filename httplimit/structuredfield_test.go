package httplimit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sfItem is a string of a structured field with its integer parameters.
type sfItem struct {
	value      string
	parameters map[string]int64
}

// parseSFList reads a list of strings with integer parameters by RFC 9651 4.2,
// as strictly as a serialiser must write it: no white space but ", ", no
// leading zeros, no parameter twice.
func parseSFList(s string) ([]sfItem, error) {
	p := &sfParser{rest: s}
	var items []sfItem
	for {
		item, err := p.item()
		if err != nil {
			return nil, fmt.Errorf("at %q: %w", p.rest, err)
		}
		items = append(items, item)
		if p.rest == "" {
			return items, nil
		}
		if !p.skip(", ") {
			return nil, fmt.Errorf("at %q: no comma and space", p.rest)
		}
	}
}

type sfParser struct{ rest string }

func (p *sfParser) skip(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

func (p *sfParser) item() (sfItem, error) {
	value, err := p.str()
	if err != nil {
		return sfItem{}, err
	}
	item := sfItem{value, map[string]int64{}}
	for p.skip(";") {
		key, err := p.key()
		if err != nil {
			return sfItem{}, err
		}
		if _, twice := item.parameters[key]; twice {
			return sfItem{}, fmt.Errorf("%s twice", key)
		}
		if item.parameters[key], err = p.integer(); err != nil {
			return sfItem{}, err
		}
	}
	return item, nil
}

func (p *sfParser) str() (string, error) {
	if !p.skip(`"`) {
		return "", errors.New("no quote")
	}
	var b strings.Builder
	for p.rest != "" {
		c := p.rest[0]
		p.rest = p.rest[1:]
		switch {
		case c == '"':
			return b.String(), nil
		case c == '\\' && p.rest != "" && (p.rest[0] == '"' || p.rest[0] == '\\'):
			b.WriteByte(p.rest[0])
			p.rest = p.rest[1:]
		case c == '\\' || c < 0x20 || c > 0x7e:
			return "", fmt.Errorf("the byte %q in a string", c)
		default:
			b.WriteByte(c)
		}
	}
	return "", errors.New("a string without an end")
}

func (p *sfParser) key() (string, error) {
	n := 0
	for n < len(p.rest) && strings.IndexByte("abcdefghijklmnopqrstuvwxyz0123456789_-.*", p.rest[n]) >= 0 {
		n++
	}
	key := p.rest[:n]
	p.rest = p.rest[n:]
	if key == "" || strings.IndexByte("0123456789_-.", key[0]) >= 0 {
		return "", fmt.Errorf("the key %q", key)
	}
	if !p.skip("=") {
		return "", fmt.Errorf("the key %q has no value", key)
	}
	return key, nil
}

func (p *sfParser) integer() (int64, error) {
	n, digits := int64(0), 0
	for digits < len(p.rest) && '0' <= p.rest[digits] && p.rest[digits] <= '9' {
		n = n*10 + int64(p.rest[digits]-'0')
		digits++
		if digits > 15 {
			return 0, errors.New("more than 15 digits")
		}
	}
	if digits == 0 || digits > 1 && p.rest[0] == '0' {
		return 0, errors.New("no integer")
	}
	p.rest = p.rest[digits:]
	return n, nil
}

func TestStructuredFieldParserIsStrict(t *testing.T) {
	t.Parallel()
	items, err := parseSFList(`"a";q=1;w=60, "b\"\\c";r=999999999999999`)
	require.NoError(t, err)
	require.Equal(t, []sfItem{
		{"a", map[string]int64{"q": 1, "w": 60}},
		{`b"\c`, map[string]int64{"r": 999999999999999}},
	}, items)
	for _, bad := range []string{
		``, `a`, `"a`, `"a" ;q=1`, `"a"; q=1`, `"a";q= 1`, `"a";q`, `"a";Q=1`, `"a";1=1`, `"a";q=1;q=2`, `"a";q=-1`,
		`"a";q=01`, `"a";q=1000000000000000`, `"a";q=1.5`, `"a",`, `"a","b"`, `"a",  "b"`, `"\a"`, "\"\n\"", "\"\u00e9\"", `"a";q=1,`,
	} {
		_, err := parseSFList(bad)
		require.Error(t, err, bad)
	}
}
