package core

import "fmt"

// Policy is what happens to a request that cannot be judged by a plan of its
// own. It is a comparable value; the zero Policy is a mistake that [New]
// reports.
type Policy struct {
	kind   policyKind
	tier   string
	status int
}

type policyKind uint8

const (
	policyUnset policyKind = iota
	policyAllow
	policyDefault
	policyTier
	policyDeny
)

var (
	// Allow lets the request through unlimited and without rate headers.
	Allow = Policy{kind: policyAllow}
	// UseDefault is UseTier(Plans.Default). Where the plans have no default, it
	// refuses with 403.
	UseDefault = Policy{kind: policyDefault}
)

// UseTier judges the request as the named tier. The tier must exist: [New],
// [Limiter.With] and [Limiter.SetPlans] check it.
func UseTier(name string) Policy { return Policy{kind: policyTier, tier: name} }

// Deny refuses the request with an HTTP status from 400 to 599, such as 401;
// [New] reports any other.
func Deny(status int) Policy { return Policy{kind: policyDeny, status: status} }

// check returns what is wrong with p as the policy of option.
func (p Policy) check(option string, plans *snapshot) error {
	switch p.kind {
	case policyUnset:
		return fmt.Errorf("core: %s: no policy, use Allow, UseDefault, UseTier or Deny", option)
	case policyDeny:
		if p.status < 400 || p.status > 599 {
			return fmt.Errorf("core: %s: Deny(%d), the status must be 400 to 599", option, p.status)
		}
	case policyTier:
		if plans != nil && plans.tiers[p.tier] == nil {
			return fmt.Errorf("core: %s: UseTier(%q) names no tier of the plans", option, p.tier)
		}
	case policyAllow, policyDefault:
	}
	return nil
}
