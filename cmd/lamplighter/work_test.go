package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/clock"
)

func TestWork_ListsAndUnparksWhatWasParked(t *testing.T) {
	dir := t.TempDir()
	store, err := table.Open(filepath.Join(dir, "store.db"), table.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []workqueue.Parked{
		{
			Work: workqueue.Work{ID: "job_1", Org: "org_1", Machine: "erasure", Try: 12, Input: []byte(`{}`)},
			Why:  "broken", ParkedAt: clock.System{}.Now(),
		},
		{
			Work: workqueue.Work{ID: "act_1", Org: "org_1", Machine: "action", Input: []byte(`{}`)}, Why: "broken",
			ParkedAt: clock.System{}.Now(), Ended: true,
		},
	} {
		ws, err := workqueue.Park(p)
		if err != nil {
			t.Fatal(err)
		}
		if err = store.Transact(t.Context(), ws...); err != nil {
			t.Fatal(err)
		}
	}
	if err = store.Close(); err != nil {
		t.Fatal(err)
	}
	work := func(args ...string) (string, error) {
		var out bytes.Buffer
		args = append([]string{"work", args[0], "-dir", dir}, args[1:]...)
		err := run(t.Context(), args, &out, &out)
		return out.String(), err
	}
	if out, err := work("parked"); err != nil ||
		!strings.Contains(out, "act_1  action of org_1  its record was ended as failed  broken") ||
		strings.Count(out, "\n") != 2 {
		t.Errorf("%v: %s", err, out)
	}
	for args, says := range map[string]string{
		"unpark":              "wants ids, which lamplighter work parked lists",
		"parked act_1":        "takes flags only",
		"unpark act_1":        "repeat the original request",
		"unpark act_9":        `no work "act_9" is parked`,
		"unpark job_1 act_10": `no work "act_10" is parked`,
	} {
		if _, err := work(strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", args, err)
		}
	}
	if out, err := work("parked"); err != nil || strings.Contains(out, "job_1") {
		t.Errorf("job_1 is still parked: %v: %s", err, out)
	}
	if store, err = table.Open(filepath.Join(dir, "store.db"), table.Options{}); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	w, err := table.Read[workqueue.Work](t.Context(), store, workqueue.WorkKey("job_1"))
	if err != nil || w.Try != 13 || w.From != 13 {
		t.Errorf("unparked %+v, %v", w, err)
	}
}
