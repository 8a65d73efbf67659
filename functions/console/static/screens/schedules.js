// Schedules: when things run, and what will happen in the coming hours.
import { html } from "../vendor.js";
import { useGet } from "../api.js";
import { Answer, Card, go, linkTo, Moment, Page, Tag, withParameters } from "../parts.js";
import { Act, Cell, List, Name, pageOf, Pages, Row, Table } from "../lists.js";
import { verb } from "../acts.js";
import { count, moment, plural } from "../format.js";
import { hoursOf, momentsOf, spansOf } from "../week.js";

const text = {
  title: "Schedules",
  make: "New schedule",
  none: "No schedule yet",
  noneNote:
    "A schedule starts resources when they are needed and stops them when they are not. Office hours leave two thirds of the hours out.",
  head: { name: "Schedule", next: "Next", attached: "Attached", hours: "Hours a week", week: "Monday to Sunday" },
  off: "off",
  enforced: "enforced",
  byTag: "by tag too",
  attached: "attachment",
  of: "of 168",
  tonight: "The next 24 hours",
  nothing: "Nothing will be started or stopped by a schedule.",
  skipped: "skipped",
  more: "There are more firings than these.",
};
const size = 50;

const Strip = ({ spans }) => html`<svg class="strip" viewBox="0 0 10080 12" preserveAspectRatio="none" aria-hidden="true">
  <rect class="off" width="10080" height="12" />${spans.map(
    ([from, to]) => html`<rect key=${from} class="on" x=${from} width=${to - from}
    height="12" />`,
  )}${[1, 2, 3, 4, 5, 6].map((d) => html`<rect key=${d} class="gap" x=${d * 1440 - 25} width="50" height="12" />`)}</svg>`;

function Line({ s }) {
  const moments = momentsOf(s.crons),
    spans = moments && spansOf(moments);
  const both = moments && ["start", "stop"].every((a) => moments.some((m) => m.action === a));
  return html`<${Row}><${Name}><a href=${linkTo("/schedules/" + s.id)}>${s.name}</a><small>${s.timezone}</small><//>
    <${Cell} kind="num">${
      s.enabled && s.nextFiringAt
        ? html`<span>${verb(s.nextFiringAction)} <${Moment} at=${s.nextFiringAt} /></span>`
        : html`
      <${Tag} of=${s.enabled ? "–" : text.off} />`
    }<//>
    <${Cell}>${plural(s.attachmentCount, text.attached)} ${s.drift === "enforce" && html`<${Tag} of=${text.enforced} />`}<//>
    <${Cell} kind="num">${both ? html`${count(Math.round(hoursOf(spans)))} ${text.of}` : "–"}<//>
    <${Cell} kind="far wide">${both ? html`<${Strip}
      spans=${spans} />` : html`<code>${s.crons.map((c) => c.cronExpression).join(" · ")}</code>`}
      <//><//>`;
}

const Firing = (f) => html`<li key=${f.cronID + f.at}><div class="text grow"><span><b>${verb(f.action)}</b>${" "}
    <a class="name" href=${linkTo("/schedules/" + f.scheduleID)}>${f.scheduleName}</a></span>
  <small>${plural(f.attachmentCount, text.attached)}${f.byTag && ", " + text.byTag}</small></div>
  <span class="end">${f.skipped && html`<${Tag} of=${`${text.skipped}: ${f.skipped}`} tone="warning" />`}
    <time datetime=${f.at} title=${f.localTime}>${moment(f.at)}</time></span></li>`;

const Upcoming = ({ read }) =>
  html`<${Card} title=${text.tonight} stale=${read.stale}><${Answer} read=${read} lines=${3}>${(d) =>
    d.firings.length === 0
      ? html`<p class="none">${text.nothing}</p>`
      : html`<ul class="rows">${d.firings.map(Firing)}</ul>${d.more && html`<small>${text.more}</small>`}`}<//><//>`;

export default function Schedules({ search }) {
  const page = pageOf(search),
    read = useGet(`schedules?limit=${size}&page=${page}&sort_by=name`),
    upcoming = useGet("schedules/upcoming");
  const set = (changes) => go("/schedules" + withParameters(search, changes), true),
    h = text.head;
  const make = (kind) =>
    html`<${Act} needs="schedules:write" kind=${kind} icon="plus" run=${() => go("/schedules/new")}>${text.make}<//>`;
  return html`<${Page} title=${text.title} lead=${read.data && plural(read.data.total, "schedule")}>${make("primary")}<//>
    <div class="body"><${List} read=${read} label=${text.title} empty=${[text.none, text.noneNote, make("")]}>${(d) => html`
      <${Table} label=${text.title} heads=${[[h.name], [h.next, "num"], [h.attached], [h.hours, "num"], [h.week, "far wide"]]}>
        ${d.items.map((s) => html`<${Line} key=${s.id} s=${s} />`)}<//>`}<//>
      <${Pages} page=${page} size=${size} total=${read.data?.total || 0} set=${set} />
      <${Upcoming} read=${upcoming} /></div>`;
}
