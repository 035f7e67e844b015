package core

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plans is the table of what is sold. [New] and [Limiter.SetPlans] copy it.
// The zero Plans has no tier, which is an error.
type Plans struct {
	// Tiers are the plans by name: 1 to 64 bytes of valid UTF-8 without control
	// characters.
	Tiers map[string]Quota
	// Default names the tier that [UseDefault] means, and that an Identity with
	// a Key and no Tier gets. "" : UseDefault refuses with 403. A name that is
	// not in Tiers is an error.
	Default string
	// Overrides are deals of single customers, by Identity.Key. A deal is judged
	// instead of the tier's quota; Decision.Tier stays the tier's name.
	Overrides map[string]Quota
}

// clone copies p as deep as it goes: quotas are immutable.
func (p Plans) clone() Plans {
	p.Tiers = maps.Clone(p.Tiers)
	p.Overrides = maps.Clone(p.Overrides)
	return p
}

// check returns everything that is wrong with p, in a fixed order.
func (p Plans) check() []error {
	var errs []error
	if len(p.Tiers) == 0 {
		errs = append(errs, errors.New("core: bad plans: at least one tier must be defined"))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Tiers)) {
		if err := checkName(name); err != nil {
			errs = append(errs, fmt.Errorf("core: bad plans: tier %q: %w", name, err))
		}
		if err := p.Tiers[name].check(); err != nil {
			errs = append(errs, fmt.Errorf("core: bad plans: tier %q: %w", name, err))
		}
	}
	if _, ok := p.Tiers[p.Default]; !ok && p.Default != "" {
		errs = append(errs, fmt.Errorf("core: bad plans: default tier %q does not exist in Tiers", p.Default))
	}
	for _, key := range slices.Sorted(maps.Keys(p.Overrides)) {
		if key == "" {
			errs = append(errs, errors.New(`core: bad plans: an override for the key "", which is nobody`))
		}
		if err := p.Overrides[key].check(); err != nil {
			errs = append(errs, fmt.Errorf("core: bad plans: override %q: %w", key, err))
		}
	}
	return errs
}

// checkName returns what is wrong with the name of a tier or a scope.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > 64:
		return fmt.Errorf("the name has %d bytes, at most 64", len(name))
	case !utf8.ValidString(name):
		return errors.New("the name is not valid UTF-8")
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("the name has control characters")
	}
	return nil
}
