// Package memory races the in-process stores: what a check costs on a hot key,
// allowed and refused, and on a million keys; what a new key costs in time and
// in heap; how long a check can take while a million keys run out; and what a
// million keys add to a full collection.
//
//	err := memory.Tables(duel.Options{Rounds: 51}, os.Stdout)
//
// Keys are asked for by a copy of their own, as a server reads them from a
// request: with the very string that a store has kept, a map's comparison of
// keys would end at equal pointers.
package memory
