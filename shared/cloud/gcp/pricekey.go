package gcp

import (
	"regexp"
	"strings"
)

// machineSKU matches the descriptions of prices of cores and memory: "N2 Instance Core running in Americas", "Custom
// Instance Ram running in …". Descriptions with other words (Sole Tenancy, Spot, a commitment) are of other prices.
var machineSKU = regexp.MustCompile(
	`^(?:([A-Z][0-9][A-Z]?)(?: AMD| Arm)? )?(Predefined |Custom |Custom Extended )?Instance (Core|Ram) running in `)

// describedPrices are the prices that are recognized by the beginnings of their descriptions.
var describedPrices = []struct{ begins, key string }{
	{"Micro Instance with burstable CPU running in ", "compute/f1-micro"},
	{"Small Instance with 1 VCPU running in ", "compute/g1-small"},
	{"Compute optimized Core running in ", "compute/c2/core"},
	{"Compute optimized Ram running in ", "compute/c2/ram"},
	{"Storage PD Capacity", "disk/pd-standard/zonal"},
	{"SSD backed PD Capacity", "disk/pd-ssd/zonal"},
	{"Balanced PD Capacity", "disk/pd-balanced/zonal"},
	{"Extreme PD Capacity", "disk/pd-extreme/zonal"},
	{"Extreme PD IOPS", "disk/pd-extreme/iops"},
	{"Regional Storage PD Capacity", "disk/pd-standard/regional"},
	{"Regional SSD backed PD Capacity", "disk/pd-ssd/regional"},
	{"Regional Balanced PD Capacity", "disk/pd-balanced/regional"},
	{"Storage PD Snapshot", "disk/snapshot"},
	{"External IP Charge on a Standard VM", "address/used"},
	{"Static Ip Charge", "address/unused"},
	{"Network Load Balancing: Forwarding Rule Minimum Service Charge", "forwarding/rule"},
	{"Zonal Kubernetes Clusters", "gke/cluster"},
}

// databaseSKU is how prices of Cloud SQL are described: "Cloud SQL for PostgreSQL: Zonal - vCPU in Americas".
var databaseSKU = regexp.MustCompile(
	`^Cloud SQL for (PostgreSQL|MySQL): (Zonal|Regional) - (vCPU|RAM|Standard storage|Low cost storage) in `)

// engines and parts are Google's names of databases, and the names in price keys.
var (
	engines = map[string]string{"PostgreSQL": "postgres", "MySQL": "mysql"}
	parts   = map[string]string{"vCPU": "core", "RAM": "ram"}
	stores  = map[string]string{"Standard storage": "PD_SSD", "Low cost storage": "PD_HDD"}
)

// priceKeys returns the price keys of a SKU; none if no resource here is priced by it.
func (s *sku) priceKeys() []string {
	if s.Category.Usage != "OnDemand" {
		return nil
	}
	if m := machineSKU.FindStringSubmatch(s.Description); m != nil {
		return machineKeys(strings.ToLower(m[1]), strings.TrimSpace(m[2]), strings.ToLower(m[3]))
	}
	if m := databaseSKU.FindStringSubmatch(s.Description); m != nil {
		where := strings.ToLower(m[2])
		if kind := stores[m[3]]; kind != "" {
			return []string{"cloudsql/storage/" + kind + "/" + where}
		}
		return []string{"cloudsql/" + engines[m[1]] + "/" + parts[m[3]] + "/" + where}
	}
	for _, d := range describedPrices {
		if strings.HasPrefix(s.Description, d.begins) {
			return []string{d.key}
		}
	}
	return nil
}

// machineKeys are the keys of cores or memory of a family. Keys without a family are of N1; E2 has the same keys for
// its custom machines.
func machineKeys(family, how, part string) []string {
	if part != "core" {
		part = "ram"
	}
	switch family {
	case "":
		family = "n1"
	case "e2":
		return []string{"compute/e2/" + part, "compute/e2/custom-" + part}
	}
	switch how {
	case "Custom":
		return []string{"compute/" + family + "/custom-" + part}
	case "Custom Extended":
		return []string{"compute/" + family + "/extended-" + part}
	}
	return []string{"compute/" + family + "/" + part}
}
