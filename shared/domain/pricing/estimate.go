package pricing

import (
	"fmt"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/money"
)

// Estimate is the cost of a resource at public prices.
type Estimate struct {
	Hourly      money.Amount // in the current state; for a stopped resource the remaining cost
	WhenRunning money.Amount // an hour of it while it runs
	Version     string       // version of the table
	Components  []Component
	Reason      string // why there is no estimate; empty when there is one
	// it is the price of parts that are resources of their own, such as nodes of a pool: never add it to theirs
	Shared bool
}

// OK reports whether there is an estimate.
func (e *Estimate) OK() bool { return e.Reason == "" }

// Monthly returns the cost of 730 hours.
func (e *Estimate) Monthly() money.Amount { return e.Hourly.MulInt(HoursPerMonth) }

// Component is a line of an estimate. If the price is per month, an hour costs 1/730 of it.
type Component struct {
	Name     string // "Instance (m5.large, linux)"
	Key      string // key of the price
	Unit     cloud.PriceUnit
	USD      money.Amount // price of one unit
	Quantity money.Amount // units in each hour, or at a time
	Stops    bool         // costs nothing while the resource is stopped
}

// Monthly returns the cost of the component for 730 hours.
func (c *Component) Monthly() money.Amount {
	if c.Unit == cloud.PerMonth {
		return c.USD.Mul(c.Quantity)
	}
	return c.USD.Mul(c.Quantity).MulInt(HoursPerMonth)
}

// hourly returns the cost of the component for an hour.
func (c *Component) hourly() money.Amount {
	if c.Unit == cloud.PerMonth {
		return c.USD.Mul(c.Quantity).DivInt(HoursPerMonth)
	}
	return c.USD.Mul(c.Quantity)
}

// Rate estimates a resource by a table of its provider and region.
func Rate(t *Table, r Resource) Estimate {
	c := &calculation{table: t, Resource: r, out: Estimate{Version: t.Version}}
	rate := rates[r.Type]
	switch {
	case rate == nil:
		c.none("no price is known of the type %s", r.Type)
	case r.Status == cloud.Unknown:
		c.none("its state is not known, so neither is what it costs")
	default:
		rate(c)
	}
	return c.sum()
}

// Priced reports whether resources of a type can have a price.
func Priced(kind string) bool { return rates[kind] != nil }

// calculation is one estimate under way.
type calculation struct {
	Resource
	table *Table
	out   Estimate
}

// none records why there is no price. The first reason is kept.
func (c *calculation) none(format string, args ...any) {
	if c.out.Reason == "" {
		c.out.Reason = fmt.Sprintf(format, args...)
	}
}

// add adds a component: a quantity at the price of a key.
func (c *calculation) add(name, key string, quantity money.Amount) {
	e, ok := c.table.Price(key)
	if !ok {
		c.none("the prices of %s have no %s", strings.TrimSpace(c.table.Region+" "+c.table.Version), key)
		return
	}
	c.out.Components = append(c.out.Components,
		Component{Name: name, Key: key, Unit: e.Unit, USD: e.USD, Quantity: quantity})
}

// addRunning is add for a component that costs nothing while the resource is stopped.
func (c *calculation) addRunning(name, key string, quantity money.Amount) {
	n := len(c.out.Components)
	c.add(name, key, quantity)
	for i := range c.out.Components[n:] {
		c.out.Components[n+i].Stops = true
	}
}

// sum returns the estimate from the components.
func (c *calculation) sum() Estimate {
	if c.out.Reason != "" {
		return Estimate{Reason: c.out.Reason, Version: c.out.Version}
	}
	off := c.Status == cloud.Stopped || c.Status == cloud.Terminated
	for i := range c.out.Components {
		p := &c.out.Components[i]
		hour := p.hourly()
		c.out.WhenRunning = c.out.WhenRunning.Add(hour)
		if !p.Stops || !off {
			c.out.Hourly = c.out.Hourly.Add(hour)
		}
	}
	if c.Status == cloud.Terminated {
		c.out.Hourly = money.Amount{}
	}
	return c.out
}

// number returns a numeric input. Without it there is no price, and number records that.
func (c *calculation) number(name string) money.Amount {
	n, err := money.Parse(c.word(name))
	if err != nil {
		c.none("%s is not known", name)
	}
	return n
}

// size returns a capacity, or the input with the same value.
func (c *calculation) size(capacity, input string) money.Amount {
	if n, known := c.Capacity[capacity]; known {
		return money.FromInt(n)
	}
	return c.number(input)
}

// count returns a capacity. Without it there is no price, and count records that.
func (c *calculation) count(capacity string) money.Amount {
	n, known := c.Capacity[capacity]
	if !known {
		c.none("%s is not known", capacity)
	}
	return money.FromInt(n)
}

// above returns the excess of a over b, or zero.
func above(a money.Amount, b int64) money.Amount {
	if d := a.Sub(money.FromInt(b)); d.Sign() > 0 {
		return d
	}
	return money.Amount{}
}

var one = money.FromInt(1)
