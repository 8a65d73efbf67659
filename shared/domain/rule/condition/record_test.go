package condition

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
)

// spaced is a key as people write it.
const spaced = " Team "

// stored returns the record of a machine, written as the inventory writes it.
func stored(t *testing.T, facts cloud.Facts) []byte {
	t.Helper()
	b, err := json.Marshal(inventory.Resource{
		ID: "res_1", UID: "arn:1", Name: `web "1" ü`, Type: "aws-ec2", Region: "eu-west-1", Status: cloud.Running,
		Tags:      map[string]string{spaced: "a", "Env": "prod"},
		Capacity:  map[string]int64{"vcpu": 2},
		CreatedAt: at.AddDate(-1, 0, 0), DiscoveredAt: at.AddDate(0, -1, 0), LastSeenAt: at, Facts: facts,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReadRecord_ReadsFactsByTheirKinds(t *testing.T) {
	s := rules(t).subject(t, "aws-ec2")
	record := stored(t, cloud.Facts{
		"state": "running", "vcpu": 2.0, "burstable": false, "launched_at": at.AddDate(0, 0, -3),
		"stopped_at": cloud.Never, "retirement_events": []string{"retire", `a "b"`},
		"no_such_fact": []any{1.0, map[string]any{}},
	})
	if err := s.Facts.ReadRecord(record); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"name": `web "1" ü`, "region": "eu-west-1", "status": "running", "state": "running", "vcpu": 2.0,
		"burstable":   false,
		"launched_at": at.AddDate(0, 0, -3), "stopped_at": cloud.Never, "created_at": at.AddDate(-1, 0, 0),
		"first_seen_at": at.AddDate(0, -1, 0), "tags": map[string]string{"team": "a", "env": "prod"},
		"retirement_events": []string{"retire", `a "b"`}, "platform": nil, "env": nil,
	} {
		if got := s.Facts.Value(name); !reflect.DeepEqual(got, want) || s.Facts.Known(name) != (want != nil) {
			t.Errorf("%s is %v (%T); want %v", name, got, got, want)
		}
	}
}

func TestReadRecord_ForgetsTheFormerRecord(t *testing.T) {
	s := rules(t).subject(t, "aws-ec2")
	for _, facts := range []cloud.Facts{{"vcpu": 2.0, "retirement_events": []string{"x"}}, {"memory_gib": 4.0}} {
		if err := s.Facts.ReadRecord(stored(t, facts)); err != nil {
			t.Fatal(err)
		}
	}
	if s.Facts.Known("vcpu") || s.Facts.Known("retirement_events") || !s.Facts.Known("memory_gib") {
		t.Error("facts of the former record are known")
	}
}

func TestReadRecord_AFactOfTheTypeHasPrecedence(t *testing.T) {
	s := rules(t).subject(t, "azure-sql-database")
	for _, record := range []string{
		`{"status":"running","facts":{"status":"Online"}}`, `{"facts":{"status":"Online"},"status":"running"}`,
	} {
		if err := s.Facts.ReadRecord([]byte(record)); err != nil || s.Facts.Value("status") != "Online" {
			t.Errorf("%s: %v, %v; want Online", record, s.Facts.Value("status"), err)
		}
	}
}

func TestReadRecord_SaysWhyAFactIsUnknown(t *testing.T) {
	s := rules(t).subject(t, "aws-ec2")
	facts := cloud.Facts{
		"vcpu": "two", "launched_at": "yesterday", "platform": strings.Repeat("x", MaxText+1),
		"retirement_events": slices.Repeat([]string{"e"}, MaxItems+1), "memory_gib": nil, "burstable": 1.0,
	}
	facts.Miss("ec2:DescribeImages: AccessDenied", "image_exists")
	facts.Miss("ec2:DescribeAddresses: RequestLimitExceeded", "public_ip")
	if err := s.Facts.ReadRecord(stored(t, facts)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Missing{
		"vcpu":              {"res.vcpu", Unreadable, "the record holds another kind than number"},
		"burstable":         {"res.burstable", Unreadable, "the record holds another kind than bool"},
		"launched_at":       {"res.launched_at", Unreadable, "its time is not in RFC 3339"},
		"platform":          {"res.platform", TooLong, ""},
		"retirement_events": {"res.retirement_events", TooLong, ""},
		"memory_gib":        {"res.memory_gib", NotReported, ""},
		"image_exists":      {"res.image_exists", Denied, "ec2:DescribeImages: AccessDenied"},
		"public_ip":         {"res.public_ip", Unreadable, "ec2:DescribeAddresses: RequestLimitExceeded"},
		"gpu_count":         {"res.gpu_count", NotReported, ""},
	} {
		if s.Facts.Known(name) {
			t.Errorf("%s is %v; want it unknown", name, s.Facts.Value(name))
		}
		if got := s.Facts.why(s.Facts.number[name]); got != want {
			t.Errorf("%s: %+v; want %+v", name, got, want)
		}
	}
	s.Facts.Miss("gpu_count", NotCollected, "")
	if got := s.Facts.why(s.Facts.number["gpu_count"]); got.Reason != NotCollected {
		t.Errorf("after Miss: %+v", got)
	}
}

func TestReadRecord_RefusesMalformedJSONAndKeepsNothing(t *testing.T) {
	s := rules(t).subject(t, "aws-ec2")
	good := stored(t, cloud.Facts{"vcpu": 2.0, "retirement_events": []string{"x"}})
	for n := range good {
		if err := s.Facts.ReadRecord(good[:n]); err == nil || s.Facts.Known("name") {
			t.Fatalf("the first %d bytes: %v; want an error", n, err)
		}
	}
	for _, bad := range []string{
		`[]`, `{"facts":[]}`, `{"facts":{"vcpu":1.2.3}}`, `{"facts":{"burstable":tru}}`, `{"name":"\x"}`, `{"a" 1}`,
		`{"x":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`, `{"facts":{"unread":{}}}`,
	} {
		if err := s.Facts.ReadRecord([]byte(bad)); err == nil {
			t.Errorf("%.60s: no error", bad)
		}
	}
}

// Any record that encoding/json reads gives the same facts here, and no input makes the reader panic.
func FuzzReadRecord(f *testing.F) {
	f.Add(machine(1))
	f.Add([]byte(`{"facts":{"vcpu":-1.5e3,"state":"\u00fc\\","burstable":true,"unread":["a: b"]},"tags":{"A":"b"}}`))
	f.Fuzz(func(t *testing.T, record []byte) {
		s := rules(t).subject(t, "aws-ec2")
		if s.Facts.ReadRecord(record) != nil {
			return
		}
		for _, name := range []string{"state", "vcpu", "burstable", "tags", "launched_at"} {
			if s.Facts.Known(name) == (s.Facts.Value(name) == nil) {
				t.Errorf("%s is known and has no value, or the reverse", name)
			}
		}
		var want struct {
			Facts struct {
				VCPU *float64 `json:"vcpu"`
			} `json:"facts"`
		}
		once := strings.Count(string(record), "vcpu") == 1 && strings.Count(string(record), "facts") == 1
		if once && json.Unmarshal(record, &want) == nil && want.Facts.VCPU != nil {
			if got := s.Facts.Value("vcpu"); got != *want.Facts.VCPU {
				t.Errorf("vcpu is %v; want %v", got, *want.Facts.VCPU)
			}
		}
	})
}
