package notification

import "lamplighter.dev/shared/domain/event"

// Recommendation is the data of a shared recommendation. Its fields are those of the recommendation's record.
type Recommendation struct {
	ID           string `json:"id"`
	Title        string `json:"title"`
	Reason       string `json:"reason"`
	Severity     string `json:"severity"`
	Category     string `json:"category"`
	ResourceName string `json:"resourceName"`
	ResourceUID  string `json:"resourceUid"`
	ResourceType string `json:"resourceType"`
	Region       string `json:"region"`
	SavingsUSD   string `json:"savingsUSD"` // per month
	SharedBy     string `json:"sharedBy"`   // an email address
}

func ofRecommendation(e *event.Event) MessageContent {
	d := read[Recommendation](e)
	c := MessageContent{Title: "Recommendation", Tone: Neutral, Summary: name(firstOf(d.Title, "A recommendation"))}
	what := name(firstOf(d.ResourceName, d.ResourceUID))
	saves := ""
	if v := usd(d.SavingsUSD); v != "" {
		saves = v + " a month"
		c.Title = "Recommendation: saves " + saves
	}
	c.Facts = facts(
		Fact{"Resource", what}, Fact{"Native id", other(name(d.ResourceUID), what)}, Fact{"Type", name(d.ResourceType)},
		Fact{"Region", name(d.Region)},
		Fact{"Saves", saves}, Fact{"Severity", name(d.Severity)}, Fact{"Category", name(d.Category)},
		Fact{"Why", aside(clean(d.Reason, longestError))},
		Fact{sharedByLabel, name(d.SharedBy)},
	)
	if what != "" {
		c.Summary += ": " + what
	}
	return c
}
