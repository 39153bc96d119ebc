import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { endProcesses, type FoundProcess, processesOf } from './orphan-processes.ts';

/** Test files that share a process. */
export interface Group {
  /** The file that runs them. */
  path: string;
  files: readonly string[];
}

export interface GuardOptions {
  /** Time for a process to exit after the last of its tests and hooks. */
  graceMs: number;
  /** Time in which a process must begin or end a test. */
  silenceMs: number;
}

/** A group that was ended, and did not end. */
export interface HungGroup {
  group: Group;
  /** Reason in text, for the summary. */
  why: string;
}

interface Watched {
  group: Group;
  /** Files whose last test has not ended. */
  left: Set<string>;
  /** Time of the last message; null before the first one. */
  heardMs: number | null;
  /** The runner is done with it. */
  isOver: boolean;
  isSwept: boolean;
}

/** Interval of the checks. */
const LOOK_MS = 500;

/**
 * Watches the events that `test-report.mjs` writes about the processes of a run. A process that stays open
 * after the last of its tests (because of a listener or a timer), is silent for too long, or has children
 * that hold its output open is named and ended with its descendants; otherwise the whole run would wait for
 * it.
 *
 * @param path file that the reporter writes; it may be empty at first.
 * @returns a function that stops watching and returns the groups that had to be ended.
 */
export function guardGroups(
  groups: readonly Group[],
  path: string,
  options: GuardOptions,
): () => HungGroup[] {
  const watched = new Map(groups.map((group) => [group.path, watch(group)]));
  const hung: HungGroup[] = [];
  const readOn = reader(path);
  const look = () => {
    for (const { group, ended, isOver } of readOn()) note(watched.get(group), ended, isOver === true);
    for (const one of watched.values()) {
      const why = whyLate(one, options);
      if (why !== null) sweep(one, why, hung);
    }
  };
  const timer = setInterval(look, LOOK_MS);
  return () => {
    clearInterval(timer);
    look();
    for (const one of watched.values()) {
      if (one.heardMs !== null && !one.isOver) sweep(one, 'ran when the run had ended', hung);
    }
    return hung;
  };
}

function watch(group: Group): Watched {
  return { group, left: new Set(group.files), heardMs: null, isOver: false, isSwept: false };
}

function note(one: Watched | undefined, ended: string | undefined, isOver: boolean): void {
  if (one === undefined) return;
  one.heardMs = performance.now();
  if (isOver) {
    one.isOver = true;
    one.left.clear();
  }
  if (ended !== undefined) one.left.delete(ended);
}

/** Returns the reason why the group is late, or null while it is in time. */
function whyLate({ left, heardMs, isSwept }: Watched, { graceMs, silenceMs }: GuardOptions): string | null {
  if (heardMs === null || isSwept) return null;
  const silentMs = performance.now() - heardMs;
  if (left.size === 0 && silentMs > graceMs) return `was open ${graceMs / 1000} s after its last test`;
  if (silentMs > silenceMs) return `began and ended no test for ${silenceMs / 1000} s`;
  return null;
}

/**
 * Ends the group's processes. Processes left behind by one that has exited are listed and are not a failure.
 */
function sweep(one: Watched, why: string, hung: HungGroup[]): void {
  one.isSwept = true;
  const found = processesOf(one.group.path);
  if (found.length === 0) return;
  const names = one.group.files.join(', ');
  process.stdout.write(
    one.isOver
      ? `\n── ended what ${names} left behind:\n${listed(found)}`
      : `\n── ${names} ${why}; ended:\n${listed(found)}`,
  );
  endProcesses(found);
  if (!one.isOver) hung.push({ group: one.group, why });
}

function listed(found: readonly FoundProcess[]): string {
  return found.map(({ pid, command }) => `  ${pid}  ${command.slice(0, 120)}\n`).join('');
}

interface Line {
  group: string;
  ended?: string;
  isOver?: boolean;
}

/** Returns a function that reads the lines about groups added since its last call. */
function reader(path: string): () => Line[] {
  let from = 0;
  return () => {
    const text = readFrom(path, from);
    const whole = text.subarray(0, text.lastIndexOf('\n') + 1);
    from += whole.length;
    const lines = whole.toString().split('\n').filter(Boolean);
    return lines.map((line) => Object.assign({ group: '' }, JSON.parse(line)));
  };
}

function readFrom(path: string, from: number): Buffer {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return Buffer.alloc(0);
  }
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - from));
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from));
  } finally {
    closeSync(file);
  }
}
