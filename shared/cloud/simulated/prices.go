package simulated

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/money"
)

// prices are the prices of this cloud, the same in all its regions: the on-demand prices of AWS, Azure and Google
// Cloud in their first regions (us-east-1, eastus, us-central1).
//
//go:embed prices.csv
var prices string

// pricesVersion is the version of prices.csv. It changes with it.
const pricesVersion = "simulated-2026-11-29"

// Prices passes the prices of the simulated cloud to take. They are the same in every region and every night.
func (p *provider) Prices(_ context.Context, _ string, take func(cloud.Price) error) (string, error) {
	_, lines, _ := strings.Cut(prices, "\n") // behind the header
	for line := range strings.Lines(lines) {
		f := strings.Split(strings.TrimSpace(line), ",")
		if len(f) != 3 {
			return "", fmt.Errorf("prices.csv: %q is not a key, a unit and an amount", line)
		}
		usd, err := money.Parse(f[2])
		if err != nil {
			return "", fmt.Errorf("prices.csv: %s: %w", f[0], err)
		}
		if err = take(cloud.Price{Key: f[0], Unit: cloud.PriceUnit(f[1]), USD: usd}); err != nil {
			return "", err
		}
	}
	return pricesVersion, nil
}

// PricesAreLocal says that they are there at once.
func (p *provider) PricesAreLocal() bool { return true }
