package redisstore_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

// granted are the rights that the README lists: what a user of any Redis needs,
// and what is added for sliding logs, in a Cluster and behind Sentinel.
type granted struct {
	line             string // the README's command, word for word
	user, password   string
	pattern          string // of keys
	all              []string
	logs             []string
	cluster, masters []string
}

var (
	setUser = regexp.MustCompile(`(?m)^ +(ACL SETUSER (\S+) on >(\S+) ~(\S+)(?: \+\S+)+)$`)
	needs   = regexp.MustCompile(`A Redis user needs ~(\S+) and `)
	comment = regexp.MustCompile(`(?m)^// ?`)
	right   = regexp.MustCompile(`\+[a-z|]+`)
)

// documented reads the README.
func documented(t *testing.T) granted {
	t.Helper()
	readme := document(t, "../README.md")
	line := setUser.FindStringSubmatch(readme)
	require.NotNil(t, line, "the README has no ACL SETUSER line")
	g := granted{line: line[1], user: line[2], password: line[3], pattern: line[4]}
	_, rest, _ := strings.Cut(readme, "~"+g.pattern)
	return g.with(t, rest)
}

// with has the rights that a text lists: always, for logs, in a Cluster and
// behind Sentinel, in that order.
func (g granted) with(t *testing.T, text string) granted {
	t.Helper()
	text = strings.Join(strings.Fields(text), " ")
	for _, part := range []struct {
		rights *[]string
		until  string
	}{{&g.all, "for sliding logs"}, {&g.logs, "in a Cluster"}, {&g.cluster, "behind Sentinel"}, {&g.masters, "."}} {
		before, after, ok := strings.Cut(text, part.until)
		require.True(t, ok, "no %q", part.until)
		*part.rights, text = right.FindAllString(before, -1), after
		require.NotEmpty(t, *part.rights, before)
	}
	return g
}

func document(tb testing.TB, name string) string {
	tb.Helper()
	text, err := os.ReadFile(name)
	require.NoError(tb, err)
	return string(text)
}

// option makes a server have that user, with further rights.
func (g granted) option(further ...[]string) redistest.Option {
	return g.under(g.pattern, slices.Concat(g.all, slices.Concat(further...)))
}

// under is a user of other keys and with other rights.
func (g granted) under(pattern string, rights []string) redistest.Option {
	return redistest.WithUser(g.user, append([]string{"on", ">" + g.password, "~" + pattern}, rights...)...)
}

// as makes a client that user's.
func (g granted) as() clientChange { return redistest.As(g.user, g.password) }

// TestTheReadmesLineIsACommand, typed as it stands there.
func TestTheReadmesLineIsACommand(t *testing.T) {
	t.Parallel()
	g := documented(t)
	server := redistest.Start(t)
	var words []any
	for word := range strings.FieldsSeq(g.line) {
		words = append(words, word)
	}
	require.Equal(t, "OK", server.Do(t, words...))
	s := anyRedis{server.Client(t, g.as()), true}.store()
	require.NoError(t, s.Ready(t.Context()))
	for _, limits := range withoutLogs(t) {
		require.True(t, charge(t, s, user(1), limits, 7).Allowed)
		require.NoError(t, s.Reset(t.Context(), user(1), limits))
	}
	require.Empty(t, server.Do(t, "ACL", "LOG"))
}

// TestThePackageAsksForTheRightsOfTheReadme: who reads either gets the same.
func TestThePackageAsksForTheRightsOfTheReadme(t *testing.T) {
	t.Parallel()
	g, doc := documented(t), comment.ReplaceAllString(document(t, "doc.go"), "")
	pattern := needs.FindStringSubmatchIndex(doc)
	require.NotNil(t, pattern, "doc.go does not say what a user needs")
	said := granted{line: g.line, user: g.user, password: g.password, pattern: doc[pattern[2]:pattern[3]]}
	require.Equal(t, g, said.with(t, doc[pattern[1]:]))
}
