// Package plot draws lines over two logarithmic axes as an SVG that is readable
// on light and on dark ground.
//
//	chart := plot.Chart{Title: "a check", X: "keys", Y: "ns", Lines: []plot.Line{
//		{Name: "memstore", Points: []plot.Point{{X: 1, Y: 100}, {X: 1000, Y: 120}}},
//	}}
//	err := chart.SVG(file)
//
// It has room for five lines, and draws no linear axis and nothing at or
// below 0.
package plot
