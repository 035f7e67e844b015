package core

// Identity is who is asking, as the application knows it. The zero Identity is
// nobody.
type Identity struct {
	// Key is whom to charge: an account, an API key's id, a user. It may be
	// anything, of any length. "" means that nobody was identified, and the
	// policy of [OnMissing] decides.
	Key string
	// Tier is the plan's name. "" with a Key means Plans.Default; where there
	// is no default it is an unknown tier.
	Tier string
	// Addr is the caller's address in canonical form: who to charge when Key is
	// "" and [OnMissing] names a tier. 203.0.113.9, or 2001:db8:1:2:: for all of a /64.
	Addr string
}
