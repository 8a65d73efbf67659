// What the evaluator would do with a schedule in the coming week.
import { html, useEffect, useState } from "../vendor.js";
import { post } from "../api.js";
import { Card, Fault, Ghost } from "../parts.js";
import { verb } from "../acts.js";
import { count, money, plural } from "../format.js";
import { cronsIn } from "../week.js";

const text = {
  unnamed: "New schedule",
  preview: "The coming week",
  previewNote: "as the evaluator decides",
  takes: "Takes",
  firings: "Firings",
  saves: "Expected to save",
  withoutRate: "without a known price",
  attachFirst: "Attach a group to see what it acts on.",
  never: "It never fires: add hours.",
  actsOn: "acts on",
  leftOut: "left out",
  reasons: {
    calendar: "a calendar",
    event: "an event",
    override: "an override",
    read_only_account: "a read-only account",
    disconnected_account: "a disconnected account",
    contradiction: "a start in the same minute",
    unschedulable: "cannot be started or stopped",
    disabled: "the schedule is off",
  },
};
const previewDelay = 400, // ms after the last change
  shownFirings = 14;

// usePreview asks the evaluator what the draft would do, when nothing was changed for a moment.
export function usePreview(draft, attached) {
  const [answer, setAnswer] = useState({}),
    crons = draft ? cronsIn(draft).map(({ action, cronExpression }) => ({ action, cronExpression })) : [];
  const ids = (field) => (attached?.items || []).map((a) => a[field]).filter(Boolean);
  const body =
    draft &&
    crons.length > 0 &&
    JSON.stringify({
      name: draft.name || text.unnamed,
      timezone: draft.timezone,
      crons,
      calendarIDs: draft.calendarIDs,
      groupIDs: ids("groupID"),
      resourceIDs: ids("resourceID"),
    });
  useEffect(() => {
    if (!body) {
      setAnswer({});
      return undefined;
    }
    const stop = new AbortController();
    setAnswer((a) => ({ ...a, stale: true }));
    const wait = setTimeout(
      () =>
        post("schedules/preview", JSON.parse(body), { abort: stop.signal }).then(
          (data) => setAnswer({ data }),
          (error) => error.name === "AbortError" || setAnswer({ error }),
        ),
      previewDelay,
    );
    return () => {
      clearTimeout(wait);
      stop.abort();
    };
  }, [body]);
  return { ...answer, never: !body };
}

const because = (f) =>
  Object.entries(f.leftOut)
    .map(([why, n]) => `${count(n)} ${text.leftOut}: ${text.reasons[why] || why}`)
    .join(", ");
// wall writes the time on the clock of the schedule's zone, which the service has computed.
const wall = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "numeric",
  minute: "2-digit",
  timeZone: "UTC",
});
const wallTime = (localTime) => wall.format(new Date(localTime.slice(0, 19) + "Z"));

const Firing = (
  f,
) => html`<li key=${f.at + f.action}><div class="text grow"><span><b>${verb(f.action)}</b> ${wallTime(f.localTime)}</span>
  <small>${f.skipped ? `${text.leftOut}: ${text.reasons[f.skipped] || f.skipped} ${f.skippedDetail?.name || ""}` : because(f)}</small></div>
  <span class="end">${text.actsOn} ${count(f.actsOn)}</span></li>`;

export function Preview({ read }) {
  const p = read.data;
  return html`<${Card} title=${text.preview} note=${text.previewNote} stale=${read.stale && p}>
    ${read.error && html`<${Fault} error=${read.error} />`}${read.never && html`<p class="none">${text.never}</p>`}
    ${!p && !read.error && !read.never && html`<${Ghost} lines=${4} />`}
    ${
      p &&
      html`<dl class="facts"><div><dt>${text.takes}</dt><dd>${plural(p.resourceCount, "resource")}</dd></div>
      <div><dt>${text.firings}</dt><dd>${count(p.firings.length)}</dd></div>
      ${
        p.expectedSavingUSD !== null &&
        p.resourceCount > 0 &&
        html`<div><dt>${text.saves}</dt><dd class="lit">${money(p.expectedSavingUSD)}</dd>
        ${p.withoutRate > 0 && html`<dd class="note">${count(p.withoutRate)} ${text.withoutRate}</dd>`}</div>`
      }</dl>
      ${p.resourceCount === 0 && html`<p class="none">${text.attachFirst}</p>`}
      <ul class="rows spaced">${p.firings.slice(0, shownFirings).map(Firing)}</ul>`
    }<//>`;
}
