// Reads Parquet files with two readers that our code had no part in: DuckDB and
// hyparquet.
//
//     node oracle_parquet.mjs MODULES < QUESTIONS
//
// MODULES is the folder that npm installed both into. QUESTIONS is a JSON list of
// {"sql": "..."}: rows as DuckDB answers, and their columns' types, and {"file": "..."}:
// rows as hyparquet reads them. The answers are a list in the same order, a refusal is
// {"error": "..."}. Integers are written as texts "i123", as JSON has no 64 bits, and
// texts as "t...", lists of texts as "l" and JSON, other lists as texts with "," between.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const modules = resolve(process.argv[2]);
const require = createRequire(resolve(modules, "oracle.js"));
const { DuckDBInstance } = require("@duckdb/node-api");
const entry = (name) => import(pathToFileURL(resolve(modules, "node_modules", name, "src/index.js")).href);
const { parquetMetadata, parquetReadObjects } = await entry("hyparquet");
const { compressors } = await entry("hyparquet-compressors");

function cell(value) {
    if (value === null || value === undefined) return null;
    if (typeof value === "bigint" || typeof value === "number") return `i${value}`;
    if (typeof value === "string") return `t${value}`;
    const items = Array.isArray(value) ? value : value.items;
    if (Array.isArray(items) && items.every((item) => typeof item === "string")) return `l${JSON.stringify(items)}`;
    if (Array.isArray(value.items)) return `t${value.items.join(",")}`;
    return value;
}

async function askDuckdb(connection, sql) {
    const reader = await connection.runAndReadAll(sql);
    return {
        names: reader.columnNames(),
        types: reader.columnTypes().map(String),
        rows: reader.getRows().map((row) => row.map(cell)),
    };
}

async function readHyparquet(path) {
    const bytes = readFileSync(path);
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    const metadata = parquetMetadata(file);
    const names = [];
    for (let i = 1; i < metadata.schema.length; i++) {
        names.push(metadata.schema[i].name);
        if (metadata.schema[i].num_children) i += 2; // a list: "list" and "element"
    }
    const parsers = { timestampFromMicroseconds: (micros) => micros };
    const objects = await parquetReadObjects({ file, metadata, compressors, parsers });
    return {
        names,
        groups: metadata.row_groups.map((group) => Number(group.num_rows)),
        facts: Object.fromEntries((metadata.key_value_metadata ?? []).map(({ key, value }) => [key, value])),
        rows: objects.map((object) => names.map((name) => cell(object[name]))),
    };
}

const connection = await (await DuckDBInstance.create(":memory:")).connect();
const answers = [];
for (const question of JSON.parse(readFileSync(0, "utf8"))) {
    try {
        answers.push(question.sql ? await askDuckdb(connection, question.sql) : await readHyparquet(question.file));
    } catch (error) {
        answers.push({ error: String(error.message ?? error) });
    }
}
process.stdout.write(JSON.stringify(answers), () => process.exit(0));
