-- Which stacks' outstanding memory grew most over the last runs?
--
-- For DuckDB, over a folder of files that were written one a run, by
--
--     etlheap export RUN --format parquet -o nights/RUN.parquet
--
-- where RUN is a trace, a store, or the merged summaries of a whole night:
--
--     duckdb -cmd "SET VARIABLE files = 'nights/*.parquet'; SET VARIABLE last_runs = 30" < growth_over_runs.sql
--
-- Variables that are not set have the values below. Runs are in order of the time their
-- recording began. Stacks are told apart by kind, name of the process and stack_hash, which
-- is the same in every run and, with symbols, in every build. Kinds are not added up: the
-- same bytes can be in each. A run in which a stack does not occur has nothing outstanding
-- of it.
--
--     sizes           what was outstanding in each run, the oldest first
--     growth_per_run  slope of that curve in bytes per run: for each run the median of the
--                     slopes to all others, and of these the median (Siegel's repeated
--                     median). One odd night, or two in five, do not tilt it
--     steadiness      100 * (pairs of runs between which it rose - fell) / all pairs
--     growth          last size - first size, as it is; count_growth the same of allocations
--
-- The stack that leaks a little more every night stands first. A step in the very last run
-- is no trend yet: order_by = 'growth' has it on top. Equals are in order of growth, kind,
-- process and hash.

SET VARIABLE files = coalesce(getvariable('files'), '*.parquet');  -- where the runs are
SET VARIABLE last_runs = coalesce(getvariable('last_runs'), 14);   -- how many of them
SET VARIABLE top = coalesce(getvariable('top'), 25);               -- stacks that are listed
SET VARIABLE order_by = coalesce(getvariable('order_by'), 'trend'); -- or 'growth'

WITH summaries AS (
    SELECT * FROM read_parquet(getvariable('files'), filename = 'run_file')
),
runs AS (
    SELECT run_file, row_number() OVER (ORDER BY start_time, run_file) AS run
    FROM (SELECT DISTINCT start_time, run_file FROM summaries)
    QUALIFY row_number() OVER (ORDER BY start_time DESC, run_file DESC) <= getvariable('last_runs')
),
measured AS (
    -- NULL is the hash of no stack, and equals nothing: here it is a row like others.
    SELECT row(kind, process, stack_hash) AS id, run, min(site) AS site, min(stack) AS stack,
           CAST(sum(outstanding_size) AS BIGINT) AS size,
           CAST(sum(outstanding_count) AS BIGINT) AS count
    FROM summaries JOIN runs USING (run_file)
    GROUP BY ALL
),
stacks AS (
    SELECT dense_rank() OVER (ORDER BY id) AS number, id, min(site) AS site, min(stack) AS stack
    FROM measured GROUP BY id
),
numbered AS (
    SELECT number, run, size, count
    FROM measured JOIN stacks ON measured.id IS NOT DISTINCT FROM stacks.id
),
curves AS (
    SELECT stacks.number, runs.run, coalesce(size, 0) AS size, coalesce(count, 0) AS count
    FROM stacks CROSS JOIN runs LEFT JOIN numbered USING (number, run)
),
slopes AS (
    SELECT a.number, a.run, median((b.size - a.size) / (b.run - a.run)) AS slope,
           count(*) FILTER (b.run > a.run AND b.size > a.size) AS rises,
           count(*) FILTER (b.run > a.run AND b.size < a.size) AS falls,
           count(*) FILTER (b.run > a.run) AS pairs
    FROM curves AS a JOIN curves AS b ON b.number = a.number AND b.run <> a.run
    GROUP BY a.number, a.run
),
trends AS (
    SELECT number, CAST(round(median(slope)) AS BIGINT) AS growth_per_run,
           CAST(round(100 * (sum(rises) - sum(falls)) / sum(pairs)) AS INTEGER) AS steadiness
    FROM slopes GROUP BY number
),
totals AS (
    SELECT number, list(size ORDER BY run) AS sizes, list(count ORDER BY run) AS counts, count(*) AS runs
    FROM curves GROUP BY number
),
answers AS (
    SELECT id[1] AS kind, id[2] AS process, site, growth_per_run, steadiness,
           sizes[-1] - sizes[1] AS growth, counts[-1] - counts[1] AS count_growth,
           sizes, runs, id[3] AS stack_hash, stack
    FROM stacks JOIN trends USING (number) JOIN totals USING (number)
)
SELECT * FROM answers
WHERE growth_per_run > 0 OR growth > 0
ORDER BY CASE getvariable('order_by') WHEN 'growth' THEN growth ELSE growth_per_run END DESC,
         growth DESC, kind, process, stack_hash
LIMIT getvariable('top');
