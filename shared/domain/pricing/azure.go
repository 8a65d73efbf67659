package pricing

import (
	"strings"

	"lamplighter.dev/shared/foundation/money"
)

// operatingSystem returns the system that determines the price of an Azure machine. A machine with its own licence of
// Windows has the price of Linux.
func (c *calculation) operatingSystem() string {
	system := strings.ToLower(c.word("os_type"))
	switch {
	case system == "":
		c.none("its operating system is not known")
	case c.word("license_type") == "Windows_Server" || c.word("license_type") == "Windows_Client":
		return "linux"
	}
	return system
}

func (c *calculation) refuseSpot() {
	if c.word("priority") == "Spot" || c.word("priority") == "Low" || c.is("spot") {
		c.none("it runs on spare capacity, whose price moves")
	}
}

func rateMachine(c *calculation) {
	c.refuseSpot()
	system := c.operatingSystem()
	c.addRunning("Virtual machine ("+c.Class+", "+system+")", "vm/"+c.Class+"/"+system, one)
}

func rateScaleSet(c *calculation) {
	c.refuseSpot()
	system := c.operatingSystem()
	c.addRunning("Virtual machines ("+c.Class+", "+system+")", "vm/"+c.Class+"/"+system, c.count("desired"))
}

func rateAKS(c *calculation) {
	switch tier := strings.ToLower(c.word("tier")); tier {
	case "free":
	case "":
		c.none("its tier is not known")
	default:
		c.addRunning("Uptime SLA ("+tier+")", "aks/"+tier, one)
	}
}

// rateAKSPool prices the nodes of a pool. They are a scale set with its own price.
func rateAKSPool(c *calculation) {
	c.out.Shared = true
	c.refuseSpot()
	system := c.operatingSystem()
	c.addRunning("Nodes ("+c.Class+", "+system+")", "vm/"+c.Class+"/"+system, c.size("desired", "count"))
}

// diskSizes are the maximum size of each tier of managed disks, in gibibytes, and the tier's number.
var diskSizes = []struct {
	gib  int64
	tier string
}{
	{4, "1"},
	{8, "2"},
	{16, "3"},
	{32, "4"},
	{64, "6"},
	{128, "10"},
	{256, "15"},
	{512, "20"},
	{1024, "30"},
	{2048, "40"},
	{4096, "50"},
	{8192, "60"},
	{16384, "70"},
	{32767, "80"},
}

// diskLetters are the letters of the tiers of the kinds of managed disks.
var diskLetters = map[string]string{"Premium": "P", "StandardSSD": "E", "Standard": "S"}

// diskTier returns the tier that a disk of a size is charged as, or false.
func diskTier(kind string, gib money.Amount) (string, bool) {
	letter, known := diskLetters[kind]
	for _, s := range diskSizes {
		if kind == "Standard" && s.gib < 32 {
			continue
		}
		if gib.Cmp(money.FromInt(s.gib)) <= 0 {
			return letter + s.tier, known
		}
	}
	return "", false
}

func rateManagedDisk(c *calculation) {
	kind, redundancy, _ := strings.Cut(c.word("sku"), "_")
	gib := c.count("sizeGiB")
	switch kind {
	case "UltraSSD":
		c.add("Storage (ultra)", "disk/ultra/gib", gib)
		c.add("Provisioned IOPS", "disk/ultra/iops", c.number("tier_iops"))
		c.add("Throughput", "disk/ultra/mbps", c.number("tier_mbps"))
		return
	case "PremiumV2":
		c.add("Storage (Premium v2)", "disk/premiumv2/gib", gib)
		c.addSome("Provisioned IOPS", "disk/premiumv2/iops", above(c.number("tier_iops"), freeIOPS))
		c.addSome("Throughput", "disk/premiumv2/mbps", above(c.number("tier_mbps"), freeThroughput))
		return
	}
	tier, ok := diskTier(kind, gib)
	if !ok {
		c.none("a disk of %q and %s GiB has no tier", c.word("sku"), gib)
		return
	}
	c.add("Storage ("+tier+", "+redundancy+")", "disk/"+tier+"/"+redundancy, one)
}

// rateFlexible is a flexible server: one that keeps a standby is two.
func rateFlexible(c *calculation, engine string) {
	servers := one
	if mode := c.word("ha_mode"); mode != "" && !strings.EqualFold(mode, "Disabled") {
		servers = money.FromInt(2)
	}
	gib := c.number("storage_gb")
	c.addRunning("Compute ("+c.Class+")", engine+"/"+c.Class, servers)
	c.add("Storage", engine+"-storage", gib.Mul(servers))
	if engine == "mysql" {
		free := money.FromInt(300).Add(gib.MulInt(3))
		if extra := c.number("iops").Sub(free); extra.Sign() > 0 {
			c.add("IOPS", "mysql-iops", extra.Mul(servers))
		}
	}
}

func rateSQLDatabase(c *calculation) {
	switch {
	case c.word("pool_id") != "":
		c.none("it is in an elastic pool, which is charged for as a whole")
		return
	case c.is("serverless"):
		c.none("it is serverless: it is charged by use")
		return
	case c.is("zone_redundant"):
		c.none("no price is known of databases in several zones")
	}
	edition, _, cores := strings.Cut(c.Class, "_")
	if !cores {
		c.add("Compute ("+c.Class+")", "sqldb/"+c.Class, one)
		return
	}
	c.add("Compute ("+c.Class+")", "sqldb/"+c.Class+"/vcore", c.count("desired"))
	c.add("SQL license", "sqldb/"+edition+"/license", c.count("desired"))
	c.add("Storage", "sqldb/"+edition+"/storage", c.number("max_gb"))
}

// ratePlan prices an App Service plan. The plan does not say whether it is for Linux or Windows, so only plans whose
// price is the same for both are priced.
func ratePlan(c *calculation) {
	l, known := c.table.Price("plan/" + c.Class + "/linux")
	w, other := c.table.Price("plan/" + c.Class + "/windows")
	if known && other && l != w {
		c.none("whether it is for Linux or for Windows is not known")
	}
	system := "linux"
	if !known {
		system = "windows"
	}
	c.add("Workers ("+c.Class+")", "plan/"+c.Class+"/"+system, c.number("workers"))
}

// freeRules is how many rules the price of a load balancer includes.
const freeRules = 5

func rateAzureBalancer(c *calculation) {
	if c.word("sku") == "Basic" {
		return // free
	}
	rules := c.number("rule_count")
	if rules.Sign() > 0 {
		c.add("Load balancer", "lb/standard/base", one)
		c.addSome("Rules above five", "lb/standard/rule", above(rules, freeRules))
	}
}

func rateAddress(c *calculation) {
	sku, allocation := strings.ToLower(c.word("sku")), strings.ToLower(c.word("allocation"))
	c.add("IP address ("+allocation+")", "publicip/"+sku+"/"+allocation, one)
}
