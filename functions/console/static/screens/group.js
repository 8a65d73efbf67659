// One group: its members, what holds them and which schedules act on them. It is started, stopped, held and woken here.
import { html, useState } from "../vendor.js";
import { can, useGet } from "../api.js";
import { Answer, Card, Fault, Ghost, go, Lamp, linkTo, Moment, Page, Tag, withParameters } from "../parts.js";
import { Ask, stateOf } from "../acts.js";
import { Act, Cell, List, Name, pageOf, Pages, Row, Table } from "../lists.js";
import { endOverride, endWakeLink, heldState, Hold, Wake } from "../hold.js";
import { Sure } from "../forms.js";
import { capital, count, kind, moment, plural, rate } from "../format.js";

const text = {
  back: "Groups",
  loading: "Group",
  start: "Start…",
  stop: "Stop…",
  hold: "Hold…",
  wake: "Wake link…",
  members: "Members",
  none: "No member",
  noneNote: "No resource matches the group, or you may see none of them.",
  head: { name: "Resource", state: "State", kind: "Kind", rate: "An hour" },
  schedules: "Schedules",
  noSchedules: "No schedule acts on this group.",
  next: "next",
  off: "off",
  holds: "Held",
  noHolds: "Nothing is held. Hold the group to keep it running or stopped until a time.",
  until: "until",
  by: "by",
  end: "End",
  endTitle: "End this override?",
  endNote: "The resources get the state that their schedules want now.",
  links: "Wake links",
  noLinks: "Nobody can wake this group by a link.",
  starts: "starts",
  ends: "ends",
  revoke: "Revoke",
  revokeTitle: "Revoke this wake link?",
  revokeNote: "Its address stops working at once.",
};
const size = 50;

const Lines = ({
  title,
  read,
  none,
  pick = (d) => d.items,
  row,
}) => html`<${Card} title=${title} stale=${read.stale}><${Answer} read=${read}
  lines=${2}>${(d) => (pick(d).length === 0 ? html`<p class="none">${none}</p>` : html`<ul
    class="rows">${pick(d).map(row)}</ul>`)}<//><//>`;

const Member = ({
  r,
}) => html`<${Row}><${Name}><a href=${linkTo("/resources/" + r.id)} title=${r.uid}>${r.name}</a><small>${r.region}</small><//>
  <${Cell}><${Lamp} state=${stateOf(r)} /><//><${Cell}>${kind(r.type)} <small>${r.instanceType}</small><//>
  <${Cell} kind="num">${r.runningRateUSD ? rate(r.runningRateUSD.hourly) : "–"}<//><//>`;

const ScheduleLine = (
  s,
) => html`<li key=${s.id}><div class="text"><a class="name" href=${linkTo("/schedules/" + s.id)}>${s.name}</a></div>
  <small class="end">${
    s.enabled && s.nextFiringAt
      ? html`${text.next} ${s.nextFiringAction} <${Moment} at=${s.nextFiringAt} />`
      : html`
    <${Tag} of=${text.off} />`
  }</small></li>`;

const HoldLine = (o, end) => html`<li key=${o.id}><div class="text grow"><${Lamp} state=${heldState(o)} /><small>${o.reason}</small>
  <small>${text.by} ${o.createdBy}, ${text.until} ${moment(o.expiresAt)}</small></div>
  <${Act} needs="overrides:write" run=${() => end(o)}>${text.end}<//></li>`;

const LinkLine = (w, end) => html`<li key=${w.id}><div class="text grow"><span>${w.name}</span><small>${count(w.starts)} ${text.starts},
  ${" "}${text.ends} ${moment(w.expiresAt)}</small></div><${Act} needs="overrides:write" run=${() => end(w)}>${text.revoke}<//></li>`;

function useGroup(id) {
  const at = "resource-groups/" + encodeURIComponent(id),
    may = can("overrides:read");
  return {
    group: useGet(at),
    schedules: useGet(can("schedules:read") && at + "/schedules?limit=50"),
    holds: useGet(may && at + "/overrides?limit=50"),
    links: useGet(may && "wake-links?limit=100"),
  };
}

// Dialogs shows the one that is open: { ask }, { hold }, { wake }, { end } or { revoke }.
function Dialogs({ open, g, close, done, reads }) {
  const { ask, hold, wake, end, revoke } = open;
  if (ask) return html`<${Ask} wanted=${{ act: ask, body: { groupID: g.id } }} close=${close} done=${done} />`;
  if (hold) return html`<${Hold} of=${{ name: g.name, body: { groupID: g.id } }} close=${close} done=${done} />`;
  if (wake) return html`<${Wake} path=${`resource-groups/${g.id}/wake-links`} close=${close} done=${reads.links.reload} />`;
  if (end)
    return html`<${Sure} title=${text.endTitle} verb=${text.end} close=${close}
      send=${() => endOverride(end.id).then(done)}>${text.endNote}<//>`;
  return html`<${Sure} title=${text.revokeTitle} verb=${text.revoke} close=${close}
    send=${() => endWakeLink(revoke.id).then(reads.links.reload)}>${text.revokeNote}<//>`;
}

function Members({ id, g, search }) {
  const page = pageOf(search),
    members = useGet(`resources?group_id=${g.id}&limit=${size}&page=${page}&sort_by=name`),
    h = text.head;
  const set = (changes) => go(`/groups/${id}` + withParameters(search, changes), true);
  return html`<${List} read=${members} title=${text.members} rows=${(d) => d} empty=${[text.none, text.noneNote]}>${(rows) => html`
      <${Table} label=${text.members} heads=${[[h.name], [h.state], [h.kind], [h.rate, "num"]]}>
        ${rows.map((r) => html`<${Member} key=${r.id} r=${r} />`)}<//>`}<//>
    <${Pages} page=${page} size=${size} total=${g.memberCount || 0} set=${set} />`;
}

export default function Group({ id, search }) {
  const reads = useGroup(id),
    g = reads.group.data,
    [open, setOpen] = useState(null),
    [turn, setTurn] = useState(0);
  const back = { to: "/groups", name: text.back };
  if (!g)
    return html`<${Page} title=${text.loading} back=${back} /><div class="body">
      ${reads.group.error ? html`<${Fault} error=${reads.group.error} retry=${reads.group.reload} />` : html`<${Ghost}
        lines=${6} />`}</div>`;
  const done = () => {
    for (const r of [reads.group, reads.holds, reads.schedules]) r.reload();
    setTurn((n) => n + 1);
  };
  const states = Object.entries(g.states)
    .map(([s, n]) => `${count(n)} ${s}`)
    .join(", ");
  const button = (what, label, needs, kind) => html`<${Act} needs=${needs} kind=${kind} run=${() => setOpen(what)}>${label}<//>`;
  const mine = (d) => d.items.filter((w) => w.groupID === g.id && !w.endedReason),
    active = (d) => d.items.filter((o) => o.status === "active");
  return html`<${Page} title=${g.name} back=${back} lead=${states || plural(g.memberCount || 0, "member")}>
      ${button({ hold: true }, text.hold, "overrides:write")}${button({ wake: true }, text.wake, "overrides:write")}
      ${button({ ask: "stop" }, text.stop, "actions:execute")}${button({ ask: "start" }, text.start, "actions:execute", "primary")}<//>
    <div class="body">${g.description && html`<p class="none">${capital(g.description)}</p>`}
      <div class="half"><${Members} key=${turn} id=${id} g=${g} search=${search} /></div>
      <div class="half">
        ${
          can("overrides:read") &&
          html`<${Lines} title=${text.holds} read=${reads.holds} none=${text.noHolds} pick=${active}
          row=${(o) => HoldLine(o, (end) => setOpen({ end }))} />`
        }
        ${can("schedules:read") && html`<${Lines} title=${text.schedules} read=${reads.schedules} none=${text.noSchedules}
          row=${ScheduleLine} />`}
        ${
          can("overrides:read") &&
          html`<${Lines} title=${text.links} read=${reads.links} none=${text.noLinks} pick=${mine}
          row=${(w) => LinkLine(w, (revoke) => setOpen({ revoke }))} />`
        }</div></div>
    ${open && html`<${Dialogs} open=${open} g=${g} close=${() => setOpen(null)} done=${done} reads=${reads} />`}`;
}
