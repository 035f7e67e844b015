package core

import "net/http"

// Outcome says why a [Decision] is what it is. The zero value refuses. Ask
// [Decision.Allowed] what to do: a shadow tier's refusal lets the request pass.
type Outcome uint8

const (
	// OverQuota refuses with 429: a window has no room for the cost now.
	OverQuota Outcome = iota
	// Missing refuses what nobody is known for, by the policy of [OnMissing].
	Missing
	// UnknownTier refuses a tier that the plans lack, by [OnUnknownTier].
	UnknownTier
	// CostExceedsLimit refuses with 403 a cost that no full bucket could hold.
	CostExceedsLimit
	// TierBlocked refuses with 403: the tier is [Blocked].
	TierBlocked
	// StorageFailed refuses with 503, or the status of [OnStorageError].
	StorageFailed
	// IdentifyFailed refuses with 503: identifying the caller failed.
	IdentifyFailed
	// InvalidCost refuses with 500: the service asked for a cost below 0.
	InvalidCost
	// Canceled refuses with 499: the caller's context ended before the check.
	Canceled
	// Allowed lets pass what a window had room for.
	Allowed
	// AllowedUnlimited lets pass: the tier is [Unlimited].
	AllowedUnlimited
	// AllowedMissing lets pass what nobody is known for, by [OnMissing].
	AllowedMissing
	// AllowedUnknownTier lets pass a tier that the plans lack, by [OnUnknownTier].
	AllowedUnknownTier
	// AllowedOnStorageError lets pass what could not be judged, by [OnStorageError].
	AllowedOnStorageError
)

var outcomes = [...]struct {
	label  string
	status int
}{
	OverQuota:             {"over_quota", http.StatusTooManyRequests},
	Missing:               {"missing", http.StatusForbidden},
	UnknownTier:           {"unknown_tier", http.StatusForbidden},
	CostExceedsLimit:      {"cost_exceeds_limit", http.StatusForbidden},
	TierBlocked:           {"tier_blocked", http.StatusForbidden},
	StorageFailed:         {"storage_failed", http.StatusServiceUnavailable},
	IdentifyFailed:        {"identify_failed", http.StatusServiceUnavailable},
	InvalidCost:           {"invalid_cost", http.StatusInternalServerError},
	Canceled:              {"canceled", statusClientClosedRequest},
	Allowed:               {"allowed", http.StatusOK},
	AllowedUnlimited:      {"allowed_unlimited", http.StatusOK},
	AllowedMissing:        {"allowed_missing", http.StatusOK},
	AllowedUnknownTier:    {"allowed_unknown_tier", http.StatusOK},
	AllowedOnStorageError: {"allowed_on_storage_error", http.StatusOK},
}

// statusClientClosedRequest has no name in net/http: the client hung up.
const statusClientClosedRequest = 499

// String is a label for metrics: "over_quota", "allowed", "storage_failed".
func (o Outcome) String() string {
	if int(o) < len(outcomes) {
		return outcomes[o].label
	}
	return "unknown"
}
