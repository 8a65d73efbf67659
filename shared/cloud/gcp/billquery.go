package gcp

import (
	"slices"
	"strings"
	"time"
)

// The queries name only the columns that they need, and only the days that hold the requested months, because Google
// bills the scanned bytes. Google exports amounts as FLOAT64. They become decimals before they are added, because a sum
// of floats differs from the billed amount: exactAmount has the rule.

// exactAmount returns the SQL of a column's amount as a decimal, with the digits that Google exports. The text of a
// FLOAT64 is the amount that was exported (0.1), its exact value is not (0.1000000000000000055...), and NUMERIC would
// cut it after nine decimals. An amount of more than 15 digits gets 17, so its last digit may differ from the
// exported one.
func exactAmount(column string) string { return "CAST(CAST(" + column + " AS STRING) AS BIGNUMERIC)" }

const exportMonths = `SELECT invoice.month AS month, IFNULL(FORMAT_TIMESTAMP('%F', _PARTITIONTIME), '') AS day,
  FORMAT_TIMESTAMP('%FT%H:%M:%E6SZ', MAX(export_time)) AS exported,
  CAST(COUNT(*) AS STRING) AS content
FROM {table}
WHERE (_PARTITIONTIME >= TIMESTAMP '{day}' OR _PARTITIONTIME IS NULL) AND invoice.month >= '{month}'
GROUP BY month, day
ORDER BY month, day`

const focusMonths = `SELECT FORMAT_DATE('%Y%m', DATE(BillingPeriodStart)) AS month, '' AS day,
  FORMAT_TIMESTAMP('%FT%H:%M:%E6SZ', TIMESTAMP(MAX({exported}))) AS exported,
  CONCAT(CAST(COUNT(*) AS STRING), ' ', CAST(SUM({billed}) AS STRING)) AS content
FROM {table}
WHERE DATE(BillingPeriodStart) >= DATE '{day}'
GROUP BY month
ORDER BY month`

// partitionsSQL returns the query that lists the days that hold each month, with the number of rows and the latest
// export time of each day. A changed number or time means that the day changed.
func (t billTable) partitionsSQL(from time.Time) string {
	query := exportMonths
	if t.hasPrefix(focusTable) {
		query = focusMonths
	}
	return strings.NewReplacer("{table}", t.quoted(), "{day}", from.Format(time.DateOnly),
		"{month}", from.Format("200601"), "{billed}", exactAmount("BilledCost"),
		"{exported}", t.ifHas("x_ExportTime", "x_ExportTime", "ChargePeriodEnd")).Replace(query)
}

// span is a month in a table, and the days of the table that contain it.
type span struct {
	month    time.Time
	from, to string // days; to is the last one; empty where the table is not asked by days
}

const exportLines = `SELECT {columns},
  SUM(cost) AS BilledCost, SUM(cost) AS EffectiveCost, SUM(list) AS ListCost, SUM(quantity) AS PricingQuantity
FROM (
  SELECT t.billing_account_id AS BillingAccountId, t.project.id AS SubAccountId, t.project.name AS SubAccountName,
    {publisher} AS PublisherName, t.service.description AS ServiceName, t.sku.id AS SkuId,
    IFNULL(t.location.region, t.location.location) AS RegionId, {resource} AS ResourceId, {name} AS ResourceName,
    t.currency AS BillingCurrency, {rate} AS x_CurrencyConversionRate,
    FORMAT_TIMESTAMP('%FT00:00:00Z', t.usage_start_time) AS ChargePeriodStart,
    FORMAT_TIMESTAMP('%FT00:00:00Z', TIMESTAMP_ADD(t.usage_start_time, INTERVAL 1 DAY)) AS ChargePeriodEnd,
    {tags} AS Tags, charge.category AS ChargeCategory, charge.class AS ChargeClass,
    charge.frequency AS ChargeFrequency, charge.price AS PricingCategory, charge.about AS ChargeDescription,
    charge.unit AS PricingUnit, charge.cost AS cost, charge.list AS list, charge.quantity AS quantity
  FROM {table} AS t, UNNEST(ARRAY_CONCAT(
    [STRUCT(
      CASE {type} WHEN 'regular' THEN 'Usage' WHEN 'tax' THEN 'Tax' ELSE 'Adjustment' END AS category,
      IF({type} = 'adjustment', 'Correction', '') AS class,
      IF({type} = 'regular', 'Usage-Based', '') AS frequency,
      CASE WHEN {type} != 'regular' THEN ''
        WHEN STARTS_WITH(t.sku.description, 'Spot Preemptible') THEN 'Dynamic' ELSE 'Standard' END AS price,
      t.sku.description AS about, t.usage.pricing_unit AS unit, {cost} AS cost, {list} AS list,
      IFNULL({quantity}, 0) AS quantity)],
    ARRAY(SELECT STRUCT(
      'Credit' AS category, '' AS class, '' AS frequency, '' AS price, {credit} AS about, '' AS unit, {amount} AS cost,
      CAST(0 AS BIGNUMERIC) AS list, CAST(0 AS BIGNUMERIC) AS quantity) FROM UNNEST(t.credits) AS c))) AS charge
  WHERE (_PARTITIONTIME BETWEEN TIMESTAMP '{from}' AND TIMESTAMP '{to}' OR _PARTITIONTIME IS NULL)
    AND t.invoice.month = '{month}'
)
GROUP BY {columns}`

// billColumns are the columns that identify a line of a bill.
var billColumns = strings.Join([]string{
	"BillingAccountId", "SubAccountId", "SubAccountName", "PublisherName", "ServiceName", "SkuId", "RegionId",
	"ResourceId", "ResourceName", "BillingCurrency", "x_CurrencyConversionRate", "ChargePeriodStart", "ChargePeriodEnd",
	"Tags", "ChargeCategory", "ChargeClass", "ChargeFrequency", "PricingCategory", "ChargeDescription", "PricingUnit",
}, ", ")

// bothTags is the SQL of a row's labels and tags in one list.
const bothTags = "TO_JSON_STRING(ARRAY_CONCAT(" +
	"ARRAY(SELECT STRUCT('' AS namespace, l.key AS key, l.value AS value) FROM UNNEST(t.labels) AS l), " +
	"ARRAY(SELECT STRUCT(g.namespace AS namespace, g.key AS key, g.value AS value) FROM UNNEST(t.tags) AS g)))"

// billSQL asks for a month, a line for each day, resource, price, rate and set of labels; each kind of credit has lines
// of its own.
func (t billTable) billSQL(s span) string {
	if t.hasPrefix(focusTable) {
		return t.focusSQL(s)
	}
	cost, list := exactAmount("t.cost"), exactAmount("t.cost_at_list")
	return strings.NewReplacer(
		"{columns}", billColumns, "{table}", t.quoted(), "{type}", "IFNULL(t.cost_type, 'regular')",
		"{publisher}", t.ifHas("seller_name", "IFNULL(t.seller_name, 'Google Cloud')", "'Google Cloud'"),
		"{resource}", t.ifHas("resource", "t.resource.global_name", "''"),
		"{name}", t.ifHas("resource", "t.resource.name", "''"),
		"{rate}", t.ifHas("currency_conversion_rate", "CAST(t.currency_conversion_rate AS STRING)", "''"),
		"{tags}", t.ifHas("tags", bothTags, "TO_JSON_STRING(t.labels)"),
		"{cost}", cost, "{list}", t.ifHas("cost_at_list", "IFNULL("+list+", "+cost+")", cost),
		"{quantity}", exactAmount("t.usage.amount_in_pricing_units"),
		"{credit}", t.creditText(), "{amount}", exactAmount("c.amount"),
		"{from}", s.from, "{to}", s.to, "{month}", s.month.Format("200601"),
	).Replace(exportLines)
}

// ifHas returns is for a table that has the column, else isNot.
func (t billTable) ifHas(column, is, isNot string) string {
	if t.columns[column] {
		return is
	}
	return isNot
}

// creditText returns the SQL of a credit's description: the first of its texts that is filled. Early exports have only
// a name.
func (t billTable) creditText() string {
	var texts []string
	for _, field := range []string{"full_name", "name", "id"} {
		if field == "name" || t.columns["credits."+field] {
			texts = append(texts, "NULLIF(c."+field+", '')")
		}
	}
	return "COALESCE(" + strings.Join(append(texts, "''"), ", ") + ")"
}

// focusColumns are the columns that identify a line of a table in the columns of FOCUS, as far as the table has them.
var focusColumns = []string{
	"BillingAccountId", "SubAccountId", "SubAccountName", "PublisherName", "ServiceCategory", "ServiceName", "SkuId",
	"RegionId", "ResourceId", "ResourceName", "ResourceType", "BillingCurrency", "ChargeCategory", "ChargeClass",
	"ChargeFrequency", "PricingCategory", "ChargeDescription", "PricingUnit", "CommitmentDiscountId",
	"CommitmentDiscountStatus", "InvoiceId",
}

// focusAmounts are the summed columns of a table in the columns of FOCUS, as far as the table has them. Google's
// BilledCost and EffectiveCost contain the credits (x_Credits) already.
var focusAmounts = []string{"BilledCost", "EffectiveCost", "ListCost", "ContractedCost", "PricingQuantity"}

// namedColumns are the columns that the queries of some table name and other tables lack.
var namedColumns = slices.Concat(focusColumns, focusAmounts, []string{
	"Tags", "x_Labels", "x_Tags", "x_CurrencyConversionRate", "x_ExportTime", "seller_name", "resource",
	"currency_conversion_rate", "tags", "cost_at_list", "credits.full_name", "credits.id",
})

const focusLines = `SELECT {columns}, x_CurrencyConversionRate, ChargePeriodStart, Tags, {sums}
FROM (
  SELECT {columns}, {rate} AS x_CurrencyConversionRate,
    FORMAT_DATE('%FT00:00:00Z', DATE(f.ChargePeriodStart)) AS ChargePeriodStart, {tags} AS Tags, {amounts}
  FROM {table} AS f
  WHERE FORMAT_DATE('%Y%m', DATE(f.BillingPeriodStart)) = '{month}'
)
GROUP BY {columns}, x_CurrencyConversionRate, ChargePeriodStart, Tags`

// focusTags is the SQL of a row's labels and tags in one list. Google's export has no column Tags.
const focusTags = "TO_JSON_STRING(ARRAY_CONCAT(" +
	"ARRAY(SELECT STRUCT('' AS namespace, l.Key AS key, l.Value AS value) FROM UNNEST(f.x_Labels) AS l), " +
	"ARRAY(SELECT STRUCT(g.x_Namespace AS namespace, g.Key AS key, g.Value AS value) FROM UNNEST(f.x_Tags) AS g)))"

func (t billTable) focusSQL(s span) string {
	var columns, amounts, sums []string
	for _, c := range focusColumns {
		if t.columns[c] {
			columns = append(columns, c)
		}
	}
	for _, c := range focusAmounts {
		if t.columns[c] {
			amounts = append(amounts, exactAmount("f."+c)+" AS sum"+c)
			sums = append(sums, "SUM(sum"+c+") AS "+c)
		}
	}
	tags := t.ifHas("Tags", "TO_JSON_STRING(f.Tags)", "''")
	if t.columns["x_Labels"] && t.columns["x_Tags"] {
		tags = focusTags
	}
	return strings.NewReplacer(
		"{columns}", strings.Join(columns, ", "), "{sums}", strings.Join(sums, ", "),
		"{amounts}", strings.Join(amounts, ", "), "{tags}", tags,
		"{rate}", t.ifHas("x_CurrencyConversionRate", "CAST(f.x_CurrencyConversionRate AS STRING)", "''"),
		"{table}", t.quoted(), "{month}", s.month.Format("200601"),
	).Replace(focusLines)
}
