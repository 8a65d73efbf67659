package aws

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/pricelist"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// priceLists is the address of AWS's public prices: a file for each service and region, readable without credentials.
// It serves all regions, GovCloud included. China has its own address, in CNY.
const priceLists = "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws"

// pricedServices are the services whose files are read. The version of the first file is the version of all.
var pricedServices = []string{
	"AmazonEC2", "AmazonVPC", "AmazonRDS", "AWSELB", "AmazonEKS", "AmazonECS", "AmazonElastiCache", "AmazonRedshift",
	"AmazonES",
	"AmazonSageMaker", "AWSLambda", "AmazonCloudWatch",
}

// Prices reads the files of a region line by line, because that of EC2 has hundreds of megabytes. A service that AWS
// does not offer in the region has no file (404).
func (p *Provider) Prices(ctx context.Context, region string, take func(cloud.Price) error) (string, error) {
	if strings.HasPrefix(region, "cn-") {
		return "", fault.New(fault.Unavailable, "AWS tells the prices of %s in CNY alone, which are not compared "+
			"with others", region)
	}
	base := p.options.PriceLists
	if base == "" {
		base = priceLists
	}
	r := &priceReading{
		lists: pricelist.Reader{Clock: p.options.Clock, Transport: p.options.Transport}, base: base, region: region,
		take: take,
	}
	version := ""
	for _, service := range pricedServices {
		published, err := r.readService(ctx, service)
		if err != nil {
			return "", fmt.Errorf("read the prices of %s in %s: %w", service, region, err)
		}
		if version == "" {
			version = published
		}
	}
	return version, nil
}

// priceReading is a reading of the prices of a region.
type priceReading struct {
	lists        pricelist.Reader
	base, region string
	take         func(cloud.Price) error
}

// readService passes the prices of a service to take, and returns when AWS published them; "" if it has no file. Those
// of EC2 are read with their savings plans.
func (r *priceReading) readService(ctx context.Context, service string) (string, error) {
	f := &priceFile{prices: map[string]cloud.Price{}, unclear: map[string]bool{}}
	err := r.lists.Read(ctx, r.base+"/"+service+"/current/"+r.region+"/index.csv", f.read)
	if isMissing(err) {
		return "", nil
	}
	if err == nil {
		err = f.tell(r.take)
	}
	if err == nil && service == "AmazonEC2" {
		err = r.tellPlans(ctx, f)
	}
	return f.published, err
}

// isMissing reports whether a file does not exist.
func isMissing(err error) bool {
	e, ok := errors.AsType[*cloud.Error](err)
	return ok && strings.HasPrefix(e.Code, "404")
}

// priceFile is a file of prices that is being read.
type priceFile struct {
	published string         // AWS's time of publication
	columns   map[string]int // by name
	prices    map[string]cloud.Price
	unclear   map[string]bool // keys with two different prices
	reserved  map[reservedKey]reservedPrice
}

// tell passes the prices of the file to take. It leaves out keys with two different prices, because it is unknown
// which applies.
func (f *priceFile) tell(take func(cloud.Price) error) error {
	for key, p := range f.prices {
		if f.unclear[key] {
			continue
		}
		if err := take(p); err != nil {
			return err
		}
	}
	return f.tellReserved(take)
}

// priceLine is a line of a priceFile.
type priceLine struct {
	*priceFile
	fields []string
}

// get returns a column of the line; "" if the file has no such column.
func (l priceLine) get(column string) string {
	if i, ok := l.columns[column]; ok && i < len(l.fields) {
		return l.fields[i]
	}
	return ""
}

// onDemand reports whether the line is an on-demand price, in dollars, of the region itself, from the first unit on.
func (l priceLine) onDemand() bool {
	if t := l.get("Location Type"); t != "AWS Region" && t != "" { // local zones and outposts have prices of their own
		return false
	}
	first := l.get("StartingRange")
	return l.get("TermType") == "OnDemand" && l.get("Currency") == "USD" && (first == "0" || first == "")
}

// read reads the file: some lines with metadata, the names of the columns, and the prices.
func (f *priceFile) read(from io.Reader) error {
	r := csv.NewReader(from)
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	for {
		fields, err := r.Read()
		switch {
		case errors.Is(err, io.EOF) && f.columns == nil:
			return fault.New(fault.Unavailable, "the file has no line of columns: it is no list of prices")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read a line: %w", err)
		}
		if err = f.line(fields); err != nil {
			return err
		}
	}
}

func (f *priceFile) line(fields []string) error {
	if f.columns == nil {
		f.head(fields)
		return nil
	}
	l := priceLine{f, fields}
	if l.isReserved() {
		return f.addReserved(l)
	}
	if !l.onDemand() {
		return nil
	}
	price, ok := l.price()
	if !ok {
		return nil
	}
	usd, err := money.Parse(l.get("PricePerUnit"))
	if err != nil {
		return fmt.Errorf("the price of %s: %w", price.Key, err)
	}
	if price.USD = usd; price.Key == throughputKey { // AWS's unit is GiB/s
		price.USD = usd.DivInt(1024)
	}
	if had, twice := f.prices[price.Key]; twice && had.USD != price.USD {
		f.unclear[price.Key] = true
	}
	price.Key = strings.Clone(price.Key)
	f.prices[price.Key] = price
	return nil
}

// head reads a line before the prices.
func (f *priceFile) head(fields []string) {
	switch {
	case len(fields) == 2 && fields[0] == "Publication Date":
		f.published = strings.Clone(fields[1])
	case len(fields) > 2 && fields[0] == "SKU":
		f.columns = make(map[string]int, len(fields))
		for i, name := range fields {
			f.columns[strings.Clone(name)] = i
		}
	}
}
