package billingsync

import (
	"errors"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/foundation/fault"
)

// noteBroken records the manifest of a month that cannot be read.
func (s *session) noteBroken(month string, d *cloud.Delivery) error {
	if !d.Broken {
		return nil
	}
	return s.noteMonth(month, billimport.Schema, fault.New(fault.Invalid, "%s", d.Notice))
}

// note records an error that an early retry cannot mend, and returns nil for it. It returns every other error.
func (s *session) note(step billimport.Step, err error) error { return s.noteMonth("", step, err) }

// noteMonth is note for the error of a month. The failure tells the errors of all months, the newest first.
func (s *session) noteMonth(month string, step billimport.Step, err error) error {
	e, told := errors.AsType[*cloud.Error](err)
	switch {
	case err == nil:
		return nil
	case told && e.Class.Retryable(), !told && !fault.Is(err, fault.Invalid):
		return err
	case s.in.Failure == nil:
		s.in.Failure = &billimport.Failure{Step: step, Message: messageOfMonth(month, err), At: s.p.Clock.Now()}
	default:
		s.in.Failure.Message = addMessage(s.in.Failure.Message, month, strings.TrimSpace(month+" "+string(step))+": "+
			messageOf(err))
	}
	return nil
}

// stepOfListing returns the step of an error of the list of deliveries: manifests that cannot be read are there, so the
// account does not wait for its first export.
func stepOfListing(err error) billimport.Step {
	if err != nil && cloud.ClassOf(err) == cloud.Invalid {
		return billimport.Schema
	}
	return billimport.Reachability
}

// messageOfMonth returns the message of the error of a month, which names the month.
func messageOfMonth(month string, err error) string {
	message := messageOf(err)
	if strings.Contains(message, month) {
		return message
	}
	return month + ": " + message
}

// addMessage appends the message of a further failure. When there is no room for it, only its month is named.
func addMessage(message, month, more string) string {
	const separator, cut = "; ", "; …"
	switch {
	case len(message)+len(separator)+len(more) <= longest:
		return message + separator + more
	case month != "":
		return message + separator + "and " + month
	case strings.HasSuffix(message, cut):
		return message
	}
	return message + cut
}

// longest is the maximum length of a stored message in bytes, without the months that are only named.
const longest = 1000

func messageOf(err error) string {
	if e, told := errors.AsType[*cloud.Error](err); told {
		return fault.CleanText(e.Error(), longest)
	}
	return fault.CleanText(fault.Message(err), longest)
}
