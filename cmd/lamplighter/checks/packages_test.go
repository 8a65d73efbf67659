package checks

import (
	"slices"
	"strings"
	"testing"
)

// maxDomainPackages is how many packages shared/domain may have, nested ones counted: a reader can remember about
// that many. Merge a new one with its neighbour, or move it to the one function that calls it.
const maxDomainPackages = 32

func TestDomain_HasFewPackages(t *testing.T) {
	var found []string
	for _, p := range list(t, "./shared/domain/...") {
		found = append(found, p.path())
	}
	if len(found) < 10 || len(found) > maxDomainPackages {
		t.Errorf("shared/domain has %d packages, at most %d are allowed: %s", len(found), maxDomainPackages,
			strings.Join(found, " "))
	}
}

// aboutMoney are the packages about bills, prices and costs.
var aboutMoney = []string{
	"shared/foundation/money", "shared/domain/bill", "shared/domain/billfile", "shared/domain/billimport",
	"shared/domain/cost",
	"shared/domain/costquery", "shared/domain/pricing", "shared/domain/budgeting", "shared/domain/anomaly",
	"shared/domain/report", "shared/domain/commitment",
}

// Every package depends on the inventory, so every package would depend on the imports of the inventory too.
func TestInventory_ImportsNothingAboutMoney(t *testing.T) {
	for _, p := range list(t, "./shared/domain/inventory/...") {
		for _, imported := range p.Imports {
			if to := strings.TrimPrefix(imported, module); slices.Contains(aboutMoney, to) {
				t.Errorf("%s imports %s: give the inventory an interface, as inventory.CostReader", p.path(), to)
			}
		}
	}
}

// oneCaller lists the packages of shared/ that only one function or one package imports, with the reason why each is
// a package of its own.
var oneCaller = map[string]string{
	"shared/api/client": "is published for programs in Go that use the service, and knows no commands",
	"shared/cloud/gcp/googlerest": "knows the requests and answers of Google's APIs and no kinds, " +
		"and is tested alone",
	"shared/engine/secretsmanager":   "signs requests to AWS, knows no settings, and is tested against moto alone",
	"shared/engine/mail/ses":         "keeps the client of SES out of the functions that only queue mail",
	"shared/foundation/parquetguard": "knows nothing of bills, and is fuzzed and attacked alone",
}

// unitOf returns the caller that a package counts for: its function, or the package itself.
func unitOf(path string) string {
	if f := functionOf(path); f != "" {
		return "functions/" + f
	}
	return path
}

// isPartOf reports whether a package is in a folder below its only caller, or is a provider, which only the list of
// providers imports.
func isPartOf(path string, callers []string) bool {
	return len(callers) == 1 &&
		(strings.HasPrefix(path, callers[0]+"/") || callers[0] == "shared/cloud/providers" &&
			strings.HasPrefix(path, "shared/cloud/"))
}

// isPartOfCallers reports whether a package lies in the folder of its only caller, or in the folder of the cloud whose
// packages alone import it.
func isPartOfCallers(path string, callers []string) bool {
	if len(callers) == 1 && strings.HasPrefix(path, callers[0]+"/") {
		return true
	}
	parts := strings.SplitN(path, "/", 4)
	if len(parts) < 4 || parts[1] != "cloud" {
		return false
	}
	provider := strings.Join(parts[:3], "/")
	return len(callers) > 0 && !slices.ContainsFunc(callers, func(c string) bool {
		return c != provider && !strings.HasPrefix(c, provider+"/")
	})
}

func TestSharedPackages_HaveTwoCallersOrAReason(t *testing.T) {
	callers := map[string][]string{}
	for _, p := range list(t, "./...") {
		for _, imported := range p.Imports {
			to, ours := strings.CutPrefix(imported, module)
			if by := unitOf(p.path()); ours && !servesTests(by) && !slices.Contains(callers[to], by) {
				callers[to] = append(callers[to], by)
			}
		}
	}
	for _, p := range list(t, "./shared/...") {
		path := p.path()
		if servesTests(path) || isPartOf(path, callers[path]) {
			continue
		}
		if isPartOfCallers(path, callers[path]) {
			continue
		}
		if reason := oneCaller[path]; len(callers[path]) < 2 && reason == "" {
			t.Errorf("%s is imported by %v alone: move it there, or write the reason into oneCaller", path,
				callers[path])
		} else if len(callers[path]) > 1 && reason != "" {
			t.Errorf("%s has the callers %v: take it out of oneCaller", path, callers[path])
		}
	}
}

func TestTestSupport_LiesInTheTestKit(t *testing.T) {
	for _, p := range list(t, "./...") {
		if strings.HasSuffix(p.path(), "test") && !servesTests(p.path()) {
			t.Errorf("%s serves tests by its name: move it to shared/testkit", p.path())
		}
	}
}
