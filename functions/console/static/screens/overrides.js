// Overrides, which hold resources on or off for a time, and the links that wake them.
import { html, useState } from "../vendor.js";
import { can, useGet } from "../api.js";
import { go, Lamp, linkTo, Moment, Page, Tabs, Tag, withParameters } from "../parts.js";
import { Act, Cell, List, Name, pageOf, Pages, Row, Table } from "../lists.js";
import { endOverride, endWakeLink, heldState } from "../hold.js";
import { Sure } from "../forms.js";
import { count, moment, plural, tail } from "../format.js";

const text = {
  title: "Overrides",
  views: "What is listed",
  active: "Active",
  ended: "Ended",
  links: "Wake links",
  heads: { target: "Held", state: "State", until: "Until", end: "End" },
  linkHeads: { name: "Link", starts: "Starts", ends: "Ends", end: "Revoke" },
  none: "Nothing is held",
  noneNote: "Hold a group or a resource on its own page. An override ends by itself.",
  noEnded: "No override has ended yet",
  noEndedNote: "It appears here when it ends.",
  noLinks: "No wake link yet",
  noLinksNote: "A group's page makes links that start it without a sign-in.",
  by: "by",
  endedBy: "ended by",
  end: "End",
  endTitle: "End this override?",
  endNote: "The resources get the state that their schedules want now.",
  revoke: "Revoke",
  revokeTitle: "Revoke this wake link?",
  revokeNote: "Its address stops working at once.",
  aDay: "a day",
  hours: "hours at most",
  start: "start",
};
const size = 50;
const views = [
  ["active", text.active],
  ["ended", text.ended],
  ["links", text.links],
];

// Target names what is held: a group by its name, a resource by its native id.
function Target({ of, groups, children }) {
  const name = of.groupID ? groups.get(of.groupID) || of.groupID : tail(of.resourceUID || of.resourceID);
  return html`<a href=${linkTo(of.groupID ? "/groups/" + of.groupID : "/resources/" + of.resourceID)}>${children || name}</a>`;
}

const Override = ({ o, groups, end }) => html`<${Row}><${Name}><${Target} of=${o} groups=${groups} /><small>${o.reason}</small><//>
  <${Cell}><${Lamp} state=${heldState(o)} /><//>
  <${Cell}>${moment(o.expiresAt)}<small>${text.by} ${o.createdBy}</small><//>
  <${Cell} kind="num">${
    o.status === "active"
      ? html`<${Act} needs="overrides:write" run=${() => end(o)}>${text.end}<//>`
      : html`<${Moment} at=${o.endedAt} /><small>${o.endedBy && `${text.endedBy} ${o.endedBy}`}</small>`
  }<//><//>`;

const Link = ({ w, groups, end }) => html`<${Row}><${Name}>${w.name || w.id}<small><${Target} of=${w} groups=${groups} /></small><//>
  <${Cell}>${plural(w.starts, text.start)}<small>${count(w.startsPerDay)} ${text.aDay}, ${count(w.maxHours)} ${text.hours}</small><//>
  <${Cell}>${moment(w.expiresAt)}<small>${text.by} ${w.createdBy}</small><//>
  <${Cell} kind="num">${
    w.endedReason ? html`<${Tag} of=${w.endedReason} />` : html`<${Act} needs="overrides:write" run=${() => end(w)}>${text.revoke}<//>`
  }<//><//>`;

const words = {
  active: { empty: [text.none, text.noneNote], heads: text.heads },
  ended: { empty: [text.noEnded, text.noEndedNote], heads: text.heads },
  links: { empty: [text.noLinks, text.noLinksNote], heads: text.linkHeads },
};

function Ending({ of, isLink, close, done }) {
  const send = () => (isLink ? endWakeLink : endOverride)(of.id).then(done);
  return html`<${Sure} title=${isLink ? text.revokeTitle : text.endTitle} verb=${isLink ? text.revoke : text.end} close=${close}
    send=${send}>
    ${isLink ? text.revokeNote : text.endNote}<//>`;
}

export default function Overrides({ search }) {
  const asked = new URLSearchParams(search).get("view"),
    view = asked in words ? asked : "active",
    isLink = view === "links";
  const page = pageOf(search),
    [ending, end] = useState(null);
  const read = useGet(isLink ? `wake-links?limit=${size}&page=${page}` : `overrides?status=${view}&limit=${size}&page=${page}`);
  const named = read.data?.items.some((i) => i.groupID) && can("resource-groups:read");
  const groups = new Map((useGet(named && "resource-groups?limit=100").data?.items || []).map((g) => [g.id, g.name]));
  const set = (changes) => go("/overrides" + withParameters(search, { page: "", ...changes }), true);
  const { empty, heads } = words[view],
    [first, ...others] = Object.values(heads);
  return html`<${Page} title=${text.title} />
    <div class="filters"><${Tabs} label=${text.views} value=${view} options=${views}
      set=${(v) => set({ view: v === "active" ? "" : v })} /></div>
    <div class="body"><${List} key=${view} read=${read} label=${text.title} empty=${empty}>${(d) => html`<${Table} label=${text.title}
      heads=${[[first], ...others.map((h, i) => [h, i === 2 ? "num" : ""])]}>${d.items.map((i) =>
        isLink
          ? html`<${Link} key=${i.id} w=${i} groups=${groups} end=${end} />`
          : html`<${Override} key=${i.id} o=${i} groups=${groups}
          end=${end} />`,
      )}<//>`}<//>
      <${Pages} page=${page} size=${size} total=${read.data?.total || 0} set=${set} /></div>
    ${ending && html`<${Ending} of=${ending} isLink=${isLink} close=${() => end(null)} done=${read.reload} />`}`;
}
