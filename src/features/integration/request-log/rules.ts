import { DAY_MS } from '../../../kernel/durations.ts';
import { badRequest } from '../../../kernel/errors.ts';

/** Retention of rows (docs/concepts/requests.md). */
export const RETENTION_MS = 7 * DAY_MS;

const WINDOW_MS = 10_000;
/** Successes of one key recorded in each window before sampling begins. */
const ALL_SUCCESSES = 10;
const ONE_SUCCESS_IN = 10;
/** Successes of all keys recorded by each half of the rule (docs/decisions/request-log.md#cost). */
const SUCCESSES_OF_NODE = 1000;
const ONE_BEYOND_IN = 10;
/** More than any key's limit lets through: beyond are the refusals of a flood. */
const ALL_ERRORS = 2000;
const ONE_ERROR_IN = 100;

interface Counts {
  successes: number;
  errors: number;
}

/**
 * Which requests are recorded (docs/concepts/requests.md#logged-requests): of one key the first ten successes in ten
 * seconds and every tenth of the others, or a tenth of those where a node has many; every error, but for floods.
 */
export class Sampler {
  readonly #counts = new Map<string, Counts>();
  #window = -1;
  /** Successes that were recorded because they were among the first of their key, and because they were a tenth. */
  readonly #recorded = { first: 0, tenth: 0 };
  #beyond = 0;

  /** @param group whose requests are counted together. */
  admits(group: string, isError: boolean, nowMs: number): boolean {
    const window = Math.floor(nowMs / WINDOW_MS);
    if (window !== this.#window) this.#begin(window);
    let counts = this.#counts.get(group);
    if (counts === undefined) {
      counts = { successes: 0, errors: 0 };
      this.#counts.set(group, counts);
    }
    return isError ? admitsError(counts) : this.#admitsSuccess(counts);
  }

  /** Starts a window: only the callers of one window are held in memory. */
  #begin(window: number): void {
    this.#window = window;
    this.#counts.clear();
    this.#recorded.first = 0;
    this.#recorded.tenth = 0;
  }

  #admitsSuccess(counts: Counts): boolean {
    counts.successes += 1;
    const half = counts.successes <= ALL_SUCCESSES ? 'first' : 'tenth';
    if (half === 'tenth' && counts.successes % ONE_SUCCESS_IN !== 0) return false;
    if (this.#recorded[half] < SUCCESSES_OF_NODE) {
      this.#recorded[half] += 1;
      return true;
    }
    this.#beyond += 1;
    return this.#beyond % ONE_BEYOND_IN === 0;
  }
}

function admitsError(counts: Counts): boolean {
  counts.errors += 1;
  return counts.errors <= ALL_ERRORS || counts.errors % ONE_ERROR_IN === 0;
}

/** Both ends included. */
export interface StatusRange {
  from: number;
  to: number;
}

/**
 * `404`, `4xx` and `errors`, comma-separated.
 *
 * @throws {AppError} BAD_REQUEST, field `status`.
 */
export function parseStatuses(text: string): StatusRange[] {
  return text.split(',').map((item) => parseStatus(item.trim()));
}

function parseStatus(text: string): StatusRange {
  if (text === 'errors') return { from: 400, to: 599 };
  const [, family, digits] = /^([1-5])(xx|\d\d)$/i.exec(text) ?? [];
  if (family === undefined || digits === undefined) {
    throw badRequest('status', 'status must be a number, such as 404, a class, such as 4xx, or "errors".');
  }
  const start = Number(family) * 100;
  if (/x/i.test(digits)) return { from: start, to: start + 99 };
  return { from: start + Number(digits), to: start + Number(digits) };
}

export interface PathFilter {
  text: string;
  isPrefix: boolean;
}

/** A path with or without the base URL's; `*` at the end stands for anything. */
export function parsePath(text: string, basePath: string): PathFilter {
  const isPrefix = text.endsWith('*');
  const path = isPrefix ? text.slice(0, -1) : text;
  const isWhole = path === basePath || path.startsWith(`${basePath}/`);
  const below = path.startsWith('/') ? path : `/${path}`;
  return { text: isWhole ? path : basePath + below, isPrefix };
}
