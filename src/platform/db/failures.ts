import postgres from 'postgres';
import { DatabaseUnavailableError } from './unavailable-error.ts';

/** The database did not answer a statement in time. Whether the statement was carried out is unknown. */
export class DatabaseDeadlineError extends Error {
  constructor() {
    super('the database did not respond in time');
    this.name = 'DatabaseDeadlineError';
  }
}

/** Returns the SQLSTATE of a failed statement, or undefined when the error is not PostgreSQL's. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof postgres.PostgresError ? error.code : undefined;
}

/** Returns the constraint that a failed statement violated, or undefined. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof postgres.PostgresError ? error.constraint_name : undefined;
}

/** 57P01 and similar: the server ended the session, or accepts none. */
const SESSION_ENDED = /^57P0[1235]$/;
/** The server is a standby or read-only, as after a failover. */
const READ_ONLY = '25006';
/** Codes of the driver, of the system, and of Node for a closed connection. */
const LOST_CONNECTION =
  /^(CONNECTION_|CONNECT_TIMEOUT$|ECONN|EPIPE$|ETIMEDOUT$|EHOST|ENET|ENOENT$|ENOTFOUND$|EAI_|ERR_SOCKET_CLOSED|ERR_STREAM_)/;

/** Reports whether a connection was lost or could not be opened. */
export function isConnectionLoss(error: unknown): boolean {
  if (error instanceof DatabaseUnavailableError) return true;
  if (!(error instanceof Error) || error instanceof postgres.PostgresError || !('code' in error))
    return false;
  return LOST_CONNECTION.test(String(error.code));
}

/** Reports whether the server ended the session, for example because it shuts down. */
export function isSessionEnd(error: unknown): boolean {
  return SESSION_ENDED.test(sqlState(error) ?? '');
}

/** Reports whether a failure can mean that the server is unavailable, or no longer accepts writes. */
export function isOutageSign(error: unknown): boolean {
  return isConnectionLoss(error) || isSessionEnd(error) || sqlState(error) === READ_ONLY;
}

/**
 * Serialization failures and deadlocks, a lock or statement timeout (55P03, 57014), no free connection (53300), a
 * session that the server ended, a standby.
 */
const TRANSIENT_STATES = /^(25006|40001|40P01|55P03|57014|53300|25P03|57P0[1235]|08)/;

/**
 * Reports whether the same transaction may succeed a moment later: the failure is a deadlock, a timeout, or a
 * connection that was lost or could not be opened.
 */
export function isTransientError(error: unknown): boolean {
  if (error instanceof DatabaseDeadlineError || isConnectionLoss(error)) return true;
  return TRANSIENT_STATES.test(sqlState(error) ?? '');
}
