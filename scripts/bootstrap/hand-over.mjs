import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { ROOT } from './stop.mjs';

/** Pauses before the restarts in a row, in seconds; the last one repeats. */
const BACKOFF_SEC = [1, 2, 5, 10, 30];
/** A program that ran for so long is started at once when it dies. */
const STEADY_MS = 60_000;

/**
 * Runs a program in our place: same terminal, signals passed on, its end is our end. The channel between us
 * closes when we are killed, so the program hears of it (`disconnect`) and drains.
 *
 * @param supervise start it again, with growing pauses, when it died without being asked to, once it has said
 *   `{ type: 'ready' }`: what fails at the first start needs a person, not a loop.
 */
export function handOver(program, args, env, { supervise = false } = {}) {
  const path = `${join(ROOT, 'node_modules/.bin')}${delimiter}${env.PATH ?? ''}`;
  let child;
  let restart;
  let stopping = false;
  let wasReady = false;
  let failures = 0;

  const start = () => {
    const startedMs = performance.now();
    restart = undefined;
    child = spawn(program, args, {
      cwd: ROOT,
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      // Types are stripped and code is compiled once, not at every start: a third of the start's work.
      env: { NODE_COMPILE_CACHE: join(ROOT, '.cache/node'), ...env, PATH: path },
    });
    child.on('message', (message) => {
      if (message?.type === 'ready') wasReady = true;
    });
    child.on('error', (error) => {
      process.stderr.write(`marquee: ${program} does not start: ${error.message}\n`);
      process.exit(1);
    });
    child.on('exit', (code, signal) => {
      const status = code ?? 128 + (constants.signals[signal] ?? 0);
      if (!supervise || stopping || !wasReady || status === 0) process.exit(status);
      failures = performance.now() - startedMs > STEADY_MS ? 0 : failures + 1;
      const pauseSec = BACKOFF_SEC[Math.min(failures, BACKOFF_SEC.length - 1)];
      const reason = causeOf(code, signal);
      process.stderr.write(`marquee: the platform died: ${reason}; starting it again in ${pauseSec} s\n`);
      restart = setTimeout(start, pauseSec * 1000);
    });
  };

  const stop = (signal) => {
    stopping = true;
    if (restart !== undefined) process.exit(128 + constants.signals[signal]);
    child.kill(signal);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => stop(signal));
  if (process.env.npm_lifecycle_event !== undefined) watchParent(() => stop('SIGTERM'));
  start();
}

/** What is known of a program's death. */
function causeOf(code, signal) {
  if (signal === 'SIGKILL') return 'killed by SIGKILL (by a person, or by the system for its memory)';
  if (signal === 'SIGABRT')
    return 'killed by SIGABRT (Node gave up: see the lines above, often no memory left)';
  return signal === null ? `it ended with exit code ${code} (see the lines above)` : `killed by ${signal}`;
}

/** npm passes SIGTERM on, but it cannot pass on its own kill -9: then another process becomes our parent. */
function watchParent(onGone) {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) onGone();
  }, 500).unref();
}
