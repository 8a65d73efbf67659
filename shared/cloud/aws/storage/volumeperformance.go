package storage

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/settings"
)

// The limits of gp3 that are certain: AWS has raised them since, by one source, and a change within them is accepted
// everywhere.
const (
	gp3LeastIOPS       = 3000
	gp3MostIOPS        = 16000
	gp3LeastThroughput = 125 // MiB/s
	gp3MostThroughput  = 1000
	leastIOPS          = 100
)

// settable says which values of performance a type takes. The provider derives the others from the size.
var settable = map[string][]string{
	"gp3": {iopsValue, throughputValue}, "io1": {iopsValue}, "io2": {iopsValue}, coldDisk: nil,
}

// coldDisk is the type of a disk for data that is seldom read, and leastColdGiB its least size. No instance boots from
// it.
const (
	coldDisk     = "sc1"
	leastColdGiB = 125
)

// performanceOf returns the IOPS and the throughput that a call sends for the type among the values. Values without a
// type are of a change that keeps it.
func performanceOf(set cloud.Values) (iops, throughput *int32, err error) {
	takes, typed := settable[set[typeValue]]
	if typed || set[typeValue] == "" {
		if iops, err = resource.NumberOf(set[iopsValue]); err != nil {
			return nil, nil, err
		}
	}
	if slices.Contains(takes, throughputValue) || set[typeValue] == "" {
		throughput, err = resource.NumberOf(set[throughputValue])
	}
	return iops, throughput, err
}

// performance is what a volume can do, in operations and MiB a second.
type performance struct{ iops, throughput int64 }

// performanceNow returns the highest performance that a volume can reach now, bursts included.
func performanceNow(v cloud.Values) performance {
	size, iops, throughput := number(v[sizeValue]), number(v[iopsValue]), number(v[throughputValue])
	switch v[typeValue] {
	case "gp2":
		p := performance{max(iops, gp3LeastIOPS), 250}
		if size <= 170 {
			p.throughput = 128
		}
		return p
	case "gp3":
		return performance{iops, throughput}
	case "io1", "io2":
		return performance{iops, min(max(iops/4, gp3LeastThroughput), gp3MostThroughput)} // 256 KiB an operation
	case "st1", "sc1":
		return performance{500, min((size*250+1023)/1024, 500)}
	}
	return performance{200, 90} // magnetic
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0 // of a value that the type does not have
	}
	return n
}

// Complete returns the values of a change of a volume's type or performance. A type with IOPS or throughput of its own
// always gets them: at least the performance that the volume has now, unless the change names less.
func (k *volumeChange) Complete(ctx context.Context, d cloud.Description, want cloud.Values) (cloud.Values, []string,
	error,
) {
	set := maps.Clone(want)
	kind := want[typeValue]
	if kind == "" {
		kind = d.Values[typeValue]
	}
	takes, known := settable[kind]
	if !known || want[typeValue] == "io1" {
		return nil, nil, cloud.ErrInvalid("volume_type %.20q is not accepted: give gp3 or io2", kind)
	}
	now := performanceNow(d.Values)
	carried := map[string]int64{iopsValue: now.iops, throughputValue: now.throughput}
	for _, name := range []string{iopsValue, throughputValue} {
		if !slices.Contains(takes, name) {
			delete(set, name)
			continue
		}
		n := carried[name]
		if text := want[name]; text != "" && text != cloud.Carried {
			if n = number(text); n == 0 {
				return nil, nil, cloud.ErrInvalid("%s %.20q is no whole number above 0", name, text)
			}
		}
		set[name] = strconv.FormatInt(atLeast(kind, name, n), 10)
	}
	if err := checkPerformance(kind, set, number(d.Values[sizeValue])); err != nil {
		return nil, nil, err
	}
	if err := k.checkCold(ctx, kind, d); err != nil {
		return nil, nil, err
	}
	set[typeValue] = kind
	return withThroughputOf(set, d.Values, kind), []string{"the next change of the volume is possible after 6 hours"},
		nil
}

// withThroughputOf names the throughput that a type without its own does not have any more, so that the plan shows it.
func withThroughputOf(set, now cloud.Values, kind string) cloud.Values {
	if !slices.Contains(settable[kind], throughputValue) && now[throughputValue] != "" {
		set[throughputValue] = ""
	}
	if kind == coldDisk && now[iopsValue] != "" {
		set[iopsValue] = ""
	}
	return set
}

// checkCold returns why a volume does not become a cold disk, or nil.
func (k *volumeChange) checkCold(ctx context.Context, kind string, d cloud.Description) error {
	if kind != coldDisk {
		return nil
	}
	if size := number(d.Values[sizeValue]); size < leastColdGiB {
		return cloud.ErrUnsupported("it has %d GiB: a disk of type %s has at least %d", size, coldDisk, leastColdGiB)
	}
	native, _, err := cloud.DecodeSnapshot[volumeNative](d.Native, "volume")
	if err != nil {
		return err
	}
	by, err := settings.BootedBy(ctx, k.at, native.ID)
	if err == nil && by != "" {
		err = cloud.ErrUnsupported("it is the boot volume of %s", by)
	}
	return err
}

// atLeast raises a value to the least one that the type takes.
func atLeast(kind, name string, n int64) int64 {
	switch {
	case kind == "gp3" && name == iopsValue:
		return max(n, gp3LeastIOPS)
	case kind == "gp3":
		return max(n, gp3LeastThroughput)
	}
	return max(n, leastIOPS)
}

// checkPerformance returns why a volume of a size in GiB cannot have the performance, or nil.
func checkPerformance(kind string, set cloud.Values, size int64) error {
	iops, throughput := number(set[iopsValue]), number(set[throughputValue])
	switch {
	case kind != "gp3":
		return nil
	case iops > gp3MostIOPS || throughput > gp3MostThroughput:
		return cloud.ErrUnsupported("gp3 has at most %d IOPS and %d MiB/s here: the volume would need %d and %d",
			gp3MostIOPS, gp3MostThroughput, iops, throughput)
	case iops > max(size*500, gp3LeastIOPS):
		return cloud.ErrUnsupported("gp3 has at most 500 IOPS for each GiB: %d GiB are too few for %d", size, iops)
	case throughput*4 > iops:
		return cloud.ErrUnsupported("gp3 needs 4 IOPS for each MiB/s: %d are too few for %d MiB/s", iops, throughput)
	}
	return nil
}
