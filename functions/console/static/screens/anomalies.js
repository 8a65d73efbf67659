// Anomalies: days that cost more than usual, what made them so, and what a person says about it.
import { html, useState } from "../vendor.js";
import { change, useGet } from "../api.js";
import { Facet, go, linkTo, Page, Tag, toast, valuesOf, withParameters } from "../parts.js";
import { Act, Cell, List, Name, pageOf, Pages, Row, Table } from "../lists.js";
import { Choice, Field, Form } from "../forms.js";
import { capital, longDay, money, percent, plural, tail } from "../format.js";

const text = {
  title: "Anomalies",
  head: { scope: "Where", excess: "Above usual", cost: "Cost", severity: "Severity", cause: "Most of it", day: "Day" },
  facets: { status: "Status", severity: "Severity", type: "Kind of scope" },
  clear: "Clear all",
  none: "Nothing unusual",
  noneNote: "Each day is judged at night, when its bills are complete. Nothing matches the filters in the last 90 days.",
  usually: "usually",
  newSpend: "new spending",
  organization: "Organization",
  others: "All others",
  judge: "Save",
  costs: "Costs of this scope",
  judgedBy: "judged by",
  explained: "Explained by",
  status: "It is",
  reason: "Why",
  reasonNote: "“Expected” needs a reason. Others read it beside the anomaly.",
  saved: "The anomaly is now",
  dims: { service_name: "By service", resource_uid: "By resource", cloud_account_id: "By cloud account" },
  types: { org: "Organization", cloud_account: "Cloud account", resource_group: "Group", resource: "Resource", team: "Team" },
};
const size = 25;
const choices = (...all) => Object.fromEntries(all.map((v) => [v, ""]));
const facets = [
  ["status", choices("open", "acknowledged", "expected", "closed"), capital],
  ["severity", choices("warning", "critical", "emergency"), capital],
  ["type", choices("org", "cloud_account", "resource_group", "resource", "team"), (v) => text.types[v]],
];
const judgements = [
  ["acknowledged", "Acknowledged: somebody looks into it"],
  ["expected", "Expected: it is as it should be"],
  ["open", "Open: nobody has judged it"],
];
const dimOf = { cloud_account: "cloud_account_id", resource_group: "group_id", team: "team_id", resource: "resource_uid" };

const nameOf = (a) => a.scopeName || (a.anomalyType === "org" ? text.organization : tail(a.scopeID));
const keyOf = (c) => (c.others ? text.others : c.name || tail(c.key) || "–");

// costsOf returns the address of the costs of an anomaly's scope.
function costsOf(a) {
  const p = new URLSearchParams({ by: "service_name" });
  if (dimOf[a.anomalyType]) {
    p.set("in." + dimOf[a.anomalyType], a.scopeID);
    p.set("name." + dimOf[a.anomalyType], nameOf(a));
  }
  return linkTo("/costs?" + p);
}

const largest = (a) => a.contributors.find((c) => c.dim === "service_name" && !c.others);

const Line = ({
  a,
  look,
}) => html`<${Row}><${Name}><button class="link"
  onClick=${() => look(a)}>${nameOf(a)}</button><small>${text.types[a.anomalyType]}, ${longDay(a.date)}</small><//>
  <${Cell} kind="num main">+${money(a.excessUSD)}<small>${a.percent === null ? text.newSpend : "+" + percent(a.percent / 100)}</small><//>
  <${Cell}><${Tag} of=${a.severity} tone=${a.severity} /> ${a.status !== "open" && html`<${Tag} of=${a.status} />`}
    ${a.reason && html`<small>${a.reason}</small>`}<//>
  <${Cell} kind="num">${money(a.costUSD)}<small>${text.usually} ${money(a.baselineUSD)}</small><//>
  <${Cell} kind="far">${largest(a) && keyOf(largest(a))}<//><//>`;

function Contributors({ list }) {
  const by = Object.entries(Object.groupBy(list, (c) => c.dim));
  return by.map(
    ([dim, rows]) =>
      html`<div key=${dim}><h3>${text.dims[dim]}</h3><ul class="rows">${rows.slice(0, 6).map(
        (c) => html`
    <li key=${c.key + c.others}><div class="text grow"><span title=${c.key}>${keyOf(c)}</span></div><span class="end"><b>
      ${money(c.excessUSD)}</b><small>${text.usually} ${money(c.baselineUSD)}</small></span></li>`,
      )}</ul></div>`,
  );
}

function Judge({ a, close, done }) {
  const send = (f) =>
    change("PATCH", "reports/anomalies/" + a.id, { status: f.status, ...(f.reason && { reason: f.reason }) }).then(() => {
      toast(`${text.saved} ${f.status}`);
      done();
    });
  return html`<${Form} title=${`${nameOf(a)}, ${longDay(a.date)}`} verb=${text.judge} close=${close} send=${send}>
    <p><b>${money(a.costUSD)}</b>, ${text.usually} ${money(a.baselineUSD)}. <a href=${costsOf(a)} onClick=${close}>${text.costs}</a></p>
    ${a.explainedBy && html`<p>${text.explained} ${a.explainedBy}</p>`}
    <${Contributors} list=${a.contributors} />
    ${a.judgedBy && html`<p class="none">${capital(a.status)}, ${text.judgedBy} ${a.judgedBy}</p>`}
    <${Choice} label=${text.status} name="status" options=${judgements} value=${a.status === "open" ? "acknowledged" : a.status} />
    <${Field} label=${text.reason} note=${text.reasonNote}><input name="reason" maxlength="500" value=${a.reason || ""} /><//><//>`;
}

export default function Anomalies({ search }) {
  const params = new URLSearchParams(search),
    page = pageOf(search),
    [looked, look] = useState(null);
  const query = new URLSearchParams(facets.flatMap(([f]) => (params.has(f) ? [[f, params.get(f)]] : [])));
  const read = useGet(`reports/anomalies?${query}&limit=${size}&page=${page}`);
  const set = (changes) => go("/anomalies" + withParameters(search, { page: "", ...changes }), true),
    h = text.head;
  const heads = [[h.scope], [h.excess, "num"], [h.severity], [h.cost, "num"], [h.cause, "far"]];
  return html`<${Page} title=${text.title} lead=${read.data && plural(read.data.total, "anomaly", "anomalies")} />
    <div class="filters"><div class="chips">${facets.map(
      ([f, values, show]) => html`<${Facet} key=${f} label=${text.facets[f]} show=${show}
      values=${values} chosen=${valuesOf(search, f)} set=${(v) => set({ [f]: v.join(",") })} />`,
    )}
      ${query.size > 0 && html`<${Act} needs="reports:read" kind="quiet"
        run=${() => go("/anomalies", true)}>${text.clear}<//>`}</div></div>
    <div class="body"><${List} read=${read} label=${text.title} empty=${[text.none, text.noneNote]}>${(d) => html`
      <${Table} label=${text.title} heads=${heads}>${d.items.map((a) => html`<${Line} key=${a.id} a=${a} look=${look} />`)}<//>`}<//>
      <${Pages} page=${page} size=${size} total=${read.data?.total || 0} set=${set} /></div>
    ${looked && html`<${Judge} a=${looked} close=${() => look(null)} done=${read.reload} />`}`;
}
