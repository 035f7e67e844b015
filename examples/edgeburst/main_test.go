package main

func Example() {
	main()
	// Output:
	// fixed window: 20 of 20 allowed in 2 seconds
	// GCRA:         10 of 20 allowed in 2 seconds
}
