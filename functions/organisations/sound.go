package organisations

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// currencies are the codes of present currencies in ISO 4217.
var currencies = strings.Fields(`
	AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF
	CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL
	HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD
	MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG
	QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD
	TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG`)

// presets are the dashboards that every organization has.
var presets = []string{"executive", "engineering", "finops", "operations"}

var (
	amount = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})(\.[0-9]{1,2})?$`)
	places = regexp.MustCompile(`^[01](\.[0-9]{1,4})?$`)
)

// checkSettings refuses invalid settings.
func (c ChangedOrganisation) checkSettings() error {
	if c.Name.Null {
		return fault.New(fault.Invalid, "name: it cannot be null")
	}
	if c.Currency.Set() && !slices.Contains(currencies, c.Currency.Value) {
		return fault.New(fault.Invalid, "currency: %.8q is no currency of ISO 4217, such as USD or EUR",
			c.Currency.Value)
	}
	if d := c.DefaultDashboard; d.Set() && !id.IsValid("dash", d.Value) && !slices.Contains(presets, d.Value) {
		return fault.New(fault.Invalid, "defaultDashboard: %.64q is neither the id of a dashboard nor one of %s",
			d.Value, strings.Join(presets, ", "))
	}
	if r := c.SavingsRealism; r.Set() && !places.MatchString(strconv.FormatFloat(r.Value, 'f', -1, 64)) {
		return fault.New(fault.Invalid, "savingsRealism: %v has more than 4 decimals", r.Value)
	}
	if a := c.AnomalyMinUSD; a.Set() && !amount.MatchString(a.Value) {
		return fault.New(fault.Invalid, "anomalyMinUSD: %.16q is no decimal from 0 to 999999999.99, such as 1 or 2.50",
			a.Value)
	}
	return c.checkRuleSettings()
}

// regionText matches what may be the name of a region: eu-central-1, westeurope, europe-west3, global.
var regionText = regexp.MustCompile(`^[a-zA-Z0-9-]{1,40}$`)

// longestTagKey is the longest key of a tag of any provider, in characters.
const longestTagKey = 128

// checkRuleSettings refuses invalid settings of those that recommendation rules read.
func (c ChangedOrganisation) checkRuleSettings() error {
	for _, key := range c.RequiredTags.Value {
		if n := utf8.RuneCountInString(strings.TrimSpace(key)); n == 0 || n > longestTagKey {
			return fault.New(fault.Invalid, "requiredTags: %.140q is no key of a tag; keys have 1 to %d characters",
				key, longestTagKey)
		}
	}
	for _, region := range c.AllowedRegions.Value {
		if !regionText.MatchString(region) {
			return fault.New(fault.Invalid,
				"allowedRegions: %.64q is no name of a region, such as eu-central-1 or westeurope", region)
		}
	}
	return c.checkAutonomousRules()
}

var ruleName = regexp.MustCompile(`^[a-z0-9-]{1,80}$`)

// checkAutonomousRules refuses texts that cannot be ids of rules. An id that is no rule, or not marked autonomous, has
// no effect: this function does not know the rules.
func (c ChangedOrganisation) checkAutonomousRules() error {
	for _, id := range c.AutonomousRules.Value {
		if !ruleName.MatchString(id) {
			return fault.New(fault.Invalid,
				"autonomousRules: %.80q is no id of a rule; GET /recommendations/rules lists the rules", id)
		}
	}
	return nil
}

// lowerTexts returns texts without surrounding spaces, in lower case, each once and in order; nil for nil.
func lowerTexts(texts []string) []string {
	if texts == nil {
		return nil
	}
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = strings.ToLower(strings.TrimSpace(t))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
