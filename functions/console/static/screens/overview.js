// The overview: whether all is well, what runs, and what needs a person.
import { html } from "../vendor.js";
import { can, useGet } from "../api.js";
import { Answer, Card, Delta, Empty, Fault, Ghost, Lamp, linkTo, Page, Tag } from "../parts.js";
import { Bars, Meter } from "../chart.js";
import { capital, count, day, money, month, percent, plural, rounded, shortMonth, tail } from "../format.js";

const text = {
  title: "Overview",
  days: "in days of UTC",
  spent: "Spent this month",
  against: "against the same days of last month",
  forecast: "Forecast of the month",
  to: "to",
  noBills: "No bill of this time has arrived.",
  newOrganization: "No cloud account yet",
  newNote: "Connect one, and its resources and costs appear here.",
  connect: "Connect a cloud account",
  noForecast: "No forecast yet",
  saved: "Saved by stopping",
  running: "Running now",
  of: "of",
  resources: "resources",
  anomalies: "Open anomalies",
  noAnomalies: "Nothing unusual",
  noAnomaliesNote: "Each day is judged at night, when its bills are complete.",
  months: "Cost of each month",
  monthsNote: "billed, in the last twelve months",
  estimated: "estimated from public prices",
  open: "not over yet",
  budgets: "Budgets",
  noBudgets: "No budget yet",
  noBudgetsNote: "A budget warns at thresholds, and when its forecast exceeds it.",
  expected: "expected",
  states: "Resources by state",
  all: "All resources",
  acts: "Actions today",
  none: "none",
  week: "Cost of each day",
  weekNote: "billed, in the last week",
  incomplete: "Bills are missing, so the total is too low",
  teams: "By team",
  teamsNote: "this month",
  usually: "usually",
  others: "All others",
  see: { budgets: "All budgets", anomalies: "All anomalies", costs: "Explore costs" },
};

// widgets returns a function that finds an answered widget of the two dashboards that every organization has.
function useWidgets() {
  const path = (id) => can("dashboards:read") && `dashboards/${id}/data`;
  const money = useGet(path("executive")),
    state = useGet(path("operations"));
  const all = [...(money.data?.widgets || []), ...(state.data?.widgets || [])];
  const failed = all.filter((w) => w.error && !w.forbidden);
  return {
    money,
    state,
    failed,
    find: (type, title) => all.find((w) => w.type === type && !w.forbidden && !w.error && (!title || w.title === title)),
  };
}

const Tile = ({ name, value, kind = "", children }) =>
  html`<div class=${"tile " + kind}><dt>${name}</dt><dd>${value}</dd><dd class="note">${children}</dd></div>`;

function Tiles({ summary: s, find }) {
  const totals = find("totals")?.totals,
    savings = find("savings")?.savings,
    states = find("resources_by_state")?.resourcesByState,
    anomalies = find("anomalies")?.anomalies;
  const present = Object.entries(states || {})
    .filter(([k]) => k !== "terminated")
    .reduce((n, [, v]) => n + v, 0);
  const compared =
    Number(totals?.previousUSD) > 0 && html`<${Delta} now=${totals.costUSD} before=${totals.previousUSD} /> ${text.against}`;
  return html`<dl class="tiles">
    <${Tile} name=${text.spent} value=${rounded(s.totalCostUSD)}>${s.incomplete.length > 0 ? text.incomplete : compared}<//>
    <${Tile} name=${text.forecast} value=${rounded(s.forecastUSD?.mean)}>
      ${s.forecastUSD ? `${rounded(s.forecastUSD.low)} ${text.to} ${rounded(s.forecastUSD.high)}` : text.noForecast}<//>
    <${Tile} name=${text.saved} value=${rounded(s.totalSavingsUSD)} kind="lit">${savings && plural(savings.stops, "stop")}<//>
    ${states && html`<${Tile} name=${text.running} value=${count(states.running || 0)}>${text.of} ${count(present)} ${text.resources}<//>`}
    ${anomalies && html`<${Tile} name=${text.anomalies} kind=${anomalies.length ? "alarm" : ""}
      value=${count(anomalies.length) + (anomalies.length >= anomaliesInWidget ? "+" : "")}>
      ${anomalies.length ? `${capital(anomalies[0].severity)}, ${day(anomalies[0].date)}` : text.noAnomalies}<//>`}</dl>`;
}

// anomaliesInWidget is how many anomalies the widget has at most.
const anomaliesInWidget = 10;

const See = ({ what, to }) => html`<a href=${linkTo(to)}>${text.see[what]}</a>`;

// softness says why a bar is drawn lighter, or "".
function softness(d, open) {
  if (d.estimated) return text.estimated;
  return d.date.slice(0, 10) >= open ? text.open : "";
}

function Trend({ of, title, note, dates, open }) {
  if (Number(of.totalUSD) === 0) return html`<${Card} title=${title}><p class="none">${text.noBills}</p><//>`;
  const points = of.items.map((d) => ({ date: d.date, amount: d.costUSD, soft: softness(d, open) }));
  return html`<${Card} title=${title} note=${note}><${Bars} label=${title} dates=${dates} points=${points} /><//>`;
}

function Budgets({ list }) {
  if (list.length === 0)
    return html`<${Card} title=${text.budgets}><${Empty} title=${text.noBudgets}><p>${text.noBudgetsNote}</p><//><//>`;
  const all = can("budgets:read") && html`<${See} what="budgets" to="/budgets" />`;
  return html`<${Card} title=${text.budgets} more=${all}><ul class="rows">${list.map(
    (b) => html`<li key=${b.budgetID}>
    <div class="text grow"><span><b>${b.name}</b> <${Tag} of=${percent(b.percentUsed / 100)} tone=${b.signal} /></span>
      <${Meter} spent=${Number(b.spentUSD)} expected=${Number(b.forecastUSD)} amount=${Number(b.amountUSD)} signal=${b.signal} /></div>
    <div class="end"><span><b>${rounded(b.spentUSD)}</b> ${text.of} ${rounded(b.amountUSD)}</span>${b.forecastUSD && html`<small>
      ${text.expected} ${rounded(b.forecastUSD)}</small>`}</div></li>`,
  )}</ul><//>`;
}

function Teams({ rows }) {
  const most = Math.max(...rows.map((r) => Number(r.costUSD)), 1),
    nameOf = (r) => (r.others ? text.others : r.labels[0]);
  return html`<${Card} title=${text.teams} note=${text.teamsNote}
    more=${can("reports:read") && html`<${See} what="costs" to="/costs?by=team_id&time=month" />`}><ul class="rows">${rows.map(
    (r, i) => html`<li key=${i}>
    <div class="text grow"><span>${nameOf(r)}</span><span class="share" aria-hidden="true">
      <i style=${{ width: (Number(r.costUSD) / most) * 100 + "%" }} /></span></div><b class="end">${rounded(r.costUSD)}</b></li>`,
  )}</ul><//>`;
}

function Anomalies({ list }) {
  const nameOf = (a) => a.scopeName || (a.anomalyType === "org" ? "Organization" : tail(a.scopeID || ""));
  if (list.length === 0)
    return html`<${Card} title=${text.anomalies}><${Empty} title=${text.noAnomalies}><p>${text.noAnomaliesNote}</p><//><//>`;
  const all = can("reports:read") && html`<${See} what="anomalies" to="/anomalies?status=open" />`;
  return html`<${Card} title=${text.anomalies} more=${all}><ul class="rows">${list.slice(0, 5).map(
    (a) => html`<li key=${a.id}>
    <div class="text"><span>${nameOf(a)}</span><small>${day(a.date)}, ${text.usually} ${money(a.baselineUSD)}</small></div>
    <div class="end"><b>${money(a.costUSD)}</b> <${Tag} of=${a.severity} tone=${a.severity} /></div></li>`,
  )}</ul><//>`;
}

function States({ states, acts }) {
  const all = html`<a href=${linkTo("/resources")}>${text.all}</a>`,
    done = Object.entries(acts?.byStatus || {});
  return html`<${Card} title=${text.states} more=${all}><ul class="rows">
    ${Object.entries(states)
      .sort((a, b) => b[1] - a[1])
      .map(
        ([k, n]) =>
          html`<li key=${k}><a class="name" href=${linkTo("/resources?status=" + k)}><${Lamp} state=${k} /></a><b class="end">${count(n)}
            </b></li>`,
      )}
    ${acts && html`<li><a class="name" href=${linkTo("/activity")}>${text.acts}</a><span class="end">
      ${done.map(([k, n]) => html`<${Tag} key=${k} of=${`${count(n)} ${k}`} tone=${k} /> `)}${done.length === 0 && html`<span class="none">
      ${text.none}</span>`}</span></li>`}</ul><//>`;
}

// isNew reports whether an organization has neither resources nor bills. Its amounts of 0 would say nothing.
const isNew = (s) => s.resourceCount === 0 && [s.totalCostUSD, s.previousUSD].every((v) => Number(v) === 0);

export default function Overview() {
  const summary = useGet(can("reports:read") && "reports/summary"),
    { money: board, state, failed, find } = useWidgets();
  const months = find("trend", "The last twelve months")?.trend,
    week = find("trend", "The last week")?.trend,
    states = find("resources_by_state")?.resourcesByState;
  const today = new Date().toISOString().slice(0, 10); // the day of bills, in UTC
  const budgets = find("budgets")?.budgets,
    anomalies = find("anomalies")?.anomalies,
    teams = find("breakdown")?.breakdown;
  if (summary.data && isNew(summary.data))
    return html`<${Page} title=${text.title} /><${Empty} title=${text.newOrganization}>
      <p>${text.newNote}</p>
      ${can("cloud-accounts:write") && html`<a class="button" href=${linkTo("/clouds/new")}>${text.connect}</a>`}<//>`;
  return html`<${Page} title=${text.title} lead=${summary.data && `${month(summary.data.from)}, ${text.days}`} />
  <div class="body">
    ${can("reports:read") && html`<${Answer} read=${summary}>${(s) => html`<${Tiles} summary=${s} find=${find} />`}<//>`}
    ${[board, state].map((r, i) => r.error && html`<${Fault} key=${i} error=${r.error} retry=${r.reload} />`)}
    ${failed.map(
      (w) =>
        html`<${Fault} key=${w.title} error=${new Error(`${w.title}: ${w.error}`)} retry=${() => {
          board.reload();
          state.reload();
        }} />`,
    )}
    ${!board.data && !board.error && can("dashboards:read") && html`<${Card} title=${text.months}><${Ghost} lines=${7} /><//>`}
    <div class="half">${months && html`<${Trend} of=${months} title=${text.months} note=${text.monthsNote} dates=${shortMonth}
      open=${today.slice(0, 7) + "-01"} />`}
      ${budgets && html`<${Budgets} list=${budgets} />`}
      ${states && html`<${States} states=${states} acts=${find("actions_of_day")?.actionsOfDay} />`}</div>
    <div class="half">${week && html`<${Trend} of=${week} title=${text.week} note=${text.weekNote} dates=${day} open=${today} />`}
      ${teams?.rows?.length > 0 && html`<${Teams} rows=${teams.rows} />`}
      ${anomalies && html`<${Anomalies} list=${anomalies} />`}</div>
  </div>`;
}
