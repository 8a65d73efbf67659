// Budgets: whether each will hold, and the forms that make and change them.
import { html, useState } from "../vendor.js";
import { call, can, change, post, useGet } from "../api.js";
import { Answer, Card, Empty, Page, Tag } from "../parts.js";
import { Meter } from "../chart.js";
import { Act } from "../lists.js";
import { Choice, Field, Form, Sure, Tick } from "../forms.js";
import { capital, day, longDay, money, percent, plural, rounded } from "../format.js";

const text = {
  title: "Budgets",
  make: "New budget…",
  none: "No budget yet",
  noneNote: "A budget warns at its thresholds, and when its forecast exceeds it.",
  of: "of",
  left: "left",
  over: "over",
  expected: "expected at the end",
  between: "between",
  and: "and",
  noForecast: "There is no forecast yet: it needs a few days of bills.",
  settled: "Bills are complete until",
  attributed: "Its costs are known from",
  change: "Change…",
  remove: "Delete…",
  removeTitle: "Delete the budget",
  removeNote: "Its warnings end. Costs stay as they are.",
  name: "Name",
  amount: "Amount in USD",
  period: "Period",
  scope: "Costs of",
  which: "Which one",
  thresholds: "Warn at percent",
  thresholdsNote: "Whole numbers with commas between them, for example 50, 80, 100",
  alerts: "Warn when the forecast exceeds the amount too",
  save: "Save",
  signals: { green: "holds", yellow: "at risk", red: "exceeded" },
  scopes: {
    org: "organization",
    cloud_account: "cloud account",
    resource_group: "group",
    resource: "resource",
    team: "team",
    tag: "tag",
  },
  spans: { month: "This month", quarter: "This quarter", year: "This year" },
};
const periods = ["month", "quarter", "year"].map((p) => [p, capital(p)]);
const sources = {
  team: ["teams:read", "teams?limit=100"],
  cloud_account: ["cloud-accounts:read", "cloud-accounts?limit=100"],
  resource_group: ["resource-groups:read", "resource-groups?limit=100"],
};
const dayLength = 86_400_000;

function Budget({ b, edit, remove }) {
  const spent = Number(b.spentUSD),
    f = b.forecastUSD,
    over = b.remainingUSD.startsWith("-");
  const left = over ? `${money(b.remainingUSD.slice(1))} ${text.over}` : `${money(b.remainingUSD)} ${text.left}`;
  const note = `${text.scopes[b.scopeType]}, ${day(b.from)} – ${day(Date.parse(b.to) - dayLength)}`;
  return html`<${Card} title=${b.name} note=${note} more=${html`<span class="ending"><${Tag} of=${text.signals[b.signal]}
    tone=${b.signal} />
    </span>`}>
    <p class="figure"><b>${rounded(b.spentUSD)}</b> ${text.of} ${rounded(b.amountUSD)}<span class="none">
      ${percent(b.percentUsed / 100)}, ${left}</span></p>
    <${Meter} spent=${spent} expected=${Number(f?.mean)} amount=${Number(b.amountUSD)} signal=${b.signal} />
    <p class="none">${
      f ? `${rounded(f.mean)} ${text.expected}, ${text.between} ${rounded(f.low)} ${text.and} ${rounded(f.high)}` : text.noForecast
    }
    </p>
    ${b.settledUntil && html`<small>${text.settled} ${longDay(b.settledUntil)}. </small>`}
    ${b.attributedFrom && html`<small>${text.attributed} ${longDay(b.attributedFrom)}.</small>`}
    <div class="acts"><${Act} needs="budgets:write" run=${() => edit(b)}>${text.change}<//>
      <${Act} needs="budgets:write" kind="quiet" run=${() => remove(b)}>${text.remove}<//></div><//>`;
}

// Scope asks whose costs a budget counts. The names are read when a kind with names is chosen.
function Scope() {
  const [type, setType] = useState("org"),
    source = sources[type];
  const read = useGet(source && can(source[0]) && source[1]),
    options = (read.data?.items || []).map((i) => [i.id, i.name]);
  const kinds = ["org", ...Object.keys(sources).filter((k) => can(sources[k][0]))].map((k) => [k, capital(text.scopes[k])]);
  return html`<div class="pair"><${Choice} label=${text.scope} name="scopeType" options=${kinds} value=${type} set=${setType} />
    ${source && html`<${Choice} label=${text.which} name="scopeID" options=${options} />`}</div>`;
}

const numbers = (list) =>
  list
    .split(",")
    .map((n) => Number(n.trim()))
    .filter((n) => !Number.isNaN(n) && n > 0);

function Edit({ of, close, done }) {
  const read = useGet(of && "budgets/" + of.budgetID),
    b = read.data;
  const send = (f) => {
    const body = { ...f, thresholds: numbers(f.thresholds), forecastAlerts: f.forecastAlerts === "on" };
    return (of ? change("PUT", "budgets/" + of.budgetID, body) : post("budgets", body)).then(done);
  };
  return html`<${Form} title=${of ? of.name : text.make.replace("…", "")} verb=${text.save} close=${close} send=${send}
    disabled=${of && !b}>
    ${
      (!of || b) &&
      html`<div class="pair"><${Field} label=${text.name}><input name="name" required autofocus maxlength="100" value=${b?.name} /><//>
      <${Field} label=${text.amount}><input name="amountUSD" required inputmode="decimal" pattern="[0-9]+([.][0-9]+)?"
        value=${b?.amountUSD} />
      <//></div>
    ${!of && html`<${Scope} />`}
    <div class="pair"><${Choice} label=${text.period} name="period" options=${periods} value=${b?.period || "month"} />
      <${Field} label=${text.thresholds} note=${text.thresholdsNote}><input name="thresholds"
        value=${(b?.thresholds || [50, 80, 100]).join(", ")} />
      <//></div>
    <${Tick} label=${text.alerts} name="forecastAlerts" checked=${b?.forecastAlerts} />`
    }<//>`;
}

const Totals = ({ s }) => html`<dl class="tiles">${s.byPeriod.map(
  (p) => html`<div class="tile" key=${p.period}>
    <dt>${text.spans[p.period]}</dt><dd>${rounded(p.spentUSD)}</dd><dd class="note">${text.of} ${rounded(p.amountUSD)}</dd></div>`,
)}
  ${["red", "yellow", "green"].map(
    (k) => html`<div key=${k} class=${"tile" + (k === "red" && s.red ? " alarm" : "")}>
    <dt>${capital(text.signals[k])}</dt><dd>${s[k]}</dd><dd class="note">${text.of} ${s.count}</dd></div>`,
  )}</dl>`;

export default function Budgets() {
  const read = useGet("budgets/summary"),
    [editing, edit] = useState(null),
    [removing, remove] = useState(null);
  const make = (kind) => html`<${Act} needs="budgets:write" kind=${kind} icon="plus" run=${() => edit({})}>${text.make}<//>`;
  return html`<${Page} title=${text.title} lead=${read.data && plural(read.data.count, "budget")}>${make("primary")}<//>
    <div class="body"><${Answer} read=${read} lines=${6}>${(s) =>
      s.items.length === 0
        ? html`<${Card} title=${text.title}><${Empty} title=${text.none}><p>${text.noneNote}</p>${make("")}<//><//>`
        : html`<${Totals} s=${s} />${s.items.map(
            (b) => html`<div class="half" key=${b.budgetID}>
          <${Budget} b=${b} edit=${edit} remove=${remove} /></div>`,
          )}`}<//></div>
    ${editing && html`<${Edit} of=${editing.budgetID ? editing : null} close=${() => edit(null)} done=${read.reload} />`}
    ${
      removing &&
      html`<${Sure} title=${`${text.removeTitle} ${removing.name}?`} verb=${text.remove.replace("…", "")} close=${() => remove(null)}
      send=${() => call("DELETE", "budgets/" + removing.budgetID).then(read.reload)}>${text.removeNote}<//>`
    }`;
}
