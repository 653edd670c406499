// The four-way question of bench_types.c, asked to DuckDB over the same rows.
//
//     node duckdb_types.mjs MODULES ROWS.csv FROM_NS TO_NS RUNS THREADS
//
// MODULES is the folder that npm installed @duckdb/node-api into. The rows are
// loaded into a table in memory first, which is not timed. The question is put in
// three ways that mean the same; each runs once to warm up and then RUNS times,
// and the way with the shortest sum of times speaks for DuckDB. The whole result is made,
// but not handed to JavaScript, which would take longer. Prints JSON with the
// keys of bench_types.
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [modules, rows, from, to, runs, threads] = process.argv.slice(2);
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

const times = {};
for (const [name, sql] of Object.entries(questions)) {
    times[name] = [];
    for (let run = 0; run <= Number(runs); run++) {
        const begin = process.hrtime.bigint();
        await connection.run(sql);
        const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
        if (run > 0) times[name].push(seconds);
    }
}

const answer = { version: (await connection.runAndReadAll("SELECT version()")).getRows()[0][0] };
const total = (await connection.runAndReadAll("SELECT count(*) FROM rows")).getRows()[0][0];
answer.rows = Number(total);
const sum = (values) => values.reduce((x, y) => x + y, 0);
[answer.way, answer.seconds] = Object.entries(times).sort((x, y) => sum(x[1]) - sum(y[1]))[0];
const sums = names.map((name) => `count(*) FILTER (${name}_n > 0), sum(${name}_n), coalesce(sum(${name}_s), 0)`);
const checked = (await connection.runAndReadAll(`SELECT ${sums.join(", ")} FROM (${questions.filter})`)).getRows()[0];
names.forEach((name, i) => (answer[name] = checked.slice(i * 3, i * 3 + 3).map(Number)));
console.log(JSON.stringify(answer));
process.exit(0);
