package gcp

import (
	"fmt"
	"strings"
	"time"
)

// The queries name only the columns that they need, and only the days that hold the requested months, because Google
// bills the scanned bytes. Amounts become decimals before they are added: a sum of floats differs from the billed
// amount.

// partitionsSQL returns the query that lists the days that hold each month, with the number of rows and the latest
// export time of each day. A changed number or time means that the day changed.
func (t billTable) partitionsSQL(from time.Time) string {
	if t.is(focusTable) {
		return fmt.Sprintf(`SELECT FORMAT_DATE('%%Y%%m', DATE(BillingPeriodStart)) AS month, '' AS day, FORMAT_TIMESTAMP('%%FT%%H:%%M:%%E6SZ', TIMESTAMP(MAX(ChargePeriodEnd))) AS exported,
  CONCAT(CAST(COUNT(*) AS STRING), ' ', CAST(SUM(CAST(BilledCost AS NUMERIC)) AS STRING)) AS content
FROM %s
WHERE DATE(BillingPeriodStart) >= DATE '%s'
GROUP BY month
ORDER BY month`, t.quoted(), from.Format(time.DateOnly))
	}
	return fmt.Sprintf(`SELECT invoice.month AS month, IFNULL(FORMAT_TIMESTAMP('%%F', _PARTITIONTIME), '') AS day, FORMAT_TIMESTAMP('%%FT%%H:%%M:%%E6SZ', MAX(export_time)) AS exported,
  CAST(COUNT(*) AS STRING) AS content
FROM %s
WHERE (_PARTITIONTIME >= TIMESTAMP '%s' OR _PARTITIONTIME IS NULL) AND invoice.month >= '%s'
GROUP BY month, day
ORDER BY month, day`, t.quoted(), from.Format(time.DateOnly), from.Format("200601"))
}

// span is a month in a table, and the days of the table that hold it.
type span struct {
	month    time.Time
	from, to string // days; to is the last one; empty where the table is not asked by days
}

// billSQL asks for a month, a line for each day, resource, price and set of labels; each kind of credit has lines of
// its own.
func (t billTable) billSQL(s span) string {
	if t.is(focusTable) {
		return t.focusSQL(s)
	}
	optional := func(column, is, isNot string) string {
		if t.columns[column] {
			return is
		}
		return isNot
	}
	cost := "CAST(t.cost AS NUMERIC)"
	return fmt.Sprintf(`SELECT %s,
  SUM(cost) AS BilledCost, SUM(cost) AS EffectiveCost, SUM(list) AS ListCost, SUM(quantity) AS PricingQuantity, MAX(rate) AS x_CurrencyConversionRate
FROM (
  SELECT t.billing_account_id AS BillingAccountId, t.project.id AS SubAccountId, t.project.name AS SubAccountName,
    %s AS PublisherName, t.service.description AS ServiceName, t.sku.id AS SkuId,
    IFNULL(t.location.region, t.location.location) AS RegionId, %s AS ResourceId, %s AS ResourceName,
    t.currency AS BillingCurrency, %s AS rate, FORMAT_TIMESTAMP('%%FT00:00:00Z', t.usage_start_time) AS ChargePeriodStart,
    FORMAT_TIMESTAMP('%%FT00:00:00Z', TIMESTAMP_ADD(t.usage_start_time, INTERVAL 1 DAY)) AS ChargePeriodEnd, %s AS Tags,
    charge.category AS ChargeCategory, charge.class AS ChargeClass, charge.price AS PricingCategory, charge.about AS ChargeDescription,
    charge.unit AS PricingUnit, charge.cost AS cost, charge.list AS list, charge.quantity AS quantity
  FROM %s AS t, UNNEST(ARRAY_CONCAT(
    [STRUCT(
      CASE t.cost_type WHEN 'regular' THEN 'Usage' WHEN 'tax' THEN 'Tax' ELSE 'Adjustment' END AS category,
      IF(t.cost_type = 'adjustment', 'Correction', '') AS class,
      CASE WHEN t.cost_type != 'regular' THEN '' WHEN STARTS_WITH(t.sku.description, 'Spot Preemptible') THEN 'Dynamic' ELSE 'Standard' END AS price,
      t.sku.description AS about, t.usage.pricing_unit AS unit, %s AS cost, %s AS list, IFNULL(CAST(t.usage.amount_in_pricing_units AS NUMERIC), 0) AS quantity)],
    ARRAY(SELECT STRUCT(
      'Credit' AS category, '' AS class, '' AS price, IFNULL(c.full_name, c.name) AS about, '' AS unit, CAST(c.amount AS NUMERIC) AS cost,
      CAST(0 AS NUMERIC) AS list, CAST(0 AS NUMERIC) AS quantity) FROM UNNEST(t.credits) AS c))) AS charge
  WHERE (_PARTITIONTIME BETWEEN TIMESTAMP '%s' AND TIMESTAMP '%s' OR _PARTITIONTIME IS NULL) AND t.invoice.month = '%s'
)
GROUP BY %s`,
		strings.Join(billColumns, ", "),
		optional("seller_name", "IFNULL(t.seller_name, 'Google Cloud')", "'Google Cloud'"),
		optional("resource", "t.resource.global_name", "''"), optional("resource", "t.resource.name", "''"),
		optional("currency_conversion_rate", "t.currency_conversion_rate", "0"),
		optional("tags",
			"TO_JSON_STRING(ARRAY_CONCAT(ARRAY(SELECT STRUCT('' AS namespace, l.key AS key, l.value AS value) FROM "+
				"UNNEST(t.labels) AS l), ARRAY(SELECT STRUCT(g.namespace AS namespace, g.key AS key, g.value AS "+
				"value) FROM UNNEST(t.tags) AS g)))",
			"TO_JSON_STRING(t.labels)"),
		t.quoted(), cost, optional("cost_at_list", "IFNULL(CAST(t.cost_at_list AS NUMERIC), "+cost+")", cost),
		s.from, s.to, s.month.Format("200601"), strings.Join(billColumns, ", "))
}

// billColumns are the columns that identify a line of a bill.
var billColumns = []string{
	"BillingAccountId", "SubAccountId", "SubAccountName", "PublisherName", "ServiceName", "SkuId", "RegionId",
	"ResourceId", "ResourceName",
	"BillingCurrency", "ChargePeriodStart", "ChargePeriodEnd", "Tags", "ChargeCategory", "ChargeClass",
	"PricingCategory", "ChargeDescription", "PricingUnit",
}

// focusColumns are the columns that identify a line of a table in the columns of FOCUS, as far as the table has them.
var focusColumns = []string{
	"BillingAccountId", "SubAccountId", "SubAccountName", "PublisherName", "ServiceCategory", "ServiceName", "SkuId",
	"RegionId", "ResourceId", "ResourceName",
	"ResourceType", "BillingCurrency", "ChargeCategory", "ChargeClass", "ChargeFrequency", "PricingCategory",
	"ChargeDescription", "PricingUnit",
	"CommitmentDiscountId", "CommitmentDiscountStatus", "InvoiceId",
}

func (t billTable) focusSQL(s span) string {
	var columns []string
	for _, c := range focusColumns {
		if t.columns[c] {
			columns = append(columns, c)
		}
	}
	group := strings.Join(columns, ", ")
	tags := "''"
	if t.columns["Tags"] {
		tags = "TO_JSON_STRING(f.Tags)"
	}
	return fmt.Sprintf(`SELECT %s, ChargePeriodStart, Tags, SUM(billed) AS BilledCost, SUM(effective) AS EffectiveCost, SUM(list) AS ListCost
FROM (
  SELECT %s, FORMAT_DATE('%%FT00:00:00Z', DATE(f.ChargePeriodStart)) AS ChargePeriodStart, %s AS Tags,
    CAST(f.BilledCost AS NUMERIC) AS billed, CAST(f.EffectiveCost AS NUMERIC) AS effective, CAST(f.ListCost AS NUMERIC) AS list
  FROM %s AS f
  WHERE FORMAT_DATE('%%Y%%m', DATE(f.BillingPeriodStart)) = '%s'
)
GROUP BY %s, ChargePeriodStart, Tags`, group, group, tags, t.quoted(), s.month.Format("200601"), group)
}
