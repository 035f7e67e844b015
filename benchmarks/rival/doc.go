// Package rival sets this library and those that a user would pick instead to
// the same limits, each behind one function that asks for one unit of a key.
//
//	for _, c := range rival.All() {
//		check, stop := c.Open(rival.Limit{Count: 100, Window: time.Second})
//		allowed, err := check("ana")
//		stop()
//	}
//
// Each is set as its documentation says and, where that leaves a choice, as is
// best for it. What it cannot do is said beside it.
package rival
