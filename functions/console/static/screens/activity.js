// What was started and stopped, by whom, and with what result.
import { html, useEffect, useState } from "../vendor.js";
import { call, can, useGet } from "../api.js";
import { Answer, Empty, Facet, go, Lamp, linkTo, Moment, Page, Tabs, Tag, valuesOf, withParameters } from "../parts.js";
import { verb } from "../acts.js";
import { capital, cause, count, kind, plural, tail } from "../format.js";

const text = {
  title: "Activity",
  views: "What is listed",
  actions: "Actions",
  states: "States",
  status: "Result",
  type: "Action",
  by: "Cause",
  none: "Nothing here yet",
  noneNote: "Starts and stops appear here, with their cause and their result.",
  noMatch: "Nothing matches",
  noMatchNote: "Remove a filter to see more.",
  clear: "Clear all",
  resource: "Resource",
  act: "Action",
  state: "State",
  cause: "Cause",
  time: "Time",
  newer: "Newer",
  older: "Older",
  page: "Page",
  of: "of",
  refresh: "Refresh",
};
const pageSize = 50;
const choices = (...all) => Object.fromEntries(all.map((v) => [v, ""]));
const views = {
  actions: {
    path: "actions",
    facets: [
      ["status", text.status, choices("failed", "running", "pending", "succeeded")],
      ["type", text.type, choices("start", "stop"), "one"],
    ],
  },
  states: {
    path: "state-history",
    facets: [
      [
        "changed_by_type",
        text.by,
        choices("schedule", "manual", "bulk", "override", "override_expired", "event", "remediation"),
        "one",
      ],
    ],
  },
};

// useNames returns the resources of UIDs, in one request for a page of the list.
function useNames(uids) {
  const [known, setKnown] = useState(new Map()),
    missing = uids.filter((u) => !known.has(u)).join(" ");
  useEffect(() => {
    if (!missing || !can("resources:read")) return;
    const wanted = missing.split(" ");
    call("POST", "resources/by-uids", { body: { uids: wanted } }).then(
      (rows) => {
        const m = new Map([...known, ...wanted.map((u) => [u, null])]);
        for (const r of rows) m.set(r.uid, r);
        setKnown(m);
      },
      () => {},
    ); // the list is complete without names
  }, [missing]);
  return known;
}

function Resource({ uid, type, known }) {
  const r = known.get(uid),
    of = r?.type || type;
  return html`<th scope="row" role="rowheader">${r ? html`<a href=${linkTo("/resources/" + r.id)} title=${uid}>${r.name}
    </a>` : html`<span title=${uid}>${tail(uid)}</span>`}${of && html`<small>${kind(of)}</small>`}</th>`;
}

const ActionRow = ({ a, known }) => html`<tr role="row"><${Resource} uid=${a.resourceUID} type=${a.resourceType} known=${known} />
  <td role="cell"><span>${verb(a.action)} <${Tag} of=${a.status} tone=${a.status} /></span>${a.errorMessage && html`<small class="bad">
    ${a.errorMessage}</small>`}</td><td role="cell">${cause(a.changedBy)}</td><td role="cell" class="num"><${Moment} at=${a.createdAt} />
    </td></tr>`;
const StateRow = ({
  h,
  known,
}) => html`<tr role="row"><${Resource} uid=${h.resourceUid} known=${known} /><td role="cell"><${Lamp} state=${h.state} />
  ${h.errorMessage && html`<small class="bad">${h.errorMessage}</small>`}</td>
  <td role="cell">${cause(h.changedBy)}</td><td role="cell" class="num"><${Moment} at=${h.changedAt} /></td></tr>`;

function Table({ view, items }) {
  const known = useNames([...new Set(items.map((i) => i.resourceUID || i.resourceUid))]);
  const heads = [text.resource, view === "actions" ? text.act : text.state, text.cause];
  return html`<table role="table"><thead role="rowgroup"><tr role="row">
    ${heads.map((h) => html`<th key=${h} scope="col" role="columnheader">${h}</th>`)}<th scope="col" role="columnheader" class="num">
    ${text.time}</th></tr></thead>
    <tbody role="rowgroup">${items.map((i) => (view === "actions" ? html`<${ActionRow} key=${i.id} a=${i}
      known=${known} />` : html`<${StateRow} key=${i.id} h=${i} known=${known} />`))}</tbody></table>`;
}

export default function Activity({ search }) {
  const params = new URLSearchParams(search),
    view = params.get("view") === "states" ? "states" : "actions",
    { path, facets } = views[view],
    page = Math.max(1, Number(params.get("page")) || 1);
  const set = (changes) => go("/activity" + withParameters(search, { page: "", ...changes }), true),
    filtered = facets.some(([name]) => params.has(name));
  const query = new URLSearchParams(facets.flatMap(([name]) => (params.has(name) ? [[name, params.get(name)]] : [])));
  const read = useGet(`${path}?${query}&limit=${pageSize}&page=${page}`),
    pages = Math.ceil((read.data?.total || 0) / pageSize);
  const change = (v) => go("/activity" + (v === "states" ? "?view=states" : ""), true);
  return html`<${Page} title=${text.title} lead=${read.data && plural(read.data.total, "entry", "entries")}><button onClick=${read.reload}>
    ${text.refresh}</button><//>
    <div class="filters"><${Tabs} label=${text.views} value=${view} set=${change} options=${[
      ["actions", text.actions],
      ["states", text.states],
    ]} />
      <div class="chips">${facets.map(([name, label, values, one]) => html`<${Facet} key=${name} label=${label} values=${values}
        show=${capital} chosen=${valuesOf(search, name)} set=${(v) => set({ [name]: one ? v.at(-1) || "" : v.join(",") })} />`)}
      ${filtered && html`<button class="quiet" onClick=${() => change(view)}>${text.clear}</button>`}</div></div>
    <div class="body"><section class="card flush" aria-label=${text[view]} aria-busy=${read.stale ? "true" : null}>
      <${Answer} read=${read} lines=${8}>${(
      d,
    ) =>
      d.items.length === 0
        ? html`<${Empty} title=${filtered ? text.noMatch : text.none}><p>${filtered ? text.noMatchNote : text.noneNote}</p><//>`
        : html`<${Table} view=${view} items=${d.items} />`}<//></section>
      ${
        pages > 1 &&
        html`<nav class="pages" aria-label=${text.page}><button disabled=${page <= 1}
          onClick=${() => set({ page: page > 2 ? String(page - 1) : "" })}>${text.newer}</button>
        <span>${text.page} ${count(page)} ${text.of} ${count(pages)}</span>
          <button disabled=${page >= pages} onClick=${() => set({ page: String(page + 1) })}>${text.older}</button></nav>`
      }</div>`;
}
