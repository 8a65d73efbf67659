package pricing

import (
	"cmp"
	"strings"

	"lamplighter.dev/shared/foundation/money"
)

// rates maps a type to the function that prices a resource of it.
var rates = map[string]func(*calculation){
	"aws-ec2":           rateInstance,
	"aws-ebs":           rateVolume,
	"aws-rds":           rateDatabase,
	"aws-nat":           func(c *calculation) { c.add("NAT gateway", "nat/hours", one) },
	"aws-elb":           rateBalancer,
	"aws-eip":           func(c *calculation) { c.add("Public IPv4 address", "eip/hours", one) },
	"aws-eks":           func(c *calculation) { c.add("EKS cluster", "eks/cluster", one) },
	"aws-eks-nodegroup": rateNodeGroup,
	"aws-ecs":           rateService,
	"aws-elasticache":   rateCache,
	"aws-redshift":      rateWarehouse,
	"aws-opensearch":    rateDomain,
	"aws-sagemaker-notebook": func(c *calculation) {
		c.addRunning("Notebook instance ("+c.Class+")", "sagemaker/"+c.Class+"/notebook", one)
	},
	"aws-lambda":                rateFunction,
	"azure-vm":                  rateMachine,
	"azure-vmss":                rateScaleSet,
	"azure-aks":                 rateAKS,
	"azure-aks-nodepool":        rateAKSPool,
	"azure-disk":                rateManagedDisk,
	"azure-postgresql-flexible": func(c *calculation) { rateFlexible(c, "postgresql") },
	"azure-mysql-flexible":      func(c *calculation) { rateFlexible(c, "mysql") },
	"azure-sql-database":        rateSQLDatabase,
	"azure-appserviceplan":      ratePlan,
	"azure-loadbalancer":        rateAzureBalancer,
	"azure-natgateway":          func(c *calculation) { c.add("NAT gateway", "nat/hours", one) },
	"azure-publicip":            rateAddress,
	"gcp-compute":               rateCompute,
	"gcp-disk":                  rateDisk,
	"gcp-cloudsql":              rateCloudSQL,
	"gcp-gke":                   func(c *calculation) { c.add("Cluster management fee", "gke/cluster", one) },
	"gcp-gke-nodepool":          rateGKEPool,
	"gcp-forwarding-rule":       rateForwarding,
	"gcp-address":               rateGoogleAddress,
	"gcp-cloudrun":              rateRun,
}

// systems maps EC2's name of a platform to the operating system in price keys. Platforms whose price includes other
// software are missing.
var systems = map[string]string{
	"":                         "linux",
	"Linux/UNIX":               "linux",
	"Windows":                  "windows",
	"windows":                  "windows",
	"Red Hat Enterprise Linux": "rhel",
	"SUSE Linux":               "suse",
}

func rateInstance(c *calculation) {
	platform, told := c.input("platform")
	system, known := systems[platform]
	if !told || !known {
		c.none("instances of the platform %q have no price here", platform)
		return
	}
	tenancy := cmp.Or(c.word("tenancy"), "default")
	if tenancy == "host" {
		c.none("it runs on a dedicated host, which is charged for as a whole")
	}
	c.addRunning("Instance ("+c.Class+", "+system+")", "ec2/"+c.Class+"/"+system+"/"+tenancy, one)
}

// The IOPS and the throughput that the price of gp3 storage includes.
const (
	freeIOPS       = 3000
	freeThroughput = 125 // MiB/s
)

// The amounts from which the operations of io2 are cheaper.
const (
	secondIOPS = 32_000
	thirdIOPS  = 64_000
)

func rateVolume(c *calculation) {
	kind := cmp.Or(c.Class, c.word("volume_type"))
	c.add("Storage ("+kind+")", "ebs/"+kind+"/storage", c.count("sizeGiB"))
	switch kind {
	case "gp3":
		c.addSome("IOPS", "ebs/gp3/iops", above(c.number("iops"), freeIOPS))
		c.addSome("Throughput", "ebs/gp3/throughput", above(c.number("throughput_mibps"), freeThroughput))
	case "io1":
		c.add("IOPS", "ebs/io1/iops", c.number("iops"))
	case "io2":
		c.addTiers(c.number("iops"))
	}
}

// addSome is add for a quantity that has no component when it is 0.
func (c *calculation) addSome(name, key string, quantity money.Amount) {
	if quantity.Sign() > 0 {
		c.add(name, key, quantity)
	}
}

// addTiers adds the price of an io2 volume's operations, in tiers that get cheaper.
func (c *calculation) addTiers(iops money.Amount) {
	second, third := above(iops, secondIOPS), above(iops, thirdIOPS)
	c.addSome("IOPS", "ebs/io2/iops", iops.Sub(second))
	c.addSome("IOPS above 32,000", "ebs/io2/iops2", second.Sub(third))
	c.addSome("IOPS above 64,000", "ebs/io2/iops3", third)
}

// licences maps RDS's names of licence models to their suffix in price keys.
var licences = map[string]string{"license-included": "/license-included", "bring-your-own-license": "/byol"}

func rateDatabase(c *calculation) {
	engine := c.word("engine")
	if engine == "" {
		c.none("its engine is not known")
		return
	}
	zones := "single"
	if c.is("multi_az") {
		zones = "multi"
	}
	license := ""
	if strings.HasPrefix(engine, "oracle") || strings.HasPrefix(engine, "sqlserver") {
		license = licences[c.word("license_model")]
	}
	c.addRunning("Database instance ("+c.Class+", "+engine+")", "rds/"+c.Class+"/"+engine+license+"/"+zones, one)
	if strings.HasPrefix(engine, "aurora") {
		return // storage belongs to the cluster, and is charged by use
	}
	kind := cmp.Or(c.word("storage_type"), "standard")
	c.add("Storage ("+kind+")", "rds-storage/"+kind+"/"+zones, c.size("storageGiB", "allocated_gb"))
	switch kind {
	case "io1", "io2":
		c.add("IOPS", "rds-iops/"+kind+"/"+zones, c.number("iops"))
	case "gp3":
		if n, told := c.input("iops"); told && n != "0" {
			c.addSome("IOPS", "rds-iops/gp3/"+zones,
				above(c.number("iops"), databaseIOPS(engine, c.size("storageGiB", "allocated_gb"))))
		}
	}
}

// stripedFrom is the size in gibibytes from which RDS stripes gp3 over four volumes, so that its price includes four
// times as many operations. SQL Server is never striped; Oracle is striped from a smaller size.
const stripedFrom = 400

// databaseIOPS returns how many operations per second the price of gp3 includes.
func databaseIOPS(engine string, gib money.Amount) int64 {
	from := int64(stripedFrom)
	if strings.HasPrefix(engine, "oracle") {
		from = stripedFrom / 2
	}
	if strings.HasPrefix(engine, "sqlserver") || gib.Cmp(money.FromInt(from)) < 0 {
		return freeIOPS
	}
	return 4 * freeIOPS
}

func rateBalancer(c *calculation) {
	kind := c.word("lb_type")
	c.add("Load balancer ("+kind+")", "elb/"+kind+"/hours", one)
}

func rateNodeGroup(c *calculation) {
	c.out.Shared = true
	if c.word("capacity_type") == "SPOT" {
		c.none("its nodes are spot instances, whose prices move")
	}
	if strings.Contains(c.Class, ",") {
		c.none("its nodes may be of several types: %s", c.Class)
	}
	c.addRunning("Nodes ("+c.Class+", linux)", "ec2/"+c.Class+"/linux/default", c.count("desired"))
}

// rateService prices the tasks of a service on Fargate on demand. Other tasks have a price of another kind or none.
func rateService(c *calculation) {
	switch on := c.word("launch_type"); {
	case on == "FARGATE":
		rateFargate(c)
	case on == "":
		c.none("launch_type is not known")
	case on == "FARGATE_SPOT":
		c.none("its tasks run on Fargate Spot, whose prices move")
	case strings.Contains(on, ","):
		c.none("its tasks are spread over several capacity providers: %s", on)
	default: // EC2, EXTERNAL, or a capacity provider of the customer's own instances
		c.none("it runs on instances that are priced by themselves")
	}
}

func rateFargate(c *calculation) {
	key := "fargate/"
	if c.word("architecture") == "ARM64" {
		key = "fargate/arm/"
	}
	if os := c.word("os_family"); strings.HasPrefix(os, "WINDOWS") {
		c.none("its tasks run on %s, whose license has a price of its own", os)
	}
	c.addRunning("vCPU", key+"vcpu", c.number("task_vcpu").Mul(c.count("desired")))
	c.addRunning("Memory", key+"gib", c.number("task_gib").Mul(c.count("desired")))
	if c.word("task_storage_gib") == "" {
		return // a task has freeTaskGiB unless its definition states more
	}
	if extra := above(c.number("task_storage_gib"), freeTaskGiB); extra.Sign() > 0 {
		c.addRunning("Ephemeral storage above 20 GiB", "fargate/storage", extra.Mul(c.count("desired")))
	}
}

// freeTaskGiB is the ephemeral storage of a task of Fargate that is not charged
// (https://aws.amazon.com/fargate/pricing).
const freeTaskGiB = 20

func rateCache(c *calculation) {
	c.add("Cache nodes ("+c.Class+")", "elasticache/"+c.Class+"/"+c.word("engine"), c.count("nodes"))
}

func rateWarehouse(c *calculation) {
	c.addRunning("Nodes ("+c.Class+")", "redshift/"+c.Class, c.count("nodes"))
}

func rateDomain(c *calculation) {
	if c.number("dedicated_masters").Sign() > 0 || c.number("warm_count").Sign() > 0 {
		c.none("the types of its master and warm nodes are not known")
	}
	nodes := c.size("nodes", "data_nodes")
	c.add("Data nodes ("+c.Class+")", "opensearch/"+c.Class, nodes)
	if kind := c.word("volume_type"); kind != "" {
		c.add("Storage ("+kind+")", "opensearch-storage/"+kind, c.number("volume_gb").Mul(nodes))
	}
}

// rateFunction prices the provisioned concurrency of a function; invocations are charged by use.
func rateFunction(c *calculation) {
	ready := c.number("provisioned_concurrency")
	if c.out.Reason == "" && ready.IsZero() {
		c.none("it keeps nothing ready: it is charged by use alone")
	}
	gib := c.size("memoryMiB", "memory_mb").DivInt(1024)
	c.addRunning("Provisioned concurrency", "lambda/provisioned/"+cmp.Or(c.word("architecture"), "x86_64"),
		gib.Mul(ready).MulInt(secondsPerHour))
}

const secondsPerHour = 3600
