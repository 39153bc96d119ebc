import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import type { Config } from '../../platform/config.ts';
import { describeStartupError } from '../describe-error.ts';

/** Subject and outcome of one check. */
export interface CheckResult {
  /** Short, the same in every version: for programs. */
  check: string;
  /** Severity. WARNING: it works, but may not be intended. */
  status: 'OK' | 'WARNING' | 'PROBLEM';
  text: string;
  /** Recommended action; null when none is needed. */
  remedy: string | null;
}

/** Input of the checks. */
export interface CheckContext {
  config: Config;
  clock: Clock;
  /** Whether the platform runs on this data folder. */
  isRunning: boolean;
  /** Database URL; null when the embedded database does not exist yet, an error when it is unreachable. */
  database: { url: string } | { failure: unknown } | null;
}

export type Check = (examined: CheckContext) => Promise<CheckResult[]>;

export const ok = (check: string, text: string): CheckResult => ({ check, status: 'OK', text, remedy: null });
export const warning = (check: string, text: string, remedy: string): CheckResult => ({
  ...{ check, text, remedy },
  status: 'WARNING',
});
export const problem = (check: string, text: string, remedy: string): CheckResult => ({
  ...{ check, text, remedy },
  status: 'PROBLEM',
});

/** Returns the error in one line, without passwords in URLs. */
export const reasonOf = (error: unknown): string =>
  describeStartupError(error).replace(/\/\/[^/\s@]+@/g, '//…@');

/** An hour off is no certificate, a minute off no second factor; two seconds are the network's. */
const OFF_MS = 2000;
const FAR_OFF_MS = 30_000;

/** @param there epoch ms. */
export function compareClocks(check: string, whose: string, here: number, there: number): CheckResult {
  const off = Math.abs(here - there);
  const seconds = Math.round(off / 1000);
  const remedy = 'synchronize the clocks of all machines with chrony, systemd-timesyncd or the host';
  const text = `the clocks of this machine and of ${whose} differ by ${seconds} s`;
  if (off > FAR_OFF_MS) return problem(check, text, remedy);
  if (off > OFF_MS) return warning(check, text, remedy);
  return ok(check, `the clock matches that of ${whose}`);
}

const SOON_MS = 14 * 86_400_000;

/** @param endsMs epoch ms. */
export function checkCertificateExpiry(
  check: string,
  whose: string,
  endsMs: number,
  clock: Clock,
): CheckResult {
  const day = dateFromMs(endsMs).toISOString().slice(0, 10);
  const left = endsMs - clock.ms();
  const remedy = 'renew it, and check why automatic renewal failed';
  if (left <= 0) return problem(check, `${whose} has expired on ${day}`, remedy);
  if (left < SOON_MS) return warning(check, `${whose} expires on ${day}`, remedy);
  return ok(check, `${whose} is valid until ${day}`);
}
