// Package scheduling is what schedules want of resources and when: cron expressions in a zone, calendars of holidays and freezes,
// and what becomes of a firing on a resource. What a preview shows and what the evaluator does is decided by the same functions
// of it (Timetable.Firings, Decide, Wanted). Its stores keep schedules, their attachments and calendars.
package scheduling
