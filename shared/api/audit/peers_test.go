package audit

import (
	"fmt"
	"sync"
	"testing"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

// TestRacersOnDynamoDB makes one chain from three processes on a twin of DynamoDB, whose transactions cancel each
// other, and verifies it: the rows are read byte for byte as they were sealed, including numbers.
func TestRacersOnDynamoDB(t *testing.T) {
	remote := tabletest.NewTable(t, tabletest.StartDynoxide(t))
	var processes []*Log
	for range 3 {
		processes = append(processes, logOf(table.Fenced(table.NewDynamoDB(remote)), clock.System{}))
	}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			r := newRow(fmt.Sprint("race", i))
			r.Changes = Changes{Before: decodeOrNil(
				[]byte(`{"cost":1.50,"big":12345678901234567890,"small":1e-3,"text":"ü<&>\u2028"}`))}
			if _, err := processes[i%3].Append(t.Context(), org, r); err != nil {
				t.Error(err)
			}
			if _, err := processes[i%3].Link(t.Context(), PlaceOf(org), endless); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	mustHold(t, processes[0].store, 50)
}
