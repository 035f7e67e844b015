package redisstore_test

import (
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/redisstore"
)

func TestOpenRefusesWhatCanNeverWork(t *testing.T) {
	t.Parallel()
	nowhere := []string{"127.0.0.1:1"}
	for name, c := range map[string]struct {
		option rueidis.ClientOption
		most   int
		faults []string
	}{
		"no address":            {rueidis.ClientOption{}, 10, []string{"InitAddress"}},
		"more than rueidis has": {rueidis.ClientOption{InitAddress: nowhere, PipelineMultiplex: 100}, 10, []string{"PipelineMultiplex"}},
		"replicas without a rule": {
			rueidis.ClientOption{InitAddress: nowhere, Standalone: rueidis.StandaloneOption{ReplicaAddress: nowhere}},
			10,
			[]string{"SendToReplicas"},
		},
		"a cap as big as the ring": {rueidis.ClientOption{InitAddress: nowhere}, 1024, []string{"WithMaxInFlight(1024)", "1024"}},
		"a small ring":             {rueidis.ClientOption{InitAddress: nowhere, RingScaleEachConn: 8}, 512, []string{"WithMaxInFlight(512)", "256"}},
		"all at once":              {rueidis.ClientOption{InitAddress: nowhere, PipelineMultiplex: 9}, 5000, []string{"PipelineMultiplex", "WithMaxInFlight(5000)"}},
	} {
		s, err := redisstore.Open(c.option, redisstore.WithMaxInFlight(c.most))
		require.Nil(t, s, name)
		for _, fault := range c.faults {
			require.ErrorContains(t, err, fault, name)
		}
		require.ErrorContains(t, err, "redisstore: ", name)
	}
	for name, o := range map[string]rueidis.ClientOption{
		"single":   {InitAddress: nowhere},
		"forced":   {InitAddress: nowhere, ForceSingleClient: true},
		"several":  {InitAddress: append(nowhere, "127.0.0.1:2"), ShuffleInit: true},
		"sentinel": {InitAddress: nowhere, Sentinel: rueidis.SentinelOption{MasterSet: "m"}},
		"redirect": {InitAddress: nowhere, Standalone: rueidis.StandaloneOption{EnableRedirect: true}},
	} {
		s, err := redisstore.Open(o)
		require.NoError(t, err, name)
		s.Close()
	}
}
