package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/mailer"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

func TestMails_ListsAndRedrivesWhatWasGivenUp(t *testing.T) {
	dir, now := t.TempDir(), clock.System{}.Now()
	store, err := table.Open(filepath.Join(dir, "store.db"), table.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	pk := mail.Partitions(mail.Note)[0]
	for id, until := range map[string]time.Time{"mail_1": now.Add(time.Hour), "mail_2": now.Add(-time.Hour)} {
		it, err := table.NewItem(table.Key{PK: "MAIL#DEAD", SK: id}, mailer.Dead{
			ID: id, Template: mail.Invitation, PK: pk, Sealed: []byte("sealed"), Until: until.Unix(), Tries: 6,
			Why: "554 blocked", At: now,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = store.Write(t.Context(), table.Put(it)); err != nil {
			t.Fatal(err)
		}
	}
	if err = store.Close(); err != nil {
		t.Fatal(err)
	}
	mails := func(command string) (string, error) {
		var out bytes.Buffer
		args := strings.Fields(command)
		err := run(t.Context(), append([]string{"mails", args[0], "-dir", dir}, args[1:]...), &out, &out)
		return out.String(), err
	}
	if out, err := mails("dead"); err != nil || !strings.Contains(out, "mail_1  invitation  6 tries  554 blocked\n") ||
		strings.Count(out, "\n") != 2 {
		t.Errorf("%v: %s", err, out)
	}
	for command, says := range map[string]string{
		"redrive":        "wants ids, which lamplighter mails dead lists",
		"dead mail_1":    "takes flags only",
		"redrive mail_2": "whoever needs one asks for another",
		"redrive mail_9": `no mail "mail_9" was given up`,
	} {
		if _, err := mails(command); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", command, err)
		}
	}
	if out, err := mails("redrive mail_1"); err != nil || out != "mail_1 is queued again\n" {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := mails("dead"); err != nil || strings.Contains(out, "mail_1") {
		t.Errorf("%v: %s", err, out)
	}
}
