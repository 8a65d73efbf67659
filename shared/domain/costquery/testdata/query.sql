SELECT COALESCE(ServiceName, ''), COALESCE(element_at(Tags, 'it''s'), ''), substr(CAST(CAST(BillingPeriodStart AS DATE) AS VARCHAR), 1, 7), COALESCE(BillingCurrency, ''), CAST(SUM(CASE WHEN x_ExactAmounts <> '' THEN CAST(split_part(split_part(x_ExactAmounts, ' ', 1), '.', 1) AS DECIMAL(38, 0)) ELSE CAST(BilledCost - (BilledCost % 1) AS DECIMAL(38, 0)) END) AS VARCHAR), CAST(SUM(CASE WHEN x_ExactAmounts <> '' THEN CAST(concat(CASE WHEN starts_with(split_part(x_ExactAmounts, ' ', 1), '-') THEN '-0.' ELSE '0.' END, COALESCE(NULLIF(split_part(split_part(x_ExactAmounts, ' ', 1), '.', 2), ''), '0')) AS DECIMAL(38, 30)) ELSE CAST((BilledCost % 1) AS DECIMAL(38, 30)) END) AS VARCHAR), CAST(COUNT(*) AS VARCHAR), CAST(0 AS VARCHAR)
FROM line_items
WHERE org = 'org_1'
AND period IN ('aws/ca_1/2026-03/gen=01k1', 'other/other=3Av/2026-03/gen=01k2')
AND least(greatest(CAST(ChargePeriodStart AS DATE), CAST(date_trunc('month', BillingPeriodStart) AS DATE)), CAST(date_trunc('month', BillingPeriodStart) + INTERVAL '1' MONTH - INTERVAL '1' DAY AS DATE)) BETWEEN DATE '2026-03-02'
AND DATE '2026-03-08'
AND COALESCE(RegionId, '') IN ('eu''', 'us')
AND COALESCE(RegionId, '') NOT IN ('eu''', 'us')
AND (starts_with(COALESCE(RegionId, ''), 'eu''') OR starts_with(COALESCE(RegionId, ''), 'us'))
AND (strpos(COALESCE(RegionId, ''), 'eu''') > 0 OR strpos(COALESCE(RegionId, ''), 'us') > 0)
AND COALESCE(element_at(Tags, 'a'), '') = ''
AND COALESCE(SkuId, '') <> ''
GROUP BY 1, 2, 3, 4 ORDER BY 2, 1, 2, 3, 4 LIMIT 6
