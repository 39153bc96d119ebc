/**
 * The database is unavailable, and the statement was not sent or its connection was closed. The outage itself is logged
 * once, so loggers omit lines with this error.
 */
export class DatabaseUnavailableError extends Error {
  constructor() {
    super('the database is unavailable');
    this.name = 'DatabaseUnavailableError';
  }
}

/** Reports whether an error, or its cause, is a `DatabaseUnavailableError`. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailableError) return true;
  return error instanceof Error && error.cause !== undefined && isUnavailable(error.cause);
}
