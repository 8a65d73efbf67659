//go:build !race

package main

// raced: the race detector is not in.
const raced = false
