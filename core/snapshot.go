package core

// snapshot is one version of the plans, made ready to be judged by. It is
// never changed once requests can see it.
type snapshot struct {
	plans     Plans
	tiers     map[string]*grant
	overrides map[string]*grant // by Identity.Key

	// quick finds most tiers by the length of their names: comparing one name
	// is a third of a look into the map.
	quick [16]namedGrant
}

type namedGrant struct {
	name  string
	grant *grant
}

// of is the grant of a tier; nil when there is none of that name.
func (s *snapshot) of(tier string) *grant {
	if q := &s.quick[len(tier)%len(s.quick)]; q.name == tier {
		return q.grant
	}
	return s.tiers[tier]
}

// grant is a quota with what judging it needs again and again.
type grant struct {
	quota    Quota
	limits   []Limit
	most     int64    // the largest cost that can ever pass
	prepared Prepared // for a tier's lone limit, where the store has a short way; nil for an override
}

func newGrant(q Quota) *grant {
	g := &grant{quota: q, limits: q.Limits()}
	if len(g.limits) > 0 {
		g.most = tightest(g.limits).capacity()
	}
	return g
}

func compile(p Plans) *snapshot {
	s := &snapshot{
		plans:     p.clone(),
		tiers:     make(map[string]*grant, len(p.Tiers)),
		overrides: make(map[string]*grant, len(p.Overrides)),
	}
	for name, q := range s.plans.Tiers {
		g := newGrant(q)
		s.tiers[name] = g
		s.quick[len(name)%len(s.quick)] = namedGrant{name, g}
	}
	for key, q := range s.plans.Overrides {
		s.overrides[key] = newGrant(q)
	}
	return s
}

// prepare has the store make the tiers ready. The plans were checked, and no
// request can see s yet.
func (s *snapshot) prepare(store Store) {
	p, ok := store.(Preparer)
	if !ok {
		return
	}
	for tier, g := range s.tiers {
		if len(g.limits) == 1 && g.limits[0].Algorithm == GCRA {
			g.prepared = p.Prepare(store, tier, g.limits[0])
		}
	}
}
