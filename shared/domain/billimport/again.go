package billimport

import "time"

// How long a provider may change a month after its end, and how often it is looked at until then.
const (
	awsClosing     = 15 * 24 * time.Hour
	awsCorrections = 45 * 24 * time.Hour
	azureClosing   = 7 * 24 * time.Hour
	week           = 7 * 24 * time.Hour
)

// WantsAgain reports whether the delivery of a month that was imported is to be looked at again at the time now. An open month always is. AWS
// changes a closed one for two weeks and corrects it for another month, Azure for a week; of Google it is the partitions that changed that
// tell, so each is looked at, as are those of clouds that promise nothing.
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
