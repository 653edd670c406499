-- Which stacks' outstanding memory grew most over the last runs?
--
-- For DuckDB, in a folder of files that were written one a run, by
--
--     etlheap export RUN.etl --format parquet -o RUN.parquet
--
--     duckdb < growth_over_runs.sql
--
-- Runs are in order of the time their recording began. Stacks are told apart by
-- stack_hash, which is the same in every run and, with symbols, in every build. A run in
-- which a stack does not occur has nothing outstanding of it. Kinds are not added up: the
-- same bytes can be in each. What leaks a little more every night stands first;
-- rising_runs says in how many of the steps it rose, so that one odd night can be told
-- from a trend.

SET VARIABLE files = '*.parquet';  -- where the runs are
SET VARIABLE last_runs = 14;       -- how many of them
SET VARIABLE top = 25;             -- stacks that are listed

WITH summaries AS (
    SELECT * FROM read_parquet(getvariable('files'), filename = 'file')
),
runs AS (
    SELECT file, row_number() OVER (ORDER BY start_time, file) AS run
    FROM (SELECT DISTINCT start_time, file FROM summaries)
    QUALIFY row_number() OVER (ORDER BY start_time DESC, file DESC) <= getvariable('last_runs')
),
measured AS (
    SELECT kind, process, stack_hash, run, min(site) AS site, min(stack) AS stack,
           CAST(sum(outstanding_size) AS BIGINT) AS size,
           CAST(sum(outstanding_count) AS BIGINT) AS count
    FROM summaries JOIN runs USING (file)
    GROUP BY ALL
),
stacks AS (
    SELECT kind, process, stack_hash, min(site) AS site, min(stack) AS stack
    FROM measured GROUP BY ALL
),
curves AS (
    SELECT stacks.*, runs.run, coalesce(size, 0) AS size, coalesce(count, 0) AS count
    FROM stacks CROSS JOIN runs
    LEFT JOIN measured
      ON measured.kind = stacks.kind AND measured.process = stacks.process
     AND measured.stack_hash IS NOT DISTINCT FROM stacks.stack_hash AND measured.run = runs.run
),
steps AS (
    SELECT *, size - lag(size) OVER (PARTITION BY kind, process, stack_hash ORDER BY run) AS step
    FROM curves
)
SELECT kind, process, site,
       arg_min(size, run) AS first_size,
       arg_max(size, run) AS last_size,
       last_size - first_size AS growth,
       arg_max(count, run) - arg_min(count, run) AS count_growth,
       count(*) FILTER (step > 0) AS rising_runs,
       count(*) AS runs,
       stack_hash, stack
FROM steps
GROUP BY kind, process, site, stack_hash, stack
HAVING growth > 0
ORDER BY growth DESC, kind, process, stack_hash
LIMIT getvariable('top');
