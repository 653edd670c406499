// The four-way question of bench_types.c, asked to DuckDB over the same rows.
//
//     node duckdb_types.mjs MODULES ROWS.csv FROM_NS TO_NS THREADS
//
// MODULES is the folder that npm installed @duckdb/node-api into. The rows are
// loaded into a table in memory first, which is not timed. The question is put in
// three ways that mean the same; each runs once to warm up. Then the protocol is that of
// bench_types: a line of JSON when ready, and for each line read, every way is asked once
// and the seconds are printed, as a JSON object. The whole result is made, but not handed to
// JavaScript, which would take longer. When there are no more lines, the answer is printed
// with the keys of bench_types.
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

const [modules, rows, from, to, threads] = process.argv.slice(2);
const require = createRequire(resolve(modules, "bench.js"));
const { DuckDBInstance } = require("@duckdb/node-api");

const types = {
    AIFO: `a >= ${from} AND f >= ${to}`,
    AIFI: `a >= ${from} AND f < ${to}`,
    AOFI: `a < ${from} AND f < ${to}`,
    AOFO: `a < ${from} AND f >= ${to}`,
};
const inWindow = `a < ${to} AND f >= ${from}`;
const names = Object.keys(types);
const columns = (form) =>
    names.map((name) => `${form("count", name)} AS ${name}_n, ${form("sum", name)} AS ${name}_s`).join(", ");

const wide = {
    filter: columns((what, name) =>
        what === "count" ? `count(*) FILTER (${types[name]})` : `sum(size) FILTER (${types[name]})`),
    cases: columns((what, name) =>
        `sum(CASE WHEN ${types[name]} THEN ${what === "count" ? 1 : "size"} ELSE 0 END)`),
};
const questions = {
    filter: `SELECT stack, ${wide.filter} FROM rows WHERE ${inWindow} GROUP BY stack`,
    cases: `SELECT stack, ${wide.cases} FROM rows WHERE ${inWindow} GROUP BY stack`,
    groups: `SELECT stack, a >= ${from} AS inside, f < ${to} AS freed, count(*) AS n, sum(size) AS s
             FROM rows WHERE ${inWindow} GROUP BY ALL`,
};

const connection = await (await DuckDBInstance.create(":memory:", { threads })).connect();
await connection.run(`CREATE TABLE rows AS SELECT * FROM read_csv('${rows.replaceAll("'", "''")}',
    header = true, columns = {a: 'BIGINT', f: 'BIGINT', size: 'BIGINT', stack: 'INTEGER'})`);

async function ask() {
    const times = {};
    for (const [name, sql] of Object.entries(questions)) {
        const begin = process.hrtime.bigint();
        await connection.run(sql);
        times[name] = Number(process.hrtime.bigint() - begin) / 1e9;
    }
    return times;
}

await ask();
const version = (await connection.runAndReadAll("SELECT version()")).getRows()[0][0];
const total = (await connection.runAndReadAll("SELECT count(*) FROM rows")).getRows()[0][0];
console.log(JSON.stringify({ version, rows: Number(total) }));
for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await ask()));

const answer = {};
const sums = names.map((name) => `count(*) FILTER (${name}_n > 0), sum(${name}_n), coalesce(sum(${name}_s), 0)`);
const checked = (await connection.runAndReadAll(`SELECT ${sums.join(", ")} FROM (${questions.filter})`)).getRows()[0];
names.forEach((name, i) => (answer[name] = checked.slice(i * 3, i * 3 + 3).map(Number)));
console.log(JSON.stringify(answer));
process.exit(0);
