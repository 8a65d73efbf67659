// Savings, each with its proof: when a resource stood still, who stopped it, and what an hour of it costs.
import { html } from "../vendor.js";
import { useGet } from "../api.js";
import { Answer, go, linkTo, Page, withParameters } from "../parts.js";
import { Cell, List, Name, pageOf, Pages, Row, Select, Table } from "../lists.js";
import { cause, count, inBothZones, kind, moment, money, month, rate, rounded } from "../format.js";

const text = {
  title: "Savings",
  lead: "by stops and by applied recommendations",
  month: "Month",
  saved: "Saved",
  entries: "Proofs",
  entriesNote: "each a line below",
  withoutRate: "Without a price",
  withoutNote: "stops that are in no sum",
  head: { resource: "Resource", saved: "Saved", time: "Hours", by: "By", since: "Since", rate: "An hour", source: "Price" },
  none: "Nothing was saved in this month",
  noneNote: "A resource that a schedule or a person stops saves what an hour of it costs. It appears here.",
  hours: "h",
  recommendation: "Recommendation",
};
const size = 50,
  monthsBack = 12;

// months returns the current month and those before it, as 2026-11, with their names.
function months() {
  const now = new Date();
  return Array.from({ length: monthsBack }, (_, i) => {
    const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - i, 1);
    return [new Date(first).toISOString().slice(0, 7), month(first)];
  });
}

const hours = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const Line = ({
  s,
}) => html`<${Row}><${Name}><a href=${linkTo("/resources?search=" + encodeURIComponent(s.resourceUID))}>${s.resourceName}</a>
    <small>${kind(s.resourceType)}</small><//>
  <${Cell} kind="num main">${money(s.savingsUSD)}<//>
  <${Cell}>${s.recommendation ? text.recommendation : cause(s.changedBy)}<//>
  <${Cell} kind="num">${hours.format(s.seconds / 3600)} ${text.hours}<//>
  <${Cell} kind="num far">${rate(s.rateUSD)}<//>
  <${Cell} kind="far"><time datetime=${s.from} title=${inBothZones(s.from)}>${moment(s.from)}</time><//>
  <${Cell} kind="far"><small>${s.source}</small><//><//>`;

const Tile = ({ name, value, note, lit }) => html`<div class=${"tile" + (lit ? " lit" : "")}><dt>${name}</dt><dd>${value}</dd>
  <dd class="note">${note}</dd></div>`;

export default function Savings({ search }) {
  const options = months(),
    period = new URLSearchParams(search).get("period") || options[0][0],
    page = pageOf(search);
  const read = useGet(`reports/savings?period=${period}&limit=${size}&page=${page}`),
    h = text.head;
  const set = (changes) => go("/savings" + withParameters(search, { page: "", ...changes }), true);
  const heads = [[h.resource], [h.saved, "num"], [h.by], [h.time, "num"], [h.rate, "num far"], [h.since, "far"], [h.source, "far"]];
  return html`<${Page} title=${text.title} lead=${text.lead} />
    <div class="filters"><${Select} label=${text.month} value=${period} options=${options} set=${(v) => set({ period: v })} /></div>
    <div class="body"><${Answer} read=${read} lines=${3}>${(d) => html`<dl class="tiles">
        <${Tile} name=${text.saved} value=${rounded(d.totalUSD)} note=${month(d.from)} lit />
        <${Tile} name=${text.entries} value=${count(d.total)} note=${text.entriesNote} />
        <${Tile} name=${text.withoutRate} value=${count(d.withoutRate)} note=${text.withoutNote} /></dl>`}<//>
      ${
        read.data &&
        html`<${List} read=${read} label=${text.title} empty=${[text.none, text.noneNote]}>${(d) => html`
        <${Table} label=${text.title} heads=${heads}>${d.items.map((s) => html`<${Line} key=${s.action + s.from} s=${s} />`)}<//>`}<//>
      <${Pages} page=${page} size=${size} total=${read.data.total} set=${set} />`
      }</div>`;
}
