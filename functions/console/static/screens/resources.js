// All resources. The filters are in the address.
import { html, useRef, useState } from "../vendor.js";
import { can, useGet } from "../api.js";
import { Facet, Fault, go, Icon, Page, valuesOf, withParameters } from "../parts.js";
import { Ask, moving } from "../acts.js";
import { Grid, picked, usePages } from "../grid.js";
import { capital, count, kind, money } from "../format.js";

const text = {
  title: "Resources",
  counting: "Counting…",
  running: "running",
  stopped: "stopped",
  match: "match",
  inAll: "in all",
  search: "Search by name, id or tag",
  clear: "Clear all",
  stopAll: "Stop all that match…",
  noMatch: "Nothing matches",
  noMatchNote: "Remove a filter, or search for a part of a name.",
  none: "No resource yet",
  noneNote: "Connect a cloud account. Its resources are listed within a minute or two.",
  clearFilters: "Clear the filters",
  selected: "selected",
  start: "Start…",
  stop: "Stop…",
  needs: "It needs the policy actions:execute",
  facets: { status: "State", type: "Kind", region: "Region", provider: "Provider", team_id: "Team", cloud_account_id: "Cloud account" },
  hour: "an hour",
  hourNote: "At list prices. Running resources without a known price: ",
};

const facets = [
  ["status", capital],
  ["type", kind],
  ["region"],
  ["provider", capital],
];

// useAccounts reads the names of cloud accounts when they are needed.
function useAccounts(wanted) {
  const list = useGet(wanted && can("cloud-accounts:read") && "cloud-accounts?limit=100").data?.items || [];
  return (id) => list.find((a) => a.id === id)?.name || id;
}

function Filters({ search, summary, teams, set, filtered }) {
  const [opened, setOpened] = useState(false),
    typing = useRef(),
    params = new URLSearchParams(search);
  const accountName = useAccounts(opened || params.has("cloud_account_id"));
  const find = (e) => {
    clearTimeout(typing.current);
    const v = e.target.value.trim();
    typing.current = setTimeout(() => set({ search: v }), 250);
  };
  const choose = (name) => (v) => set({ [name]: v.join(",") });
  return html`<form class="filters" role="search" onSubmit=${(e) => e.preventDefault()}>
    <input type="search" aria-label=${text.search} placeholder=${text.search} value=${params.get("search") || ""} onInput=${find} />
    <div class="chips">${[...facets, ["cloud_account_id", accountName]].map(
      ([name, show]) => html`<${Facet} key=${name} label=${text.facets[name]} show=${show} values=${summary?.facets?.[name]}
        chosen=${valuesOf(search, name)} onOpen=${() => setOpened(name === "cloud_account_id" || opened)} set=${choose(name)} />`,
    )}
      ${
        teams.length > 0 &&
        html`<${Facet} label=${text.facets.team_id} show=${(id) => teams.find((t) => t.id === id)?.name || id}
          values=${Object.fromEntries(teams.map((t) => [t.id, t.resourceCount ?? ""]))}
        chosen=${valuesOf(search, "team_id")} set=${(v) => set({ team_id: v.at(-1) || "" })} />`
      }
      ${filtered && html`<button type="button" class="quiet" onClick=${() => go("/resources", true)}>${text.clear}</button>`}</div></form>`;
}

// bulkFilter returns the filter of a bulk action: that of the list, for resources in the state that the act changes.
function bulkFilter(chosen) {
  const params = new URLSearchParams(chosen),
    f = Object.fromEntries(params);
  if (f.tag) f.tag = params.getAll("tag");
  return { ...f, schedulable: true, status: f.status || "running" };
}

export default function Resources({ search }) {
  const params = new URLSearchParams(search),
    sort = [params.get("sort_by") || "name", params.get("sort_order") || "asc"];
  const narrowing = new URLSearchParams(search);
  narrowing.delete("sort_by");
  narrowing.delete("sort_order");
  const chosen = narrowing.toString(),
    filtered = chosen !== "",
    pages = usePages(params.toString()),
    summary = useGet(`resources/summary?${chosen}&facets=true`),
    s = summary.data;
  const teamList = useGet(can("teams:read") && "teams?limit=100").data?.items || [],
    teams = new Map(teamList.map((t) => [t.id, t.name]));
  const [wanted, setWanted] = useState(null),
    set = (changes) => go("/resources" + withParameters(search, changes), true),
    total = s?.total ?? pages.total ?? 0,
    some = [...picked.value.values()];
  const plan = (act, rows) => setWanted({ act, body: { resourceIDs: rows.map((r) => r.id) } });
  const planAll = () => setWanted({ act: "stop", body: { filter: bulkFilter(chosen) } });
  const done = (uids) => {
    pages.renew(uids).catch(() => {});
    summary.reload();
  };
  const close = () => {
    setWanted(null);
    picked.value = new Map();
  };
  const lead = s
    ? html`<b>${count(total)}</b> ${filtered ? text.match : text.inAll}, <b class="lit">${count(s.byStatus.running || 0)}
      </b> ${text.running}, ${count(s.byStatus.stopped || 0)} ${text.stopped}${
        s.hourlyUSD !== null &&
        html`<span title=${text.hourNote + count(s.withoutRate)}>, <b>${money(s.hourlyUSD)}</b> ${text.hour}</span>`
      }`
    : text.counting;
  const error = pages.error || summary.error;
  return html`<${Page} title=${text.title} lead=${lead}>${filtered && total > 0 && html`<button disabled=${!can("actions:execute")}
    title=${can("actions:execute") ? null : text.needs} onClick=${planAll}>${text.stopAll}</button>`}<//>
    <${Filters} search=${search} summary=${s} teams=${teamList} set=${set} filtered=${filtered} />
    ${
      error &&
      html`<div class="aside"><${Fault} error=${error} retry=${() => {
        summary.reload();
        pages.retry();
      }} /></div>`
    }
    ${
      s && total === 0
        ? html`<div class="empty"><h2>${filtered ? text.noMatch : text.none}</h2><p>${filtered ? text.noMatchNote : text.noneNote}</p>
          ${filtered && html`<button onClick=${() => go("/resources", true)}>${text.clearFilters}</button>`}</div>`
        : html`<${Grid} key=${params.toString()} pages=${pages} total=${total} sort=${sort} set=${set} teams=${teams} plan=${plan}
          under=${moving.value} />`
    }
    ${
      some.length > 0 &&
      can("actions:execute") &&
      html`<div class="chosen" role="region" aria-label=${text.selected}><b>${count(some.length)}</b><span class="far">${text.selected}
        </span>
      <button onClick=${() => plan("start", some)}><${Icon} of="play" />${text.start}</button><button onClick=${() => plan("stop", some)}>
        <${Icon} of="stop" />${text.stop}</button>
      <button class="bare" aria-label=${text.clear} onClick=${() => {
        picked.value = new Map();
      }}><${Icon} of="close" /></button></div>`
    }
    ${wanted && html`<${Ask} wanted=${wanted} close=${close} done=${done} />`}`;
}
