package azure

import (
	"strings"

	"lamplighter.dev/shared/cloud"
)

// diskProducts are the products of managed disks that are charged by tier.
var diskProducts = map[string]bool{
	"Premium SSD Managed Disks": true, "Standard SSD Managed Disks": true, "Standard HDD Managed Disks": true,
}

// meters are the prices that are recognized by the names of their meters.
var meters = map[string]string{
	"Standard Uptime SLA": "aks/standard", "Standard Long Term Support": "aks/premium",
	"Standard Included LB Rules and Outbound Rules": "lb/standard/base",
	"Standard Overage LB Rules and Outbound Rules":  "lb/standard/rule",
	"Standard Gateway":               "nat/hours",
	"Standard IPv4 Static Public IP": "publicip/standard/static",
	"Basic IPv4 Static Public IP":    "publicip/basic/static",
	"Basic IPv4 Dynamic Public IP":   "publicip/basic/dynamic",
	"Ultra LRS Provisioned Capacity": "disk/ultra/gib", "Ultra LRS Provisioned IOPS": "disk/ultra/iops",
	"Ultra LRS Provisioned Throughput (MBps)":   "disk/ultra/mbps",
	"Premium LRS Provisioned Capacity":          "disk/premiumv2/gib",
	"Premium LRS Provisioned IOPS":              "disk/premiumv2/iops",
	"Premium LRS Provisioned Throughput (MBps)": "disk/premiumv2/mbps",
}

// hourlyUnits and monthlyUnits are Azure's names for the units of prices.
var (
	hourlyUnits  = map[string]bool{"1 Hour": true, "1/Hour": true, "1 GiB/Hour": true}
	monthlyUnits = map[string]bool{"1/Month": true, "1 GB/Month": true, "1 GiB/Month": true}
)

const hoursPerDay = 24

// priceKey returns the key, the unit and the divisor of a price; "" if no resource here is priced by it.
func (r *retailPrice) priceKey() (key string, unit cloud.PriceUnit, divide int64) {
	switch {
	case hourlyUnits[r.Unit]:
		return r.hourly(), cloud.PerHour, 1
	case monthlyUnits[r.Unit]:
		return r.monthly(), cloud.PerMonth, 1
	case r.Unit == "1/Day" && strings.HasPrefix(r.Product, "SQL Database Single") && r.Meter == r.SKU+" DTUs":
		return "sqldb/" + r.SKU, cloud.PerHour, hoursPerDay
	}
	return "", "", 1
}

func (r *retailPrice) hourly() string {
	switch {
	case r.Service == "Virtual Machines":
		return r.machineKey()
	case strings.Contains(r.Product, "Flexible Server") && strings.HasPrefix(r.ArmSKU, "Standard_"):
		engine := "postgresql"
		if strings.HasSuffix(r.Service, "MySQL") {
			engine = "mysql"
		}
		return engine + "/" + r.ArmSKU
	case r.Service == "Azure App Service" && strings.Contains(r.Product, "Plan"):
		system := "windows"
		if strings.HasSuffix(r.Product, "- Linux") {
			system = "linux"
		}
		return "plan/" + strings.ReplaceAll(r.SKU, " ", "") + "/" + system
	}
	return meters[r.Meter]
}

// machineKey returns the price key of a machine; "" for spare capacity, and for prices that are not of a whole machine.
func (r *retailPrice) machineKey() string {
	if r.ArmSKU == "" || strings.Contains(r.SKU, "Spot") || strings.Contains(r.SKU, "Low Priority") ||
		strings.Contains(r.Product, "CloudServices") ||
		strings.Contains(r.Product, "Dedicated Host") {
		return ""
	}
	if strings.Contains(r.Product, "Windows") {
		return "vm/" + r.ArmSKU + "/windows"
	}
	return "vm/" + r.ArmSKU + "/linux"
}

func (r *retailPrice) monthly() string {
	tier, redundancy, both := strings.Cut(r.SKU, " ")
	switch {
	case diskProducts[r.Product] && both && (r.Meter == r.SKU+" Disk" || r.Meter == tier+" Disks"):
		return "disk/" + tier + "/" + redundancy
	case r.Product == "Standard HDD Managed Disks" && r.Meter == "LRS Snapshots": // whatever disk it is of
		return "disk/snapshot"
	case strings.Contains(r.Product, "Flex") && r.Meter == "Storage Data Stored":
		if strings.HasSuffix(r.Service, "MySQL") {
			return "mysql-storage"
		}
		return "postgresql-storage"
	}
	return meters[r.Meter]
}
