// Costs by any dimension: each day as a stack, and the same as a table. The address holds the question.
import { html } from "../vendor.js";
import { download, useGet } from "../api.js";
import { Answer, Card, Delta, Empty, go, Icon, Page, toast, withParameters } from "../parts.js";
import { Bars, Legend } from "../chart.js";
import { Act, Cell, List, Name, Row, Select, Table } from "../lists.js";
import { capital, day, longDay, money, percent, rounded, shortMonth } from "../format.js";

const text = {
  title: "Costs",
  lead: "in days of UTC",
  by: "By",
  cost: "Cost",
  range: "Time",
  tag: "Tag",
  noValue: "none",
  remove: "Remove the filter",
  export: "Export CSV",
  before: "Before",
  against: "against",
  uncovered: "Bills begin on",
  until: "Bills end on",
  notCompared: "so there is no comparison",
  incomplete: "Bills are missing, so the total is too low",
  estimated: "estimated from public prices",
  open: "not over yet",
  average: "On average a",
  most: "most",
  saved: "Saved by stopping",
  savedNote: "in the same days, whatever the filters",
  largest: "Largest",
  nothing: "Nothing was charged",
  nothingNote: "No bill of these days has what the filters ask for.",
  each: { day: "Cost of each day", week: "Cost of each week", month: "Cost of each month" },
  change: "Change",
  share: "Share",
  total: "Total",
  isNew: "new",
  others: "All others",
};

const dims = [
  ["service_name", "Service"],
  ["team_id", "Team"],
  ["cloud_account_id", "Cloud account"],
  ["region", "Region"],
  ["provider", "Provider"],
  ["resource_type", "Kind"],
  ["group_id", "Group"],
  ["purchase_type", "Purchase"],
  ["charge_category", "Charge"],
  ["tag:env", "Tag env"],
];
const costs = [
  ["billed", "As billed"],
  ["effective", "Commitments spread"],
  ["list", "At public prices"],
];
const ranges = [
  ["30d", "30 days"],
  ["90d", "90 days"],
  ["month", "This month"],
  ["last", "Last month"],
  ["year", "12 months"],
];
const nameOf = (dim) => dims.find(([d]) => d === dim)?.[1] || (dim.startsWith("tag:") ? `${text.tag} ${dim.slice(4)}` : capital(dim));

// after says by which dimension a value of another one is explained.
const after = { service_name: "resource_type", team_id: "service_name", provider: "cloud_account_id", cloud_account_id: "service_name" };

const iso = (ms) => new Date(ms).toISOString().slice(0, 10);
const dayLength = 86_400_000;

// timeOf returns the first day of a range, the day after its last, and how fine it is drawn.
function timeOf(range) {
  const now = new Date(),
    y = now.getUTCFullYear(),
    m = now.getUTCMonth(),
    tomorrow = Date.UTC(y, m, now.getUTCDate()) + dayLength;
  if (range === "month") return [Date.UTC(y, m, 1), tomorrow, "day"];
  if (range === "last") return [Date.UTC(y, m - 1, 1), Date.UTC(y, m, 1), "day"];
  if (range === "year") return [Date.UTC(y, m - 11, 1), tomorrow, "month"];
  return range === "90d" ? [tomorrow - 90 * dayLength, tomorrow, "week"] : [tomorrow - 30 * dayLength, tomorrow, "day"];
}

// gap says why two periods cannot be compared, or "": the bills of one of them do not cover it.
function gap(b) {
  const first = b.previous?.coveredFrom;
  if (!first || first > b.previous.from) return `${text.uncovered} ${first ? longDay(first) : longDay(b.coveredFrom || b.to)}`;
  if (!b.coveredTo || b.coveredTo < b.to) return `${text.until} ${b.coveredTo ? longDay(Date.parse(b.coveredTo) - dayLength) : "–"}`;
  return "";
}

// question returns the state of the address. Filters are parameters in.<dimension>; name.<dimension> is what people read.
function question(search) {
  const p = new URLSearchParams(search),
    [from, to, unit] = timeOf(p.get("time") || "30d");
  const filters = [...p]
    .filter(([k]) => k.startsWith("in."))
    .map(([k, v]) => ({ dim: k.slice(3), value: v, name: p.get("name." + k.slice(3)) }));
  const narrowing = filters.map((f) => [`filter[${f.dim}]`, f.value]);
  const days = new URLSearchParams([["from", iso(from)], ["to", iso(to)], ...narrowing]);
  const base = new URLSearchParams([...days, ["cost", p.get("cost") || "billed"]]);
  return { by: p.get("by") || "service_name", range: p.get("time") || "30d", cost: p.get("cost") || "billed", unit, filters, days, base };
}

function Filters({ q, set }) {
  const options = dims.some(([d]) => d === q.by) ? dims : [...dims, [q.by, nameOf(q.by)]];
  const without = (f) => set({ ["in." + f.dim]: "", ["name." + f.dim]: "" });
  return html`<div class="filters"><${Select} label=${text.by} value=${q.by} options=${options} set=${(v) => set({ by: v })} />
    <${Select} label=${text.range} value=${q.range} options=${ranges} set=${(v) => set({ time: v })} />
    <${Select} label=${text.cost} value=${q.cost} options=${costs} set=${(v) => set({ cost: v })} />
    <div class="chips">${q.filters.map(
      (f) => html`<button key=${f.dim} class="on" onClick=${() => without(f)}
      aria-label=${`${text.remove} ${nameOf(f.dim)}`}>${nameOf(f.dim)}: <b>${f.name || f.value || text.noValue}</b>
      <${Icon} of="close" /></button>`,
    )}</div></div>`;
}

const Tile = ({ name, value, kind = "", children }) =>
  html`<div class=${"tile " + kind}><dt>${name}</dt><dd>${value}</dd><dd class="note">${children}</dd></div>`;

function Tiles({ b, trend, q, top }) {
  const why = gap(b),
    amounts = (trend?.items || []).map((d) => Number(d.costUSD)),
    billed = amounts.filter((n) => n !== 0);
  const compared = why
    ? `${why}, ${text.notCompared}`
    : html`<${Delta} now=${b.totalUSD} before=${b.previous.totalUSD} /> ${text.against} ${rounded(b.previous.totalUSD)}`;
  return html`<dl class="tiles"><${Tile} name=${costs.find(([k]) => k === q.cost)[1]} value=${rounded(b.totalUSD)}>
      ${b.incomplete.length ? text.incomplete : compared}<//>
    <${Tile} name=${`${text.average} ${q.unit}`} value=${billed.length ? rounded(Number(b.totalUSD) / billed.length) : "–"}>
      ${billed.length > 0 && `${text.most} ${rounded(Math.max(...billed))}`}<//>
    ${trend && html`<${Tile} name=${text.saved} value=${rounded(trend.totalSavingsUSD)} kind="lit">${text.savedNote}<//>`}
    ${
      top &&
      html`<${Tile} name=${`${text.largest} ${nameOf(q.by).toLowerCase()}`} value=${percent(top.costUSD / b.totalUSD)}>
      ${top.label}<//>`
    }</dl>`;
}

function Days({ trend, q }) {
  const today = iso(Date.now()),
    length = { day: 1, week: 7, month: 31 }[q.unit] * dayLength;
  const series = trend.series.map((s, i) => ({ name: s.other ? text.others : s.labels[0], tone: s.other ? 7 : i }));
  const soft = (d) => (d.estimated ? text.estimated : iso(Date.parse(d.date) + length) > today ? text.open : "");
  const points = trend.items.map((d) => ({ date: d.date, amount: d.costUSD, soft: soft(d), parts: d.seriesUSD }));
  return html`<${Legend} series=${series} />
    <${Bars} label=${text.each[q.unit]} points=${points} series=${series} height=${280}
      dates=${q.unit === "month" ? shortMonth : day} />`;
}

function Change({ n, why }) {
  if (why || n.other) return null;
  if (Number(n.previousUSD) === 0) return html`<span class="none">${text.isNew}</span>`;
  return html`<${Delta} now=${n.costUSD} before=${n.previousUSD} />`;
}

function Values({ b, q, order, drill }) {
  const why = gap(b),
    [total, ...nodes] = b.nodes,
    most = Math.max(...nodes.map((n) => Number(n.costUSD)), 0.01);
  const tone = (n) => "t" + (n.other || !order.has(n.label) ? 7 : order.get(n.label));
  const before = (v) => (why ? "–" : money(v));
  const heads = [[nameOf(q.by)], [text.cost, "num"], [text.change, "num"], [text.before, "num"], [text.share, "far wide"]];
  return html`<${Table} label=${nameOf(q.by)} heads=${heads}>${nodes.map(
    (n) => html`<${Row} key=${n.id}>
      <${Name}><i class=${tone(n)} />${n.other ? text.others : html`<button class="link"
        onClick=${() => drill(n)}>${n.label}</button>`}<//>
      <${Cell} kind="num main">${money(n.costUSD)}<//><${Cell} kind="num"><${Change} n=${n} why=${why} /><//>
      <${Cell} kind="num">${before(n.previousUSD)}<//>
      <${Cell} kind="far wide"><span class=${"share " + tone(n)} aria-hidden="true">
        <i style=${{ width: (Math.max(0, n.costUSD) / most) * 100 + "%" }} /></span><span
          class="sr">${percent(n.costUSD / (b.totalUSD || 1))}
        </span><//><//>`,
  )}
    <tr role="row" class="total"><${Name}>${text.total}<//><${Cell} kind="num">${money(b.totalUSD)}<//><${Cell} kind="num">
      <${Change} n=${total} why=${why} /><//><${Cell} kind="num">${before(total.previousUSD)}<//><${Cell} kind="far" /></tr><//>`;
}

// save downloads the charges of the days and filters shown.
const save = (q) =>
  download(`reports/export?${q.days}&format=csv`, `costs-${q.days.get("from")}-${q.days.get("to")}.csv`).catch((e) =>
    toast(e.message, { bad: true }),
  );

export default function Costs({ search }) {
  const q = question(search),
    dim = encodeURIComponent(q.by);
  const breakdown = useGet(`reports/costs/breakdown?${q.base}&dims=${dim}&compare=true&limit=15`);
  const trend = useGet(`reports/trends?${q.base}&granularity=${q.unit}&dims=${dim}&limit=6`),
    b = breakdown.data;
  const set = (changes) => go("/costs" + withParameters(search, changes), true);
  const drill = (n) => {
    const next = after[q.by] || "service_name",
      taken = (d) => d === q.by || q.filters.some((f) => f.dim === d);
    const by = [next, ...dims.map(([d]) => d)].find((d) => !taken(d)) || q.by;
    const p = new URLSearchParams(search);
    p.set("in." + q.by, n.value ?? "");
    p.set("name." + q.by, n.label);
    p.set("by", by);
    go("/costs?" + p);
  };
  const order = new Map((trend.data?.series || []).filter((s) => !s.other).map((s, i) => [s.labels[0], i]));
  const top = b?.nodes.find((n) => n.dim && !n.other),
    note = b && `${longDay(b.from)} – ${longDay(Date.parse(b.to) - dayLength)}, ${text.lead}`;
  const act = html`<${Act} needs="reports:read" icon="out" run=${() => save(q)}>${text.export}<//>`;
  return html`<${Page} title=${text.title} lead=${note}>${act}<//><${Filters} q=${q} set=${set} />
  <div class="body">${b && html`<${Tiles} b=${b} trend=${trend.data} q=${q} top=${top} />`}
    <${Card} title=${text.each[q.unit]} note=${nameOf(q.by).toLowerCase()} stale=${trend.stale}><${Answer} read=${trend} lines=${9}>${(
      t,
    ) =>
      Number(t.totalUSD) === 0
        ? html`<${Empty} title=${text.nothing}><p>${text.nothingNote}</p><//>`
        : html`<${Days} trend=${t} q=${q} />`}<//><//>
    <${List} read=${breakdown} label=${nameOf(q.by)} rows=${(d) => d.nodes.slice(1)} empty=${[text.nothing, text.nothingNote]}>${(d) =>
      html`<${Values} b=${d} q=${q} order=${order} drill=${drill} />`}<//></div>`;
}
