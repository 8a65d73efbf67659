// How money, times and counts are written. Amounts are decimal strings. Intl formats strings exactly; a number is made
// of one only to draw it.
const usd = (digits) =>
  new Intl.NumberFormat(undefined, {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
const dollars = usd(0),
  cents = usd(2),
  small = usd(4);
const unknown = (v) => v === null || v === undefined;

// money writes an exact amount, and never 0 for an amount that is not known.
export function money(v) {
  if (unknown(v)) return "not priced";
  const n = Math.abs(Number(v));
  return (n > 0 && n < 0.01 ? small : cents).format(v);
}

// rate writes the price of an hour, to four digits, so that it can be multiplied.
export const rate = (v) => (unknown(v) ? "not priced" : small.format(v));

// rounded writes an amount for a headline: whole dollars from 100 on.
export const rounded = (v) => (unknown(v) ? "–" : (Math.abs(Number(v)) < 100 ? cents : dollars).format(v));

const counts = new Intl.NumberFormat();
export const count = (n) => counts.format(n);
export const plural = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;
const percents = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });
export const percent = (share) => percents.format(share);

// Days of bills are days of UTC. They are never moved into the viewer's zone.
const utc = (options) => new Intl.DateTimeFormat(undefined, { timeZone: "UTC", ...options });
const days = utc({ day: "numeric", month: "short" }),
  months = utc({ month: "long", year: "numeric" });
const longDays = utc({ day: "numeric", month: "short", year: "numeric" });
export const longDay = (d) => longDays.format(new Date(d));
const shortMonths = utc({ month: "short", year: "2-digit" });
export const day = (d) => days.format(new Date(d));
export const month = (d) => months.format(new Date(d));
export const shortMonth = (d) => shortMonths.format(new Date(d));

// Points in time are local. Their title has UTC too.
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
export const moment = (t) => moments.format(new Date(t));
export const inBothZones = (t) => `${moment(t)} here, ${new Date(t).toISOString().slice(0, 16).replace("T", " ")} UTC`;
const relatives = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const units = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];
export function relative(t) {
  const seconds = (new Date(t) - Date.now()) / 1000;
  if (Math.abs(seconds) < 45) return "just now";
  const [unit, length] = units.find(([, n]) => Math.abs(seconds) >= n) || ["minute", 60];
  return relatives.format(Math.round(seconds / length), unit);
}

// Names of kinds for people.
const kinds = {
  "aws-ec2": "EC2 instance",
  "aws-rds": "RDS instance",
  "aws-asg": "Auto Scaling group",
  "aws-aurora": "Aurora cluster",
  "aws-ecs": "ECS service",
  "aws-eks-nodegroup": "EKS node group",
  "aws-ebs": "EBS volume",
  "aws-ebs-snapshot": "EBS snapshot",
  "aws-eip": "Elastic IP",
  "kubernetes-deployment": "Deployment",
  "kubernetes-statefulset": "StatefulSet",
  "kubernetes-cronjob": "CronJob",
  "kubernetes-daemonset": "DaemonSet",
  "kubernetes-node": "Node",
  "kubernetes-namespace": "Namespace",
  "kubernetes-job": "Job",
  "kubernetes-persistentvolumeclaim": "Volume claim",
};
export const kind = (type) => kinds[type] || type.replace(/^(aws|gcp|azure|kubernetes)-/, "").replaceAll("-", " ");
export const tail = (uid) => uid.split(/[/:]/).pop();
export const capital = (word) => word[0].toUpperCase() + word.slice(1).replaceAll("_", " ");

// cause writes the cause of an action or a state: "schedule:<name>:<cron>", "manual:<email>", "bulk:<email>:<id>".
const causes = {
  schedule: "Schedule",
  manual: "",
  bulk: "",
  override: "Override",
  override_expired: "Override ended",
  event: "Event",
  remediation: "Remediation",
};
export function cause(text) {
  const [type, name = ""] = text.split(":");
  if (!(type in causes)) return capital(text);
  return [causes[type], name].filter(Boolean).join(" ") || capital(type);
}
