package storetest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/storetest"
)

// mutants are broken stores and a part of the suite that must see it.
var mutants = []struct {
	name   string
	faults faults
	caught string
}{
	{"not_atomic", faults{notAtomic: true}, "Concurrency/burst"},
	{"forgets_scope", faults{forgetsScope: true}, "Keys"},
	{"forgets_anonymous", faults{forgetsAnonymous: true}, "Keys"},
	{"joins_tier_and_id", faults{joinsTierAndID: true}, "Keys"},
	{"cuts_ids", faults{cutsIDs: true}, "Keys"},
	{"set_by_count", faults{setByCount: true}, "Change"},
	{"set_by_order", faults{setByOrder: true}, "Windows"},
	{"one_set", faults{oneSet: true}, "Change"},
	{"charges_some", faults{chargesSome: true}, "Windows"},
	{"look_writes", faults{lookWrites: true}, "Writes/looks"},
	{"refusal_consumes", faults{refusalConsumes: true}, "FixedWindow/refusals_do_not_count"},
	{"refusal_counts", faults{refusalCounts: true}, "FixedWindow/refusals_do_not_count"},
	{"refusal_pushes", faults{refusalPushes: true}, "Writes/refusals"},
	{"gives_beyond_full", faults{givesBeyondFull: true}, "GCRA/give_back"},
	{"no_mend_on_refusal", faults{noMendOnRefusal: true}, "ClockBack/gcra/refusal_mends"},
	{"mend_of_refuser_only", faults{mendOfRefuserOnly: true}, "ClockBack/windows"},
	{"no_mend", faults{noMend: true}, "ClockBack"},
	{"look_mends", faults{lookMends: true}, "ClockBack/gcra/look_does_not"},
	{"no_jitter", faults{noJitter: true}, "ClockBack/gcra/jitter"},
	{"floors_T", faults{floorsT: true}, "GCRA/T_rounds_up"},
	{"log_leaves_late", faults{logLeavesLate: true}, "SlidingLog/slides"},
	{"log_leaves_early", faults{logLeavesEarly: true}, "SlidingLog/slides"},
	{"log_unordered", faults{logUnordered: true}, "ClockBack/sliding_log/jitter"},
	{"reset_plain_only", faults{resetPlainOnly: true}, "Reset"},
	{"reset_spares_plain", faults{resetSpares: true}, "Reset"},
	{"reset_tier", faults{resetTier: true}, "Reset"},
	{"keeps_limits", faults{keepsLimits: true}, "Contract/limits_are_read_only"},
	{"sorts_limits", faults{sortsLimits: true}, "Contract/limits_are_read_only"},
	{"force_refuses", faults{forceRefuses: true}, "GCRA/force"},
	{"force_takes_all", faults{forceAll: true}, "FixedWindow/force"},
	{"charged_is_cost", faults{chargedIsCost: true}, "GCRA/force"},
	{"charged_is_most", faults{chargedIsMost: true}, "Windows/force"},
	{"zero_needs_room", faults{zeroNeedsRoom: true}, "GCRA/cost_0"},
	{"reset_of_oldest", faults{resetOldest: true}, "SlidingLog/retry"},
	{"retry_where_it_fits", faults{retryOnFit: true}, "Windows/all_or_none"},
	{"hoards", faults{hoarding: true}, "Vectors"},
	{"window_at_first_use", faults{windowAtFirstUse: true}, "FixedWindow"},
	{"wrong_now", faults{wrongNow: true}, "Contract/now"},
	{"no_gcra", faults{unsupportedGCRA: true}, "GCRA"},
	{"prepares_for_others", faults{prepares: true, preparesForOthers: true}, "Prepared/embedded"},
	{"prepared_forgets_scope", faults{prepares: true, preparedForgetsScope: true}, "Prepared/Keys"},
	{"prepared_forgets_tier", faults{prepares: true, preparedForgetsTier: true}, "Prepared/Keys"},
	{"prepared_charges_one", faults{prepares: true, preparedChargesOne: true}, "Prepared/GCRA"},
	{"prepared_forgets_anonymous", faults{prepares: true, preparedForgetsAnonymous: true}, "Prepared/Keys"},
	{"prepared_keeps_first_key", faults{prepares: true, preparedKeepsFirstKey: true}, "Prepared/Keys"},
	{"prepared_now", faults{prepares: true, preparedWrongNow: true}, "Prepared/Contract/now"},
}

func openNaive(f faults) func(testing.TB, *fakeclock.Clock) core.Store {
	return func(_ testing.TB, c *fakeclock.Clock) core.Store {
		if f.prepares {
			return naivePreparer{newNaiveStore(c, f)}
		}
		return newNaiveStore(c, f)
	}
}

// TestNaive proves that the suite asks for no more than the contract says: a
// store may forget what has run out, or not, and may know GCRA alone.
func TestNaive(t *testing.T) {
	t.Run("plain", func(t *testing.T) { storetest.Run(t, openNaive(faults{})) })
	t.Run("forgetful", func(t *testing.T) { storetest.Run(t, openNaive(faults{forgetful: true})) })
	t.Run("prepares", func(t *testing.T) { storetest.Run(t, openNaive(faults{prepares: true})) })
	t.Run("gcra_only", func(t *testing.T) { storetest.Run(t, openNaive(faults{unsupported: true})) })
}

const mutantsRun = "STORETEST_MUTANTS"

// TestMutant is run by TestMutantsAreCaught in a process of its own, because it
// must fail.
func TestMutant(t *testing.T) {
	if os.Getenv(mutantsRun) == "" {
		t.Skip("run by TestMutantsAreCaught")
	}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) { storetest.Run(t, openNaive(m.faults)) })
	}
}

func TestMutantsAreCaught(t *testing.T) {
	t.Parallel()
	if os.Getenv(mutantsRun) != "" {
		t.Skip("this is the other process")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			parts := strings.Split("TestMutant/"+m.name+"/"+m.caught, "/")
			pattern := "^" + strings.Join(parts, "$/^") // the last is a prefix
			cmd := exec.CommandContext(t.Context(), self, "-test.run", pattern)
			cmd.Env = append(os.Environ(), mutantsRun+"=1")
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "a broken store passes")
			require.Contains(t, string(out), "--- FAIL: TestMutant/"+m.name+"/"+m.caught, "%s", out)
			require.NotContains(t, string(out), "panic:", "%s", out)
		})
	}
}
