import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { endProcesses, type FoundProcess, processesOf } from './orphan-processes.ts';

/** Test files that share a process. */
export interface Group {
  /** The file that runs them. */
  path: string;
  files: readonly string[];
}

export interface GuardOptions {
  /** For a process to end by itself after the last of its tests and hooks. */
  graceMs: number;
  /** For a process in which no test begins or ends. */
  silenceMs: number;
}

/** A group that was ended, and did not end. */
export interface HungGroup {
  group: Group;
  /** In words, for the summary. */
  why: string;
}

interface Watched {
  group: Group;
  /** Files whose last test has not ended. */
  left: Set<string>;
  /** When something was heard of it; null before it began. */
  heardMs: number | null;
  /** The runner is done with it. */
  isOver: boolean;
  isSwept: boolean;
}

/** Between looks. */
const LOOK_MS = 500;

/**
 * Watches what `test-report.mjs` tells of the processes of a run. One that stays open after the last of its tests
 * (something listens, a timer runs), that does nothing for long, or whose children hold on to its output, is named
 * and ended with all that it has started; otherwise the whole run would wait for it.
 *
 * @param path what the reporter writes; there may be nothing yet.
 * @returns how to end the watch, which gives the groups that had to be ended.
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

/** In words, or null while it is in time. */
function whyLate({ left, heardMs, isSwept }: Watched, { graceMs, silenceMs }: GuardOptions): string | null {
  if (heardMs === null || isSwept) return null;
  const silentMs = performance.now() - heardMs;
  if (left.size === 0 && silentMs > graceMs) return `was open ${graceMs / 1000} s after its last test`;
  if (silentMs > silenceMs) return `began and ended no test for ${silenceMs / 1000} s`;
  return null;
}

/** Ends what is there of it. What a process that has ended left behind is told, and is no failure. */
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

/** Gives the lines about groups that came since the last call. */
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
