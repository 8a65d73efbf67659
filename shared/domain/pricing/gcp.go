package pricing

import (
	"strings"

	"lamplighter.dev/shared/foundation/money"
)

// Google charges a machine by its cores and its memory: keys are "compute/n2/core" and "compute/n2/ram", of an hour
// and a gibibyte.

func rateCompute(c *calculation) {
	c.refuseSpot()
	if c.number("gpu_count").Sign() > 0 || c.number("local_ssd_count").Sign() > 0 {
		c.none("no price is known of its accelerators or local disks")
	}
	if l := c.word("os_license"); l != "" {
		c.none("no price is known of its licence %s", l)
	}
	c.addMachines("Instance", one)
}

// rateGKEPool prices the nodes of a pool. They are instances with prices of their own.
func rateGKEPool(c *calculation) {
	c.out.Shared = true
	c.refuseSpot()
	c.addMachines("Nodes", c.number("node_count"))
}

// addMachines adds a number of machines of the resource's type.
func (c *calculation) addMachines(name string, machines money.Amount) {
	shape, ok := ShapeOf(c.Class)
	if !ok {
		c.none("how many cores and how much memory %q has is not known", c.Class)
		return
	}
	if shape.Whole {
		c.addRunning(name+" ("+c.Class+")", "compute/"+c.Class, machines)
		return
	}
	extra := ""
	if shape.Custom {
		extra = "custom-"
	}
	c.addRunning(name+" ("+c.Class+"), cores", "compute/"+shape.Family+"/"+extra+"core", shape.Cores.Mul(machines))
	c.addRunning(name+" ("+c.Class+"), memory", "compute/"+shape.Family+"/"+extra+"ram",
		shape.GiB.Sub(shape.Extended).Mul(machines))
	if shape.Extended.Sign() > 0 {
		c.addRunning(name+" ("+c.Class+"), extended memory", "compute/"+shape.Family+"/extended-ram",
			shape.Extended.Mul(machines))
	}
}

func rateDisk(c *calculation) {
	kind, where := c.word("disk_type"), "zonal"
	if kind == "" {
		c.none("its type is not known")
	}
	if c.is("regional") {
		where = "regional"
	}
	c.add("Storage ("+kind+")", "disk/"+kind+"/"+where, c.size("sizeGiB", "size_gb"))
	if kind == "pd-extreme" || strings.HasPrefix(kind, "hyperdisk") {
		c.addSome("Provisioned IOPS", "disk/"+kind+"/iops", c.number("provisioned_iops"))
	}
}

func rateCloudSQL(c *calculation) {
	engine, _, _ := strings.Cut(strings.ToLower(c.word("engine")), "_")
	if c.word("edition") == "ENTERPRISE_PLUS" {
		c.none("no price is known of the edition ENTERPRISE_PLUS")
	}
	if engine == "sqlserver" {
		c.none("no price is known of the licences of SQL Server")
	}
	where := "zonal"
	if c.is("ha") {
		where = "regional"
	}
	if shape, ok := ShapeOf(strings.TrimPrefix(c.Class, "db-")); ok && !shape.Whole {
		c.addRunning("vCPUs", "cloudsql/"+engine+"/core/"+where, shape.Cores)
		c.addRunning("Memory", "cloudsql/"+engine+"/ram/"+where, shape.GiB)
	} else {
		c.addRunning("SQL instance ("+c.Class+")", "cloudsql/"+engine+"/"+c.Class+"/"+where, one)
	}
	kind := c.word("storage_type")
	if kind == "" {
		c.none("the type of its disk is not known")
	}
	c.add("Storage ("+kind+")", "cloudsql/storage/"+kind+"/"+where, c.size("storageGiB", "storage_gb"))
}

// rateForwarding prices a forwarding rule. The first five rules of a project cost as much as one.
func rateForwarding(c *calculation) {
	c.out.Shared = true
	c.add("Forwarding rule", "forwarding/rule", one)
}

func rateGoogleAddress(c *calculation) {
	if c.word("address_type") == "INTERNAL" {
		return // free
	}
	use := "used"
	if c.word("state") == "RESERVED" {
		use = "unused"
	}
	c.add("IP address ("+use+")", "address/"+use, one)
}

// rateRun prices the instances that a service keeps ready; other instances are charged by use.
func rateRun(c *calculation) {
	ready := c.number("min_instances")
	if c.out.Reason == "" && ready.IsZero() {
		c.none("it keeps no instance ready: it is charged by use alone")
	}
	how := "idle"
	if c.is("cpu_always") {
		how = "always"
	}
	gib := c.number("memory_mb").MulDiv(money.FromInt(1_000_000), money.FromInt(1<<30))
	c.addRunning("Instances kept ready, cores", "run/"+how+"/cpu",
		c.number("cpu_limit").Mul(ready).MulInt(secondsPerHour))
	c.addRunning("Instances kept ready, memory", "run/"+how+"/gib", gib.Mul(ready).MulInt(secondsPerHour))
}
