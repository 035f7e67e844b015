package main

func Example() {
	main()
	// Output:
	// t= 0s  200  remaining 9
	// t= 0s  200  remaining 8
	// t= 0s  200  remaining 7
	// t= 0s  200  remaining 6
	// t= 0s  200  remaining 5
	// t= 0s  200  remaining 4
	// t= 0s  200  remaining 3
	// t= 0s  200  remaining 2
	// t= 0s  200  remaining 1
	// t= 0s  200  remaining 0
	// t= 0s  429  retry after 6 s
	// t= 6s  200  remaining 0
	// t= 6s  429  retry after 6 s
	// t=36s  200  remaining 4
	// t=36s  200  remaining 3
	// t=36s  200  remaining 2
	// t=36s  200  remaining 1
	// t=36s  200  remaining 0
	// t=36s  429  retry after 6 s
}
