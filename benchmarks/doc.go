// Command benchmarks races this library against what a user would pick instead,
// measures how exact each of them is and how our own costs grow, and prints
// the tables as Markdown.
//
//	go run -C benchmarks .                        # everything, about 15 minutes
//	go run -C benchmarks . -only memory -rounds 9 # one part, in a hurry
//	go run -C benchmarks . -quick                 # a smoke run, whose figures mean nothing
//
// Every candidate has its turn of some milliseconds in each round, in random
// order, and what is compared is the times of one round, so that a noisy
// machine hits all alike. It is a module of its own, so that the rivals never
// enter a user's module graph.
package main
