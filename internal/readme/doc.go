// Package readme holds the code of the README, so that it compiles. Its test
// finds every Go block of the README in one of these files, line for line.
package readme
