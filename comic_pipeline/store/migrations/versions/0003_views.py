"""Views for readers: progress, costs, providers' health, results of quality control. The same on SQLite and Postgres.

Frozen history: it says what the views were, takes nothing from `schema.py` or the model, and is never edited once released.
Sums are rounded to six places, because SQLite adds doubles.
"""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the views."""
    day = _DAY[op.get_bind().dialect.name]
    op.execute(_PROJECT_PROGRESS)
    op.execute(_PROJECT_COSTS)
    op.execute(_PROVIDER_HEALTH.format(day=day))
    op.execute(_QC_RESULTS)


# The calendar day of Asia/Shanghai (UTC+8 all year), by which budgets are counted.
_DAY = {
    "sqlite": "date(started_at, '+8 hours')",
    "postgresql": "to_char((started_at AT TIME ZONE 'UTC') + interval '8 hours', 'YYYY-MM-DD')",
}


def _newest(task_type: str, *, ready: bool) -> str:
    # Of a shot that was wanted several times (other words, another take) only the newest wish counts.
    return f"""
        SELECT count(*) FROM tasks t
        WHERE t.project_id = p.id AND t.task_type = '{task_type}' {"AND t.status = 'success'" if ready else ""}
        AND NOT EXISTS (
            SELECT 1 FROM tasks n
            WHERE n.project_id = t.project_id AND n.task_type = t.task_type
            AND coalesce(n.shot_seq, -1) = coalesce(t.shot_seq, -1)
            AND (n.created_at, n.take, n.task_id) > (t.created_at, t.take, t.task_id)
        )"""  # noqa: S608  # built from this module's own words


def _share(width: int, ready: str, total: str) -> str:
    return f"CASE WHEN {total} = 0 THEN 0 ELSE {width} * {ready} / {total} END"


_PROJECT_PROGRESS = f"""
CREATE VIEW project_progress AS
SELECT project_id, user_id, tier, title, status, stage,
    CASE
        WHEN status = 'QUEUED' THEN 0
        WHEN status IN ('SCRIPT', 'IMAGE', 'TTS', 'VIDEO', 'COMPOSE', 'WAITING_CONFIRMATION') THEN
            CASE stage
                WHEN 'storyboard' THEN 5 + {_share(15, "scripts_ready", "total_scripts")}
                WHEN 'frames' THEN 30 + {_share(30, "frames_ready", "total_frames")}
                WHEN 'voices' THEN 60 + {_share(15, "voices_ready", "total_voices")}
                WHEN 'clips' THEN 80 + {_share(15, "clips_ready", "total_clips")}
                WHEN 'film' THEN 95 + {_share(5, "films_ready", "total_films")}
                ELSE 0
            END
        ELSE 100
    END AS progress,
    frames_ready, total_frames, clips_ready, voices_ready, cost, error_code, created_at, updated_at
FROM (
    SELECT p.id AS project_id, p.user_id, p.tier, p.title, p.status, p.error_code, p.created_at, p.updated_at,
        CASE p.status
            WHEN 'QUEUED' THEN NULL
            WHEN 'SCRIPT' THEN 'storyboard'
            WHEN 'IMAGE' THEN 'frames'
            WHEN 'TTS' THEN 'voices'
            WHEN 'VIDEO' THEN 'clips'
            WHEN 'COMPOSE' THEN 'film'
            ELSE p.fail_stage
        END AS stage,
        ({_newest("storyboard", ready=False)}) AS total_scripts,
        ({_newest("storyboard", ready=True)}) AS scripts_ready,
        ({_newest("frame_image", ready=False)}) AS total_frames,
        ({_newest("frame_image", ready=True)}) AS frames_ready,
        ({_newest("voice_line", ready=False)}) AS total_voices,
        ({_newest("voice_line", ready=True)}) AS voices_ready,
        ({_newest("clip", ready=False)}) AS total_clips,
        ({_newest("clip", ready=True)}) AS clips_ready,
        ({_newest("film_render", ready=False)}) AS total_films,
        ({_newest("film_render", ready=True)}) AS films_ready,
        (
            SELECT round(coalesce(sum(a.cost), 0), 6)
            FROM attempts a JOIN tasks t ON t.task_id = a.task_id WHERE t.project_id = p.id
        ) AS cost
    FROM projects p
) AS counted
"""  # noqa: S608  # built from this module's own words

_PROJECT_COSTS = """
CREATE VIEW project_costs AS
SELECT t.project_id, t.task_type, t.provider_id,
    count(DISTINCT t.task_id) AS tasks,
    count(a.number) AS attempts,
    round(coalesce(sum(a.cost), 0), 6) AS cost,
    round(coalesce(sum(CASE WHEN a.state IN ('intent', 'submitted') THEN a.estimate END), 0), 6) AS reserved
FROM tasks t LEFT JOIN attempts a ON a.task_id = t.task_id
GROUP BY t.project_id, t.task_type, t.provider_id
"""

_PROVIDER_HEALTH = """
CREATE VIEW provider_health AS
SELECT provider_id, day,
    count(*) AS attempts,
    sum(CASE WHEN state = 'succeeded' THEN 1 ELSE 0 END) AS succeeded,
    sum(CASE WHEN state = 'failed' THEN 1 ELSE 0 END) AS failed,
    sum(CASE WHEN state = 'unknown' THEN 1 ELSE 0 END) AS unknown,
    round(coalesce(sum(cost), 0), 6) AS cost
FROM (SELECT provider_id, state, cost, {day} AS day FROM attempts) AS dated
GROUP BY provider_id, day
"""

_QC_RESULTS = """
CREATE VIEW qc_results AS
SELECT v.project_id, v.asset, v."check", v.passed, v.severity, v.numbers, v.data_version, v.run_id, v.at,
    v.override_by, v.override_reason
FROM verdicts v
WHERE NOT EXISTS (
    SELECT 1 FROM verdicts n
    WHERE n.project_id = v.project_id AND n.asset = v.asset AND n."check" = v."check" AND n.id > v.id
)
"""
