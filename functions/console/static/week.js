// A week as people say it: windows of days and hours in which something runs, and the crons that say the same.
const dayLength = 1440, // in minutes
  weekLength = 7 * dayLength;
export const dayNames = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]; // day 0 is Monday; cron has Sunday as 0 and 7
const twoDigits = (n) => String(n).padStart(2, "0");
export const clock = (minutes) => `${twoDigits(Math.floor((minutes % dayLength) / 60))}:${twoDigits(minutes % 60)}`;
const minutesOf = (hhmm) => hhmm.split(":").reduce((n, part) => n * 60 + Number(part), 0);

// dayOf reads a day of a cron: a number or a name.
function dayOf(word) {
  const named = dayNames.findIndex((d) => d.toLowerCase() === word.toLowerCase());
  if (named >= 0) return named;
  return /^[0-7]$/.test(word) ? (Number(word) + 6) % 7 : NaN;
}

function daysOf(field) {
  if (field === "*") return [0, 1, 2, 3, 4, 5, 6];
  return field.split(",").flatMap((part) => {
    const [first, last = first] = part.split("-"),
      from = dayOf(first),
      length = ((dayOf(last) - from + 7) % 7) + 1;
    return Number.isNaN(length) ? [NaN] : Array.from({ length }, (_, i) => (from + i) % 7);
  });
}

// timesOf returns the minutes of the week, from Monday, at which a cron of the form "m h * * days" fires, or null if it has
// another form.
function timesOf(expression) {
  const [m, h, dayOfMonth, month, weekday, rest] = expression.trim().split(/\s+/);
  if (rest || dayOfMonth !== "*" || month !== "*" || !/^\d+$/.test(m) || !/^\d+(,\d+)*$/.test(h) || !weekday) return null;
  const on = daysOf(weekday);
  if (on.some(Number.isNaN)) return null;
  return on.flatMap((d) => h.split(",").map((hour) => d * dayLength + Number(hour) * 60 + Number(m)));
}

// momentsOf returns the starts and stops of a week in sequence, or null if a week cannot show them.
export function momentsOf(crons) {
  const all = crons.map((c) => timesOf(c.cronExpression)?.map((at) => ({ at, action: c.action })));
  if (all.includes(undefined)) return null;
  return all.flat().sort((a, b) => a.at - b.at || a.action.localeCompare(b.action));
}

// spansOf returns the parts of the week in which something runs, as pairs of minutes. A start without a stop runs on over
// the end of the week.
export function spansOf(moments) {
  const out = [];
  let on = moments.at(-1)?.action === "start",
    from = 0;
  for (const m of moments) {
    if (m.action === "start" && !on) [on, from] = [true, m.at];
    else if (m.action === "stop" && on) {
      on = false;
      if (m.at > from) out.push([from, m.at]);
    }
  }
  if (on) out.push([from, weekLength]);
  return out;
}
export const hoursOf = (spans) => spans.reduce((n, [from, to]) => n + to - from, 0) / 60;

const cronDays = (days) => {
  const list = days.map((d) => (d + 1) % 7).sort();
  if (list.length === 7) return "*";
  const isRow = list.length > 2 && list.every((d, i) => i === 0 || d === list[i - 1] + 1);
  return isRow ? `${list[0]}-${list.at(-1)}` : list.join(",");
};

// cronsOf returns the crons of windows. A window that ends at or before its start ends on the next day.
export const cronsOf = (windows) =>
  windows
    .filter((w) => w.days.length && w.from && w.to)
    .flatMap((w) => {
      const from = minutesOf(w.from),
        to = minutesOf(w.to),
        last = to <= from ? w.days.map((d) => (d + 1) % 7) : w.days;
      const cron = (action, t, days) => ({ action, cronExpression: `${t % 60} ${Math.floor(t / 60)} * * ${cronDays(days)}` });
      return [cron("start", from, w.days), cron("stop", to, last)];
    });

const said = (crons) => JSON.stringify([...new Set((momentsOf(crons) || []).map((m) => m.at + m.action))]);

// windowsOf returns the windows that say the same as crons, or null if windows cannot say it.
export function windowsOf(crons) {
  const moments = momentsOf(crons);
  if (!moments?.length) return null;
  const byHours = new Map(),
    wraps = moments[0].action === "stop" && moments.at(-1).action === "start";
  const spans = spansOf(moments);
  if (wraps && spans.length > 1) spans.push([spans.pop()[0], weekLength + spans.shift()[1]]); // over the end of the week
  for (const [from, to] of spans) {
    if (to - from > dayLength) return null;
    const hours = `${clock(from)} ${clock(to)}`;
    byHours.set(hours, [...(byHours.get(hours) || []), Math.floor(from / dayLength)]);
  }
  const windows = [...byHours].map(([hours, days]) => ({ from: hours.slice(0, 5), to: hours.slice(6), days }));
  return said(cronsOf(windows)) === said(crons) ? windows : null;
}

// cronsIn returns the crons of a draft: those of its windows, or else those that windows cannot say.
export const cronsIn = (draft) => (draft.windows ? cronsOf(draft.windows) : draft.crons);
