package fallbackstore

// MostKnownShares is how many sets of limits a store remembers its share of.
const MostKnownShares = mostKnown

// KnownShares is how many it remembers now.
func (s *Store) KnownShares() int { return s.shares.known.Size() }
