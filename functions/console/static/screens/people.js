// People: the members of the organization, their roles, and invitations.
import { html, useState } from "../vendor.js";
import { call, can, post, useGet } from "../api.js";
import { go, Moment, Page, Tag, withParameters } from "../parts.js";
import { Act, Cell, List, Name, pageOf, Pages, Row, Table } from "../lists.js";
import { Choice, Field, Form, Sure } from "../forms.js";
import { plural } from "../format.js";

const text = {
  title: "People",
  invite: "Invite…",
  send: "Send the invitation",
  inviteNote: "A mail leads to the organization. It is valid for seven days.",
  search: "Search by name or address",
  head: { name: "Person", status: "Status", roles: "Roles", since: "Since", remove: "Remove" },
  none: "Nobody matches",
  noneNote: "Search for a part of a name or an address.",
  email: "E-mail",
  name: "Name",
  role: "Role",
  noRole: "no role",
  remove: "Remove",
  removeTitle: "Remove",
  removeNote: "The person loses access to this organization at once.",
};
const size = 50;

const Line = ({ u, remove }) => html`<${Row}><${Name}>${u.name || u.email}<small>${u.email}</small><//>
  <${Cell}><${Tag} of=${u.status} tone=${{ active: "green", disabled: "bad" }[u.status]} /><//>
  <${Cell}>${
    u.roles.length === 0
      ? text.noRole
      : u.roles.map(
          (r) => html`<${Tag} key=${r.roleID + r.scope}
    of=${r.scope === "org" ? r.roleID : `${r.roleID}: ${r.scope}`} /> `,
        )
  }<//>
  <${Cell} kind="num"><${Act} needs="users:write" label=${`${text.remove} ${u.email}`} run=${() => remove(u)}>${text.remove}<//><//>
  <${Cell} kind="num far"><${Moment} at=${u.joinedAt || u.invitedAt} /><//><//>`;

function Invite({ close, done }) {
  const roles = useGet(can("roles:read") && "roles?limit=100").data?.items || [];
  const send = (f) => post("users", { email: f.email, ...(f.name && { name: f.name }), ...(f.role && { role: f.role }) }).then(done);
  return html`<${Form} title=${text.invite.replace("…", "")} verb=${text.send} close=${close} send=${send}><p>${text.inviteNote}</p>
    <div class="pair"><${Field} label=${text.email}><input type="email" name="email" required autofocus /><//>
      <${Field} label=${text.name}><input name="name" maxlength="100" /><//></div>
    ${roles.length > 0 && html`<${Choice} label=${text.role} name="role" value="viewer"
      options=${roles.map((r) => [r.id, r.name])} />`}<//>`;
}

export default function People({ search }) {
  const find = new URLSearchParams(search).get("search") || "",
    page = pageOf(search),
    [open, setOpen] = useState(null),
    h = text.head;
  const read = useGet(`users?limit=${size}&page=${page}${find ? "&search=" + encodeURIComponent(find) : ""}`),
    close = () => setOpen(null);
  const set = (changes) => go("/people" + withParameters(search, { page: "", ...changes }), true);
  const invite = html`<${Act} needs="users:write" kind="primary" icon="plus" run=${() => setOpen({})}>${text.invite}<//>`;
  return html`<${Page} title=${text.title} lead=${read.data && plural(read.data.total, "person", "people")}>${invite}<//>
    <form class="filters" role="search" onSubmit=${(e) => e.preventDefault()}><input type="search" aria-label=${text.search}
      placeholder=${text.search} value=${find} onChange=${(e) => set({ search: e.target.value.trim() })} /></form>
    <div class="body"><${List} read=${read} label=${text.title} empty=${[text.none, text.noneNote]}>${(
      d,
    ) => html`<${Table} label=${text.title}
      heads=${[[h.name], [h.status], [h.roles], [h.remove, "num"], [h.since, "num far"]]}>${d.items.map(
        (u) => html`<${Line} key=${u.email}
        u=${u} remove=${(person) => setOpen({ person })} />`,
      )}<//>`}<//>
      <${Pages} page=${page} size=${size} total=${read.data?.total || 0} set=${set} /></div>
    ${
      open?.person &&
      html`<${Sure} title=${`${text.removeTitle} ${open.person.email}?`} verb=${text.remove} close=${close}
      send=${() => call("DELETE", "users/" + encodeURIComponent(open.person.email)).then(read.reload)}>${text.removeNote}<//>`
    }
    ${open && !open.person && html`<${Invite} close=${close} done=${read.reload} />`}`;
}
