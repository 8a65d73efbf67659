package connection_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/testkit/seed"
)

var noon = time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC)

// missing returns n ending members with a MissingSince.
func missing(n int, since time.Time, awaits string) []connection.Member {
	out := make([]connection.Member, n)
	for i := range out {
		out[i] = connection.Member{
			NativeID: fmt.Sprint(since.Unix(), i), Ending: connection.MemberLeft,
			MissingSince: since, Awaits: awaits,
		}
	}
	return out
}

func TestEndMembers_DisconnectsFewAfterADay(t *testing.T) {
	const day = connection.EndingWait
	for name, tt := range map[string]struct {
		rules      connection.EndingRules
		ending     []connection.Member
		disconnect int
		confirms   bool // members wait for a confirmation
	}{
		"one of ten, a second before a day": {
			connection.EndingRules{Connected: 10},
			missing(1, noon.Add(time.Second-day), ""), 0, false,
		},
		"one of ten, after a day": {
			connection.EndingRules{Connected: 10},
			missing(1, noon.Add(-day), ""), 1, false,
		},
		"one of nine, after a day": {
			connection.EndingRules{Connected: 9},
			missing(1, noon.Add(-day), ""), 0, true,
		},
		"all of two hundred": {
			connection.EndingRules{Connected: 200},
			missing(200, noon.Add(-day), ""), 0, true,
		},
		"twenty of two hundred": {
			connection.EndingRules{Connected: 200},
			missing(20, noon.Add(-day), ""), 20, false,
		},
		"twenty-one of two hundred": {
			connection.EndingRules{Connected: 200},
			missing(21, noon.Add(-day), ""), 0, true,
		},
		"eleven beside ten that went today": {
			connection.EndingRules{Connected: 190, Recent: 10},
			missing(11, noon.Add(-day), ""), 0, true,
		},
		"ten beside ten that went today": {
			connection.EndingRules{Connected: 190, Recent: 10},
			missing(10, noon.Add(-day), ""), 10, false,
		},
		"all of two hundred, confirmed": {
			connection.EndingRules{Connected: 200, Confirmed: "c"},
			missing(200, noon.Add(-day), "c"), 200, false,
		},
		"all of two hundred, another confirmed": {
			connection.EndingRules{Connected: 200, Confirmed: "c"},
			missing(200, noon.Add(-day), "d"), 0, true,
		},
		"confirmed ones before their day is over": {
			connection.EndingRules{Connected: 200, Confirmed: "c"},
			missing(200, noon.Add(-time.Hour), "c"), 0, false,
		},
		"nobody": {connection.EndingRules{}, nil, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			tt.rules.Now = noon
			v := connection.EndMembers(tt.rules, tt.ending)
			if len(v.Disconnect) != tt.disconnect || len(v.Disconnect)+len(v.Wait) != len(tt.ending) ||
				(v.ConfirmationID != "") != tt.confirms {
				t.Errorf("%d go, %d wait, confirmation %q; want %d to go", len(v.Disconnect), len(v.Wait),
					v.ConfirmationID, tt.disconnect)
			}
		})
	}
}

func TestEndMembers_AConfirmationIsGoodForTheseMembersAlone(t *testing.T) {
	since := noon.Add(-48 * time.Hour)
	id := func(ending []connection.Member) string {
		return connection.EndMembers(connection.EndingRules{Now: noon, Connected: len(ending)},
			ending).ConfirmationID
	}
	first, reversed := missing(3, since, ""), missing(3, since, "")
	slices.Reverse(reversed)
	if id(first) == "" || id(first) != id(reversed) {
		t.Errorf("%q, and in another order %q", id(first), id(reversed))
	}
	for name, other := range map[string][]connection.Member{
		"one member more": missing(4, since, ""), "one member fewer": missing(2, since, ""),
		"the same ones later": missing(3, since.Add(time.Second), ""),
	} {
		if id(other) == id(first) {
			t.Errorf("%s have the same confirmation", name)
		}
	}
}

// For any sequence of listings, a member listed within the last day is not disconnected, and at most a tenth of the
// members is disconnected in a day.
func TestEndMembers_HoldsItsPromisesForRandomListings(t *testing.T) {
	random := seed.Random(t)
	for range 200 {
		simulateListings(t, random)
	}
}

// simulateListings lists an organization each hour for five days.
func simulateListings(t *testing.T, random *rand.Rand) {
	t.Helper()
	members := make([]connection.Member, 1+random.IntN(60))
	listed := make([]time.Time, len(members)) // the last listing of each member
	for i := range members {
		members[i].NativeID = strconv.Itoa(i)
		listed[i] = noon
	}
	went := map[string]time.Time{}
	for hour := range 120 {
		now := noon.Add(time.Duration(hour) * time.Hour)
		lacks := random.Float64() * random.Float64() / 4
		var ending []connection.Member
		connected, recent := 0, 0
		for i := range members {
			m := &members[i]
			if at, gone := went[m.NativeID]; gone {
				if now.Sub(at) < connection.EndingWait {
					recent++
				}
				continue
			}
			connected++
			if i%3 > 0 && random.Float64() > lacks {
				listed[i], *m = now, connection.Member{NativeID: m.NativeID}
				continue
			}
			if m.Ending = connection.MemberLeft; m.MissingSince.IsZero() {
				m.MissingSince = now
			}
			ending = append(ending, *m)
		}
		v := connection.EndMembers(connection.EndingRules{Now: now, Connected: connected, Recent: recent},
			ending)
		for _, m := range v.Disconnect {
			n, _ := strconv.Atoi(m.NativeID)
			if now.Sub(listed[n]) < connection.EndingWait {
				t.Fatalf("%s is disconnected %s after it was listed", m.NativeID, now.Sub(listed[n]))
			}
			went[m.NativeID] = now
		}
		if day := recent + len(v.Disconnect); len(v.Disconnect) > 0 && day*10 > connected+recent {
			t.Fatalf("%d of %d are disconnected in a day", day, connected+recent)
		}
	}
}
