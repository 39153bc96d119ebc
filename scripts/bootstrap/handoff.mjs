import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { ROOT } from './stop.mjs';

/**
 * Runs a program in place of this process: same terminal, forwarded signals, same exit status. The IPC
 * channel closes when this process is killed; the program receives `disconnect` and drains.
 */
export function handOver(program, args, env) {
  const path = `${join(ROOT, 'node_modules/.bin')}${delimiter}${env.PATH ?? ''}`;
  const child = spawn(program, args, {
    cwd: ROOT,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    // Types are stripped and code is compiled once, not at every start: a third of the start's work.
    env: { NODE_COMPILE_CACHE: join(ROOT, '.cache/node'), ...env, PATH: path },
  });
  child.on('error', (error) => {
    process.stderr.write(`marquee: ${program} does not start: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  if (process.env.npm_lifecycle_event !== undefined) watchParent(() => child.kill('SIGTERM'));
}

/** npm forwards SIGTERM, but cannot forward its own kill -9: then another process becomes the parent. */
function watchParent(onGone) {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) onGone();
  }, 500).unref();
}
