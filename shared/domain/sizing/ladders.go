package sizing

import "slices"

// step is a size of a service that sells steps and not machines. A number of 0 does not limit it.
type step struct {
	class  string
	units  float64 // vCPUs or DTUs
	gib    float64 // of memory
	stored float64 // the most that it stores, in GB
}

// ladders are the steps of services, in ascending order, each list without a change of what the steps are made of: the
// files of S0 and S1 are on hard disks, those of S2 and above on SSDs. According to "Service tiers in the
// DTU-based purchase model" and "Resource limits for single databases using the DTU purchasing model" of Azure SQL
// Database, and to "App Service pricing", as known in November 2026; the pages were not read again. Their order is that
// of the names in Azure's retail prices.
var ladders = map[string][][]step{
	"azure-sql-database": {
		{{"S0", 10, 0, 250}, {"S1", 20, 0, 250}},
		{
			{"S2", 50, 0, 250},
			{"S3", 100, 0, 1024},
			{"S4", 200, 0, 1024},
			{"S6", 400, 0, 1024},
			{"S7", 800, 0, 1024},
			{"S9", 1600, 0, 1024},
			{"S12", 3000, 0, 1024},
		},
		{
			{"P1", 125, 0, 1024},
			{"P2", 250, 0, 1024},
			{"P4", 500, 0, 1024},
			{"P6", 1000, 0, 1024},
			{"P11", 1750, 0, 4096},
			{"P15", 4000, 0, 4096},
		},
	},
	"azure-appserviceplan": {
		{{"S1", 1, 1.75, 0}, {"S2", 2, 3.5, 0}, {"S3", 4, 7, 0}},
		{{"P1v2", 1, 3.5, 0}, {"P2v2", 2, 7, 0}, {"P3v2", 4, 14, 0}},
		{{"P0v3", 1, 4, 0}, {"P1v3", 2, 8, 0}, {"P2v3", 4, 16, 0}, {"P3v3", 8, 32, 0}},
		{{"P1mv3", 2, 16, 0}, {"P2mv3", 4, 32, 0}, {"P3mv3", 8, 64, 0}, {"P4mv3", 16, 128, 0}, {"P5mv3", 32, 256, 0}},
	},
}

// StepUse is the measured use of a step: shares of its units and of its memory, and the stored GB.
type StepUse struct{ Units, Memory, GB float64 }

// HasSteps reports whether resources of a type have sizes in steps that this package knows.
func HasSteps(kind string) bool { return ladders[kind] != nil }

// StepDown returns the next lower step if it holds the use with headroom, "" if it does not or there is none. It
// returns false for a size that is no known step, or whose use is unknown.
func StepDown(kind, class string, use StepUse) (string, bool) {
	ladder, i := findStep(kind, class)
	if i < 0 || use.Units <= 0 || ladder[i].gib > 0 && use.Memory <= 0 || ladder[i].stored > 0 && use.GB <= 0 {
		return "", false
	}
	if i == 0 {
		return "", true
	}
	now, then := ladder[i], ladder[i-1]
	if then.units < now.units*use.Units/mostCPU || then.gib < now.gib*use.Memory*moreMemory ||
		then.stored < use.GB && then.stored > 0 {
		return "", true
	}
	return then.class, true
}

// StepUp returns the next higher step, "" if there is none or the size is unknown.
func StepUp(kind, class string) string {
	ladder, i := findStep(kind, class)
	if i < 0 || i == len(ladder)-1 {
		return ""
	}
	return ladder[i+1].class
}

// findStep returns the ladder of a step and its place in it, below 0 if there is none.
func findStep(kind, class string) ([]step, int) {
	for _, ladder := range ladders[kind] {
		if i := slices.IndexFunc(ladder, func(s step) bool { return s.class == class }); i >= 0 {
			return ladder, i
		}
	}
	return nil, -1
}
