package workflow_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workflow/asl"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
)

func TestWhateverFitsAStateFitsTheStore(t *testing.T) {
	race.SkipSequential(t)
	const twoTasks = `{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"${Fn}","Next":"B"},` +
		`"B":{"Type":"Task","Resource":"${Fn}","End":true}}}`
	noise := make([]rune, (asl.MaxPayload-2)/3)
	r := seed.Random(t)
	for i := range noise {
		noise[i] = rune(0x4E00 + r.IntN(0x5000)) // three bytes each, which compression does not shorten much
	}
	for name, input := range map[string]string{
		"many small values":         "[" + strings.Repeat("1,", (asl.MaxPayload-2)/2-1) + "1]",
		"text that is only escapes": `"` + strings.Repeat("<", asl.MaxPayload-2) + `"`,
		"text without redundancy":   `"` + string(noise) + `"`,
		"numbers out of all bounds": `{"digits":` + strings.Repeat("7", 200) + `,"n":1e400}`,
		"depth":                     strings.Repeat("[", 200) + strings.Repeat("]", 200),
	} {
		t.Run(name, func(t *testing.T) {
			e := openEngine(t, workflow.Parts{Machines: parseMachine(t, twoTasks), Handlers: withHandler(
				func(_ context.Context, in json.RawMessage) (any, error) { return in, nil })})
			if err := e.Start(t.Context(), "m", "x", json.RawMessage(input)); err != nil {
				t.Fatal(err)
			}
			x := waitEnded(t, e, "x")
			if x.Status != workflow.Succeeded || string(x.Output) != input || string(x.Input) != input {
				t.Fatalf("%s %s: %.200s; %d bytes in, %d stored, %d out", x.Status, x.Error, x.Cause, len(input),
					len(x.Input), len(x.Output))
			}
		})
	}
}
