/**
 * The workspace's own events, `/me/events`: the last 30 days, and those to come.
 *
 * Terminology: a *tail* is an open connection that is shown events as they happen.
 */
