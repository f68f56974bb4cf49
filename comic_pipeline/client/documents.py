"""The GraphQL documents, as they are sent; each has one root field. A test validates all of them against the installed schema."""

LAUNCH = """
mutation Launch($params: ExecutionParams!) {
  launchRun(executionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on RunConfigValidationInvalid { errors { message } }
    ... on Error { message }
  }
}
"""

_RUN = "runId status jobName creationTime startTime endTime tags { key value }"

RUN = f"""
query Run($run: ID!) {{
  runOrError(runId: $run) {{ __typename ... on Run {{ {_RUN} }} ... on Error {{ message }} }}
}}
"""

RUNS = f"""
query Runs($tags: [ExecutionTag!]!, $limit: Int!, $cursor: String) {{
  runsOrError(filter: {{tags: $tags}}, limit: $limit, cursor: $cursor) {{
    __typename
    ... on Runs {{ results {{ {_RUN} }} }}
    ... on Error {{ message }}
  }}
}}
"""

RUN_EVENTS = """
query RunEvents($run: ID!, $after: String, $limit: Int!) {
  logsForRun(runId: $run, afterCursor: $after, limit: $limit) {
    __typename
    ... on EventConnection {
      cursor
      hasMore
      events { __typename ... on MessageEvent { message timestamp level stepKey eventType } }
    }
    ... on Error { message }
  }
}
"""

REPORTS = """
query Reports($project: String!, $limit: Int!, $cursor: String) {
  assetOrError(assetKey: {path: ["project_status"]}) {
    __typename
    ... on Asset {
      assetEventHistory(partitions: [$project], eventTypeSelectors: [MATERIALIZATION], limit: $limit, cursor: $cursor) {
        cursor
        results {
          ... on MaterializationEvent { runId metadataEntries { label ... on JsonMetadataEntry { jsonString } } }
        }
      }
    }
    ... on Error { message }
  }
}
"""

GATES = """
query Gates {
  assetNodes {
    __typename
    assetKey { path }
    assetChecksOrError { ... on AssetChecks { checks { name description } } ... on Error { message } }
  }
}
"""

VERDICT = """
query Verdict($asset: [String!]!, $check: String!, $project: String!) {
  assetCheckExecutions(assetKey: {path: $asset}, checkName: $check, partition: $project, limit: 1) {
    __typename
    runId
    status
    timestamp
    evaluation {
      success
      severity
      metadataEntries { label ... on TableMetadataEntry { table { records } } ... on TextMetadataEntry { text } }
    }
  }
}
"""

ALL = {
    "LAUNCH": LAUNCH,
    "RUN": RUN,
    "RUNS": RUNS,
    "RUN_EVENTS": RUN_EVENTS,
    "REPORTS": REPORTS,
    "GATES": GATES,
    "VERDICT": VERDICT,
}
