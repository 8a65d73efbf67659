package billimport

import "time"

// How long a provider may change a month after its end, and how often its delivery is checked until then.
const (
	awsClosing     = 15 * 24 * time.Hour
	awsCorrections = 45 * 24 * time.Hour
	azureClosing   = 7 * 24 * time.Hour
	week           = 7 * 24 * time.Hour
)

// WantsAgain reports whether the delivery of an imported month must be checked again at the time now. An open month
// always is. AWS changes a closed month for two weeks and corrects it for another month, Azure for a week. Google's
// partitions show their changes, so each month is checked, as are the months of clouds without a stated rule.
func (e Entry) WantsAgain(month, now time.Time) bool {
	looked, imported := e.Looked[month.Format("2006-01")]
	over := now.Sub(month.AddDate(0, 1, 0))
	switch {
	case !imported || over < 0:
		return true
	case e.Provider == "aws":
		return over < awsClosing || over < awsCorrections && now.Sub(looked) >= week
	case e.Provider == "azure":
		return over < azureClosing
	}
	return true
}
