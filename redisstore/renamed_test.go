package redisstore_test

import (
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// TestCommandsThatAHostTookAwayAreNotMissed: hosted Redis and proxies rename
// what they do not want to be called. This is Redis 7.0 with its commands taken
// away; other versions and products are not at hand.
func TestCommandsThatAHostTookAwayAreNotMissed(t *testing.T) {
	t.Parallel()
	for _, gone := range []string{
		"CLIENT", "HELLO", "CLIENT HELLO", "CLUSTER", "INFO", "SCRIPT",
		"CLIENT HELLO CLUSTER INFO SCRIPT COMMAND CONFIG",
	} {
		t.Run(gone, func(t *testing.T) {
			t.Parallel()
			var renamed []string
			for command := range strings.FieldsSeq(gone) {
				renamed = append(renamed, "rename-command "+command+` ""`)
			}
			server := redistest.Start(t, redistest.WithConfig(renamed...))
			for command := range strings.FieldsSeq(gone) {
				_, err := server.Try(command)
				require.ErrorContains(t, err, "unknown command")
			}
			s := open(t, rueidis.ClientOption{InitAddress: []string{server.Addr()}}, redisstore.WithTimeout(patient))
			ready(t, s)
			for name, limits := range eonSets() {
				require.True(t, charge(t, s, user(1), limits, 7).Allowed, name)
				require.False(t, charge(t, s, user(1), limits, 7).Allowed, name)
			}
			server.Restart(t)
			answers(t, s)
		})
	}
}
