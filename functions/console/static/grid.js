// The list of resources as a grid. Rows are fetched when they come into view, and only those are in the page.
import { html, signal, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor.js";
import { call, can, get } from "./api.js";
import { go, Lamp, linkTo, Tag } from "./parts.js";
import { actOn, stateOf, verb } from "./acts.js";
import { kind, money, tail } from "./format.js";

const text = {
  label: "Resources",
  selected: "selected",
  noOwner: "no owner",
  notPriced: "No price is known",
  billed: "Billed last month",
  soFar: "Billed this month until now",
  notBilled: "Nothing was billed, and no price is known",
  estimated: "Estimated from public prices",
  columns: { name: "Name", status: "State", type: "Kind", region: "Region", owner: "Owner", cost: "A month" },
};

const pageSize = 100;
const maxPages = 60;
const overscan = 6; // rows above and below the view
const phone = matchMedia("(max-width: 820px)");

// picked has the selected resources by ID, also those of other pages and filters.
export const picked = signal(new Map());

// usePages holds the pages of a filtered list that were in view.
export function usePages(filter) {
  const [, redraw] = useState(0),
    update = () => redraw((n) => n + 1);
  const store = useMemo(() => ({ pages: new Map(), asked: new Set(), stop: new AbortController() }), [filter]);
  useEffect(() => () => store.stop.abort(), [store]);
  const read = async (p) => {
    if (store.asked.has(p)) return;
    store.asked.add(p);
    try {
      const heard = (headers) => {
        store.total = Number(headers.get("X-Total-Count"));
      };
      store.pages.set(p, await get(`resources?${filter}&limit=${pageSize}&page=${p + 1}`, { abort: store.stop.signal, heard }));
      store.error = undefined;
      if (store.pages.size > maxPages) {
        const [oldest] = store.pages.keys();
        store.pages.delete(oldest);
        store.asked.delete(oldest);
      }
    } catch (e) {
      if (e.name === "AbortError") return;
      store.error = e;
    }
    update();
  };
  const want = (first, last) => {
    for (let p = Math.floor(first / pageSize); p <= Math.floor(last / pageSize); p++) read(p);
  };
  const renew = async (uids) => {
    // one request for all rows that changed
    const fresh = new Map((await call("POST", "resources/by-uids", { body: { uids: uids.slice(0, 500) } })).map((r) => [r.uid, r]));
    for (const [p, rows] of store.pages)
      store.pages.set(
        p,
        rows.map((r) => fresh.get(r.uid) || r),
      );
    update();
  };
  const retry = () => {
    store.error = undefined;
    store.asked.clear();
    want(0, 0);
    update();
  };
  const { error, total } = store;
  return { want, renew, retry, error, total, row: (i) => store.pages.get(Math.floor(i / pageSize))?.[i % pageSize] };
}

// cost returns the monthly amount of a resource, and how it is known. An amount of 0 says that nothing is known: there was
// no bill yet, or the resource is stopped.
function cost(r) {
  const ways = [
    [r.actualUSD?.lastMonth, text.billed, ""],
    [r.actualUSD?.monthToDate, text.soFar, ""],
    [r.rackRateUSD?.monthly, text.estimated, "≈ "],
  ];
  for (const [amount, note, sign] of ways) if (Number(amount)) return { amount, note, sign };
  return { amount: null, note: r.actualUSD ? text.notBilled : text.notPriced };
}

function Row({ i, r, at, height, teams, plan, look }) {
  const style = { transform: `translateY(${i * height}px)` },
    head = { id: "row" + i, role: "row", "aria-rowindex": i + 2, style };
  if (!r)
    return html`<div ...${head} class="row ghost"><div role="gridcell" class="tick" /><div role="gridcell" class="name"><i /></div>
      <div role="gridcell" class="lampcell"><i /></div></div>`;
  const on = picked.value.has(r.id),
    act = actOn(r),
    { amount, note, sign } = cost(r),
    env = r.tags.env || r.tags.environment,
    named = r.teamIDs.filter((t) => teams.has(t));
  return html`<div ...${head} aria-selected=${String(on)} class=${"row" + (at ? " at" : "")} onClick=${look}>
    <div role="gridcell" class="tick"><label><input type="checkbox" tabindex="-1" aria-label=${"Select " + r.name} checked=${on}
      onChange=${() => toggle(r)} /></label></div>
    <div role="gridcell" class="name"><a tabindex="-1" href=${linkTo("/resources/" + r.id)} title=${r.uid}>${r.name}</a>
      ${r.uid.endsWith(r.name) || html`<small>${tail(r.uid)}</small>`}</div>
    <div role="gridcell" class="lampcell"><${Lamp} state=${stateOf(r)} /></div>
    <div role="gridcell" class="kindcell">${kind(r.type)} <small>${r.instanceType}</small></div><div role="gridcell" class="region">
      ${r.region}</div>
    <div role="gridcell" class="owner">${named.map((t) => html`<${Tag} key=${t} of=${teams.get(t)} />`)}${env && html`<${Tag} of=${env}
      tone=${/^prod/.test(env) ? "bad" : ""} />`}${!named.length && !env && html`<span class="none">${text.noOwner}</span>`}</div>
    <div role="gridcell" class=${"num" + (amount === null ? " none" : "")} title=${note}>
      ${amount === null ? html`<span aria-hidden="true">–</span><span class="sr">${note}</span>` : sign + money(amount)}</div>
    <div role="gridcell" class="act">${act && can("actions:execute") && html`<button tabindex="-1" aria-label=${`${verb(act)} ${r.name}`}
      onClick=${() => plan(act, [r])}>${verb(act)}</button>`}</div></div>`;
}

function toggle(r) {
  const m = new Map(picked.value);
  if (!m.delete(r.id)) m.set(r.id, r);
  picked.value = m;
}

const Head = ({ by, sort, set, num }) => {
  const [field, order] = sort,
    here = field === by,
    arrow = here ? (order === "desc" ? " ↓" : " ↑") : "";
  const next = () => set({ sort_by: by, sort_order: here && order !== "desc" ? "desc" : "" });
  return html`<div role="columnheader" class=${num ? "num" : ""} aria-sort=${here ? (order === "desc" ? "descending" : "ascending") : null}>
    ${by === "owner" ? text.columns[by] : html`<button tabindex="-1" onClick=${next}>${text.columns[by]}<span aria-hidden="true">${arrow}
      </span></button>`}</div>`;
};

// Grid shows the rows in view. The focus stays on the grid; aria-activedescendant names the current row.
export function Grid({ pages, total, sort, set, teams, plan }) {
  const box = useRef(),
    [top, setTop] = useState(0),
    [tall, setTall] = useState(600),
    [at, setAt] = useState(0),
    [narrow, setNarrow] = useState(phone.matches);
  const height = narrow ? 62 : 44,
    first = Math.max(0, Math.floor(top / height) - overscan),
    last = Math.min(total - 1, Math.ceil((top + tall) / height) + overscan);
  useLayoutEffect(() => {
    const watcher = new ResizeObserver(() => {
      setTall(box.current.clientHeight);
      setNarrow(phone.matches);
    });
    watcher.observe(box.current);
    return () => watcher.disconnect();
  }, []);
  useEffect(() => {
    const wait = setTimeout(() => {
      if (last >= first || pages.total === undefined) pages.want(first, Math.max(first, last)); // the first page has the total
    }, 60);
    return () => clearTimeout(wait);
  });
  const moveTo = (n) => {
    const y = n * height,
      b = box.current;
    setAt(n);
    if (y < b.scrollTop) b.scrollTop = y;
    if (y + 2 * height > b.scrollTop + b.clientHeight) b.scrollTop = y + 2 * height - b.clientHeight;
  };
  const keys = (e) => {
    const r = pages.row(at),
      page = Math.floor(tall / height),
      step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -total, End: total }[e.key];
    if (step) {
      e.preventDefault();
      moveTo(Math.max(0, Math.min(total - 1, at + step)));
    }
    if (!r || e.target.tagName === "BUTTON" || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === " ") {
      e.preventDefault();
      toggle(r);
    }
    if (e.key === "Enter") go("/resources/" + r.id);
    if (e.key === "s" && actOn(r) && can("actions:execute")) plan(actOn(r), [r]);
  };
  return html`<div class="grid" role="grid" aria-label=${text.label} aria-rowcount=${total + 1} aria-multiselectable="true" tabindex="0"
    ref=${box}
    aria-activedescendant=${total && at >= first && at <= last ? "row" + at : null} onScroll=${(e) => setTop(e.target.scrollTop)}
      onKeyDown=${keys}>
    <div class="head" role="row" aria-rowindex="1"><div role="columnheader"><span class="sr">${text.selected}</span></div>
      ${Object.keys(text.columns).map((by) => html`<${Head} key=${by} by=${by} sort=${sort} set=${set} num=${by === "cost"} />`)}
        <div role="columnheader"><span class="sr">${verb("stop")}</span></div></div>
    <div class="space" role="presentation" style=${{ height: total * height + "px" }}>${Array.from(
      { length: Math.max(0, last - first + 1) },
      (_, k) => first + k,
    ).map(
      (i) => html`
      <${Row} key=${i} i=${i} r=${pages.row(i)} at=${i === at} height=${height} teams=${teams} plan=${plan} look=${() => setAt(i)} />`,
    )}</div></div>`;
}
