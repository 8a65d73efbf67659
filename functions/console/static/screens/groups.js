// Groups of resources: what runs in each.
import { html, useState } from "../vendor.js";
import { post, useGet } from "../api.js";
import { go, Lamp, linkTo, Page, withParameters } from "../parts.js";
import { Act, Cell, List, Name, pageOf, Pages, Row, Table } from "../lists.js";
import { Field, Form } from "../forms.js";
import { count, plural } from "../format.js";

const text = {
  title: "Groups",
  search: "Search by name",
  make: "New group…",
  head: { name: "Group", running: "Running", states: "States", members: "Members", lit: "Share that runs" },
  none: "No group yet",
  noneNote: "A group holds resources that are started and stopped together, for example an environment.",
  noMatch: "Nothing matches",
  noMatchNote: "Search for a part of a name.",
  of: "of",
  selected: "by tag",
  fixed: "chosen one by one",
  create: "Create",
  name: "Name",
  description: "Description",
  tag: "Tag of its resources",
  value: "Value of the tag",
  tagNote: "Resources with this tag belong to the group, new ones too.",
};
const size = 50;

const totalOf = (g) => Object.values(g.states).reduce((n, v) => n + v, 0);

function Line({ g }) {
  const running = g.states.running || 0,
    total = totalOf(g),
    others = Object.entries(g.states).filter(([s]) => s !== "running");
  return html`<${Row}><${Name}><a href=${linkTo("/groups/" + g.id)}>${g.name}</a>
      ${g.description && html`<small>${g.description}</small>`}<//>
    <${Cell} kind="num main">${count(running)} ${text.of} ${count(total)}<//>
    <${Cell}><span class="states">${others.map(([s, n]) => html`<span key=${s}><${Lamp} state=${s} /> ${count(n)}</span>`)}</span><//>
    <${Cell} kind="num">${g.memberCount !== null && plural(g.memberCount, "member")}
      <small>${g.selector ? text.selected : text.fixed}</small><//>
    <${Cell} kind="far wide"><span class="share lit" aria-hidden="true"><i
      style=${{ width: (total ? (running / total) * 100 : 0) + "%" }} />
      </span><//><//>`;
}

function Create({ close }) {
  const send = (f) =>
    post("resource-groups", { name: f.name, description: f.description, selector: { tags: { [f.tag]: f.value } } }).then((g) =>
      go("/groups/" + g.id),
    );
  return html`<${Form} title=${text.make.replace("…", "")} verb=${text.create} close=${close} send=${send}>
    <div class="pair"><${Field} label=${text.name}><input name="name" required autofocus maxlength="100" /><//>
      <${Field} label=${text.description}><input name="description" maxlength="500" /><//></div>
    <div class="pair"><${Field} label=${text.tag} note=${text.tagNote}><input name="tag" required placeholder="app" /><//>
      <${Field} label=${text.value}><input name="value" required placeholder="shop" /><//></div><//>`;
}

export default function Groups({ search }) {
  const find = new URLSearchParams(search).get("search") || "",
    page = pageOf(search),
    [making, make] = useState(false),
    h = text.head;
  const query = new URLSearchParams({ limit: size, page, sort_by: "name", ...(find && { search: find }) });
  const read = useGet("resource-groups?" + query),
    set = (changes) => go("/groups" + withParameters(search, { page: "", ...changes }), true);
  const button = (kind) => html`<${Act} needs="resource-groups:write" kind=${kind} icon="plus" run=${() => make(true)}>${text.make}<//>`;
  const empty = find ? [text.noMatch, text.noMatchNote] : [text.none, text.noneNote, button("")];
  return html`<${Page} title=${text.title} lead=${read.data && plural(read.data.total, "group")}>${button("primary")}<//>
    <form class="filters" role="search" onSubmit=${(e) => e.preventDefault()}><input type="search" aria-label=${text.search}
      placeholder=${text.search} value=${find} onChange=${(e) => set({ search: e.target.value.trim() })} /></form>
    <div class="body"><${List} read=${read} label=${text.title} empty=${empty}>${(d) => html`<${Table} label=${text.title}
      heads=${[[h.name], [h.running, "num"], [h.states], [h.members, "num"], [h.lit, "far wide"]]}>
      ${d.items.map((g) => html`<${Line} key=${g.id} g=${g} />`)}<//>`}<//>
      <${Pages} page=${page} size=${size} total=${read.data?.total || 0} set=${set} /></div>
    ${making && html`<${Create} close=${() => make(false)} />`}`;
}
