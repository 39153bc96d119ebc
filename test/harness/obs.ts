import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { makeClip } from './clip.ts';

/** Its configuration, as OBS itself writes it; the address, the key and the clip are filled in. */
const CONFIGURATION = join(import.meta.dirname, '../obs');
const ENDING_MS = 5000;

export interface RunningObs {
  /** It did not end by itself. */
  isRunning(): boolean;
  close(): Promise<void>;
}

/** Why tests with OBS cannot run here, or null. */
export function lackOfObs(): string | null {
  const programs = ['obs', 'Xvfb', 'dbus-run-session'];
  const missing = programs.filter((name) => spawnSync('which', [name], { stdio: 'ignore' }).status !== 0);
  return missing.length === 0 ? null : `${missing.join(', ')} not installed`;
}

/** OBS Studio on a screen that nobody sees, which begins to stream at once and comes back when it is cut off. */
export async function startObs({ server, key }: { server: string; key: string }): Promise<RunningObs> {
  const home = await mkdtemp(join(tmpdir(), 'marquee-obs-'));
  const folder = join(home, '.config/obs-studio');
  const profile = join(folder, 'basic/profiles/Test');
  await Promise.all([
    mkdir(profile, { recursive: true }),
    mkdir(join(folder, 'basic/scenes'), { recursive: true }),
  ]);
  const clip = join(home, 'clip.mp4');
  await makeClip(clip, { seconds: 4, width: 640, height: 360 });
  const scenes = await readFile(join(CONFIGURATION, 'scenes.json'), 'utf8');
  const settings = { server, key, use_auth: false, bwtest: false };
  await Promise.all([
    copyFile(join(CONFIGURATION, 'global.ini'), join(folder, 'global.ini')),
    copyFile(join(CONFIGURATION, 'basic.ini'), join(profile, 'basic.ini')),
    writeFile(join(profile, 'service.json'), JSON.stringify({ type: 'rtmp_custom', settings })),
    writeFile(join(folder, 'basic/scenes/Test.json'), scenes.replace('CLIP_PATH', clip)),
  ]);
  const screen = spawn('Xvfb', ['-displayfd', '1', '-screen', '0', '1280x800x24', '+extension', 'GLX'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [display] = await once(createInterface({ input: screen.stdout }), 'line');
  const names = ['--profile', 'Test', '--collection', 'Test', '--scene', 'Scene'];
  const flags = ['--startstreaming', '--multi', '--disable-updater', '--disable-shutdown-check'];
  const program = ['obs', ...flags, '--minimize-to-tray', ...names];
  // With the bus that it starts, a group of its own.
  const obs = spawn('dbus-run-session', ['--', ...program], {
    detached: true,
    stdio: 'ignore',
    env: {
      ...{ PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: home, DISPLAY: `:${display}` },
      ...{ LIBGL_ALWAYS_SOFTWARE: '1', QT_QPA_PLATFORM: 'xcb' },
    },
  });
  return {
    isRunning: () => obs.exitCode === null && obs.signalCode === null,
    async close() {
      await end(obs, true);
      await end(screen, false);
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function end(child: ChildProcess, isGroup: boolean): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const { pid } = child;
  const send = (signal: 'SIGTERM' | 'SIGKILL') => process.kill(isGroup ? -pid : pid, signal);
  const exited = once(child, 'exit');
  send('SIGTERM');
  const timer = setTimeout(() => send('SIGKILL'), ENDING_MS);
  await exited;
  clearTimeout(timer);
}
