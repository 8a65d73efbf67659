// Tables and queries of BigQuery on DuckDB. polyglot translates GoogleSQL into the SQL of DuckDB; decision 063 lists the
// rules that are added here, and their limits.
// usage: node --input-type=module - PORT < engine.mjs
import { randomUUID } from 'node:crypto';
import { unlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, DuckDBTypeId } from '@duckdb/node-api';
import { Dialect, transpile } from '@polyglot-sql/sdk';

const db = await (await DuckDBInstance.create(':memory:')).connect();
await db.run("SET TimeZone = 'UTC'"); // BigQuery computes days in UTC

// The types of a table's columns. BIGNUMERIC has 38 decimals at most in BigQuery, and 24 here.
const types = {
  STRING: 'VARCHAR', FLOAT: 'DOUBLE', FLOAT64: 'DOUBLE', NUMERIC: 'DECIMAL(38, 9)', BIGNUMERIC: 'DECIMAL(38, 24)',
  TIMESTAMP: 'TIMESTAMPTZ', DATE: 'DATE', BOOLEAN: 'BOOLEAN', INTEGER: 'BIGINT',
};
const text = (s) => `'${s.replaceAll("'", "''")}'`;
const name = (s) => `"${s.replaceAll('"', '""')}"`;

function typeOf(column) {
  const one = column.type === 'RECORD'
    ? `STRUCT(${column.fields.map((f) => `${name(f.name)} ${typeOf(f)}`).join(', ')})`
    : types[column.type];
  if (!one) throw new Error(`column ${column.name}: no type of DuckDB stands for ${column.type}`);
  return column.mode === 'REPEATED' ? `${one}[]` : one;
}

// A repeated column is never null in BigQuery.
const stored = (c) => c.mode === 'REPEATED' ? `coalesce(${name(c.name)}, []) AS ${name(c.name)}` : name(c.name);

async function create({ table, columns, rows }) {
  const file = join(tmpdir(), `${randomUUID()}.json`);
  writeFileSync(file, rows.map((r) => JSON.stringify(r)).join('\n'));
  try {
    const as = columns.map((c) => `${text(c.name)}: ${text(typeOf(c))}`).join(', ');
    await db.run(`CREATE OR REPLACE TABLE ${name(table)} AS SELECT ${columns.map(stored).join(', ')}
      FROM read_json(${text(file)}, format = 'newline_delimited', columns = {${as}})`);
  } finally {
    unlinkSync(file);
  }
  return {};
}

// The elements of formats of times, by their names in BigQuery.
const elements = { '%F': '%Y-%m-%d', '%E6S': '%S.%f', '%Y': '%Y', '%m': '%m', '%d': '%d', '%H': '%H', '%M': '%M', '%S': '%S' };

function format(literal) {
  return literal.replace(/%(E\dS|.)/g, (element) => {
    if (!elements[element]) throw new Error(`${literal}: no element of DuckDB stands for ${element}`);
    return elements[element];
  });
}

function translate(sql) {
  const out = transpile(sql, Dialect.BigQuery, Dialect.DuckDB, { unsupportedLevel: 'raise' });
  if (!out.success || out.sql.length !== 1) throw new Error(out.error ?? 'not one statement');
  return out.sql[0]
    .replaceAll('AS BIGNUMERIC)', 'AS DECIMAL(38, 24))')
    .replaceAll('AS DECIMAL)', 'AS DECIMAL(38, 9))') // DuckDB's own would be DECIMAL(18, 3)
    .replace(/'%[^']*'/g, format);
}

// shown is a value as BigQuery's REST interface writes it: decimals without zeros at the end.
function shown(value, type) {
  if (value === null) return null;
  const s = String(value);
  return type.typeId === DuckDBTypeId.DECIMAL && s.includes('.') ? s.replace(/\.?0+$/, '') : s;
}

async function query({ sql }) {
  const translated = translate(sql);
  try {
    const answer = await db.runAndReadAll(translated);
    const columnTypes = answer.columnTypes();
    return { columns: answer.columnNames(), rows: answer.getRowsJson().map((r) => r.map((v, i) => shown(v, columnTypes[i]))) };
  } catch (e) {
    throw new Error(`${e.message}\nin DuckDB's words: ${translated}`);
  }
}

createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  try {
    const call = request.url === '/tables' ? create : query;
    response.end(JSON.stringify(await call(JSON.parse(body))));
  } catch (e) {
    response.statusCode = 400;
    response.end(JSON.stringify({ error: e.message }));
  }
}).listen(Number(process.argv[2]), '127.0.0.1');
