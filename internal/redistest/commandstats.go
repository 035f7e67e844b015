package redistest

import (
	"strconv"
	"strings"
	"testing"
)

// CommandStat is what a server counted of one command since it started, or
// since CONFIG RESETSTAT.
type CommandStat struct {
	Calls    int64 // executed
	Usec     int64 // processor time of Calls in all, µs
	Rejected int64 // refused before execution: no permission, wrong number of words, out of memory
	Failed   int64 // executed with an error
}

// CommandStats gives the statistics by command, in lower case: "evalsha", and
// "config|get" where a subcommand is counted. What scripts call is counted too,
// and so are the commands of this package.
func (s *Server) CommandStats(tb testing.TB) map[string]CommandStat {
	tb.Helper()
	lines, err := s.info("commandstats")
	if err != nil {
		tb.Fatal(err)
	}
	stats := map[string]CommandStat{}
	for name, line := range lines {
		var stat CommandStat
		for field := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(field, "=")
			n, _ := strconv.ParseInt(value, 10, 64) // usec_per_call is a fraction, and left out.
			switch name {
			case "calls":
				stat.Calls = n
			case "usec":
				stat.Usec = n
			case "rejected_calls":
				stat.Rejected = n
			case "failed_calls":
				stat.Failed = n
			}
		}
		stats[strings.TrimPrefix(name, "cmdstat_")] = stat
	}
	return stats
}
