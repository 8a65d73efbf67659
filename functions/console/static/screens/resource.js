// One resource: its state, what it costs, and who started and stopped it.
import { html, useState } from "../vendor.js";
import { can, useGet } from "../api.js";
import { Answer, Card, Empty, Fault, Ghost, Lamp, Moment, Page, Tag } from "../parts.js";
import { actOn, Ask, stateOf, verb } from "../acts.js";
import { Act } from "../lists.js";
import { Hold } from "../hold.js";
import { cause, inBothZones, kind, moment, money } from "../format.js";

const text = {
  back: "Resources",
  loading: "Resource",
  facts: "Facts",
  tags: "Tags",
  noTags: "It has no tags.",
  history: "States",
  noHistory: "No change yet",
  noHistoryNote: "A change of its state appears here, with its cause.",
  actions: "Actions",
  noActions: "No action yet",
  noActionsNote: "A start or a stop appears here, with its result.",
  needs: "It needs the policy actions:execute",
  fixed: "Resources of this kind cannot be started and stopped.",
  uid: "Provider's id",
  kind: "Kind",
  size: "Size",
  region: "Region",
  account: "Cloud account",
  capacity: "Capacity",
  created: "Created",
  seen: "Last seen",
  lastMonth: "Billed last month",
  thisMonth: "Billed this month",
  hourly: "List price of an hour",
  monthly: "List price of a month",
  cost: "Cost",
  noCost: "No bill and no price is known for it.",
  of: "of",
  hold: "Hold…",
};

const Facts = ({ rows }) =>
  html`<dl class="list">${rows.filter(([, v]) => v).map(([k, v]) => html`<div key=${k}><dt>${k}</dt><dd>${v}</dd></div>`)}</dl>`;

// amount returns an amount that is known. One of 0 says nothing: no bill came yet, or the resource is stopped.
const amount = (v) => (v === null || v === undefined || Number(v) === 0 ? null : money(v));

function Costs({ r }) {
  const a = r.actualUSD,
    p = r.rackRateUSD;
  const rows = [
    [text.thisMonth, a && amount(a.monthToDate)],
    [text.lastMonth, a && amount(a.lastMonth)],
    [text.hourly, p && amount(p.hourly)],
    [text.monthly, p && amount(p.monthly)],
  ];
  return html`<${Card} title=${text.cost}>${rows.some(([, v]) => v) ? html`<${Facts} rows=${rows} />` : html`<p class="none">${text.noCost}
    </p>`}<//>`;
}

function History({ read }) {
  return html`<${Card} title=${text.history} stale=${read.stale}><${Answer} read=${read} lines=${4}>${(d) =>
    d.items.length === 0
      ? html`<${Empty} title=${text.noHistory}><p>${text.noHistoryNote}</p><//>`
      : html`
    <ul class="rows">${d.items.map((h) => html`<li key=${h.id}><div class="text grow"><${Lamp} state=${h.state} /><small>
      ${cause(h.changedBy)}</small>${h.errorMessage && html`<small class="bad">${h.errorMessage}</small>`}</div><small class="end">
      <${Moment} at=${h.changedAt} /></small></li>`)}</ul>`}<//><//>`;
}

function Actions({ read }) {
  return html`<${Card} title=${text.actions} stale=${read.stale}><${Answer} read=${read} lines=${4}>${(d) =>
    d.items.length === 0
      ? html`<${Empty} title=${text.noActions}><p>${text.noActionsNote}</p><//>`
      : html`
    <ul class="rows">${d.items.map((a) => html`<li key=${a.id}><div class="text grow"><span>
      ${verb(a.action)} <${Tag} of=${a.status} tone=${a.status} /></span><small>${cause(a.changedBy)}</small>
      ${a.errorMessage && html`<small class="bad">${a.errorMessage}</small>`}</div><small class="end"><${Moment} at=${a.createdAt} />
      </small></li>`)}</ul>`}<//><//>`;
}

export default function Resource({ id }) {
  const read = useGet("resources/" + encodeURIComponent(id)),
    r = read.data,
    [wanted, setWanted] = useState(null),
    [holding, hold] = useState(false);
  const about = r && can("actions:read") && "resource_uid=" + encodeURIComponent(r.uid);
  const history = useGet(about && `state-history?limit=12&${about}`),
    actions = useGet(about && `actions?limit=12&${about}`);
  const back = { to: "/resources", name: text.back };
  if (!r)
    return html`<${Page} title=${text.loading} back=${back} /><div class="body">
      ${read.error ? html`<${Fault} error=${read.error} retry=${read.reload} />` : html`<${Ghost} lines=${6} />`}</div>`;
  const act = actOn(r),
    may = can("actions:execute"),
    plan = () => setWanted({ act, body: { resourceIDs: [r.id] } });
  const done = () => {
    read.reload();
    history.reload();
    actions.reload();
  };
  const capacity = r.capacity?.desired !== undefined && `${r.capacity.desired} ${text.of} ${r.capacity.min} – ${r.capacity.max}`;
  return html`<${Page} title=${r.name} back=${back} lead=${html`<${Lamp} state=${stateOf(r)} />`}>
      ${r.schedulable && html`<${Act} needs="overrides:write" run=${() => hold(true)}>${text.hold}<//>`}
      ${act && html`<button class=${act === "start" ? "primary" : ""} disabled=${!may} title=${may ? null : text.needs} onClick=${plan}>
        ${verb(act)}…</button>`}
      ${!r.schedulable && html`<small>${text.fixed}</small>`}<//>
    <div class="body"><div class="half">
      <${Card} title=${text.facts} stale=${read.stale}><${Facts} rows=${[
        [text.kind, kind(r.type)],
        [text.size, r.instanceType],
        [text.capacity, capacity],
        [text.region, r.zone || r.region],
        [text.account, r.cloudAccountName],
        [
          text.created,
          r.createdAt && html`<time datetime=${r.createdAt} title=${inBothZones(r.createdAt)}>${moment(r.createdAt)}</time>`,
        ],
        [text.seen, html`<${Moment} at=${r.lastSeenAt} />`],
        [text.uid, html`<code>${r.uid}</code>`],
      ]} /><//>
      <${Costs} r=${r} />
      <${Card} title=${text.tags}>${Object.keys(r.tags).length === 0 ? html`<p class="none">${text.noTags}
        </p>` : html`<${Facts} rows=${Object.entries(r.tags).sort()} />`}<//></div>
    ${about && html`<div class="half"><${History} read=${history} /><${Actions} read=${actions} /></div>`}</div>
    ${holding && html`<${Hold} of=${{ name: r.name, body: { resourceUID: r.uid } }} close=${() => hold(false)} done=${done} />`}
    ${wanted && html`<${Ask} wanted=${wanted} close=${() => setWanted(null)} done=${done} />`}`;
}
