// Starting and stopping resources: the plan of a dry run, the confirmation, and the progress.
import { html, signal, useEffect, useRef, useState } from "./vendor.js";
import { follow, post } from "./api.js";
import { changeToast, Dialog, dismiss, Fault, Ghost, Lamp, Tag, toast } from "./parts.js";
import { capital, count, kind, money, plural } from "./format.js";

const text = {
  stop: { verb: "Stop", ing: "Stopping", done: "stopped", again: "Start again", saves: "Saves at list prices" },
  start: { verb: "Start", ing: "Starting", done: "started", again: "Stop again", saves: "Costs at list prices" },
  hour: "an hour",
  leftOut: "Left out",
  steps: "Steps in sequence",
  plan: "The plan",
  cancel: "Cancel",
  close: "Close",
  cancelRest: "Cancel the rest",
  many: "These are more than 20 resources.",
  production: "Production is among them.",
  type: "Type",
  toContinue: "to continue.",
  nothing: "There is nothing to do.",
  more: "more",
  withoutPrice: "without a known price",
};

const manyResources = 20,
  shownInPlan = 200;
const other = { stop: "start", start: "stop" };

// moving has the UIDs of resources under way, each with its act.
export const moving = signal(new Map());
export const stateOf = (r) => {
  const act = moving.value.get(r.uid);
  return act ? text[act].ing.toLowerCase() : r.status;
};
export const actOn = (r) => {
  if (!r.schedulable || moving.value.has(r.uid)) return null;
  return { running: "stop", stopped: "start" }[r.status] || null;
};

function markMoving(uids, act) {
  const m = new Map(moving.value);
  for (const u of uids) act ? m.set(u, act) : m.delete(u);
  moving.value = m;
}

const idsOf = (resources) => ({ resourceIDs: resources.map((r) => r.resourceID) });

// run submits an act on the resources of a plan, and reports its progress until it ends. body names the resources, or the
// group whose sequence they follow.
async function run(act, { resources, body, steps = 1 }, done) {
  const uids = resources.map((r) => r.resourceUID),
    words = text[act],
    id = toast(words.ing + "…", { ms: 0, share: 0 });
  markMoving(uids, act);
  try {
    const b = await post("actions/bulk", { type: act, ...body });
    const stop = () => post(`actions/bulk/${b.bulkActionID}/cancel`, {}).catch((e) => toast(e.message, { bad: true }));
    changeToast(id, { action: { label: text.cancelRest, run: stop } });
    const end = await follow(b.bulkActionID, (now) => {
      const n = now.completed + now.failed;
      changeToast(id, { text: `${words.ing} ${count(n)} of ${count(now.total)}`, share: now.total ? n / now.total : 0 });
    });
    const undo = { label: words.again, run: () => run(other[act], { resources, body: idsOf(resources) }, done) };
    const failed = end.failed > 0 ? `, ${count(end.failed)} failed` : "";
    toast(`${plural(end.completed, "resource")} ${words.done}${failed}`, {
      bad: end.failed > 0,
      ms: 10_000,
      action: end.failed || steps > 1 ? undefined : undo, // a sequence is not undone out of its sequence
    });
  } catch (e) {
    toast(e.message, { bad: true });
  } finally {
    dismiss(id);
    markMoving(uids, null);
    done(uids);
  }
}

const isProduction = (r) => /^prod/.test(r.tags?.env || r.tags?.environment || "");

// caution returns the sentence for which the number must be typed, or "".
function caution(planned) {
  if (planned.length > manyResources) return text.many;
  return planned.some(isProduction) ? text.production : "";
}

const Rows = ({ list }) => html`<ul>${list.slice(0, shownInPlan).map((r) => html`<li key=${r.resourceID}>
    ${r.status && html`<${Lamp} state=${r.status} />`}<b>${r.name || r.resourceUID}</b>
    ${isProduction(r) && html`<${Tag} of="production" tone="bad" />`}<span class="kind">${r.type ? kind(r.type) : ""}</span></li>`)}
  ${list.length > shownInPlan && html`<li>${count(list.length - shownInPlan)} ${text.more}</li>`}</ul>`;

function Plan({ plan }) {
  const reasons = Object.entries(Object.groupBy(plan.leftOut, (l) => l.detail || l.reason));
  return html`<div class="plan" tabindex="0" role="region" aria-label=${text.plan}>
    ${plan.steps.map((s, i) => html`<h3
      key=${i}>${plan.steps.length > 1 ? `Tier ${s.tier}, order ${s.order}` : plural(s.resources.length, "resource")}</h3>
      <${Rows} list=${s.resources} />`)}
    ${reasons.map(([why, list]) => html`<h3 key=${why}>${text.leftOut}: ${why}</h3><${Rows} list=${list} />`)}</div>`;
}

const Facts = ({ act, planned, plan }) => html`<dl class="facts"><div><dt>${text[act].verb}</dt><dd>${count(planned.length)}</dd></div>
  <div><dt>${text.leftOut}</dt><dd>${count(plan.leftOut.length)}</dd></div>
  ${plan.steps.length > 1 && html`<div><dt>${text.steps}</dt><dd>${plan.steps.length}</dd></div>`}
  ${plan.hourlyUSD !== null && html`<div><dt>${text[act].saves}</dt><dd>${money(plan.hourlyUSD)} ${text.hour}</dd>
    ${plan.withoutRate > 0 && html`<dd class="note">${count(plan.withoutRate)} ${text.withoutPrice}</dd>`}</div>`}</dl>`;

// Ask shows the dry run of an act, from the code of the service that executes it, and asks for the confirmation. Only
// the resources of the plan are sent; a group is sent as such, because it has a sequence. wanted is { act, body }.
export function Ask({ wanted: { act, body }, close, done }) {
  const [answer, setAnswer] = useState({}),
    [typed, setTyped] = useState("");
  useEffect(() => {
    post("actions/bulk", { type: act, ...body, dryRun: true }).then(
      (plan) => setAnswer({ plan: plan.plan }),
      (error) => setAnswer({ error }),
    );
  }, []);
  const typing = useRef(),
    { plan, error } = answer,
    planned = plan ? plan.steps.flatMap((s) => s.resources) : [];
  const why = caution(planned),
    number = String(planned.length);
  useEffect(() => {
    typing.current?.focus();
  }, [why]);
  const confirm = (e) => {
    e.preventDefault();
    close();
    run(act, { resources: planned, body: body.groupID ? body : idsOf(planned), steps: plan.steps.length }, done);
  };
  const title = plan ? `${text[act].verb} ${plural(planned.length, "resource")}?` : `${text[act].verb}?`;
  return html`<${Dialog} title=${title} close=${close}><form onSubmit=${confirm}><div class="inside">
    ${error && html`<${Fault} error=${error} />`}${!plan && !error && html`<${Ghost} lines=${5} />`}
    ${plan && html`<${Facts} act=${act} planned=${planned} plan=${plan} /><${Plan} plan=${plan} />`}
    ${plan && planned.length === 0 && html`<p>${text.nothing}</p>`}
    ${
      why &&
      html`<label class="confirm"><span>${why} ${text.type} <b>${number}</b> ${text.toContinue}</span>
      <input ref=${typing} inputmode="numeric" autocomplete="off" value=${typed} onInput=${(e) => setTyped(e.target.value)} /></label>`
    }</div>
    <footer><button type="button" onClick=${close}>${error ? text.close : text.cancel}</button>
      ${!error && html`<button class=${act === "stop" ? "danger" : "primary"} disabled=${planned.length === 0 || (why && typed !== number)}>
        ${text[act].verb} ${plan ? count(planned.length) : ""}</button>`}</footer></form><//>`;
}

export const verb = (act) => text[act]?.verb || capital(act);
