import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';
import { makeClip } from './clip.ts';
import { freePort } from './platform.ts';
import { waitFor } from './wait-for.ts';

/** Configuration as OBS itself writes it; the URL, the key and the clip are filled in. */
const CONFIGURATION = join(import.meta.dirname, '../obs');
/** The one that publishes by WHIP, with all that it needs: a tree for bubblewrap. */
const TREE = join(import.meta.dirname, '../../.cache/peers/obs-whip');
const ENDING_MS = 5000;

export interface RunningObs {
  /** It did not end by itself. */
  isRunning(): boolean;
  /** Presses "Start Streaming" or "Stop Streaming", by its remote control. */
  press(button: 'StartStream' | 'StopStream'): Promise<void>;
  /** Returns the log of OBS. */
  log(): Promise<string>;
  close(): Promise<void>;
}

/** Service that OBS publishes to. */
export type ObsService =
  | { type: 'rtmp_custom'; server: string; key: string; use_auth: boolean; bwtest: boolean }
  | { type: 'whip_custom'; server: string; bearer_token: string };

/** Returns the reason why tests with OBS cannot run here, or null. */
export function obsUnavailableReason(): string | null {
  const programs = ['obs', 'Xvfb', 'dbus-run-session'];
  const missing = programs.filter((name) => spawnSync('which', [name], { stdio: 'ignore' }).status !== 0);
  return missing.length === 0 ? null : `${missing.join(', ')} not installed`;
}

/** Returns the reason why the OBS with WHIP is unavailable, or null. */
export function whipObsUnavailableReason(): string | null {
  if (!existsSync(TREE)) return 'no OBS with WHIP; on Debian type: node scripts/test-tools.mjs obs-whip';
  const [program = '', ...args] = inTree(tmpdir(), ['obs', '--version']);
  const { status } = spawnSync(program, args, { stdio: 'ignore' });
  return status === 0 ? null : 'OBS does not run in bubblewrap here';
}

/** A command that sees the tree and one folder. */
function inTree(home: string, command: readonly string[]): string[] {
  const links = ['bin', 'lib', 'lib64', 'sbin'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]);
  const seen = ['usr', 'etc'].flatMap((name) => ['--ro-bind', join(TREE, name), `/${name}`]);
  const sockets = join(home, 'sockets');
  // Targets of the alternatives links that the install scripts of the packages would have created.
  const libraries = ['blas', 'lapack'].map((name) => `/usr/lib/x86_64-linux-gnu/${name}`).join(':');
  const own = ['--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run', '--bind', home, home];
  own.push('--setenv', 'LD_LIBRARY_PATH', libraries);
  if (existsSync(sockets)) own.push('--bind', sockets, '/tmp/.X11-unix');
  return ['bwrap', '--die-with-parent', ...links, ...seen, ...own, '--', ...command];
}

/**
 * Starts OBS Studio on a virtual screen. It starts streaming immediately and reconnects when it is
 * disconnected.
 */
export async function startObs(service: ObsService): Promise<RunningObs> {
  const home = await mkdtemp(join(tmpdir(), 'marquee-obs-'));
  const port = await freePort();
  await configure(home, service, port);
  const within = (command: readonly string[]) =>
    service.type === 'whip_custom' ? inTree(home, command) : [...command];
  const wanted = ['Xvfb', '-displayfd', '1', '-screen', '0', '1280x800x24', '+extension', 'GLX'];
  const [xvfb = '', ...screenArgs] = within(wanted);
  const screen = spawn(xvfb, screenArgs, { stdio: ['ignore', 'pipe', 'ignore'] });
  const [display] = await once(createInterface({ input: screen.stdout }), 'line');
  const names = ['--profile', 'Test', '--collection', 'Test', '--scene', 'Scene'];
  const flags = ['--startstreaming', '--multi', '--disable-updater', '--disable-shutdown-check'];
  const program = ['obs', ...flags, '--minimize-to-tray', ...names];
  // OBS and its D-Bus form a separate process group.
  const [bus = '', ...args] = within(['dbus-run-session', '--', ...program]);
  const obs = spawn(bus, args, {
    detached: true,
    stdio: 'ignore',
    env: {
      ...{ PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: home, DISPLAY: `:${display}` },
      ...{ LIBGL_ALWAYS_SOFTWARE: '1', QT_QPA_PLATFORM: 'xcb' },
    },
  });
  return {
    isRunning: () => obs.exitCode === null && obs.signalCode === null,
    press: (button) =>
      waitFor(() => ask(port, button).then(() => true), { timeoutMs: 20_000 }).then(() => {}),
    async log() {
      const folder = join(home, '.config/obs-studio/logs');
      const names = await readdir(folder).catch(() => []);
      return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('');
    },
    async close() {
      await end(obs, true);
      await end(screen, false);
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function configure(home: string, { type, ...settings }: ObsService, port: number): Promise<void> {
  const folder = join(home, '.config/obs-studio');
  const profile = join(folder, 'basic/profiles/Test');
  const folders = [profile, join(folder, 'basic/scenes'), join(home, 'sockets')];
  await Promise.all(folders.map((path) => mkdir(path, { recursive: true })));
  const clip = join(home, 'clip.mp4');
  await makeClip(clip, { seconds: 4, width: 640, height: 360 });
  const [scenes = '', basic = '', general = ''] = await Promise.all(
    ['scenes.json', 'basic.ini', 'global.ini'].map((name) => readFile(join(CONFIGURATION, name), 'utf8')),
  );
  const coder = type === 'whip_custom' ? 'opus' : 'aac';
  const control = ['ServerEnabled=true', `ServerPort=${port}`, 'AuthRequired=false'].join('\n');
  await Promise.all([
    writeFile(join(folder, 'global.ini'), general.replace('ServerEnabled=false', control)),
    writeFile(
      join(profile, 'basic.ini'),
      basic.replace('StreamAudioEncoder=aac', `StreamAudioEncoder=${coder}`),
    ),
    writeFile(join(profile, 'service.json'), JSON.stringify({ type, settings })),
    writeFile(join(folder, 'basic/scenes/Test.json'), scenes.replace('CLIP_PATH', clip)),
  ]);
}

/**
 * Sends one request of the obs-websocket protocol, version 5. @throws {Error} when it is rejected or OBS does
 * not respond.
 */
async function ask(port: number, requestType: string): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  const say = (op: number, d: object) => socket.send(JSON.stringify({ op, d }));
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('OBS has hung up')));
      socket.on('message', (data) => {
        const { op, d } = Object(JSON.parse(String(data)));
        if (op === HELLO) say(IDENTIFY, { rpcVersion: 1 });
        else if (op === IDENTIFIED) say(REQUEST, { requestType, requestId: requestType });
        else if (op !== RESPONSE) return;
        else if (d.requestStatus.result === true) resolve();
        else reject(new Error(`OBS refuses ${requestType}: ${JSON.stringify(d)}`));
      });
    });
  } finally {
    socket.terminate();
  }
}

/** Message types of that protocol. */
const [HELLO, IDENTIFY, IDENTIFIED, REQUEST, RESPONSE] = [0, 1, 2, 6, 7] as const;

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
