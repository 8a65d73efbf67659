# Turns the output of `go test -bench` into one table; anything that is not a figure (failures, panics) passes through.

function shown(value, unit) {
  if (unit != "ns/op") return value " " unit
  if (value >= 1e9) return sprintf("%.2f s", value / 1e9)
  if (value >= 1e6) return sprintf("%.2f ms", value / 1e6)
  if (value >= 1e3) return sprintf("%.1f µs", value / 1e3)
  return sprintf("%.0f ns", value)
}

BEGIN { row = "%-52s %14s %14s %14s  %s\n" }

/^pkg: / { pkg = $2; sub("^lamplighter.dev/", "", pkg); next }
/^(goos|goarch|cpu|PASS|ok  |\?   )/ { next }
/no test files/ { next }

/^Benchmark/ && NF >= 4 {
  name = $1
  sub(/^Benchmark/, "", name)
  sub(/-[0-9]+$/, "", name)
  time = bytes = allocs = more = ""
  for (i = 3; i < NF; i += 2) {
    if ($(i + 1) == "ns/op") time = shown($i, "ns/op")
    else if ($(i + 1) == "B/op") bytes = $i " B"
    else if ($(i + 1) == "allocs/op") allocs = $i
    else more = more (more == "" ? "" : ", ") shown($i, $(i + 1))
  }
  if (!headed++) printf row, "benchmark", "time", "memory", "allocations", "figures"
  if (pkg != last) { printf "\n%s\n", pkg; last = pkg }
  printf row, "  " name, time, bytes, allocs, more
  next
}

{ print; if (/^(FAIL|--- FAIL|panic)/) failed = 1 }
END { exit failed }
