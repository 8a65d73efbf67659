// Roles: which policies each has, and who holds it.
import { html } from "../vendor.js";
import { call, useGet } from "../api.js";
import { Answer, Card, Page, Tag, toast } from "../parts.js";
import { Act } from "../lists.js";
import { count, plural } from "../format.js";

const text = {
  title: "Roles",
  system: "built in",
  policies: "policy",
  policiesMany: "policies",
  held: "Held by",
  nobody: "Nobody holds it.",
  revoke: "Revoke",
  scope: { org: "the whole organization" },
  revoked: "The role was revoked from",
};

function Role({ r, holders, reload }) {
  const revoke = (a) =>
    call("DELETE", "assignments/" + a.id).then(
      () => {
        toast(`${text.revoked} ${a.email}`);
        reload();
      },
      (e) => toast(e.message, { bad: true }),
    );
  return html`<${Card} title=${r.name} more=${r.system && html`<span class="ending"><${Tag} of=${text.system} /></span>`}>
    <p class="none">${r.description}</p><details><summary>${plural(r.policies.length, text.policies, text.policiesMany)}</summary>
      <p class="tags">${r.policies.map((p) => html`<${Tag} key=${p} of=${p} /> `)}</p></details>
    <h3 class="spaced">${text.held}</h3>${
      holders.length === 0
        ? html`<p class="none">${text.nobody}</p>`
        : html`<ul class="rows">${holders.map(
            (a) => html`<li key=${a.id}><div class="text grow"><span>${a.email}</span>
          <small>${text.scope[a.scope] || a.scope}</small></div><${Act} needs="roles:write"
            label=${`${text.revoke} ${r.name}, ${a.email}`}
          run=${() => revoke(a)}>${text.revoke}<//></li>`,
          )}</ul>`
    }<//>`;
}

export default function Roles() {
  const roles = useGet("roles?limit=100"),
    held = useGet("assignments?limit=100");
  return html`<${Page} title=${text.title} lead=${roles.data && count(roles.data.total)} />
    <div class="body"><${Answer} read=${roles} lines=${8}>${(d) =>
      d.items.map(
        (r) => html`<div class="half" key=${r.id}>
      <${Role} r=${r} holders=${(held.data?.items || []).filter((a) => a.roleID === r.id)} reload=${held.reload} /></div>`,
      )}<//></div>`;
}
