package main

import "lamplighter.dev/shared/testkit/race"

// raced: the race detector is in, and everything takes ten times as long.
const raced = race.Enabled
