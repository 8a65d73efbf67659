// Cloud accounts: which are connected, and which need attention.
import { html } from "../vendor.js";
import { useGet } from "../api.js";
import { Facet, go, linkTo, Moment, Page, Tag, valuesOf, withParameters } from "../parts.js";
import { Act, Cell, List, Name, pageOf, Pages, Row, Table } from "../lists.js";
import { capital, plural } from "../format.js";

const text = {
  title: "Clouds",
  connect: "Connect",
  head: { name: "Account", status: "Status", resources: "Resources", discovered: "Discovered", level: "Permission", method: "Sign-in" },
  status: "Status",
  none: "No cloud account yet",
  noneNote: "Connect one. Its resources are listed within a minute or two.",
  noMatch: "Nothing matches",
  noMatchNote: "Remove the filter to see all accounts.",
  levels: { read_only: "reads only", read_write: "starts and stops" },
};
const size = 50;
const statuses = { connected: "", degraded: "", connecting: "", disconnected: "" };
export const toneOf = { connected: "green", degraded: "warning", disconnected: "bad" };

const Line = ({
  a,
}) => html`<${Row}><${Name}><a href=${linkTo("/clouds/" + a.id)}>${a.name}</a><small>${a.provider} ${a.cloudAccountID}</small><//>
  <${Cell}><${Tag} of=${a.status} tone=${toneOf[a.status]} />${a.error && html`<small class="bad">${a.error}</small>`}<//>
  <${Cell}><a href=${linkTo("/resources?cloud_account_id=" + a.id)}>${plural(a.resourceCount, "resource")}</a><//>
  <${Cell} kind="num"><${Moment} at=${a.lastDiscoveredAt} /><//>
  <${Cell} kind="far">${text.levels[a.permissionLevel] || a.permissionLevel}<//><${Cell}
    kind="far">${a.authMethod.replaceAll("_", " ")}<//><//>`;

export default function Clouds({ search }) {
  const chosen = valuesOf(search, "status"),
    page = pageOf(search),
    h = text.head;
  const read = useGet(`cloud-accounts?sort_by=name&limit=${size}&page=${page}${chosen.length ? "&status=" + chosen[0] : ""}`);
  const set = (changes) => go("/clouds" + withParameters(search, { page: "", ...changes }), true);
  const connect = (kind) =>
    html`<${Act} needs="cloud-accounts:write" kind=${kind} icon="plus" run=${() => go("/clouds/new")}>${text.connect}<//>`;
  const empty = chosen.length ? [text.noMatch, text.noMatchNote] : [text.none, text.noneNote, connect("")];
  const heads = [[h.name], [h.status], [h.resources], [h.discovered, "num"], [h.level, "far"], [h.method, "far"]];
  return html`<${Page} title=${text.title} lead=${read.data && plural(read.data.total, "account")}>${connect("primary")}<//>
    <div class="filters"><div class="chips"><${Facet} label=${text.status} values=${statuses} chosen=${chosen} show=${capital}
      set=${(v) => set({ status: v.at(-1) || "" })} /></div></div>
    <div class="body"><${List} read=${read} label=${text.title} empty=${empty}>${(d) => html`<${Table} label=${text.title} heads=${heads}>
      ${d.items.map((a) => html`<${Line} key=${a.id} a=${a} />`)}<//>`}<//>
      <${Pages} page=${page} size=${size} total=${read.data?.total || 0} set=${set} /></div>`;
}
