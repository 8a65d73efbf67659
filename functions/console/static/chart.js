// A chart of amounts as bars: readable with the pointer, with the arrow keys, and as a table.
import { html, useLayoutEffect, useRef, useState } from "./vendor.js";
import { money } from "./format.js";

const short = new Intl.NumberFormat(undefined, { style: "currency", currency: "USD", notation: "compact", maximumFractionDigits: 1 });

// scale returns a step and a top of the axis, both round numbers.
function scale(max) {
  const power = 10 ** Math.floor(Math.log10(max / 4 || 1)),
    step = [1, 2, 2.5, 5, 10].find((k) => k * power * 4 >= max) * power;
  return { step, top: Math.max(step, Math.ceil(max / step) * step) };
}

function useWidth() {
  const box = useRef(),
    [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const watcher = new ResizeObserver(() => setWidth(box.current.clientWidth));
    watcher.observe(box.current);
    return () => watcher.disconnect();
  }, []);
  return [box, width];
}

const narrowTip = 168,
  wideTip = 250;

// Stack draws the parts of one bar, the first at the bottom. A part below 0 is a credit: the table has it, the bar has not.
function Stack({ parts, series, x, y, width }) {
  let below = 0;
  return series.map((s, i) => {
    const n = Math.max(0, Number(parts[i])), from = y(below + n), height = y(below) - from;
    below += n;
    return n > 0 && html`<rect key=${s.name} class=${"bar t" + s.tone} x=${x} y=${from} width=${width} height=${height} />`;
  });
}

export const Legend = ({ series }) => html`<ul class="legend" aria-hidden="true">${series.map((s) => html`<li key=${s.name}>
  <i class=${"t" + s.tone} />${s.name}</li>`)}</ul>`;

const Parts = ({ point, series }) => html`<dl>${series.map((s, i) => Number(point.parts[i]) !== 0 && html`<div key=${s.name}><dt>
  <i class=${"t" + s.tone} />${s.name}</dt><dd>${money(point.parts[i])}</dd></div>`)}</dl>`;

// Bars draws points of { date, amount, soft, parts }: an amount is a decimal string; soft says why the bar is drawn lighter.
// With series of { name, tone }, parts has the amount of each.
export function Bars({ points, label, dates, series = [], height = 220 }) {
  const [box, width] = useWidth(),
    [at, setAt] = useState(null);
  const tipWidth = series.length ? wideTip : narrowTip,
    left = 48,
    base = height - 26,
    each = Math.max(1, width - left) / points.length,
    bar = Math.max(2, Math.min(each * 0.62, 40));
  const { step, top } = scale(Math.max(...points.map((p) => Number(p.amount))) * 1.04 || 1),
    y = (v) => base - (v / top) * (base - 10);
  const every = Math.max(1, Math.ceil(64 / each)),
    p = at === null ? null : points[at];
  const move = (e) => {
    const i = Math.floor((e.clientX - box.current.getBoundingClientRect().left - left) / each);
    setAt(i >= 0 && i < points.length ? i : null);
  };
  const keys = (e) => {
    const to = { ArrowLeft: -1, ArrowRight: 1, Home: -points.length, End: points.length }[e.key];
    if (!to) return;
    e.preventDefault();
    setAt(Math.max(0, Math.min(points.length - 1, (at ?? (to < 0 ? points.length : -1)) + to)));
  };
  const beside = left + at * each + (at > points.length / 2 ? -tipWidth - 8 : each + 4); // on the side with more room
  const tipX = Math.max(0, Math.min(width - tipWidth - 4, beside));
  const parts = p ? series.map((s, i) => Number(p.parts[i]) !== 0 && `${s.name} ${money(p.parts[i])}`) : [];
  const said = p ? [`${dates(p.date)}: ${money(p.amount)}`, p.soft, ...parts].filter(Boolean).join(", ") : "";
  return html`<div class="chart" ref=${box} style=${{ height: height + "px" }} tabindex="0" role="group" aria-roledescription="chart"
    aria-label=${label + ". Arrow keys read the amounts."} onKeyDown=${keys} onPointerMove=${move} onPointerLeave=${() => setAt(null)}
      onBlur=${() => setAt(null)}>
    ${
      width > 0 &&
      html`<svg width=${width} height=${height} aria-hidden="true">
      ${Array.from({ length: Math.round(top / step) + 1 }, (_, i) => html`<g class="tick" key=${i}>
        <line x1=${left} x2=${width} y1=${y(i * step)} y2=${y(i * step)} /><text x=${left - 10} y=${y(i * step) + 4}>
        ${short.format(i * step)}</text></g>`)}
      ${at !== null && html`<rect class="cursor" x=${left + at * each} y="4" width=${each} height=${base - 4} rx="4" />`}
      ${points.map(
        (
          d,
          i,
        ) => html`<g key=${d.date} class=${d.soft ? "soft" : ""}>${
          series.length
            ? html`<${Stack} parts=${d.parts} series=${series} x=${left + i * each + (each - bar) / 2} y=${y} width=${bar} />`
            : html`<rect class="bar" x=${left + i * each + (each - bar) / 2} y=${y(Number(d.amount))} width=${bar}
              height=${Math.max(0, base - y(Number(d.amount)))} rx="2" />`
        }
        ${i % every === (points.length - 1) % every && html`<text class="date" x=${Math.min(left + (i + 0.5) * each, width - 20)}
          y=${height - 6}>${dates(d.date)}</text>`}</g>`,
      )}</svg>`
    }
    ${p && html`<div class=${"tip" + (series.length ? " wide" : "")}
      style=${{ transform: `translate(${tipX}px, 6px)` }}>
      <small>${dates(p.date)}</small><b>${money(p.amount)}</b>${p.soft && html`<small>${p.soft}</small>`}
      ${series.length > 0 && html`<${Parts} point=${p} series=${series} />`}</div>`}
    <p class="sr" aria-live="polite">${said}</p>
    <div class="sr"><table><caption>${label}</caption>
      ${series.length > 0 && html`<thead><tr><td />${["Total", ...series.map((x) => x.name)].map(
      (n) => html`<th key=${n} scope="col">${n}</th>`,
    )}</tr></thead>`}<tbody>${points.map((d) => html`<tr key=${d.date}><th scope="row">${dates(d.date)}</th><td>${money(d.amount)}</td>
      ${series.map((x, i) => html`<td key=${x.name}>${money(d.parts[i])}</td>`)}</tr>`)}</tbody></table></div></div>`;
}

// Meter draws what is spent of a budget, and hatched what is expected besides. The mark is the budget itself.
export function Meter({ spent, expected, amount, signal }) {
  const most = Math.max(amount, expected || 0, spent),
    at = (v) => (v / most) * 100 + "%";
  return html`<span class=${"meter " + signal} aria-hidden="true">${expected > spent && html`<u style=${{ width: at(expected) }} />`}
    <i style=${{ width: at(spent) }} />${most > amount && html`<b style=${{ insetInlineStart: at(amount) }} />`}</span>`;
}
