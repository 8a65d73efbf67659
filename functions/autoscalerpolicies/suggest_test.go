package autoscalerpolicies

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/testkit/apitest"
)

// measure keeps days of hourly CPU of a resource: mean and maximum of an hour.
func (f *fixture) measure(r cloud.Resource, days int, mean, most func(hour int) float64) {
	f.Helper()
	store, today := measurement.New(f.Platform), f.Clock.Now().UTC().Truncate(24*time.Hour)
	average, highest, _ := cpuMetrics(r.Type)
	for d := 1; d <= days; d++ {
		day := today.AddDate(0, 0, -d)
		var all []measurement.Series
		for of, value := range map[cloud.Measure]func(int) float64{average.Of[0]: mean, highest.Of[0]: most} {
			p := cloud.Points{UID: r.UID}
			for hour := range 24 {
				p.Times, p.Values = append(p.Times, day.Add(time.Duration(hour)*time.Hour)),
					append(p.Values, value(hour))
			}
			all = append(all, measurement.NewSeries(r.UID, of, day, p))
		}
		f.Must(store.WriteDay(f.In(apitest.Org), apitest.Org, f.account, measurement.Day{Start: day}, all))
	}
}

func flat(v float64) func(int) float64 { return func(int) float64 { return v } }

func (f *fixture) suggest(r cloud.Resource) AutoscalerSuggestion {
	f.Helper()
	q := url.Values{"cloud_account_id": {f.account}, "target_type": {r.Type}, "target_uid": {r.UID}}
	return apitest.Data[AutoscalerSuggestion](f.Call(ada, "GET /autoscaler-policies/smart-defaults?"+q.Encode()))
}

func TestSuggest_FromWhatWasMeasured(t *testing.T) {
	f := newFixture(t)
	r := f.byType[cloud.AWSASG][0]
	// 2 of 24 hours are busy, so the 95th percentile is busy
	f.measure(r, 14, func(hour int) float64 {
		if hour >= 10 && hour < 12 {
			return 84.4
		}
		return 21
	}, flat(95))
	got := f.suggest(r)
	n := got.Current.Desired
	f.Equal("load", apitest.JSON(got.CPU), `{"mean":27,"p95":85,"max":95}`) // 26.28…, 84.4
	if got.IsEstimated || got.EstimationReason != nil || got.TargetCPUPercent != 70 || got.CooldownSeconds != 300 {
		t.Errorf("%+v", got)
	}
	least := max(1, int64(math.Ceil(float64(n)*27/70)))
	desired := max(least, int64(math.Ceil(float64(n)*85/70)))
	f.Equal("sizes", fmt.Sprint(got.Min, got.Desired, got.Max),
		fmt.Sprint(least, desired, max(desired, least+1, int64(math.Ceil(float64(n)*95*5/280)))))
}

func TestSuggest_WithoutMeasuresWhatIsThere(t *testing.T) {
	f := newFixture(t)
	r := f.byType[cloud.AWSASG][0]
	f.measure(r, 5, flat(50), flat(60))
	pod := f.byType[cloud.KubernetesDeployment][0]
	for of, why := range map[*cloud.Resource]string{&r: "fewer than 70 %", &pod: "is not measured in percent"} {
		got := f.suggest(*of)
		if !got.IsEstimated || got.EstimationReason == nil || !strings.Contains(*got.EstimationReason, why) ||
			got.CPU != nil {
			t.Errorf("%+v; want it estimated, for it %s", got, why)
		}
		f.Equal("sizes", fmt.Sprint(got.Min, got.Desired), fmt.Sprint(got.Current.Min, got.Current.Desired))
		f.Equal("max", got.Max, max(got.Current.Max, (got.Current.Desired*5+3)/4))
	}
}

func TestSuggest_IsWholeNumbersAlone(t *testing.T) {
	for _, c := range []struct {
		desired int64
		load    AutoscalerLoad
		want    string
	}{
		{7, AutoscalerLoad{35, 70, 100}, "4 7 13"},           // 3.5; 7 exactly; 12.5
		{10, AutoscalerLoad{0, 0, 0}, "1 1 2"},               // idle
		{1, AutoscalerLoad{1, 1, 1}, "1 1 2"},                //
		{3, AutoscalerLoad{70, 70, 56}, "3 3 4"},             // exactly at the target: no more
		{1000, AutoscalerLoad{80, 75, 90}, "1143 1143 1608"}, // a mean above the percentile cannot be, and does no harm
	} {
		got := proposeScaling(cloud.Autoscaling{Min: 1, Max: 9, Desired: c.desired}, &c.load)
		if s := fmt.Sprint(got.Min, got.Desired, got.Max); s != c.want {
			t.Errorf("%d at %+v: %s; want %s", c.desired, c.load, s, c.want)
		}
	}
}

func TestSuggest_BadInput(t *testing.T) {
	f := newFixture(t)
	for query, field := range map[string]string{
		"": "cloud_account_id", "?cloud_account_id=" + f.account: "target_type",
		"?cloud_account_id=" + f.account + "&target_type=aws-ec2&target_uid=x": "target_type",
	} {
		f.Call(ada, "GET /autoscaler-policies/smart-defaults"+query).Want(http.StatusBadRequest, field)
	}
	for query, field := range map[string]string{
		"?cloud_account_id=" + f.account + "&target_type=aws-asg&target_uid=x": "target.uid",
		"?cloud_account_id=x&target_type=aws-asg&target_uid=x":                 "cloudAccountID",
	} {
		f.Call(ada, "GET /autoscaler-policies/smart-defaults"+query).Want(http.StatusNotFound, field)
	}
}
